//! Budget of summariser calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::units::Tokens;
use wunderblock_summary::{CallFailure, Summarise, SummaryTask, SummaryText};

/// Calls left. Clones share one counter, so all tasks that compact one lane at the same time draw from it.
#[derive(Clone, Debug)]
pub(crate) struct CallBudget(Arc<AtomicU32>);

impl CallBudget {
    /// Creates a budget of `calls` calls.
    pub(crate) fn of(calls: u32) -> Self {
        Self(Arc::new(AtomicU32::new(calls)))
    }

    /// Returns whether no call is left.
    fn is_used_up(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    fn take(&self, calls: u32) {
        let less = |left: u32| Some(left.saturating_sub(calls));
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
    }
}

/// Summariser that counts its calls, including failed ones.
pub(in crate::compaction::compact) struct CountedCalls<'a> {
    summariser: &'a dyn Summarise,
    budget: &'a CallBudget,
    asked: AtomicU32,
}

impl<'a> CountedCalls<'a> {
    pub(in crate::compaction::compact) fn new(summariser: &'a dyn Summarise, budget: &'a CallBudget) -> Self {
        Self { summariser, budget, asked: AtomicU32::new(0) }
    }

    /// Returns the spending of a draft, including calls that failed.
    pub(in crate::compaction::compact) fn spent(&self, spent: Option<SummarySpend>) -> Option<SummarySpend> {
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
    ) -> Result<SummaryText, CallFailure> {
        if self.budget.is_used_up() {
            return Err(CallFailure::Refused("the calls of this hour are used up".to_owned()));
        }
        let written = self.summariser.summarise(task, progress);
        let spent = written.as_ref().ok().and_then(|written| written.spent.as_ref());
        // A failed call reports no spending but still counts as one call.
        let calls = spent.map_or(1, |spent| spent.calls.max(1));
        self.asked.fetch_add(calls, Ordering::SeqCst);
        self.budget.take(calls);
        written
    }
}
