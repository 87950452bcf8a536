//! Bad faults between the engine and its store: slow answers, lost calls, lost answers.
//!
//! [`FaultyStorage`] stands before any [`Storage`]. A [`FaultPlan`] tells it what goes wrong, and counts the round trips; it is
//! shared, so that a test keeps its hands on it after the store has gone into an engine.

use futures_channel::oneshot;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use wunderblock::store::{Answer, Answering, Query, Storage, StoreError, Write, Written};

/// Which of the port's two methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortMethod {
    /// [`Storage::commit`].
    Commit,
    /// [`Storage::query`].
    Query,
}

/// FaultTime a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTime {
    /// Before it reaches the store: nothing has happened.
    Before,
    /// After the store has done it, and before the caller learns: it has happened.
    After,
}

/// What goes wrong, and what has gone over the wire so far.
#[derive(Debug, Default)]
pub struct FaultPlan {
    commits: AtomicU64,
    queries: AtomicU64,
    latency_micros: AtomicU64,
    planned: Mutex<BTreeMap<(PortMethod, u64), (FaultTime, StoreError)>>,
}

impl FaultPlan {
    /// Round trips so far, failed ones included.
    #[must_use]
    pub fn trips(&self, call: PortMethod) -> u64 {
        self.counter(call).load(Ordering::SeqCst)
    }

    /// Every call from here on takes at least so long; a thread sleeps for it, whoever polls does not.
    pub fn set_latency(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency_micros.store(micros, Ordering::SeqCst);
    }

    /// The `nth` call from here on fails, the next one being the first. Each plan is used once; a second plan for the
    /// same call replaces the first.
    pub fn fail(&self, call: PortMethod, nth: u64, when: FaultTime, error: StoreError) {
        let number = self.trips(call).saturating_add(nth);
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).insert((call, number), (when, error));
    }

    /// Nothing more goes wrong, and nothing is slow.
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

    /// Counts a call, waits as long as it takes, and says what goes wrong with it.
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

/// A store behind bad faults.
pub struct FaultyStorage<S: Storage + ?Sized> {
    faults: Arc<FaultPlan>,
    store: Arc<S>,
}

impl<S: Storage + ?Sized> FaultyStorage<S> {
    /// Puts fair faults before a store. Give it an `Arc<dyn Storage>` where the kind of store does not matter.
    #[must_use]
    pub fn new(store: Arc<S>) -> Self {
        Self { faults: Arc::default(), store }
    }

    /// The faults, to be changed while the store is in use.
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
    fn commit(&self, writes: Vec<Write>) -> Answering<'_, Vec<Written>> {
        Box::pin(async move {
            match self.faults.meet(PortMethod::Commit).await {
                None => self.store.commit(writes).await,
                Some((FaultTime::Before, error)) => Err(error),
                Some((FaultTime::After, error)) => self.store.commit(writes).await.and(Err(error)),
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
