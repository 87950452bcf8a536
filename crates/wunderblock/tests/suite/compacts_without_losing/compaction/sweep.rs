//! Sweeps of a session that has never been compacted and is longer than any view: they proceed from the oldest end,
//! in linear time, and are resumed after interruptions.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Written};
use wunderblock::{CompactOptions, Compacted, CompactionResult, CompactionStage, Config, Engine, Session};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_testkit::memory::MemoryStorage;

/// A store that counts the data it returns.
struct Metered {
    store: MemoryStorage,
    /// Number of events in all answers.
    events: AtomicU64,
    /// Largest number of text bytes in one answer.
    largest: AtomicU64,
}

impl Storage for Metered {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.store.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        Box::pin(async move {
            let answers = self.store.query(queries).await?;
            let (mut events, mut bytes) = (0, 0);
            for answer in &answers {
                match answer {
                    Answer::Events(rows) => {
                        events += rows.len() as u64;
                        bytes += rows
                            .iter()
                            .filter_map(|row| row.payload.as_ref())
                            .map(|data| data.len() as u64)
                            .sum::<u64>();
                    }
                    Answer::Blobs(blobs) => {
                        bytes += blobs.iter().flatten().map(|blob| blob.data.len() as u64).sum::<u64>();
                    }
                    _ => {}
                }
            }
            self.events.fetch_add(events, Ordering::SeqCst);
            self.largest.fetch_max(bytes, Ordering::SeqCst);
            Ok(answers)
        })
    }
}

struct Cold {
    store: Arc<Metered>,
    engine: Engine,
    session: Session,
}

/// Creates a session of `events` events without any compaction.
fn cold(events: u64) -> Cold {
    let store = Arc::new(Metered {
        store: MemoryStorage::new(),
        events: AtomicU64::new(0),
        largest: AtomicU64::new(0),
    });
    let config = Config { clock: Arc::new(|| Millis(1_800_000_000_000)), ..Config::default() };
    let engine = block_on(Engine::on(store.clone(), true, config)).unwrap();
    let session = engine.session_by_id(stream("s"));
    for batch in 0..events / 500 {
        let said = |number: u64| {
            let (turn, part) = (number / 2, number % 2);
            let message = if part == 0 {
                Message::text(
                    Role::User,
                    format!("Please mend src/part_{turn}.rs, it fails with E{turn:05}."),
                )
            } else {
                Message::text(
                    Role::Assistant,
                    format!("I mended src/part_{turn}.rs: the sum was off by {turn}."),
                )
            };
            crate::scene::message(&format!("m{number}"), message)
        };
        let events: Vec<_> = (batch * 500..batch * 500 + 500).map(said).collect();
        block_on(session.append(events)).unwrap();
    }
    Cold { store, engine, session }
}

fn policy() -> Arc<Policy> {
    crate::compacts_without_losing::compaction::scene::policy(
        "extends = \"lossless\"\n[[step]]\ndo = \"summarise\"\nchunk = 4_000\nall = true\n[[step]]\ndo = \"condense\"\nleaves = 6\nnodes = 4\n[limits]\nsweep_nodes = 0\n[summary]\ntarget = 400\ncondensed = 500\n",
    )
}

impl Cold {
    fn compact(&self, options: &CompactOptions) -> Compacted {
        block_on(self.session.compact(options)).unwrap()
    }

    fn is_well(&self) {
        crate::scene::catch_up(&self.engine);
        assert_eq!(crate::scene::problems(&self.engine), [""; 0]);
    }

    /// Checks that every position of the session either is shown or is covered by exactly one summary of the view.
    /// Returns the number of summaries.
    fn is_covered(&self) -> usize {
        let steps = crate::scene::events(&self.session);
        let trim = steps
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Some(wunderblock_core::event::Fact::ViewTrimmed(step)) => Some(step.trim.clone()),
                _ => None,
            })
            .unwrap();
        let mut next = Seq(2);
        for placed in &trim.nodes {
            assert_eq!(placed.from, next, "no gap, nothing twice: {:?}", trim.nodes);
            next = placed.to.next();
        }
        assert_eq!(next, trim.drop_before, "up to the frontier");
        self.is_well();
        trim.nodes.len()
    }
}

fn swept(policy: &Arc<Policy>) -> CompactOptions {
    CompactOptions { sweep: true, ..by_hand(policy, 16_000) }
}

