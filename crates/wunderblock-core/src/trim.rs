//! What a lane leaves out: two frontiers through a session, and what stays in front of them.

use crate::budget::Treatment;
use crate::pair::{Arrangement, At, Shape, Unit};
use crate::units::{Bytes, Seq};
use crate::view::View;
use serde::{Deserialize, Serialize};

/// What a lane leaves out, until the next recorded step.
///
/// Two frontiers run through the session, both only ever forward: units that end before `drop_before` are left out,
/// those that end before `stub_before` are shown with their large bodies as stubs, the rest verbatim. Entries in `keep`
/// stay verbatim wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    /// The first position that is shown at all.
    pub drop_before: Seq,
    /// The first position that is shown verbatim.
    pub stub_before: Seq,
    /// Turns of the user before the frontiers that stay, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Seq>,
    /// Positions before `drop_before` that a later request can still need, ascending: what stays, exchanges that go on
    /// behind the frontier, and calls that still wait for a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<Seq>,
    /// Places of results in entries that are not left out, ascending, which no call may take: duplicates, and those of
    /// exchanges that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<At>,
    /// User texts that alone exceed the window: only this many bytes of each, half head, half tail, are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clip: Vec<(Seq, Bytes)>,
}

impl Trim {
    /// How many bytes of each text of an entry are shown, if it is clipped.
    #[must_use]
    pub fn clip_of(&self, seq: Seq) -> Option<Bytes> {
        self.clip.iter().find(|(at, _)| *at == seq).map(|(_, bytes)| *bytes)
    }

    /// Whether a view trimmed so has any use for the entry at a position.
    #[must_use]
    pub fn needs(&self, seq: Seq) -> bool {
        seq >= self.drop_before
            || self.hold.binary_search(&seq).is_ok()
            || self.keep.binary_search(&seq).is_ok()
    }
}

/// Why a lane moved its frontiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimReason {
    /// The request no longer fitted.
    OverBudget,
    /// A reply that had been shown became more complete: a result arrived for a call that had been answered in its
    /// place, or another record of the same reply. The frontiers stay.
    LateResult,
    /// Something that had been shown was erased.
    Erased,
    /// The window has become larger: what had been left out for want of room was considered anew. The frontiers may move
    /// back, so a view takes this step by being resumed, not by going on.
    Widened,
}

impl TrimReason {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OverBudget => "the request no longer fitted",
            Self::LateResult => "a reply became more complete",
            Self::Erased => "content was erased",
            Self::Widened => "the window has become larger",
        }
    }
}

/// How many left-out exchanges with open calls a view remembers, the newest first. A result that comes later than that
/// is listed as an orphan; without a limit, calls that are never answered would pile up for as long as a session lasts.
pub const HELD_WAITING: usize = 64;

/// Whether a unit is in a request under a trim, and in which form.
#[must_use]
pub fn treatment(unit: &Unit, trim: &Trim, view: &View) -> Treatment {
    if unit.speakers.iter().any(|seq| trim.clip_of(*seq).is_some()) {
        Treatment::Clipped
    } else if unit.last >= trim.stub_before || stays(unit, trim, view) {
        Treatment::Verbatim
    } else if unit.last >= trim.drop_before {
        Treatment::Stub
    } else {
        Treatment::LeftOut
    }
}

/// Whether a unit stays wherever the frontiers are. A record can hold the words of a kept turn beside results of an
/// exchange: the turn stays, the exchange need not. A pin means everything in the record.
pub(crate) fn stays(unit: &Unit, trim: &Trim, view: &View) -> bool {
    unit.shape == Shape::System
        || unit.speakers.iter().any(|seq| trim.keep.binary_search(seq).is_ok())
        || (!view.pinned().is_empty() && unit.members.iter().any(|seq| view.pinned().contains(seq)))
}

/// Completes a trim whose frontiers have been set: what a view must hold on to, so that its later requests are those of
/// a view that forgot nothing.
pub(crate) fn settle(trim: &mut Trim, arrangement: &Arrangement, view: &View) {
    let mut waiting = HELD_WAITING;
    let (mut hold, mut left) = (Vec::new(), Vec::new());
    for unit in arrangement.units.iter().rev() {
        let waits = unit.is_waiting() && waiting > 0;
        if unit.last >= trim.drop_before || stays(unit, trim, view) {
            hold.extend(unit.members.iter().copied().filter(|seq| *seq < trim.drop_before));
        } else if waits {
            waiting -= 1;
            hold.extend(&unit.members);
        } else {
            left.extend(unit.calls().iter().filter_map(|call| call.result));
        }
    }
    hold.sort_unstable();
    hold.dedup();
    trim.hold = hold;
    left.extend(arrangement.loose.iter().map(|(at, _)| *at));
    left.retain(|(seq, _)| trim.needs(*seq));
    left.sort_unstable();
    left.dedup();
    trim.spent = left;
}

/// The runs of positions before a frontier, without those in `shown`. The first event of a stream opens it; nothing is
/// missing there.
pub(crate) fn runs(mut shown: Vec<Seq>, frontier: Seq) -> Vec<(Seq, Seq)> {
    shown.retain(|seq| *seq < frontier);
    shown.push(frontier);
    shown.sort_unstable();
    let mut runs = Vec::new();
    let mut next = Seq(2);
    for seq in shown {
        if next < seq {
            runs.push((next, seq.prev()));
        }
        next = next.max(seq.next());
    }
    runs
}

/// The runs a request marks as left out. An exchange that goes on behind the frontier stands there and parts no run, so
/// that a result which comes late changes no mark.
pub(crate) fn marks<'a>(units: impl Iterator<Item = &'a Unit>, trim: &Trim, view: &View) -> Vec<(Seq, Seq)> {
    let before = units.filter(|unit| unit.last < trim.drop_before);
    let shown = before.filter(|unit| treatment(unit, trim, view) != Treatment::LeftOut);
    runs(shown.flat_map(|unit| unit.members.iter().copied()).collect(), trim.drop_before)
}
