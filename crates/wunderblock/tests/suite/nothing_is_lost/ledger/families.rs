//! Work for families of sessions: it grows with their records and branches, not with the product of both.

use crate::scene::*;
use futures_executor::block_on;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{Commit, Storage, StoreError, Write};
use wunderblock::{Along, Engine, Error};
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;
use wunderblock_testkit::faults::{FaultPlan, FaultyStorage, PortMethod};

fn counted(path: &Path) -> (Engine, Arc<FaultPlan>) {
    let store = Arc::new(Sqlite::open(path, Access::Create).unwrap());
    let write = Write::Tenant { name: "local".to_owned(), key: [7; 32] };
    block_on(store.commit(Commit::raw(vec![write]))).unwrap();
    let faulty = FaultyStorage::<dyn Storage>::new(store);
    let faults = faulty.faults();
    (block_on(Engine::on(Arc::new(faulty), true, config())).unwrap(), faults)
}

fn record(session: &str, id: &str, parent: Option<&str>, role: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |id| format!("\"{id}\""));
    format!(
        r#"{{"type":"{role}","uuid":"{id}","parentUuid":{parent},"sessionId":"{session}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"what {id} says, and no other"}}}}"#
    )
}

/// A file in which each branch forks from the branch before it: every answer is followed by a question that another
/// answer ignores.
fn comb(branches: usize) -> String {
    let mut file = record("comb", "record-of-the-root", None, "user") + "\n";
    let mut parent = "record-of-the-root".to_owned();
    for number in 0..branches {
        let (answer, question) = (format!("record-answer-{number}"), format!("record-question-{number}"));
        writeln!(file, "{}", record("comb", &answer, Some(&parent), "assistant")).unwrap();
        writeln!(file, "{}", record("comb", &question, Some(&answer), "user")).unwrap();
        parent = answer;
    }
    file
}

/// A file in which all branches fork from the first record.
fn star(branches: usize) -> String {
    let mut file = record("star", "record-of-the-root", None, "user") + "\n";
    for number in 0..=branches {
        let id = format!("record-answer-{number}");
        writeln!(file, "{}", record("star", &id, Some("record-of-the-root"), "assistant")).unwrap();
    }
    file
}

/// A file that repeats all records of the file with the number before under another name of the session, and adds one.
fn copy(number: usize) -> String {
    let id = |number: usize| format!("record-number-{number:04}");
    let session = format!("copy-{number:04}");
    let parent = |record: usize| record.checked_sub(1).map(id);
    (0..number + 2).map(|at| record(&session, &id(at), parent(at).as_deref(), "user") + "\n").collect()
}

/// Imports files into a new ledger. Returns the numbers of queries and commits.
fn trips(files: &[String]) -> (u64, u64) {
    let home = Home::new();
    let (engine, faults) = counted(&home.db());
    let before = (faults.trips(PortMethod::Query), faults.trips(PortMethod::Commit));
    for (number, file) in files.iter().enumerate() {
        import(&engine, &home.file(&format!("{number}.jsonl"), file));
    }
    (faults.trips(PortMethod::Query) - before.0, faults.trips(PortMethod::Commit) - before.1)
}

#[test]
fn an_import_takes_the_same_round_trips_for_each_branch() {
    // A fork needs the position at which it begins, so the records before it are stored first.
    let (few, many) = (trips(&[comb(50)]), trips(&[comb(100)]));
    assert!(many.0 - few.0 <= 50 && many.1 - few.1 <= 50, "a comb: {few:?} and {many:?}");
    let (few, many) = (trips(&[star(50)]), trips(&[star(100)]));
    assert!(many.0 - few.0 <= 50 && many.1 - few.1 <= 1, "a star: {few:?} and {many:?}");
}

#[test]
fn an_import_of_a_copy_takes_the_same_round_trips_however_many_copies_there_are() {
    let copies = |count: usize| (0..count).map(copy).collect::<Vec<_>>();
    let (few, many) = (trips(&copies(20)), trips(&copies(40)));
    let first = (few.0 / 20, few.1 / 20);
    let later = ((many.0 - few.0) / 20, (many.1 - few.1) / 20);
    assert!(later.0 <= first.0 + 1 && later.1 <= first.1 + 1, "{first:?} and {later:?} for each file");
}

#[test]
fn a_copy_may_repeat_more_records_than_are_looked_up_together() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("first.jsonl", copy(600)));
    let done = import(&engine, &home.file("second.jsonl", copy(601)));
    assert_eq!((done.appended, done.warnings.len()), (2, 0), "the fork, and one record: {done:?}");
    let child = block_on(session(&engine, "copy-0601").info()).unwrap();
    assert_eq!(child.fork, Some((stream("copy-0600"), Seq(603))));
    assert_eq!(transcript(&session(&engine, "copy-0601")).len(), 603);
}

#[test]
fn a_comb_is_stored_as_its_branches_and_erased_with_them() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.file("comb.jsonl", comb(60));
    let done = import(&engine, &path);
    let streams = block_on(engine.streams("", 1_000)).unwrap();
    // The last answer has no other beside it.
    assert_eq!(streams.len(), 60);
    let last = session(&engine, "comb~60");
    let words: Vec<String> = transcript(&last);
    let wanted = [
        "what record-of-the-root",
        "what record-answer-0 ",
        "what record-answer-58 ",
        "what record-question-59 ",
    ];
    assert_eq!(words.len(), 62);
    assert!(wanted.iter().all(|text| words.iter().any(|line| line.contains(text))), "{words:?}");
    assert!(!words.iter().any(|line| line.contains("record-question-58")), "{words:?}");
    // Records of any depth are known when they come again, from the file and from a live agent.
    let again = import(&engine, &home.file("copy.jsonl", comb(60)));
    assert_eq!((again.appended, again.sessions.len()), (0, done.sessions.len()), "{again:?}");
    for (id, seq) in [("record-of-the-root", 2), ("record-answer-3", 9), ("record-answer-58", 119)] {
        let taken = block_on(last.append(vec![said(id, Role::User, "something else")])).unwrap_err();
        let at = Seq(seq);
        assert!(
            matches!(&taken, Error::Store(StoreError::Conflict { seq, .. }) if *seq == at),
            "{id}: {taken:?}"
        );
    }
    assert!(append(&engine, "comb~60", vec![said("record-new", Role::User, "and no other")])[0] > 60);
    let erased = block_on(session(&engine, "comb").erase_all(None, Along::default())).unwrap();
    assert_eq!(erased.events, 123, "all messages, and what the opening says of the agent");
    let left = block_on(engine.streams("", 1_000)).unwrap();
    for info in left {
        let text = exported(&engine.session_by_id(info.id));
        assert!(!text.contains("and no other"), "{text}");
    }
}
