//! Restoring a backup over a ledger.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use wunderblock::store::StoreError;
use wunderblock::store::sqlite::FORMAT;
use wunderblock::{Engine, Error, ErrorKind, Ledger, Restored};
use wunderblock_core::units::Seq;

const SECRET: &str = "TOPSECRET-in-B";

fn restore(home: &Home) -> Result<Restored, Error> {
    block_on(Ledger::restore(&home.path("copy.db"), &home.db(), true, tenant("a")))
}

/// Creates a ledger of two tenants and a backup of it.
fn two(home: &Home) -> (Engine, Engine) {
    let (a, b) = (open(&home.db(), "a"), open(&home.db(), "b"));
    append(&a, "s", vec![said("1", "first")]).unwrap();
    append(&b, "s", vec![said("1", SECRET), said("2", "stays")]).unwrap();
    block_on(a.ledger().backup(&home.path("copy.db"))).unwrap();
    (a, b)
}

#[test]
fn every_tenants_erasures_are_repeated() {
    let home = Home::new();
    let (a, b) = two(&home);
    append(&a, "s", vec![said("2", "since then")]).unwrap();
    block_on(b.session_by_id(stream("s")).erase(Seq(2), Seq(2), None)).unwrap();
    drop((a, b));
    let done = restore(&home).unwrap();
    assert_eq!((done.erased_again, done.erasures_unread), (1, false));
    let (a, b) = (open(&home.db(), "a"), open(&home.db(), "b"));
    let now = exported(&b, "s");
    assert!(!now.contains(SECRET) && now.contains("stays"), "{now}");
    assert!(!exported(&a, "s").contains("since then"));
    assert_eq!(problems(&a), [""; 0]);
    let kept = open(&done.kept.unwrap(), "a");
    assert!(exported(&kept, "s").contains("since then"));
    drop((a, b, kept));
    assert_eq!(home.names(), ["copy.db", "ledger.db", "ledger.db.before-restore-1"]);
}

#[test]
fn what_was_erased_stays_so_when_a_ledger_without_it_was_restored_in_between() {
    let home = Home::new();
    let before = open(&home.db(), "b");
    block_on(before.ledger().backup(&home.path("empty.db"))).unwrap();
    drop(before);
    let (_, b) = two(&home);
    block_on(b.session_by_id(stream("s")).erase(Seq(2), Seq(2), None)).unwrap();
    drop(b);
    block_on(Ledger::restore(&home.path("empty.db"), &home.db(), true, tenant("b"))).unwrap();
    assert_eq!(restore(&home).unwrap().erased_again, 1);
    let now = exported(&open(&home.db(), "b"), "s");
    assert!(!now.contains(SECRET) && now.contains("stays"), "{now}");
}

