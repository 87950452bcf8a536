//! Leases of lanes under compaction. A lease expires by itself and is renewed while its holder works.
//!
//! A lease is not a lock: it only keeps two workers from writing the same summaries. The append alone decides whose
//! compaction is published.

use super::holder::{is_dead, new_holder};
use crate::base::error::Error;
use crate::ledger::session::Session;
use crate::limits;
use futures_channel::oneshot;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::Poll;
use std::thread::{self, Thread};
use std::time::Duration;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Millis;
use wunderblock_store::{Commit, Lease, Write, Written};

/// Time in milliseconds for which a worker holds a lane without renewing its lease.
const LEASE: i64 = limits::COMPACTION_LEASE;
/// Divisor of the lease time that gives the interval between renewals. At a quarter of the lease, a few renewals may
/// fail before the lease expires.
const RENEWALS: i64 = 4;
/// Interval between two checks of whether a renewal is due.
const PULSE: Duration = Duration::from_millis(250);

/// Claims or renews the lease of a lane. Returns the holder's name if another worker holds the lease.
async fn claim_lease(session: &Session, lane: &LaneId, holder: &str) -> Result<Option<String>, Error> {
    let (tenant, key, now) = (session.engine.tenant.no, lease_key(session, lane), session.engine.now());
    let until = Millis(now.0.saturating_add(LEASE));
    let mut writes = vec![Write::Claim { tenant, key: key.clone(), holder: holder.to_owned(), now, until }];
    let mut other = claim(session, writes.clone()).await?.filter(|lease| lease.holder != holder);
    if let Some(lease) = other.as_ref().filter(|lease| is_void(lease, now)) {
        writes.insert(0, Write::Release { tenant, key, holder: lease.holder.clone() });
        other = claim(session, writes).await?.filter(|lease| lease.holder != holder);
    }
    Ok(other.map(|lease| lease.holder))
}

/// Returns whether nobody renews a lease: its holder's process has ended, or it ends further in the future than any
/// lease, because a clock was wrong.
pub(crate) fn is_void(lease: &Lease, now: Millis) -> bool {
    lease.until.0.saturating_sub(now.0) > 2 * LEASE || is_dead(&lease.holder)
}

async fn claim(session: &Session, writes: Vec<Write>) -> Result<Option<Lease>, Error> {
    match session.engine.storage.commit(Commit::raw(writes)).await?.pop() {
        Some(Written::Claimed(lease)) => Ok(lease),
        _ => Ok(None),
    }
}

/// A lane that a driver holds.
pub(super) struct HeldLane {
    pub(super) lane: LaneId,
    pub(super) holder: String,
    /// Time of the latest renewal.
    renewed: Millis,
}

impl HeldLane {
    /// Claims a lane. Returns the name of another holder.
    pub(super) async fn claim(session: &Session, lane: LaneId) -> Result<Result<Self, String>, Error> {
        let holder = new_holder()?;
        let renewed = session.engine.now();
        Ok(match claim_lease(session, &lane, &holder).await? {
            Some(other) => Err(other),
            None => Ok(Self { lane, holder, renewed }),
        })
    }

    /// Renews the lease if that is due. A lost lease is not an error, because the first worker to publish wins.
    pub(super) async fn renew(&mut self, session: &Session) {
        let now = session.engine.now();
        if now.0.saturating_sub(self.renewed.0) >= LEASE / RENEWALS {
            // A failed renewal is retried later.
            if claim_lease(session, &self.lane, &self.holder).await.is_ok() {
                self.renewed = now;
            }
        }
    }

    /// Waits for work, and renews the lease until it is done, however long a summariser takes.
    pub(super) async fn wait<T>(&mut self, session: &Session, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        // Without a thread for the clock, the work continues and the lease may expire, which costs only duplicate work.
        let Some(heart) = Heart::start() else { return work.await };
        loop {
            let Some(mut beat) = heart.beat() else { return work.await };
            let done = poll_fn(|context| match work.as_mut().poll(context) {
                Poll::Ready(done) => Poll::Ready(Some(done)),
                Poll::Pending => Pin::new(&mut beat).poll(context).map(|_| None),
            });
            if let Some(done) = done.await {
                return done;
            }
            self.renew(session).await;
        }
    }

    /// Gives the lane back.
    pub(super) async fn release(self, session: &Session) -> Result<(), Error> {
        release_lease(session, &self.lane, &self.holder).await
    }
}

async fn release_lease(session: &Session, lane: &LaneId, holder: &str) -> Result<(), Error> {
    let (tenant, key) = (session.engine.tenant.no, lease_key(session, lane));
    let release = Write::Release { tenant, key, holder: holder.to_owned() };
    session.engine.storage.commit(Commit::raw(vec![release])).await?;
    Ok(())
}

pub(crate) fn lease_key(session: &Session, lane: &LaneId) -> String {
    format!("compact:{}:{lane}", session.engine.stream_handle(&session.id))
}

/// Thread that wakes its waiting task once per [`PULSE`]. This thread makes the lease independent of executors with
/// timers.
struct Heart {
    /// `None` once the thread must stop.
    ask: Option<mpsc::Sender<oneshot::Sender<()>>>,
    thread: Thread,
}

impl Heart {
    fn start() -> Option<Self> {
        let (ask, asked) = mpsc::channel::<oneshot::Sender<()>>();
        let beating = thread::Builder::new().name("lease".to_owned()).spawn(move || {
            for beat in asked {
                thread::park_timeout(PULSE);
                let _ = beat.send(());
            }
        });
        Some(Self { ask: Some(ask), thread: beating.ok()?.thread().clone() })
    }

    /// Returns a future that resolves at the next beat; `None` if the thread has ended.
    fn beat(&self) -> Option<oneshot::Receiver<()>> {
        let (beat, waits) = oneshot::channel();
        self.ask.as_ref()?.send(beat).ok()?;
        Some(waits)
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.ask = None;
        self.thread.unpark();
    }
}
