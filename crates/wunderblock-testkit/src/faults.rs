//! Faults between the engine and its store: slow answers, lost calls and lost answers.
//!
//! [`FaultyStorage`] wraps any [`Storage`]. A [`FaultPlan`] decides which calls fail, and counts the round trips. The
//! plan is shared, so a test can still change it after the store has moved into an engine.

use futures_channel::oneshot;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, thread};
use wunderblock_store::{Answer, Answering, Commit, Query, Storage, StoreError, Written};

/// One of the two methods of the storage port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortMethod {
    /// [`Storage::commit`].
    Commit,
    /// [`Storage::query`].
    Query,
}

/// Point in time at which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTime {
    /// Before the call reaches the store: nothing has been written or read.
    Before,
    /// After the store has done the work, but before the caller receives the answer.
    After,
}

/// Faults planned for a store, and counters of its round trips.
#[derive(Debug, Default)]
pub struct FaultPlan {
    commits: AtomicU64,
    queries: AtomicU64,
    latency_micros: AtomicU64,
    planned: Mutex<BTreeMap<(PortMethod, u64), (FaultTime, StoreError)>>,
}

impl FaultPlan {
    /// Number of round trips so far, including failed ones.
    #[must_use]
    pub fn trips(&self, call: PortMethod) -> u64 {
        self.counter(call).load(Ordering::SeqCst)
    }

    /// Sets the minimum duration of every later call. A separate thread sleeps, so polling the call does not block.
    pub fn set_latency(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency_micros.store(micros, Ordering::SeqCst);
    }

    /// Plans a failure of the `nth` call from now on; 1 is the next call. Each plan applies once, and a second plan
    /// for the same call replaces the first.
    pub fn fail(&self, call: PortMethod, nth: u64, when: FaultTime, error: StoreError) {
        let number = self.trips(call).saturating_add(nth);
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).insert((call, number), (when, error));
    }

    /// Removes all planned faults and the latency.
    pub fn clear(&self) {
        self.set_latency(Duration::ZERO);
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn counter(&self, call: PortMethod) -> &AtomicU64 {
        match call {
            PortMethod::Commit => &self.commits,
            PortMethod::Query => &self.queries,
        }
    }

    /// Counts a call, waits for the configured latency, and returns the fault planned for the call.
    async fn meet(&self, call: PortMethod) -> Option<(FaultTime, StoreError)> {
        let number = self.counter(call).fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let fate = self.planned.lock().unwrap_or_else(PoisonError::into_inner).remove(&(call, number));
        let latency = Duration::from_micros(self.latency_micros.load(Ordering::SeqCst));
        if !latency.is_zero() {
            let (wake, woken) = oneshot::channel();
            thread::spawn(move || {
                thread::sleep(latency);
                let _ = wake.send(());
            });
            let _ = woken.await;
        }
        fate
    }
}

/// A store whose calls can be slow or fail.
pub struct FaultyStorage<S: Storage + ?Sized> {
    faults: Arc<FaultPlan>,
    store: Arc<S>,
}

impl<S: Storage + ?Sized> FaultyStorage<S> {
    /// Wraps a store in an empty fault plan. Pass an `Arc<dyn Storage>` if the concrete type does not matter.
    #[must_use]
    pub fn new(store: Arc<S>) -> Self {
        Self { faults: Arc::default(), store }
    }

    /// The fault plan, which may be changed while the store is in use.
    #[must_use]
    pub fn faults(&self) -> Arc<FaultPlan> {
        Arc::clone(&self.faults)
    }
}

impl<S: Storage + ?Sized> fmt::Debug for FaultyStorage<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStorage").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl<S: Storage + ?Sized> Storage for FaultyStorage<S> {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        Box::pin(async move {
            match self.faults.meet(PortMethod::Commit).await {
                None => self.store.commit(commit).await,
                Some((FaultTime::Before, error)) => Err(error),
                Some((FaultTime::After, error)) => self.store.commit(commit).await.and(Err(error)),
            }
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        Box::pin(async move {
            match self.faults.meet(PortMethod::Query).await {
                None => self.store.query(queries).await,
                Some((FaultTime::Before, error)) => Err(error),
                Some((FaultTime::After, error)) => self.store.query(queries).await.and(Err(error)),
            }
        })
    }
}
