//! Ledgers and backups that another program has changed or damaged.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use rusqlite::Connection;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{StoreError, codec};
use wunderblock::{Engine, Error, GrepOptions, Ledger, Restored, SearchOptions};
use wunderblock_core::units::Seq;
use wunderblock_testkit::recorded::RECORDINGS;

const SWALLOW: &str =
    "CREATE TRIGGER t BEFORE INSERT ON events WHEN NEW.seq % 2 = 0 BEGIN SELECT RAISE(IGNORE); END";

fn change(home: &Home, name: &str, sql: &str) {
    Connection::open(home.path(name)).unwrap().execute_batch(sql).unwrap();
}

fn filled(home: &Home) -> Engine {
    let engine = open(&home.db(), "a");
    append(&engine, "s", vec![said("1", "one"), said("2", &"long ".repeat(400))]).unwrap();
    engine
}

fn restore(home: &Home, replace: bool) -> Result<Restored, Error> {
    block_on(Ledger::restore(&home.path("copy.db"), &home.db(), replace, tenant("a")))
}

#[test]
fn what_a_foreign_trigger_would_drop_is_stored() {
    let home = Home::new();
    drop(filled(&home));
    change(&home, "ledger.db", SWALLOW);
    change(&home, "ledger.db", "CREATE TRIGGER b BEFORE INSERT ON blobs BEGIN SELECT RAISE(IGNORE); END");
    let engine = open(&home.db(), "a");
    let texts: Vec<_> = (0..6).map(|n| said(&format!("n{n}"), &format!("word{n} ").repeat(200))).collect();
    append(&engine, "s", texts).unwrap();
    let stored = exported(&engine, "s");
    assert!((0..6).all(|n| stored.contains(&format!("word{n} "))), "{stored}");
    let found = problems(&engine);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|one| one.contains("the trigger `") && one.contains("does not belong")));
}

/// Constraints work without triggers. An append that they drop is an error instead of an acknowledgement.
#[test]
fn what_a_foreign_constraint_drops_is_not_acknowledged() {
    let home = Home::new();
    drop(open(&home.db(), "a"));
    let db = Connection::open(home.db()).unwrap();
    let own = "PRIMARY KEY (tenant, stream, seq)";
    let forged = format!("{own}, UNIQUE (tenant, stream, at) ON CONFLICT IGNORE");
    let sql: String = db
        .query_row("SELECT group_concat(sql, ';') FROM sqlite_master WHERE tbl_name = 'events'", [], |row| {
            row.get(0)
        })
        .unwrap();
    db.execute_batch(&format!("DROP TABLE events; {}", sql.replace(own, &forged))).unwrap();
    drop(db);
    let engine = open(&home.db(), "a");
    let error = append(&engine, "s", vec![said("1", "one"), said("2", "two")]).unwrap_err().to_string();
    assert!(error.contains("a row was not stored"), "{error}");
    assert_eq!(exported(&engine, "s"), "", "all or none");
    let found = problems(&engine);
    assert!(found.iter().any(|one| one.contains("on conflict ignore")), "{found:?}");
}

#[test]
fn a_backup_with_a_foreign_schema_is_refused() {
    let cases = [
        (SWALLOW, "trigger `t`"),
        ("CREATE VIEW v AS SELECT * FROM events", "view `v`"),
        ("CREATE TABLE more (a); INSERT INTO more VALUES (1)", "table `more`"),
        ("DROP TABLE usage; CREATE VIEW usage AS SELECT 1 AS tenant", "usage"),
        ("DROP INDEX events_by_id", "index `events_by_id`"),
        ("DROP TABLE streams", "streams"),
    ];
    for (forge, named) in cases {
        let home = Home::new();
        block_on(filled(&home).ledger().backup(&home.path("copy.db"))).unwrap();
        change(&home, "copy.db", forge);
        let before = std::fs::read(home.db()).unwrap();
        let error = restore(&home, true).unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains(named), "{forge}: {error}");
        assert!(std::fs::read(home.db()).unwrap() == before, "{forge}");
        assert_eq!(home.names(), ["copy.db", "ledger.db"], "{forge}");
    }
}

#[test]
fn a_forged_backup_of_an_older_format_is_refused_and_a_sound_one_is_not() {
    for recording in &RECORDINGS {
        let home = Home::new();
        let path = recording.unpack(home.0.path()).unwrap();
        std::fs::rename(path, home.path("copy.db")).unwrap();
        restore(&home, true).unwrap_or_else(|error| panic!("format {}: {error}", recording.format));
        let found = problems(&open(&home.db(), "local"));
        assert!(!found.iter().any(|one| one.contains("schema")), "format {}: {found:?}", recording.format);
        change(&home, "copy.db", SWALLOW);
        let error = restore(&home, true).unwrap_err().to_string();
        assert!(error.contains("the trigger `t`"), "format {}: {error}", recording.format);
    }
}

