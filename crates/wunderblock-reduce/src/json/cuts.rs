//! The parts of a tree that are left out: runs of members, and the middles of long strings.

use std::collections::HashMap;

use crate::result::mark::Gap;

/// A run of omitted members of one container.
#[derive(Clone, Debug)]
pub(super) struct CutRun {
    pub(super) gap: Gap,
    /// Number of members in the run.
    pub(super) count: usize,
    /// Node of the first member.
    pub(super) first: usize,
    /// Node after the last member.
    pub(super) next: usize,
}

#[derive(Debug, Default)]
pub(super) struct JsonCuts {
    /// Runs, by the node of their first member.
    runs: HashMap<usize, CutRun>,
    /// Gaps within strings, by the node of the string.
    middles: HashMap<usize, Gap>,
}

impl JsonCuts {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.middles.is_empty()
    }

    /// Returns the run that begins with a given node.
    pub(super) fn items(&self, at: usize) -> Option<&CutRun> {
        self.runs.get(&at)
    }

    pub(super) fn bytes(&self, at: usize) -> Option<&Gap> {
        self.middles.get(&at)
    }

    pub(super) fn leave_out(&mut self, run: CutRun) {
        self.runs.insert(run.first, run);
    }

    /// Returns the runs, in the order of the source.
    pub(super) fn runs(&mut self) -> Vec<&mut CutRun> {
        let mut runs: Vec<&mut CutRun> = self.runs.values_mut().collect();
        runs.sort_by_key(|run| run.first);
        runs
    }

    /// Returns the gaps of all cuts, in the order of the source.
    pub(super) fn gaps(&self) -> Vec<&Gap> {
        let mut gaps: Vec<&Gap> =
            self.runs.values().map(|run| &run.gap).chain(self.middles.values()).collect();
        gaps.sort_by_key(|gap| gap.span.start);
        gaps
    }

    pub(super) fn cut(&mut self, at: usize, gap: Gap) {
        self.middles.insert(at, gap);
    }
}
