//! Parts of an encoded request that its provider would reject. These parts are known only after the request is
//! encoded.

use crate::base::error::Error;
use crate::request::stages::{Planned, Rendered};
use crate::request::steps::prefix;
use std::collections::BTreeSet;
use wunderblock_core::decision::{PartPosition, TrimReason};
use wunderblock_core::thinking::{thinks, unbind};
use wunderblock_core::units::Seq;
use wunderblock_wire::{Encoded, without_marks};

/// Parts of a request that must not be sent.
#[derive(Debug, Default)]
pub(in crate::request) struct Withheld {
    /// Positions of thinking blocks whose prefix differs from the one they were written after.
    unbound: BTreeSet<Seq>,
    /// Parts that the format cannot express.
    unsent: BTreeSet<PartPosition>,
}

impl Withheld {
    /// Finds the parts of an encoded request that must not be sent.
    pub(in crate::request) fn of(request: &Rendered, encoded: &Encoded) -> Self {
        let places = &request.rendered.places;
        let dropped = encoded.dropped.iter().filter(|dropped| dropped.whole);
        let unsent = dropped.filter_map(|dropped| places.get(&(dropped.message?, dropped.part)).copied());
        Self { unbound: unbound(request, encoded), unsent: unsent.collect() }
    }

    /// Returns whether nothing is withheld.
    pub(in crate::request) fn is_empty(&self) -> bool {
        self.unbound.is_empty() && self.unsent.is_empty()
    }

    /// Removes the withheld parts from the plan. The removal is a recorded step if the lane's previous request showed
    /// one of the removed parts.
    pub(in crate::request) fn decide(self, planned: &mut Planned) -> Result<(), Error> {
        let seqs = || self.unbound.iter().copied().chain(self.unsent.iter().map(|(seq, _)| *seq));
        let was_shown = seqs().any(|seq| planned.shown_before(seq));
        let Planned { decision, texts, .. } = planned;
        let mut trim = decision.plan.trim.clone();
        unbind(&mut trim, self.unbound);
        trim.unsent.extend(self.unsent);
        trim.unsent.sort_unstable();
        if was_shown && decision.plan.step.is_none() {
            decision.plan.step = Some(TrimReason::Refused);
            decision.step(&trim, TrimReason::Refused, texts)?;
        }
        decision.plan.trim = trim;
        Ok(())
    }
}

impl Planned {
    /// Returns whether the lane's previous request showed the thinking and the blocks of an entry.
    fn shown_before(&self, seq: Seq) -> bool {
        let Some((_, built)) = self.snapshot.before() else { return false };
        let trim = &built.plan.trim;
        let is_withheld = trim.is_unbound(seq) || trim.unsent.iter().any(|(at, _)| *at == seq);
        seq <= built.plan.through && !trim.waiting.contains(&seq) && !is_withheld
    }
}

/// Returns the positions of unbound thinking blocks. All blocks after the first unbound one are unbound, too, because
/// that block is part of their prefix.
fn unbound(request: &Rendered, encoded: &Encoded) -> BTreeSet<Seq> {
    let Rendered { planned, rendered, .. } = request;
    let seqs = |message: usize| {
        let places = rendered.places.range((message, 0)..(message + 1, 0)).map(|(_, at)| at.0);
        places.filter(|seq| planned.decision.view.entry(*seq).is_some_and(thinks))
    };
    let before = planned.snapshot.before().filter(|(_, built)| {
        *built.model == *planned.target.model && built.dialect == planned.target.dialect
    });
    let stem = before.and_then(|(_, built)| built.stem.as_ref());
    let same = stem.map(|stem| prefix::common(&encoded.bytes, stem));
    let is_bound = |seq: Seq, start: usize| {
        let Some((stem, same)) = stem.zip(same) else { return false };
        let beginning = encoded.bytes.get(..start).unwrap_or_default();
        if planned.shown_before(seq) {
            return same == stem.bytes() || without_marks(beginning).len() as u64 <= same.0;
        }
        // The comma between two messages is part of neither.
        let asked = without_marks(beginning.strip_suffix(b",").unwrap_or(beginning));
        stem.asked.as_ref() == Some(&prefix::digest(&asked))
    };
    let mut starts =
        encoded.starts.iter().flat_map(|(message, start)| seqs(*message).map(|seq| (seq, *start)));
    let first = starts.by_ref().find(|(seq, start)| !is_bound(*seq, *start));
    first.into_iter().chain(starts).map(|(seq, _)| seq).collect()
}
