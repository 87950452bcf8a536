//! Work that records nothing, on a session that grows meanwhile.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wunderblock::store::{Answer, Answering, Commit, Query, Storage, Written};
use wunderblock::{CompactOptions, CompactionResult, Compactor, ContextOptions, Engine, Session};
use wunderblock_core::message::Message;
use wunderblock_testkit::memory::MemoryStorage;

/// A store to whose session another process appends a message before each query.
struct Growing {
    store: Arc<MemoryStorage>,
    other: Session,
    /// Number of messages that the other process still appends.
    left: AtomicU32,
}

impl Growing {
    fn grow(&self) {
        let less = |left: u32| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok() {
            let other = self.other.clone();
            // The executor of this thread is at work.
            let appended =
                std::thread::spawn(move || block_on(other.append(Message::user("one more"))).is_ok());
            assert!(appended.join().unwrap());
        }
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
    const GROWTH: u32 = 60;
    let store = Arc::new(MemoryStorage::new());
    let engine = |store: Arc<dyn Storage>| block_on(Engine::on(store, true, crate::scene::config())).unwrap();
    let other = engine(store.clone()).session_by_id(crate::scene::stream("s"));
    let said = |number: u32| Message::user(format!("Please fix src/part_{number}.rs. ").repeat(40));
    block_on(other.append((0..120).map(said).collect::<Vec<_>>())).unwrap();
    let growing = Arc::new(Growing { store, other: other.clone(), left: AtomicU32::new(0) });
    let session = engine(growing.clone()).session_by_id(other.id().clone());
    let policy = policy("extends = \"lossless\"\n[[step]]\ndo = \"summarise\"\nchunk = 4_000\nall = true\n");

    growing.left.store(GROWTH, Ordering::SeqCst);
    let compactor = Some(Compactor::new(Arc::clone(&policy)));
    let built = block_on(session.explain(&ContextOptions { compactor, ..window(16_000) })).unwrap();
    assert_eq!(growing.left.load(Ordering::SeqCst), 0);
    assert!(built.compacted.is_some(), "it would be compacted");

    growing.left.store(GROWTH, Ordering::SeqCst);
    let dry = CompactOptions { dry_run: true, ..by_hand(&policy, 16_000) };
    let done = block_on(session.compact(&dry)).unwrap();
    assert_eq!(growing.left.load(Ordering::SeqCst), 0);
    assert_eq!(done.outcome, CompactionResult::WouldCompact);

    let head = block_on(other.info()).unwrap().head;
    assert_eq!(head.0, u64::from(1 + 120 + 2 * GROWTH), "nothing else was recorded");
}