#[test]
fn records_that_made_no_event_stay_erased_as_well() {
    let home = Home::new();
    let engine = open(&home.db(), "b");
    block_on(engine.ledger().backup(&home.path("empty.db"))).unwrap();
    let said = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hello"}}"#;
    let title = format!(r#"{{"type":"ai-title","sessionId":"s","aiTitle":"{SECRET}"}}"#);
    let other = said.replace("\"s\"", "\"t\"").replace("\"u\"", "\"v\"");
    let path = home.path("s.jsonl");
    std::fs::write(&path, format!("{said}\n{title}\n{other}\n")).unwrap();
    block_on(engine.import(&path, None, &mut |_, _| {})).unwrap();
    block_on(engine.ledger().backup(&home.path("copy.db"))).unwrap();
    block_on(engine.session_by_id(stream("s")).erase_all(None, wunderblock::Along::default())).unwrap();
    drop(engine);
    block_on(Ledger::restore(&home.path("empty.db"), &home.db(), true, tenant("b"))).unwrap();
    restore(&home).unwrap();
    let mut original = Vec::new();
    let engine = open(&home.db(), "b");
    block_on(engine.session_by_id(stream("t")).export_original(None, &mut original)).unwrap();
    let original = String::from_utf8(original).unwrap();
    assert!(!original.contains(SECRET) && original.ends_with(&format!("{other}\n")), "{original}");
}

#[test]
fn who_has_it_open_hears_of_it_and_loses_nothing_that_was_acknowledged() {
    let home = Home::new();
    let (a, b) = two(&home);
    let stop = AtomicBool::new(false);
    let (acknowledged, error, done) = std::thread::scope(|scope| {
        let appending = scope.spawn(|| {
            for number in 2.. {
                match append(&b, "s", vec![said(&format!("n{number}"), "more")]) {
                    Ok(_) if stop.load(Ordering::Relaxed) && number > 100_000 => break,
                    Ok(_) => {}
                    Err(error) => return (number, error),
                }
            }
            panic!("nobody told it");
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        let done = restore(&home).unwrap();
        stop.store(true, Ordering::Relaxed);
        let (number, error) = appending.join().unwrap();
        (number, error, done)
    });
    assert!(matches!(error, Error::Store(StoreError::Replaced)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(acknowledged > 3, "{acknowledged}");
    for engine in [&a, &b] {
        let error = block_on(engine.streams("", 9)).unwrap_err();
        assert!(matches!(error, Error::Store(StoreError::Replaced)), "reading, too: {error}");
    }
    let kept = open(&done.kept.unwrap(), "b");
    let text = exported(&kept, "s");
    assert!((2..acknowledged).all(|number| text.contains(&format!("\"n{number}\""))));
    assert!(!text.contains(&format!("\"n{acknowledged}\"")), "what was refused is nowhere");
    let now = open(&home.db(), "b");
    assert!(exported(&now, "s").contains(SECRET) && !exported(&now, "s").contains("\"n2\""));
    assert_eq!(problems(&now), [""; 0]);
}

#[test]
fn a_backup_that_was_changed_is_refused_before_anything_is_replaced() {
    let table = [
        "UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'stays', 'lies!') AS BLOB)
         WHERE tenant = 2 AND seq = 3",
        "DELETE FROM events WHERE tenant = 2 AND seq = 3",
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 5",
    ];
    for damage in table {
        let home = Home::new();
        drop(two(&home));
        let before = std::fs::read(home.db()).unwrap();
        Connection::open(home.path("copy.db")).unwrap().execute_batch(damage).unwrap();
        let error = restore(&home).unwrap_err();
        match &error {
            Error::Store(StoreError::TooNew { found: 99, known: FORMAT }) if damage.contains("99") => {}
            Error::Store(StoreError::Foreign(_)) if damage.contains("application") => {}
            Error::Store(StoreError::Damaged(_)) => {}
            other => panic!("{damage}: {other}"),
        }
        assert!(std::fs::read(home.db()).unwrap() == before, "{damage}");
        assert_eq!(home.names(), ["copy.db", "ledger.db"], "{damage}");
    }
}

#[test]
fn a_corrupt_ledger_is_kept_beside_the_restored_one() {
    let home = Home::new();
    drop(two(&home));
    std::fs::write(home.db(), "what a broken disk left").unwrap();
    std::fs::write(home.path("ledger.db-wal"), "its log").unwrap();
    std::fs::write(home.path("ledger.db.before-restore-1"), "of an earlier restore").unwrap();
    let done = restore(&home).unwrap();
    assert!(done.erasures_unread);
    let kept = done.kept.unwrap();
    assert_eq!(kept, home.path("ledger.db.before-restore-2"));
    assert_eq!(std::fs::read(&kept).unwrap(), b"what a broken disk left");
    assert_eq!(std::fs::read(home.path("ledger.db.before-restore-2-wal")).unwrap(), b"its log");
    let engine = open(&home.db(), "b");
    assert!(exported(&engine, "s").contains(SECRET));
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn a_restore_where_nothing_is_and_over_what_another_one_left() {
    for blank in [false, true] {
        let home = Home::new();
        drop(two(&home));
        std::fs::remove_file(home.db()).unwrap();
        std::fs::copy(home.path("copy.db"), home.path("ledger.db.before-restore-1")).unwrap();
        std::fs::write(home.path("ledger.db.restoring"), "half of it").unwrap();
        if blank {
            std::fs::write(home.db(), "").unwrap();
        }
        let error =
            block_on(Ledger::restore(&home.path("ledger.db.restoring"), &home.db(), true, tenant("a")));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Usage);
        let from = home.path("ledger.db.before-restore-1");
        let done = block_on(Ledger::restore(&from, &home.db(), false, tenant("a"))).unwrap();
        assert_eq!(done, Restored::default());
        assert!(exported(&open(&home.db(), "b"), "s").contains(SECRET));
        assert_eq!(home.names(), ["copy.db", "ledger.db", "ledger.db.before-restore-1"]);
    }
}

#[test]
fn a_backup_takes_what_is_in_the_log_and_goes_where_nothing_is() {
    let home = Home::new();
    let (a, b) = two(&home);
    // A ledger in use, including its log, is a valid backup.
    let other = home.path("other.db");
    block_on(Ledger::restore(&home.db(), &other, false, tenant("a"))).unwrap();
    assert!(exported(&open(&other, "b"), "s").contains(SECRET));
    let error = block_on(a.ledger().backup(&home.path("copy.db"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    let error = block_on(Ledger::restore(&home.path("copy.db"), &home.db(), false, tenant("a"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    drop(b);
    // Reading a backup leaves no files beside it.
    std::fs::create_dir(home.path("shelf")).unwrap();
    std::fs::rename(home.path("copy.db"), home.path("shelf/copy.db")).unwrap();
    let read = block_on(Engine::open_with(
        home.path("shelf/copy.db"),
        wunderblock::store::sqlite::Access::Read,
        tenant("b"),
    ));
    assert!(exported(&read.unwrap(), "s").contains(SECRET));
    assert_eq!(std::fs::read_dir(home.path("shelf")).unwrap().count(), 1);
}

#[test]
fn doctor_examines_every_tenant() {
    let home = Home::new();
    let (a, b) = two(&home);
    let forge = "UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'stays', 'lies!') AS BLOB)
         WHERE tenant = 2 AND seq = 3";
    Connection::open(home.db()).unwrap().execute_batch(forge).unwrap();
    let all = block_on(a.ledger().doctor(&mut |_| {})).unwrap();
    assert_eq!(all.path.unwrap(), home.db());
    assert!(all.bytes > 8_192);
    assert_eq!((all.tenants.len(), all.sessions, all.events), (2, 2, 5));
    assert_eq!(all.problems.len(), 1);
    assert_eq!(all.problems[0].tenant.as_ref().unwrap().to_string(), "b");
    assert_eq!(block_on(a.maintenance().doctor(&mut |_| {})).unwrap().problems, []);
    assert_eq!(block_on(b.maintenance().doctor(&mut |_| {})).unwrap().problems.len(), 1);
}
