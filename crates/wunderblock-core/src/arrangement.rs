//! The exchanges of a view: entries that stay or go together. [`crate::pair`] finds them.

use crate::budget::Reason;
use crate::decision::PartPosition;
use crate::id::CallId;
use crate::units::Seq;
use std::sync::{Arc, OnceLock};

/// A tool call, and where its result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedCall {
    /// The id as recorded; programs use the same one again and again.
    pub id: CallId,
    /// The id in a request, where no two calls may share one.
    pub name: CallId,
    /// The place of the call.
    pub place: PartPosition,
    /// The place of its result.
    pub result: Option<PartPosition>,
}

/// What an exchange is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    /// Something the user, or a harness in the user's place, said.
    User,
    /// Operator's text.
    System,
    /// A reply of the model, and the results of the calls it made.
    Exchange {
        /// The calls, in order.
        calls: Vec<PairedCall>,
    },
}

/// Entries that stay or go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// What it is.
    pub shape: ExchangeKind,
    /// Its entries, ascending.
    pub members: Vec<Seq>,
    /// The entries that hold the speaker's own words: all but those that hold results only. Ascending.
    pub speakers: Vec<Seq>,
    /// Where it stands in a request: at its first speaker, unless that is before the frontier and something else is not.
    pub key: Seq,
    /// Its last member.
    pub last: Seq,
}

impl Exchange {
    /// The calls made in it.
    #[must_use]
    pub fn calls(&self) -> &[PairedCall] {
        match &self.shape {
            ExchangeKind::Exchange { calls } => calls,
            ExchangeKind::User | ExchangeKind::System => &[],
        }
    }

    /// Whether a call in it has no result yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.calls().iter().any(|call| call.result.is_none())
    }
}

/// The exchanges of a view, and what belongs to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// In the order of a request.
    pub exchanges: Vec<Exchange>,
    /// Those that are in no request because an entry of them is hidden, in the same order. Their entries are aside.
    pub hidden: Vec<Exchange>,
    /// Entries that can be in no request, with the reason.
    pub aside: Vec<(Seq, Reason)>,
    /// Results that cannot be shown, with the reason; the rest of their entry can.
    pub loose: Vec<(PartPosition, Reason)>,
    /// The same of results that a call to come may still take.
    pub early: Vec<(PartPosition, Reason)>,
}

/// The arrangement of a view as it is, made when it is first asked for. A build asks in eight places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arranged(OnceLock<Arc<Arrangement>>);

impl Arranged {
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Arrangement) -> Arc<Arrangement> {
        Arc::clone(self.0.get_or_init(|| Arc::new(make())))
    }
}

/// It says nothing that its view does not.
impl PartialEq for Arranged {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Arranged {}
