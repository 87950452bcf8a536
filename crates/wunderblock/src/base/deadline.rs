//! The time at which a question is given up.

use crate::base::turns::{Turn, Turns};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time at which a search gives up, or a condition under which nobody waits for its answer any more. The default never
/// gives up.
///
/// Each loop of a search asks [`Deadline::is_over`], so a search ends within a second of its deadline.
#[derive(Clone, Default)]
pub struct Deadline {
    end: Option<Instant>,
    is_cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    turns: Option<Turns>,
}

impl Deadline {
    /// Returns a deadline that passes after a time from now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self { end: Instant::now().checked_add(time), ..Self::default() }
    }

    /// Adds a condition that ends the search before the time has passed. It is asked often, so it must be cheap.
    #[must_use]
    pub fn or_when(self, is_cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { is_cancelled: Some(Arc::new(is_cancelled)), ..self }
    }

    /// Lets a scan go on only in its turn. Without turns, a scan never waits for another one.
    #[must_use]
    pub fn in_turns(self, turns: &Turns) -> Self {
        Self { turns: Some(turns.clone()), ..self }
    }

    /// Waits for the scan's turn. It ends when the returned value is dropped.
    pub(crate) async fn turn(&self) -> Turn {
        match &self.turns {
            Some(turns) => turns.take().await,
            None => Turn::default(),
        }
    }

    /// Returns whether the scan takes turns with others.
    pub(crate) const fn has_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// Returns whether the time has passed, or the condition holds.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
            || self.is_cancelled.as_ref().is_some_and(|is_cancelled| is_cancelled())
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("end", &self.end).finish_non_exhaustive()
    }
}