#[test]
fn a_ledger_is_replaced_whichever_page_of_it_is_destroyed() {
    let home = Home::new();
    let engine = filled(&home);
    block_on(engine.ledger().backup(&home.path("copy.db"))).unwrap();
    block_on(engine.session_by_id(stream("s")).erase(Seq(2), Seq(2), None)).unwrap();
    drop(engine);
    let sound = std::fs::read(home.db()).unwrap();
    let pages = sound.len() / 8_192;
    for page in 0..pages {
        let mut damaged = sound.clone();
        damaged[page * 8_192..(page + 1) * 8_192].fill(if page % 2 == 0 { 0 } else { 0xa5 });
        std::fs::write(home.db(), damaged).unwrap();
        let done = restore(&home, true).unwrap_or_else(|error| panic!("page {page}: {error}"));
        let kept = done.kept.unwrap();
        let engine = open(&home.db(), "a");
        let now = exported(&engine, "s");
        assert!(now.contains("long"), "page {page}");
        assert!(
            done.erasures_unread || !now.contains("\"one\""),
            "page {page}: the erasure is lost in silence"
        );
        assert_eq!(problems(&engine), [""; 0], "page {page}");
        drop(engine);
        for name in home.names().iter().filter(|name| name.contains("before-restore")) {
            assert!(name.starts_with(kept.file_name().unwrap().to_str().unwrap()), "{name}");
            std::fs::remove_file(home.path(name)).unwrap();
        }
        assert_eq!(home.names(), ["copy.db", "ledger.db"], "page {page}");
    }
    assert!(pages > 20, "{pages}");
}

#[test]
fn an_altered_id_kind_or_time_is_noticed() {
    for sql in [
        "UPDATE events SET id = 'other' WHERE seq = 2",
        "UPDATE events SET at = at + 1 WHERE seq = 2",
        "UPDATE events SET kind = 'message.appendee' WHERE seq = 2",
    ] {
        let home = Home::new();
        drop(filled(&home));
        change(&home, "ledger.db", sql);
        let engine = open(&home.db(), "a");
        let mut out = Vec::new();
        let session = engine.session_by_id(stream("s"));
        let error = block_on(session.export(Seq(1), Seq(9), &mut out)).unwrap_err().to_string();
        assert!(error.contains("checksum differs"), "{sql}: {error}");
        let found = problems(&engine);
        assert!(found.iter().any(|one| one.contains("position 2")), "{sql}: {found:?}");
    }
}

/// The checksum of older rows covers payload and origin alone.
#[test]
fn a_row_with_an_older_checksum_is_valid() {
    let home = Home::new();
    drop(filled(&home));
    let db = Connection::open(home.db()).unwrap();
    let payload: Vec<u8> =
        db.query_row("SELECT payload FROM events WHERE seq = 2", [], |row| row.get(0)).unwrap();
    let older = codec::checksum(&[&payload]);
    assert_eq!(
        db.execute("UPDATE events SET checksum = ?1 WHERE seq = 2 AND checksum <> ?1", [older]).unwrap(),
        1
    );
    drop(db);
    let engine = open(&home.db(), "a");
    assert!(exported(&engine, "s").contains("one"));
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn altered_bodies_are_an_error_wherever_they_are_read() {
    let home = Home::new();
    drop(filled(&home));
    let db = Connection::open(home.db()).unwrap();
    let lie = codec::pack("a lie in place of it ".repeat(100).as_bytes());
    assert_eq!(db.execute("UPDATE blobs SET data = ?1", [lie]).unwrap(), 1);
    drop(db);
    let engine = open(&home.db(), "a");
    let mut found = Vec::new();
    let mut each = |one: wunderblock::Match| {
        found.push(one.text);
        std::ops::ControlFlow::Continue(())
    };
    for pattern in ["lie", "long"] {
        let error = block_on(engine.recall().grep(pattern, &GrepOptions::default(), &mut each))
            .unwrap_err()
            .to_string();
        assert!(error.contains("checksum differs"), "{pattern}: {error}");
        let error =
            block_on(engine.recall().search(pattern, &SearchOptions::default())).unwrap_err().to_string();
        assert!(error.contains("checksum differs"), "{pattern}: {error}");
    }
    assert_eq!(found, [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_ledger_with_a_second_name_is_read_and_not_written() {
    let home = Home::new();
    drop(filled(&home));
    std::fs::hard_link(home.db(), home.path("other.db")).unwrap();
    for name in ["ledger.db", "other.db"] {
        for access in [Access::Create, Access::Write, Access::Brief] {
            let error = block_on(Engine::open_with(home.path(name), access, tenant("a"))).unwrap_err();
            assert!(matches!(&error, Error::Store(StoreError::Linked { links: 2, .. })), "{error}");
            assert!(error.hint().is_some());
        }
        let engine = block_on(Engine::open_with(home.path(name), Access::Read, tenant("a"))).unwrap();
        assert!(exported(&engine, "s").contains("one"));
        let found = problems(&engine);
        assert!(found.len() == 1 && found[0].contains("2 names"), "{found:?}");
        block_on(engine.ledger().backup(&home.path(&format!("{name}.copy")))).unwrap();
    }
    std::fs::rename(home.path("ledger.db.copy"), home.path("copy.db")).unwrap();
    let before = std::fs::read(home.db()).unwrap();
    let error = restore(&home, true).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Linked { .. })), "{error}");
    assert!(std::fs::read(home.db()).unwrap() == before);
    std::fs::remove_file(home.path("other.db")).unwrap();
    restore(&home, true).unwrap();
    append(&open(&home.db(), "a"), "s", vec![said("3", "three")]).unwrap();
}

/// A creator that was killed leaves a second name, which the next writer removes.
#[cfg(unix)]
#[test]
fn a_name_that_a_creator_left_is_removed() {
    for link in [false, true] {
        let home = Home::new();
        drop(filled(&home));
        std::fs::hard_link(home.db(), home.path("ledger.db.creating-7")).unwrap();
        let path = if link { home.path("linked") } else { home.db() };
        if link {
            std::os::unix::fs::symlink(home.db(), &path).unwrap();
        }
        let engine = block_on(Engine::open_with(&path, Access::Write, tenant("a"))).unwrap();
        append(&engine, "s", vec![said("3", "three")]).unwrap();
        drop(engine);
        assert!(!home.path("ledger.db.creating-7").exists());
    }
}
