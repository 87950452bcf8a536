//! Futures that work on a thread of their own, so that a poll only waits.
//!
//! ```text
//! caller's thread: poll ─► told events ─► callback        the thread: block_on(work)
//!                     ▲ wake ◄───────────────────────────── tell, result
//!                     └ drop ─► the work ends at its next await
//! ```
//! An operation that decodes, counts, searches or packs would keep the thread that polls it busy for seconds, and with
//! it every other task of that thread. Everything that such an operation needs is moved to the thread; callbacks stay
//! with the caller.

use crate::base::error::{Error, write_error};
use crate::base::future::BoxFuture;
use futures_channel::oneshot;
use futures_executor::block_on;
use std::future::poll_fn;
use std::io::Write;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

/// Maximum number of events that wait for the caller. More make the work wait.
const WAITING_MAX: usize = 256;
/// Maximum number of events that are passed to the callback in one poll.
const PER_POLL: usize = 64;

/// Events of work on another thread.
pub(crate) struct Teller<E>(Arc<Shared<E>>);

struct Shared<E> {
    state: Mutex<State<E>>,
    /// Notified when events were taken or the caller wants no more.
    taken: Condvar,
}

struct State<E> {
    events: Vec<E>,
    /// Number of events that were told one by one, and number of those that the caller has seen.
    told: u64,
    passed: u64,
    /// Waker of the caller's task.
    caller: Option<Waker>,
    /// Waker of the work.
    work: Option<Waker>,
    /// Whether the caller wants no further events.
    is_over: bool,
    /// Whether the caller has dropped the future.
    is_dropped: bool,
}

impl<E> Shared<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        // A poisoned lock is safe to use: no code that can panic runs while the state is changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> Teller<E> {
    /// Passes an event to the caller in place of the events that the caller has not seen yet.
    pub(crate) fn latest(&self, event: E) {
        let mut state = self.0.lock();
        if state.is_over {
            return;
        }
        state.events.clear();
        state.events.push(event);
        state.caller.take().into_iter().for_each(Waker::wake);
    }

    /// Passes an event to the caller, and waits until the caller has seen it.
    pub(crate) fn seen(&self, event: E) -> ControlFlow<()> {
        let told = {
            self.each(event)?;
            self.0.lock().told
        };
        let mut state = self.0.lock();
        while state.passed < told && !state.is_over {
            state = self.0.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Passes an event to the caller. Waits while too many events wait. Returns whether the caller wants further events.
    pub(crate) fn each(&self, event: E) -> ControlFlow<()> {
        let mut state = self.0.lock();
        while state.events.len() >= WAITING_MAX && !state.is_over {
            state = self.0.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            return ControlFlow::Break(());
        }
        state.events.push(event);
        state.told += 1;
        state.caller.take().into_iter().for_each(Waker::wake);
        ControlFlow::Continue(())
    }
}

/// Tells the work that its caller has dropped the future.
struct DropGuard<E>(Arc<Shared<E>>);

impl<E> Drop for DropGuard<E> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        (state.is_over, state.is_dropped) = (true, true);
        let work = state.work.take();
        drop(state);
        self.0.taken.notify_all();
        work.into_iter().for_each(Waker::wake);
    }
}

/// Runs a future on a thread of its own and waits for its result.
///
/// # Errors
/// Returns the errors of the work, and an error if the operating system provides no thread or the work panicked.
pub(crate) async fn apart<T: Send + 'static, F: Future<Output = Result<T, Error>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T, Error> {
    apart_with(&mut |()| ControlFlow::Continue(()), |_| work()).await
}

/// Runs a future on a thread of its own, and passes the events that it tells to `on_event` on the polling thread, until
/// that wants no more. If the returned future is dropped, the work ends where it next waits.
///
/// # Errors
/// See [`apart`].
pub(crate) async fn apart_with<E, T, F>(
    on_event: &mut (dyn FnMut(E) -> ControlFlow<()> + Send),
    work: impl FnOnce(Teller<E>) -> F + Send + 'static,
) -> Result<T, Error>
where
    E: Send + 'static,
    T: Send + 'static,
    F: Future<Output = Result<T, Error>>,
{
    let state = State {
        events: Vec::new(),
        told: 0,
        passed: 0,
        caller: None,
        work: None,
        is_over: false,
        is_dropped: false,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), taken: Condvar::new() });
    let (send, mut result) = oneshot::channel();
    let on_thread = Arc::clone(&shared);
    let started = thread::Builder::new().name("apart".to_owned()).spawn(move || {
        let done = block_on(async {
            let mut work = pin!(work(Teller(Arc::clone(&on_thread))));
            poll_fn(|context| {
                let mut state = on_thread.lock();
                if state.is_dropped {
                    return Poll::Ready(None);
                }
                state.work = Some(context.waker().clone());
                drop(state);
                work.as_mut().poll(context).map(Some)
            })
            .await
        });
        done.map(|done| send.send(done))
    });
    started.map_err(|error| Error::Internal(format!("could not start a thread: {error}")))?;
    let guard = DropGuard(Arc::clone(&shared));
    let done = poll_fn(|context| {
        let mut state = shared.lock();
        if state.is_over {
            state.events.clear();
        }
        let most = state.events.len().min(PER_POLL);
        let events: Vec<E> = state.events.drain(..most).collect();
        let is_more = !state.events.is_empty();
        state.caller = Some(context.waker().clone());
        drop(state);
        let passed = events.len() as u64;
        let is_over = events.into_iter().try_for_each(&mut *on_event).is_break();
        if passed > 0 {
            let mut state = shared.lock();
            state.passed += passed;
            state.is_over |= is_over;
            drop(state);
            shared.taken.notify_all();
        }
        if is_more && !is_over {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        std::pin::Pin::new(&mut result).poll(context)
    })
    .await;
    // The result came after all events: what was told before it is passed on first.
    let mut state = shared.lock();
    let (events, is_over) = (std::mem::take(&mut state.events), state.is_over);
    drop(state);
    if !is_over {
        let _ = events.into_iter().try_for_each(on_event);
    }
    drop(guard);
    done.map_err(|_| Error::Internal("a thread ended early".to_owned()))?
}

