//! After an erasure, either no file contains the erased content, or the caller gets an error that reports remaining
//! content.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use wunderblock::store::StoreError;
use wunderblock::store::sqlite::UNSCRUBBED;
use wunderblock::{Engine, Error};
use wunderblock_core::units::Seq;

const MARK: &str = "Quarzvenediger7731";

/// Creates a ledger that contains the mark, and another connection that holds a read transaction.
fn held(home: &Home) -> (Engine, Connection) {
    let engine = open(&home.db(), "a");
    append(&engine, "s", vec![said("1", MARK), said("2", "what stays")]).unwrap();
    let reader = Connection::open(home.db()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    (engine, reader)
}

fn is_in(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        memchr::memmem::find(&bytes, text.as_bytes()).is_some()
    })
}

fn erase(engine: &Engine) -> Result<wunderblock::Erased, Error> {
    block_on(engine.session_by_id(stream("s")).erase(Seq(2), Seq(2), None))
}

#[test]
fn an_erasure_that_a_reader_keeps_from_ending_says_so_and_is_finished_later() {
    let home = Home::new();
    let (engine, reader) = held(&home);
    let begun = Instant::now();
    let waits = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            engine.ledger().is_waiting()
        });
        let error = erase(&engine).unwrap_err();
        assert!(
            matches!(&error, Error::Store(StoreError::Unscrubbed(log)) if log.ends_with("ledger.db-wal"))
        );
        assert_eq!(error.hint(), Some(wunderblock::Hint::FinishErasure));
        watching.join().unwrap()
    });
    assert!(waits && !engine.ledger().is_waiting());
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(9), "{took:?}");
    assert!(!exported(&engine, "s").contains(MARK), "it is erased all the same");
    assert!(is_in(home.0.path(), MARK), "and still in the files");
    assert!(problems(&engine).iter().any(|problem| problem.starts_with(UNSCRUBBED)));
    // Leak the engine as if its process had been killed. Closing the engine normally would wait once more.
    std::mem::forget(engine);
    // A writer that opens the ledger while the reader is active does not wait for the reader.
    let begun = Instant::now();
    let engine = open(&home.db(), "a");
    assert!(begun.elapsed() < took, "an erasure waits, others do not");
    assert!(problems(&engine).iter().any(|problem| problem.starts_with(UNSCRUBBED)));
    drop(reader);
    // A repair completes the erasure if nothing else does.
    let diagnosis = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    block_on(engine.ledger().repair(&diagnosis, &mut |_| {})).unwrap();
    assert_eq!(problems(&engine), [""; 0]);
    assert!(!is_in(home.0.path(), MARK));
}

#[test]
fn the_next_writer_finishes_it() {
    let home = Home::new();
    let (engine, reader) = held(&home);
    erase(&engine).unwrap_err();
    // Leak the engine as if its process had been killed. Closing the engine normally would try the erasure again.
    std::mem::forget(engine);
    drop(reader);
    let next = open(&home.db(), "a");
    assert_eq!(problems(&next), [""; 0]);
    assert!(!is_in(home.0.path(), MARK));
}

#[test]
fn a_reader_that_ends_in_time_is_waited_for() {
    let home = Home::new();
    let (engine, reader) = held(&home);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(1_500));
            drop(reader);
        });
        let begun = Instant::now();
        assert_eq!(erase(&engine).unwrap().events, 1);
        assert!(begun.elapsed() > Duration::from_secs(1));
    });
    assert!(!is_in(home.0.path(), MARK));
    assert_eq!(problems(&engine), [""; 0]);
}

/// Rows that move between pages leave copies in free bytes, which `secure_delete` does not reach.
#[test]
fn free_bytes_of_pages_keep_nothing_that_was_erased() {
    let mut draw = 7u64;
    let mut below = move |limit: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % limit
    };
    let home = Home::new();
    let engine = open(&home.db(), "a");
    let mark = |session: u64, number: u64| format!("mark-{session}-{number}-of");
    let mut heads = [0u64; 5];
    for _ in 0..600 {
        let session = below(5);
        let events = (0..10).map(|_| {
            heads[session as usize] += 1;
            let number = heads[session as usize];
            let rest = "x".repeat(20 + below(400) as usize);
            said(&format!("{number}"), &format!("{} {rest}", mark(session, number)))
        });
        append(&engine, &format!("s{session}"), events.collect()).unwrap();
    }
    let mut gone = BTreeSet::new();
    for _ in 0..20 {
        let session = below(5);
        let from = 1 + below(heads[session as usize]);
        let to = (from + below(80)).min(heads[session as usize]);
        // The first position is the session's opening.
        block_on(engine.session_by_id(stream(&format!("s{session}"))).erase(
            Seq(from + 1),
            Seq(to + 1),
            None,
        ))
        .unwrap();
        gone.extend((from..=to).map(|number| (session, number)));
    }
    assert!(gone.len() > 300);
    let mut bytes = std::fs::read(home.db()).unwrap();
    bytes.extend(std::fs::read(home.path("ledger.db-wal")).unwrap());
    let left = |(session, number): &&(u64, u64)| {
        memchr::memmem::find(&bytes, mark(*session, *number).as_bytes()).is_some()
    };
    let left: Vec<_> = gone.iter().filter(left).collect();
    assert!(left.is_empty(), "{} of {}: {left:?}", left.len(), gone.len());
    assert_eq!(problems(&engine), [""; 0]);
}
