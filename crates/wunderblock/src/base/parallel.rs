//! Parallel work on many items on all cores, with the results in order.

use crate::base::error::Error;
use futures_channel::oneshot;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::Duration;

/// Maximum worker threads. The work between two commits does not keep more threads than this busy.
const MOST: usize = 8;

/// Returns the number of threads that keep all cores busy.
pub(crate) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST)
}

type ThreadJob<T, R> = (T, oneshot::Sender<Result<R, Error>>);

/// Threads that process items while their owner does other work. The threads end when the pool is dropped.
pub(crate) struct Pool<T, R>(Sender<ThreadJob<T, R>>);

impl<T: Send + 'static, R: Send + 'static> Pool<T, R> {
    /// Starts a pool with the given number of threads, but at least one.
    ///
    /// # Errors
    /// Fails if the operating system provides no thread.
    pub(crate) fn new(
        threads: usize,
        work: impl Fn(T) -> Result<R, Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let (sender, jobs) = channel::<ThreadJob<T, R>>();
        let (jobs, work) = (Arc::new(Mutex::new(jobs)), Arc::new(work));
        for _ in 0..threads.max(1) {
            let (jobs, work) = (Arc::clone(&jobs), Arc::clone(&work));
            thread::Builder::new()
                .name("worker".to_owned())
                .spawn(move || {
                    while let Some((item, answer)) = next(&jobs) {
                        let _ = answer.send(work(item));
                    }
                })
                .map_err(|error| Error::Internal(format!("could not start a thread: {error}")))?;
        }
        Ok(Self(sender))
    }

    /// Passes an item to the threads, and returns a future for its result.
    pub(crate) fn give(&self, item: T) -> impl Future<Output = Result<R, Error>> + use<T, R> {
        let (answer, answered) = oneshot::channel();
        let _ = self.0.send((item, answer));
        async { answered.await.unwrap_or_else(|_| Err(ended())) }
    }
}

fn next<T>(jobs: &Mutex<Receiver<T>>) -> Option<T> {
    // One idle thread waits for a job, while the other idle threads wait for the lock.
    jobs.lock().ok().and_then(|jobs| jobs.recv().ok())
}

fn ended() -> Error {
    Error::Internal("a worker thread ended early".to_owned())
}

/// Maximum size in bytes of work that takes less time than the start of a thread.
const SMALL: usize = 64 << 10;

/// Processes items of a total size in bytes like [`map`], or one after the other if that is faster.
///
/// # Errors
/// Returns an error from `work`.
pub(crate) fn map_sized<T: Send, R: Send>(
    items: Vec<T>,
    size: usize,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    if size > SMALL { map(items, work) } else { items.into_iter().map(work).collect() }
}

/// Processes items on all cores. The results are in the order of the items.
///
/// # Errors
/// Returns an error from `work`. Items that have not been started when the error occurs are skipped.
pub(crate) fn map<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let workers = workers().min(items.len());
    if workers < 2 {
        return items.into_iter().map(work).collect();
    }
    let waiting = Mutex::new(items.into_iter().enumerate());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let run = || {
        let mut done = Vec::new();
        while let Some((place, item)) = next() {
            match work(item) {
                Ok(answer) => done.push((place, answer)),
                Err(error) => {
                    // Drain the queue, so that no thread starts a further item.
                    while next().is_some() {}
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(run)).collect();
        let mut done = run()?;
        for other in others {
            let more = other.join().map_err(|_| ended())?;
            done.append(&mut more?);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_unstable_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, answer)| answer).collect())
}

type Work = Box<dyn FnOnce() + Send>;

/// Threads for work that would block the caller's thread. The threads start when they are first needed and end with
/// the engine. Each thread keeps its cache of token counts from one task to the next.
#[derive(Default)]
pub(crate) struct Workers(Mutex<Option<Arc<Pool<Work, ()>>>>);

impl Workers {
    /// Runs work on one of the threads and waits for its result.
    ///
    /// # Errors
    /// Fails if the operating system provides no thread, or if the work panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.start(work)?.await
    }

    /// Starts work on one of the threads. The returned future gives the result, or an error if the work panicked.
    ///
    /// # Errors
    /// Fails if the operating system provides no thread.
    pub(crate) fn start<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
        &self,
        work: W,
    ) -> Result<impl Future<Output = Result<T, Error>> + Send + use<T, W>, Error> {
        let (send, receive) = oneshot::channel();
        let work: Work = Box::new(move || {
            // After a panic, the sender for the result is dropped; the caller sees an error, and the thread continues
            // with the next task.
            let done = panic::catch_unwind(AssertUnwindSafe(work));
            let _ = done.map(|done| send.send(done));
        });
        drop(self.pool()?.give(work));
        Ok(async { receive.await.map_err(|_| ended()) })
    }

    fn pool(&self) -> Result<Arc<Pool<Work, ()>>, Error> {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = &*pool {
            return Ok(Arc::clone(pool));
        }
        let threads = Pool::new(workers(), |work: Work| {
            work();
            Ok(())
        })?;
        Ok(Arc::clone(pool.insert(Arc::new(threads))))
    }
}

/// Runs work that may block for a long time on a separate thread, so that it does not occupy a worker.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let (send, receive) = oneshot::channel();
    let started = thread::Builder::new().name("worker".to_owned()).spawn(move || {
        let _ = send.send(work());
    });
    started.map_err(|error| Error::Internal(format!("could not start a thread: {error}")))?;
    receive.await.map_err(|_| Error::Internal("a thread ended early".to_owned()))
}

/// Polls a future on this thread until it is done. Unlike an executor, this also works inside of one.
pub(crate) fn wait_for<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// Waits for a time without keeping the polling thread.
pub(crate) async fn pause(time: Duration) -> Result<(), Error> {
    on_thread(move || thread::sleep(time)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order() {
        for many in [0, 1, 2, 1000] {
            let answers = map((0..many).collect(), |item: u64| Ok(item * 2)).unwrap();
            assert_eq!(answers, (0..many).map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn work_that_panics_is_an_error_and_the_next_is_done() {
        let workers = Workers::default();
        let run = |fails: bool| {
            futures_executor::block_on(workers.run(move || {
                assert!(!fails, "on purpose");
                7
            }))
        };
        for _ in 0..20 {
            assert!(matches!(run(true), Err(Error::Internal(_))));
            assert_eq!(run(false).unwrap(), 7);
        }
    }

    #[test]
    fn a_pool_answers_each_and_an_early_end_is_an_error() {
        let halve = |item: u64| {
            assert!(item != 13, "unlucky");
            if item.is_multiple_of(2) { Ok(item / 2) } else { Err(Error::Internal("odd".to_owned())) }
        };
        let pool = Pool::new(3, halve).unwrap();
        let given: Vec<_> = [4, 13, 5, 6].map(|item| pool.give(item)).into();
        let mut answers = given.into_iter().map(futures_executor::block_on);
        assert_eq!(answers.next().unwrap().unwrap(), 2);
        assert!(answers.next().unwrap().unwrap_err().to_string().contains("early"));
        assert!(answers.next().unwrap().unwrap_err().to_string().contains("odd"));
        assert_eq!(answers.next().unwrap().unwrap(), 3);
    }

    #[test]
    fn an_error_ends_it() {
        let refuse = |item| if item == 7 { Err(Error::Internal("seven".to_owned())) } else { Ok(item) };
        assert!(map((0..1000).collect(), refuse).unwrap_err().to_string().contains("seven"));
    }
}
