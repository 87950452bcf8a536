//! The ledger in memory keeps the promises of the storage port.

use proptest::prelude::*;
use wunderblock_store::{Answer, Answering, Commit, Query, Storage, Write, Written};
use wunderblock_testkit::conformance::{self, agree};
use wunderblock_testkit::memory::MemoryStorage;

#[test]
fn memory_passes_the_suite() {
    conformance::suite(&|| Box::new(MemoryStorage::new()) as Box<dyn Storage>);
}

proptest! {
    #[test]
    fn a_script_leads_to_one_ledger(script in proptest::collection::vec(any::<u64>(), 0..40)) {
        agree(&MemoryStorage::new(), &MemoryStorage::new(), &script);
    }
}

/// A store that ignores one kind of write but reports it as done.
struct Forgetful(MemoryStorage);

impl Storage for Forgetful {
    fn commit(&self, mut commit: Commit) -> Answering<'_, Vec<Written>> {
        let all = commit.writes.len();
        commit.writes.retain(|write| !matches!(write, Write::Counts { .. }));
        Box::pin(async move {
            let mut written = self.0.commit(commit).await?;
            written.resize(all, Written::Done);
            Ok(written)
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.0.query(queries)
    }
}

#[test]
fn the_suite_and_scripts_notice_what_is_forgotten() {
    let tried =
        std::panic::catch_unwind(|| conformance::suite(&|| Box::new(Forgetful(MemoryStorage::new()))));
    let said = tried.unwrap_err().downcast::<String>().unwrap();
    assert!(said.contains("counts_of_bodies") && !said.contains("a_fork_reads_through"), "{said}");
    // The script opens a stream, appends an event that contains a body, and counts the body.
    let script = [0, 0x0001_0004, 0x010c];
    let tried = std::panic::catch_unwind(|| {
        agree(&MemoryStorage::new(), &Forgetful(MemoryStorage::new()), &script);
    });
    assert!(tried.is_err());
    agree(&MemoryStorage::new(), &MemoryStorage::new(), &script);
}
