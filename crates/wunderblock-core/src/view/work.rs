//! The logs of a lane's work: the one that holds, and those before it, since an undo brings them back.

use crate::units::Seq;
use crate::work::WorkLog;
use std::sync::Arc;

/// The logs of a view, the newest last; each with what told it until another took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkHistory<T> {
    records: Vec<(Seq, Arc<WorkLog>, Option<T>)>,
}

impl<T> Default for WorkHistory<T> {
    fn default() -> Self {
        Self { records: Vec::new() }
    }
}

impl<T> WorkHistory<T> {
    /// The log that holds.
    pub(super) fn newest(&self) -> Option<&Arc<WorkLog>> {
        self.records.last().map(|(_, log, _)| log)
    }

    /// Takes in a log, and what told the one before it.
    pub(super) fn push(&mut self, at: Seq, log: &WorkLog, before: Option<T>) {
        if let Some((_, _, told)) = self.records.last_mut() {
            *told = before;
        }
        self.records.push((at, Arc::new(log.clone()), None));
    }

    /// Takes back what was recorded since a compaction. Whether something was.
    pub(super) fn undo(&mut self, compaction: Seq) -> bool {
        let count = self.records.len();
        self.records.retain(|(at, ..)| *at < compaction);
        self.records.len() < count
    }

    /// What told the log that holds before another took its place.
    pub(super) fn take_told(&mut self) -> Option<T> {
        self.records.last_mut().and_then(|(_, _, told)| told.take())
    }

    /// Takes out what an exchange said that is hidden. Whether the log that holds had something of it.
    pub(super) fn hide(&mut self, target: Seq) -> bool {
        let touches = self.newest().is_some_and(|log| log.touches(target, target));
        for (_, log, told) in self.records.iter_mut().filter(|(_, log, _)| log.touches(target, target)) {
            *log = Arc::new(log.without(target));
            *told = None;
        }
        touches
    }

    /// Whether a log was recorded in a run of positions.
    pub(super) fn has(&self, from: Seq, to: Seq) -> bool {
        self.records.iter().any(|(at, ..)| from <= *at && *at <= to)
    }

    /// Forgets what was recorded before a position.
    pub(super) fn forget_before(&mut self, first: Seq) {
        self.records.retain(|(at, ..)| *at >= first);
    }
}
