//! History of a lane's work logs: the current log, and earlier ones that an undo restores.

use super::entry::{TailName, ViewEntry};
use crate::record::message::Body;
use crate::record::work::WorkLog;
use crate::units::Seq;
use std::sync::Arc;

/// Entry that shows the work log, with the name and the text of the log.
pub(super) type ToldWork = (ViewEntry, TailName, Body);

/// Work logs of a lane, the newest last. Each replaced log is stored with the entry that showed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkHistory {
    records: Vec<(Seq, Arc<WorkLog>, Option<ToldWork>)>,
}

impl WorkHistory {
    /// Returns the current log.
    pub(super) fn newest(&self) -> Option<&Arc<WorkLog>> {
        self.records.last().map(|(_, log, _)| log)
    }

    /// Adds a log. `before` is the entry that showed the previous log.
    pub(super) fn push(&mut self, at: Seq, log: &WorkLog, before: Option<ToldWork>) {
        if let Some((_, _, told)) = self.records.last_mut() {
            *told = before;
        }
        self.records.push((at, Arc::new(log.clone()), None));
    }

    /// Removes the logs recorded since a compaction. Returns whether any logs were removed.
    pub(super) fn undo(&mut self, compaction: Seq) -> bool {
        let count = self.records.len();
        self.records.retain(|(at, ..)| *at < compaction);
        self.records.len() < count
    }

    /// Takes the entry that showed the current log before another log replaced it.
    pub(super) fn take_told(&mut self) -> Option<ToldWork> {
        self.records.last_mut().and_then(|(_, _, told)| told.take())
    }

    /// Removes what a hidden exchange contributed to the logs. Returns whether the hidden exchange contributed to the
    /// current log.
    pub(super) fn hide(&mut self, target: Seq) -> bool {
        let touches = self.newest().is_some_and(|log| log.touches(target, target));
        for (_, log, told) in self.records.iter_mut().filter(|(_, log, _)| log.touches(target, target)) {
            *log = Arc::new(log.without(target));
            *told = None;
        }
        touches
    }

    /// Returns whether a log was recorded in a run of positions.
    pub(super) fn has(&self, from: Seq, to: Seq) -> bool {
        self.records.iter().any(|(at, ..)| from <= *at && *at <= to)
    }

    /// Removes the logs recorded before a position.
    pub(super) fn forget_before(&mut self, first: Seq) {
        self.records.retain(|(at, ..)| *at >= first);
    }
}
