//! Threads for calls, and the background work between calls.

use crate::ledger::SharedLedger;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use wunderblock::block_on;

/// Maximum number of calls of each kind that run at the same time. The others wait.
const RUNNING: usize = 4;
/// Time without a call after which the waiting events are counted and indexed.
const QUIET: Duration = Duration::from_secs(2);
/// Interval at which an idle server looks for events that other processes have appended.
const AGAIN: Duration = Duration::from_secs(10);

/// Kind of a call. Commands run for minutes and scans for seconds, and other calls must not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Runs a command.
    Command,
    /// Scans the originals, for seconds.
    Scan,
    /// Reads or writes the ledger.
    Quick,
}

/// Runs calls on threads, because the operations of the library compute on the thread that polls them.
pub(crate) struct CallThreads {
    commands: Semaphore,
    scans: Semaphore,
    quick: Semaphore,
    /// Number of calls that run or wait.
    calls: watch::Sender<usize>,
}

impl CallThreads {
    pub(crate) fn new() -> Self {
        let slots = || Semaphore::new(RUNNING);
        Self { commands: slots(), scans: slots(), quick: slots(), calls: watch::Sender::new(0) }
    }

    /// Runs a call on a thread. Returns `None` if the call was cancelled before it began, or panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        kind: CallKind,
        cancelled: impl Future<Output = ()>,
        call: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.calls.send_modify(|calls| *calls += 1);
        let _running = RunningCall(&self.calls);
        let slots = match kind {
            CallKind::Command => &self.commands,
            CallKind::Scan => &self.scans,
            CallKind::Quick => &self.quick,
        };
        let slot = tokio::select! {
            slot = slots.acquire() => slot.ok()?,
            () = cancelled => return None,
        };
        let done = spawn_blocking(move || block_on(call)).await;
        drop(slot);
        done.ok()
    }

    /// Counts and indexes the waiting events of an open ledger whenever no call runs, until this value is dropped.
    pub(crate) fn work_when_idle(&self, ledger: Arc<SharedLedger>) {
        tokio::spawn(catch_up_when_idle(ledger, self.calls.subscribe()));
    }
}

/// A call that counts as running until this value is dropped, even if the call panics.
struct RunningCall<'c>(&'c watch::Sender<usize>);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|calls| *calls -= 1);
    }
}

async fn catch_up_when_idle(ledger: Arc<SharedLedger>, mut calls: watch::Receiver<usize>) {
    let mut wait = QUIET;
    while calls.wait_for(|calls| *calls == 0).await.is_ok() {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            changed = calls.changed() => {
                if changed.is_err() {
                    return;
                }
                wait = QUIET;
                continue;
            }
        }
        wait = AGAIN;
        let Some(engine) = ledger.opened() else { continue };
        let mut arriving = calls.clone();
        let work = async move {
            // Completed batches remain if a call arrives. An error, such as a lock, is one for the next attempt.
            let mut unreported = |_| {};
            tokio::select! {
                _ = engine.maintenance().catch_up(&mut unreported) => {}
                _ = arriving.wait_for(|calls| *calls > 0) => {}
            }
        };
        let _ = spawn_blocking(move || block_on(work)).await;
    }
}
