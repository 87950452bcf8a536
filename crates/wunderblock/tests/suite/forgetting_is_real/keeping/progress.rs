//! Examinations beside the work of others.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use std::time::Duration;
use wunderblock_core::units::Seq;

#[test]
fn doctor_reports_nothing_that_is_only_work_in_progress() {
    let home = Home::new();
    let engine = open(&home.db(), "a");
    for id in ["s", "t"] {
        let texts = (0..40).map(|n| said(&format!("n{n}"), &format!("word{n} of {id}"))).collect();
        append(&engine, id, texts).unwrap();
    }
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
    let mut calls = 0;
    let mut look = |_| {
        calls += 1;
        // The list of sessions has been read, and the index has not: another process begins to rebuild it.
        if calls == 1 {
            let rebuild = "BEGIN; DELETE FROM index_segments; DELETE FROM index_blocks;
                UPDATE frontiers SET seq = 0, behind = 1 WHERE what > 0; COMMIT";
            rusqlite::Connection::open(home.db()).unwrap().execute_batch(rebuild).unwrap();
        }
    };
    let found = block_on(engine.ledger().doctor(&mut look)).unwrap();
    assert_eq!(found.problems, [], "{found:?}");
    assert!(calls > 3, "the first examination found something, so there was a second: {calls}");
}

#[test]
fn an_erasure_in_progress_is_a_note() {
    let home = Home::new();
    let engine = open(&home.db(), "a");
    append(&engine, "s", vec![said("1", "one"), said("2", "two")]).unwrap();
    let reader = rusqlite::Connection::open(home.db()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    let found = std::thread::scope(|scope| {
        let erasing = scope.spawn(|| block_on(engine.session_by_id(stream("s")).erase(Seq(2), Seq(2), None)));
        while !engine.ledger().is_waiting() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // The reader ends while the examination waits.
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(1_500));
            drop(reader);
        });
        let found = block_on(engine.ledger().doctor(&mut |_| {})).unwrap();
        erasing.join().unwrap().unwrap();
        found
    });
    assert_eq!(found.problems, [], "{found:?}");
    assert!(found.notes.iter().any(|note| note.text.contains("an erasure is in progress")), "{found:?}");
}
