//! Streams that show positions which other streams hold.

use super::loss::Run;
use crate::ledger::reading::lineage::Streams;
use std::collections::HashMap;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::{StreamInfo, StreamNo};

/// Streams that show some positions: those that hold them, and their forks.
pub(super) struct Showing<'s> {
    all: Streams<'s>,
    /// Positions that each stream holds itself, with the number of the run that they belong to.
    held: HashMap<StreamNo, Vec<(usize, Seq, Seq)>>,
    pub(super) streams: Vec<&'s StreamInfo>,
}

impl<'s> Showing<'s> {
    /// Finds the streams that show positions of the runs.
    pub(super) fn of(streams: &'s [StreamInfo], runs: &[Run]) -> Self {
        let all = Streams::new(streams);
        let mut held: HashMap<StreamNo, Vec<(usize, Seq, Seq)>> = HashMap::new();
        for (number, run) in runs.iter().enumerate() {
            let line = all.get(&run.stream).map(|info| all.line(info, run.from)).unwrap_or_default();
            for (holder, from, to) in line {
                let part = (from.max(run.from), to.min(run.to));
                if part.0 <= part.1 {
                    held.entry(holder.no).or_default().push((number, part.0, part.1));
                }
            }
        }
        let mut lowest = HashMap::new();
        let shows = |info: &&StreamInfo| lowest_shown(&all, &held, info, &mut lowest).is_some();
        let streams = streams.iter().filter(shows).collect();
        Self { all, held, streams }
    }

    /// Returns the run to which a position that a stream holds belongs.
    pub(super) fn run_of(&self, stream: &StreamId, seq: Seq) -> Option<usize> {
        let held = self.held.get(&self.all.get(stream)?.no)?;
        held.iter().find(|(_, from, to)| *from <= seq && seq <= *to).map(|(run, ..)| *run)
    }

    /// Returns the runs that a stream shows, each with the positions that it shows of the run.
    pub(super) fn runs(&self, info: &'s StreamInfo) -> Vec<(usize, Seq, Seq)> {
        let parts = self.all.line(info, Seq::START).into_iter().flat_map(|(holder, from, to)| {
            let held = self.held.get(&holder.no).map(Vec::as_slice).unwrap_or_default();
            held.iter().map(move |(run, first, last)| (*run, from.max(*first), to.min(*last)))
        });
        parts.filter(|(_, from, to)| from <= to).collect()
    }
}

/// Returns the lowest of the held positions that a stream shows. `known` has the answers for some streams, so that a
/// family is walked only once.
fn lowest_shown<'s>(
    all: &Streams<'s>,
    held: &HashMap<StreamNo, Vec<(usize, Seq, Seq)>>,
    info: &'s StreamInfo,
    known: &mut HashMap<StreamNo, Option<Seq>>,
) -> Option<Seq> {
    let (mut open, mut next) = (Vec::new(), Some(info));
    while let Some(at) = next.filter(|at| !known.contains_key(&at.no)) {
        // A stream that is its own ancestor shows nothing more.
        known.insert(at.no, None);
        open.push(at);
        next = at.fork.as_ref().and_then(|(parent, _)| all.get(parent));
    }
    let mut shared = next.and_then(|at| known.get(&at.no).copied().flatten());
    for at in open.into_iter().rev() {
        let own = || held.get(&at.no)?.iter().map(|(_, from, _)| *from).min();
        shared = shared.filter(|seq| *seq <= at.base()).or_else(own);
        known.insert(at.no, shared);
    }
    known.get(&info.no).copied().flatten()
}
