//! Work that records nothing, on a session that grows meanwhile.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Written};
use wunderblock::{CompactOptions, CompactionResult, Compactor, ContextOptions, Engine, Session};
use wunderblock_core::message::Message;
use wunderblock_testkit::memory::MemoryStorage;

/// A store to whose session another process appends a message before one of the queries.
struct Growing {
    store: Arc<MemoryStorage>,
    other: Session,
    /// Number of queries until the session grows, and of those that were asked since.
    until: AtomicU32,
    asked: AtomicU32,
}

impl Growing {
    fn grow(&self) {
        if self.asked.fetch_add(1, Ordering::SeqCst) + 1 == self.until.load(Ordering::SeqCst) {
            let other = self.other.clone();
            // The executor of this thread is at work.
            let appended =
                std::thread::spawn(move || block_on(other.append(Message::user("one more"))).is_ok());
            assert!(appended.join().unwrap());
        }
    }

    /// Does work once on a session that does not grow, and then once for each of its queries, before which the session
    /// grows. Returns how often it grew.
    fn at_each_query(&self, work: impl Fn()) -> u32 {
        let run = |until: u32| {
            self.until.store(until, Ordering::SeqCst);
            self.asked.store(0, Ordering::SeqCst);
            work();
            self.asked.load(Ordering::SeqCst)
        };
        let queries = run(0);
        // What the engine has cached meanwhile is not asked again.
        (1..=queries).filter(|until| run(*until) >= *until).count() as u32
    }
}

impl Storage for Growing {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.store.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.grow();
        self.store.query(queries)
    }
}

#[test]
fn a_preview_of_a_session_that_grows_begins_again() {
    let store = Arc::new(MemoryStorage::new());
    let engine = |store: Arc<dyn Storage>| block_on(Engine::on(store, true, crate::scene::config())).unwrap();
    let other = engine(store.clone()).session_by_id(crate::scene::stream("s"));
    let said = |number: u32| Message::user(format!("Please fix src/part_{number}.rs. ").repeat(20));
    block_on(other.append((0..40).map(said).collect::<Vec<_>>())).unwrap();
    let (until, asked) = (AtomicU32::new(0), AtomicU32::new(0));
    let growing = Arc::new(Growing { store, other: other.clone(), until, asked });
    let session = engine(growing.clone()).session_by_id(other.id().clone());
    let policy = policy("extends = \"lossless\"\n[[step]]\ndo = \"summarise\"\nchunk = 1_000\nall = true\n");

    let explained = growing.at_each_query(|| {
        let compactor = Some(Compactor::new(Arc::clone(&policy)));
        let built = block_on(session.explain(&ContextOptions { compactor, ..window(4_000) })).unwrap();
        assert!(built.compacted.is_some(), "it would be compacted");
    });
    let previewed = growing.at_each_query(|| {
        let dry = CompactOptions { dry_run: true, ..by_hand(&policy, 4_000) };
        assert_eq!(block_on(session.compact(&dry)).unwrap().outcome, CompactionResult::WouldCompact);
    });
    assert!(explained > 3 && previewed > 3, "{explained}, {previewed}");
    let head = block_on(other.info()).unwrap().head;
    assert_eq!(head.0, u64::from(1 + 40 + explained + previewed), "nothing else was recorded");
}
