//! Threads for calls, and the background work between calls.

use crate::ledger::SharedLedger;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use wunderblock::{Turns, block_on};

/// Maximum number of calls of each kind that run at the same time, except scans. The others wait.
const RUNNING: usize = 4;
/// Maximum number of scans that work at the same time, a page each. A scan uses all cores, so more would take longer,
/// and more memory.
const TURNS: usize = 2;
/// Time without a call after which the waiting events are counted and indexed.
const QUIET: Duration = Duration::from_secs(2);
/// Interval at which an idle server looks for events that other processes have appended.
const AGAIN: Duration = Duration::from_secs(10);

/// Kind of a call. Searches rank all passages in scope, which takes memory, so only a few run. Commands run for minutes, scans and reports for seconds, and other calls must not wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Runs a command.
    Command,
    /// Scans the originals, for seconds. All scans run, and take [turns](CallThreads::turns).
    Scan,
    /// Ranks passages.
    Search,
    /// Builds the next request of a session, for seconds.
    Report,
    /// Reads or writes the ledger.
    Quick,
}

/// Runs calls on threads, because the operations of the library compute on the thread that polls them.
pub(crate) struct CallThreads {
    commands: Semaphore,
    searches: Semaphore,
    reports: Semaphore,
    quick: Semaphore,
    turns: Turns,
    /// Number of calls that run or wait.
    calls: watch::Sender<usize>,
}

impl CallThreads {
    pub(crate) fn new() -> Self {
        let slots = || Semaphore::new(RUNNING);
        let calls = watch::Sender::new(0);
        let (commands, searches) = (slots(), slots());
        Self { commands, searches, reports: slots(), quick: slots(), turns: Turns::new(TURNS), calls }
    }

    /// Returns the turns of scans.
    pub(crate) const fn turns(&self) -> &Turns {
        &self.turns
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
            CallKind::Command => Some(&self.commands),
            CallKind::Scan => None,
            CallKind::Search => Some(&self.searches),
            CallKind::Report => Some(&self.reports),
            CallKind::Quick => Some(&self.quick),
        };
        let slot = match slots {
            Some(slots) => tokio::select! {
                slot = slots.acquire() => Some(slot.ok()?),
                () = cancelled => return None,
            },
            None => None,
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets what it does not expect fails")]
mod tests {
    use super::*;
    use crate::arguments::CheckedArguments;
    use crate::{prompts, resources, tools};
    use std::sync::mpsc::channel;

    #[test]
    fn calls_that_last_are_not_quick() {
        let schema = serde_json::json!({"properties": {"query": {"type": "string"}, "find": {"type": "string"}, "exact": {"type": "string"}}});
        let kind = |tool: &str, argument: &str| {
            let given = serde_json::json!({argument: "x"});
            let checked =
                CheckedArguments::check(schema.as_object().unwrap(), given.as_object().unwrap().clone());
            tools::kind(tool, &checked.unwrap())
        };
        for (tool, argument, expected) in [
            ("search", "query", CallKind::Search),
            ("search", "exact", CallKind::Scan),
            ("read", "query", CallKind::Scan),
            ("read", "find", CallKind::Quick),
            ("explain", "find", CallKind::Report),
            ("run", "query", CallKind::Command),
            ("note", "find", CallKind::Quick),
            ("pin", "find", CallKind::Quick),
        ] {
            assert_eq!(kind(tool, argument), expected, "{tool} {argument}");
        }
        assert_eq!(resources::kind("wunderblock://context/x"), CallKind::Report);
        assert_eq!(resources::kind("wunderblock://read/x"), CallKind::Quick);
        assert_eq!((prompts::kind("continue"), prompts::kind("decided")), (CallKind::Quick, CallKind::Scan));
    }

    #[test]
    fn scans_and_reports_leave_room_for_quick_calls() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let threads = Arc::new(CallThreads::new());
            let mut ends = Vec::new();
            for kind in [CallKind::Scan, CallKind::Report].repeat(2 * RUNNING) {
                let (end, ended) = channel::<()>();
                let call = async move {
                    let _ = ended.recv();
                };
                let threads = Arc::clone(&threads);
                ends.push((
                    end,
                    tokio::spawn(async move { threads.run(kind, std::future::pending(), call).await }),
                ));
            }
            tokio::task::yield_now().await;
            for kind in [CallKind::Quick, CallKind::Scan, CallKind::Command] {
                assert_eq!(threads.run(kind, std::future::pending(), async { 7 }).await, Some(7), "{kind:?}");
            }
            for (end, call) in ends {
                drop(end);
                call.await.unwrap().unwrap();
            }
        });
    }
}
