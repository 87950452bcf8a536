//! Who compacts a lane: a claim that ends by itself, and is renewed while its holder works.
//!
//! A courtesy, no lock: it keeps two workers from writing the same summaries. Whether one may be published, the append alone
//! decides.

use crate::engine::random;
use crate::error::Error;
use crate::limits;
use crate::session::Session;
use crate::store::{Write, Written};
use futures_channel::oneshot;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::Poll;
use std::thread::{self, Thread};
use std::time::Duration;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Millis;

/// How long a worker holds a lane without renewing, in milliseconds.
const LEASE: i64 = limits::COMPACTION_LEASE;
/// After this part of it, it is renewed, as a divisor: a quarter, so that a few tries may fail.
const RENEWALS: i64 = 4;
/// How often is looked whether it is time.
const PULSE: Duration = Duration::from_millis(250);

/// Takes the lease of a lane, or holds on to it longer. The answer is who has it, if it is somebody else's.
pub(super) async fn claim_lease(
    session: &Session,
    lane: &LaneId,
    holder: &str,
) -> Result<Option<String>, Error> {
    let now = session.engine.now();
    let claim = Write::Claim {
        tenant: session.engine.tenant.no,
        key: lease_key(session, lane),
        holder: holder.to_owned(),
        now,
        until: Millis(now.0.saturating_add(LEASE)),
    };
    match session.engine.storage.commit(vec![claim]).await?.pop() {
        Some(Written::Claimed(Some(lease))) if lease.holder != holder => Ok(Some(lease.holder)),
        _ => Ok(None),
    }
}

/// Does work and renews the lane's lease meanwhile, however long a summariser takes. A lease that is lost is lost: then
/// the first to publish has the lane.
pub(super) async fn while_holding<T>(
    session: &Session,
    lane: &LaneId,
    holder: &str,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    let Some(heart) = Heart::start() else { return work.await };
    let mut renewed = session.engine.now();
    loop {
        let Some(mut beat) = heart.beat() else { return work.await };
        let done = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Pin::new(&mut beat).poll(context).map(|_| None),
        });
        if let Some(done) = done.await {
            return done;
        }
        let now = session.engine.now();
        if now.0.saturating_sub(renewed.0) >= LEASE / RENEWALS {
            // What fails now may not fail at the next beat.
            if claim_lease(session, lane, holder).await.is_ok() {
                renewed = now;
            }
        }
    }
}

pub(super) async fn release_lease(session: &Session, lane: &LaneId, holder: &str) -> Result<(), Error> {
    let (tenant, key) = (session.engine.tenant.no, lease_key(session, lane));
    let release = Write::Release { tenant, key, holder: holder.to_owned() };
    session.engine.storage.commit(vec![release]).await?;
    Ok(())
}

pub(super) fn lease_key(session: &Session, lane: &LaneId) -> String {
    format!("compact:{}:{lane}", session.engine.stream_handle(&session.id))
}

/// A name no other worker has.
pub(super) fn new_holder() -> Result<String, Error> {
    let bytes: [u8; 8] = random()?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}

/// A thread that wakes whoever waits once in a [`PULSE`]: no executor is assumed that has a clock.
struct Heart {
    /// None when it is to stop.
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

    /// The next beat; none when there will be none.
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
