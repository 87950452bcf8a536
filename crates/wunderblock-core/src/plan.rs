//! placeholder until plan is written
use crate::id::{Handle, };
use crate::message::Body;
use crate::units::{Bytes, Seq};
use serde::{Deserialize, Serialize};

/// What a lane leaves out, until the next recorded step.
///
/// Two frontiers run through the session, both only ever forward: entries before `drop_before` are left out, those from
/// there to `stub_before` are shown with their large bodies as stubs, the rest verbatim. Entries in `keep` stay
/// verbatim wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    /// The first position that is shown at all.
    pub drop_before: Seq,
    /// The first position that is shown verbatim.
    pub stub_before: Seq,
    /// Positions before the frontiers that stay, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Seq>,
    /// User texts that alone exceed the window: shown as this many bytes of head and tail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clip: Vec<(Seq, Bytes)>,
}

/// Why a lane moved its frontiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimReason {
    /// The request no longer fitted.
    OverBudget,
    /// A result arrived for a call that had been answered in its place.
    LateResult,
}

/// Something that comes back at the tail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The entry it is from.
    pub from_seq: Seq,
    /// The body.
    pub handle: Option<Handle>,
    /// Its text where it is in no blob.
    pub text: Option<Body>,
    /// Why it came back.
    pub why: Box<str>,
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {}
