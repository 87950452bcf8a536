//! C-39: `doctor` reports damage to a compacted ledger, derived data is rebuilt, and a lane with damaged summaries
//! still has a request.

use crate::compacts_without_losing::compaction::scene::*;
use crate::scene::{self as words, Home};
use futures_executor::block_on;
use rusqlite::Connection;
use wunderblock::{CompactionResult, Engine};

const WINDOW: u64 = 32_000;

fn compacted(home: &Home) -> Engine {
    let engine = home.engine();
    for number in 0..24 {
        let messages = turn(number).into_iter().zip(0..);
        let events =
            messages.map(|(message, part)| words::message(&format!("m{number}.{part}"), message)).collect();
        words::append(&engine, "s", events);
    }
    let policy = policy("extends = \"always\"\n[summary]\ntarget = 500\nshare = 0.4\nat_least = 64\n");
    let done = block_on(engine.session_by_id(stream("s")).compact(&by_hand(&policy, WINDOW))).unwrap();
    assert_eq!(done.outcome, CompactionResult::Compacted);
    words::catch_up(&engine);
    assert_eq!(words::problems(&engine), [""; 0]);
    engine
}

/// The newest summary that the lane shows, and the blob of its text.
const NODE: &str = "SELECT max(seq) FROM events WHERE kind = 'session.compacted'";
const TEXT: &str =
    "SELECT blob FROM refs WHERE seq = (SELECT max(seq) FROM events WHERE kind = 'session.compacted')";

#[test]
fn each_damage_to_a_summary_is_named() {
    let damages = [
        (false, format!("DELETE FROM blobs WHERE blob = ({TEXT})")),
        (false, format!("UPDATE blobs SET data = substr(data, 1, length(data) / 2) WHERE blob = ({TEXT})")),
        (false, format!("UPDATE events SET payload = x'7b' WHERE seq = ({NODE})")),
        (false, format!("DELETE FROM events WHERE seq = ({NODE})")),
        (false, format!("DELETE FROM refs WHERE seq = ({NODE})")),
        (true, format!("UPDATE tallies SET tokens = tokens + 5 WHERE seq = ({NODE})")),
        (true, "DELETE FROM counts WHERE blob = (SELECT min(blob) FROM counts)".to_owned()),
    ];
    for (derived, damage) in damages {
        let home = Home::new();
        drop(compacted(&home));
        let db = Connection::open(home.db()).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        assert!(db.execute(&damage, []).unwrap() > 0, "{damage}");
        drop(db);
        let engine = home.engine();
        let found = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
        assert!(!found.problems.is_empty(), "{damage}");
        assert!(found.problems.iter().all(|problem| !derived || problem.derived), "{damage}: {found:?}");
        if derived {
            block_on(engine.maintenance().rebuild(&mut |_| {})).unwrap();
            words::catch_up(&engine);
            assert_eq!(words::problems(&engine), [""; 0], "{damage}");
        }
        // The result is never a panic, but either a request or an error that names the damage.
        match block_on(engine.session_by_id(stream("s")).context(window(WINDOW))) {
            Ok(built) => words::sound(&built),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn a_damaged_summary_can_be_undone_and_the_originals_are_there() {
    let home = Home::new();
    let engine = compacted(&home);
    let before = messages(&engine.session_by_id(stream("s")));
    drop(engine);
    let db = Connection::open(home.db()).unwrap();
    db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    assert!(db.execute(&format!("DELETE FROM blobs WHERE blob = ({TEXT})"), []).unwrap() > 0);
    drop(db);
    let engine = home.engine();
    let session = engine.session_by_id(stream("s"));
    block_on(session.lane(wunderblock_core::id::LaneId::main()).undo()).unwrap();
    let built = words::built(&session, &window(WINDOW));
    for (_, message) in &before {
        for text in message.parts.iter().flat_map(|part| part.bodies()).filter_map(|body| body.inline()) {
            if !text.starts_with('{') {
                assert!(Shown::of(&built.draft.body).says(text), "{text}");
            }
        }
    }
}
