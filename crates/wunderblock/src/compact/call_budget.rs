//! How often a summariser may still be asked.

use crate::summarize::{Summarise, SummaryFailure, SummaryTask, SummaryText};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::units::Tokens;

/// Calls that are left; all who compact one lane at one time share them.
#[derive(Clone, Debug)]
pub(crate) struct CallBudget(Arc<AtomicU32>);

impl CallBudget {
    /// So many calls.
    pub(crate) fn of(calls: u32) -> Self {
        Self(Arc::new(AtomicU32::new(calls)))
    }

    /// Whether none is left.
    fn is_used_up(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    fn take(&self, calls: u32) {
        let less = |left: u32| Some(left.saturating_sub(calls));
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }
}

/// A summariser whose calls are counted, those that fail, too.
pub(super) struct CountedCalls<'a> {
    summariser: &'a dyn Summarise,
    budget: &'a CallBudget,
    asked: AtomicU32,
}

impl<'a> CountedCalls<'a> {
    pub(super) fn new(summariser: &'a dyn Summarise, budget: &'a CallBudget) -> Self {
        Self { summariser, budget, asked: AtomicU32::new(0) }
    }

    /// What was spent, with the calls that came to nothing.
    pub(super) fn spent(&self, spent: Option<SummarySpend>) -> Option<SummarySpend> {
        let asked = self.asked.load(Ordering::SeqCst);
        match spent {
            Some(spent) => Some(SummarySpend { calls: spent.calls.max(asked), ..spent }),
            None if asked > 0 => Some(SummarySpend {
                model: self.name().into(),
                calls: asked,
                input: Tokens::ZERO,
                output: Tokens::ZERO,
                micro_dollars: None,
            }),
            None => None,
        }
    }
}

impl Summarise for CountedCalls<'_> {
    fn name(&self) -> String {
        self.summariser.name()
    }

    fn window(&self) -> Option<Tokens> {
        self.summariser.window()
    }

    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, SummaryFailure> {
        if self.budget.is_used_up() {
            return Err(SummaryFailure::Refused("the calls of this hour are used up".to_owned()));
        }
        let written = self.summariser.summarise(task, progress);
        let spent = written.as_ref().ok().and_then(|written| written.spent.as_ref());
        let calls = spent.map_or(1, |spent| spent.calls.max(1));
        self.asked.fetch_add(calls, Ordering::SeqCst);
        self.budget.take(calls);
        written
    }
}