#[test]
fn a_cold_session_is_covered_in_linear_time_and_constant_memory() {
    let mut measured = Vec::new();
    for events in [5_000, 20_000] {
        let cold = cold(events);
        cold.store.events.store(0, Ordering::SeqCst);
        cold.store.largest.store(0, Ordering::SeqCst);
        let done = cold.compact(&swept(&policy()));
        assert_eq!(done.outcome, CompactionResult::Compacted);
        let read = cold.store.events.load(Ordering::SeqCst);
        let largest = cold.store.largest.load(Ordering::SeqCst);
        let shown = cold.is_covered();
        assert!(shown < 40, "{shown} summaries are shown");
        let leaves = done.nodes.iter().filter(|node| node.level == 0).count() as u64;
        measured.push((events, leaves, read, largest));
    }
    let [(_, few, little, small), (_, many, much, large)] = measured[..] else { panic!() };
    assert!(many <= few * 4, "leaves grow with the session: {measured:?}");
    assert!(much <= little * 5, "what is read grows with the session: {measured:?}");
    assert!(large <= small * 2, "what is held at a time does not: {measured:?}");
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    let cold = cold(8_000);
    let policy = policy();
    let mut through = Seq(0);
    for round in 0..3 {
        let (told, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let (count, at) = (Arc::clone(&told), Arc::clone(&last));
        let progress = move |stage: &CompactionStage| {
            let CompactionStage::Swept { through, .. } = stage else { return false };
            at.store(through.0, Ordering::SeqCst);
            count.fetch_add(1, Ordering::SeqCst) < 4
        };
        let done = cold.compact(&CompactOptions { progress: Some(Arc::new(progress)), ..swept(&policy) });
        assert_eq!(done.outcome, CompactionResult::Interrupted, "{round}");
        assert!(!done.nodes.is_empty(), "what was made stays");
        let at = Seq(last.load(Ordering::SeqCst));
        assert!(at > through, "round {round}: {at} after {through}");
        let made: Vec<_> = done.nodes.iter().map(|node| (node.level, node.from, node.to)).collect();
        assert!(done.nodes.iter().all(|node| node.to <= at), "round {round}, {through} to {at}: {made:?}");
        assert!(
            done.nodes.iter().filter(|node| node.level == 0).all(|node| node.from > through),
            "nothing twice"
        );
        through = at;
        cold.is_well();
    }
    assert_eq!(cold.compact(&swept(&policy)).outcome, CompactionResult::Compacted);
    cold.is_covered();
    let leaves: Vec<_> =
        block_on(cold.session.nodes(None)).unwrap().into_iter().filter(|node| node.level == 0).collect();
    assert!(leaves.windows(2).all(|two| two[0].to.next() == two[1].from), "one after the other, none twice");
}

/// C-23: a sweep makes no more summaries than its policy allows, leaves a consistent ledger, and the next sweep
/// continues.
#[test]
fn a_sweep_is_bounded_and_the_next_goes_on() {
    let cold = cold(8_000);
    let bounded = crate::compacts_without_losing::compaction::scene::policy(
        "extends = \"lossless\"\n[[step]]\ndo = \"summarise\"\nchunk = 4_000\nall = true\n[limits]\nsweep_nodes = 6\n[summary]\ntarget = 400\n",
    );
    let mut made = Vec::new();
    for round in 0..20 {
        let done = cold.compact(&swept(&bounded));
        let own = done.nodes.iter().filter(|node| node.level == 0).count();
        cold.is_well();
        made.push(own);
        if done.outcome != CompactionResult::Compacted {
            break;
        }
        assert!(round < 19, "it comes to an end: {made:?}");
    }
    assert!(made.len() > 3, "{made:?}");
    cold.is_covered();
}

/// Appends during a sweep only shift the positions at which the sweep publishes.
#[test]
fn a_session_may_grow_while_it_is_swept() {
    let cold = cold(6_000);
    let session = cold.session.clone();
    let told = AtomicUsize::new(0);
    let progress = move |stage: &CompactionStage| {
        if matches!(stage, CompactionStage::Swept { .. }) {
            let number = told.fetch_add(1, Ordering::SeqCst);
            let said = crate::scene::said(&format!("late{number}"), Role::User, "A word meanwhile.");
            let session = session.clone();
            // `block_on` cannot run again on this thread, where an executor is already running.
            std::thread::spawn(move || block_on(session.append(vec![said])).unwrap()).join().unwrap();
        }
        true
    };
    let done = cold.compact(&CompactOptions { progress: Some(Arc::new(progress)), ..swept(&policy()) });
    assert_eq!(done.outcome, CompactionResult::Compacted);
    cold.is_covered();
    let head = block_on(cold.session.info()).unwrap().head;
    assert!(
        block_on(cold.session.events(Seq(1), head, u64::from(u32::MAX), Bytes(1 << 40))).unwrap().len()
            > 6_000
    );
}