/// Runs work on a thread of its own, which waits while its progress is reported on the polling thread.
pub(crate) fn with_progress<'a, P: Send + 'static, T: Send + 'static>(
    progress: &'a mut (dyn FnMut(P) + Send),
    work: impl for<'p> FnOnce(&'p mut (dyn FnMut(P) + Send)) -> BoxFuture<'p, T> + Send + 'static,
) -> BoxFuture<'a, T> {
    Box::pin(async move {
        let mut on_progress = |latest| {
            progress(latest);
            ControlFlow::Continue(())
        };
        apart_with(
            &mut on_progress,
            |teller| async move { work(&mut |progress| _ = teller.seen(progress)).await },
        )
        .await
    })
}

/// Writer of work on another thread. What is written goes to the caller's writer, in pieces of [`PIECE`].
pub(crate) struct ToldWriter {
    teller: Teller<Vec<u8>>,
    piece: Vec<u8>,
}

/// Length of the pieces that are written at once, in bytes.
const PIECE: usize = 64 << 10;

impl Write for ToldWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.teller.each(std::mem::take(&mut self.piece)) {
            ControlFlow::Continue(()) => Ok(()),
            // The caller knows why.
            ControlFlow::Break(()) => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Runs a future on a thread of its own, and writes to `out` on the polling thread.
///
/// # Errors
/// See [`apart`]. An error of `out` takes the place of the error of the work.
pub(crate) async fn apart_writing<T, F>(
    out: &mut (dyn Write + Send),
    work: impl FnOnce(ToldWriter) -> F + Send + 'static,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<(T, ToldWriter), Error>>,
{
    let mut failed = None;
    let mut write = |piece: Vec<u8>| match out.write_all(&piece) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(write_error(&error));
            ControlFlow::Break(())
        }
    };
    let done = apart_with(&mut write, |teller| async move {
        let (done, mut out) = work(ToldWriter { teller, piece: Vec::new() }).await?;
        // A failure is the caller's: it is known there.
        let _ = out.flush();
        Ok(done)
    });
    let done = done.await;
    failed.map_or(done, Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn events_come_in_order_before_the_result() {
        let mut seen = Vec::new();
        let mut on_event = |event: u32| {
            seen.push(event);
            ControlFlow::Continue(())
        };
        let done = block_on(apart_with(&mut on_event, |teller| async move {
            (0..1_000).for_each(|event| assert!(teller.each(event).is_continue()));
            Ok(7)
        }));
        assert_eq!(done.unwrap(), 7);
        assert_eq!(seen, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_caller_that_has_enough_is_told_no_more() {
        let mut seen = 0;
        let mut on_event = |_: u32| {
            seen += 1;
            if seen < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let told = block_on(apart_with(&mut on_event, |teller| async move {
            Ok((0..100_000).take_while(|event| teller.each(*event).is_continue()).count())
        }));
        assert_eq!(seen, 10);
        assert!(told.unwrap() < 100_000);
    }

    #[test]
    fn of_progress_the_caller_sees_the_end() {
        let mut seen = Vec::new();
        let mut on_event = |event: u32| {
            seen.push(event);
            ControlFlow::Continue(())
        };
        let work = |teller: Teller<u32>| async move {
            (0..1_000).for_each(|event| teller.latest(event));
            Ok(())
        };
        block_on(apart_with(&mut on_event, work)).unwrap();
        assert_eq!(seen.last(), Some(&999));
    }

    #[test]
    fn work_ends_when_its_future_is_dropped_and_a_panic_is_an_error() {
        struct Dropped(Arc<AtomicBool>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let ended = Arc::new(AtomicBool::new(false));
        let held = Dropped(Arc::clone(&ended));
        let mut never = Box::pin(apart(move || async move {
            let _held = held;
            std::future::pending::<Result<(), Error>>().await
        }));
        let mut context = std::task::Context::from_waker(Waker::noop());
        assert!(never.as_mut().poll(&mut context).is_pending());
        drop(never);
        while !ended.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        let panicked = block_on(apart(|| async { panic!("on purpose") as Result<(), Error> }));
        assert!(matches!(panicked, Err(Error::Internal(_))));
    }
}
