//! The parts of a tree that are left out: runs of members, and the middles of long strings.

use std::collections::HashMap;

use crate::mark::Gap;

/// A run of members of one container.
#[derive(Clone, Debug)]
pub(super) struct CutRun {
    pub(super) gap: Gap,
    /// The number of members.
    pub(super) count: usize,
    /// The node of the first of them.
    pub(super) first: usize,
    /// The node after the last of them.
    pub(super) next: usize,
}

#[derive(Debug, Default)]
pub(super) struct JsonCuts {
    /// By the node of the first member.
    runs: HashMap<usize, CutRun>,
    /// By the node of the string.
    middles: HashMap<usize, Gap>,
}

impl JsonCuts {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.middles.is_empty()
    }

    /// The run that begins with a node.
    pub(super) fn items(&self, at: usize) -> Option<&CutRun> {
        self.runs.get(&at)
    }

    pub(super) fn bytes(&self, at: usize) -> Option<&Gap> {
        self.middles.get(&at)
    }

    pub(super) fn leave_out(&mut self, run: CutRun) {
        self.runs.insert(run.first, run);
    }

    /// The runs, in the order of the source.
    pub(super) fn runs(&mut self) -> Vec<&mut CutRun> {
        let mut runs: Vec<&mut CutRun> = self.runs.values_mut().collect();
        runs.sort_by_key(|run| run.first);
        runs
    }

    /// All that is left out, in the order of the source.
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
