//! Creating a ledger.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;
use wunderblock::store::StoreError;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::{Engine, Error};

fn refused(path: &Path, access: Access) -> StoreError {
    Sqlite::open(path, access).err().unwrap()
}

#[test]
fn a_created_ledger_is_one_file_that_is_whole() {
    let home = Home::new();
    drop(Sqlite::open(&home.db(), Access::Create).unwrap());
    assert_eq!(home.names(), ["ledger.db"]);
    let db = Connection::open(home.db()).unwrap();
    let mode: String = db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    let page: i64 = db.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    assert_eq!((mode.as_str(), page), ("wal", 8_192));
}

#[test]
fn a_file_without_content_is_missing_to_readers_and_completed_by_a_writer() {
    type Make = fn(&Path);
    let fresh: [(&str, Make); 3] = [
        ("empty", |path| std::fs::write(path, "").unwrap()),
        ("a header", |path| {
            let settings = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL";
            Connection::open(path).unwrap().execute_batch(settings).unwrap();
        }),
        ("another page size", |path| {
            Connection::open(path).unwrap().execute_batch("PRAGMA page_size = 4096; VACUUM").unwrap();
        }),
    ];
    for (name, make) in fresh {
        let home = Home::new();
        make(&home.db());
        for access in [Access::Read, Access::Write] {
            let error = refused(&home.db(), access);
            assert!(matches!(error, StoreError::Missing(_)), "{name}, {access:?}: {error:?}");
        }
        let engine = open(&home.db(), "a");
        append(&engine, "s", vec![said("1", "hello")]).unwrap();
        assert_eq!(problems(&engine), [""; 0], "{name}");
    }
}

#[test]
fn what_a_dead_creator_left_is_removed() {
    let home = Home::new();
    std::fs::write(home.path("ledger.db.creating-1"), "half of it").unwrap();
    drop(Sqlite::open(&home.db(), Access::Create).unwrap());
    assert_eq!(home.names(), ["ledger.db"]);
    // The creator was killed after linking the final name and before removing the temporary one.
    std::fs::hard_link(home.db(), home.path("ledger.db.creating-2")).unwrap();
    drop(Sqlite::open(&home.db(), Access::Create).unwrap());
    assert_eq!(home.names(), ["ledger.db"]);
}

#[test]
fn no_empty_ledger_hides_what_a_restore_left() {
    for name in ["ledger.db.restoring", "ledger.db.before-restore-12"] {
        let home = Home::new();
        std::fs::write(home.path(name), "a ledger").unwrap();
        for blank in [false, true] {
            if blank {
                std::fs::write(home.db(), "").unwrap();
            }
            for access in [Access::Read, Access::Write, Access::Create] {
                let error = refused(&home.db(), access);
                let StoreError::Unrestored { traces, .. } = &error else { panic!("{access:?}: {error:?}") };
                assert_eq!(traces, name);
            }
        }
        assert_eq!(std::fs::metadata(home.db()).unwrap().len(), 0);
        std::fs::rename(home.path(name), home.path("moved")).unwrap();
        drop(Sqlite::open(&home.db(), Access::Create).unwrap());
    }
    let home = Home::new();
    std::fs::write(home.path("ledger.db.before-restore-x"), "something else").unwrap();
    drop(Sqlite::open(&home.db(), Access::Create).unwrap());
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_and_doctor_says_where_not() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let engine = open(&home.db(), "a");
    append(&engine, "s", vec![said("1", "hello")]).unwrap();
    let files = ["ledger.db", "ledger.db-wal", "ledger.db-shm", "copy.db"];
    block_on(engine.ledger().backup(&home.path("copy.db"))).unwrap();
    for name in files {
        assert_eq!(mode(&home.path(name)), 0o600, "{name}");
    }
    assert_eq!(problems(&engine), [""; 0]);
    for name in ["ledger.db", "ledger.db-wal"] {
        std::fs::set_permissions(home.path(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    let diagnosis = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    assert_eq!(diagnosis.problems.len(), 2, "{:?}", diagnosis.problems);
    assert!(diagnosis.problems.iter().all(|problem| problem.derived && problem.detail.contains("0644")));
    block_on(engine.ledger().repair(&diagnosis, &mut |_| {})).unwrap();
    assert_eq!(problems(&engine), [""; 0]);
    assert_eq!(mode(&home.db()), 0o600);
}

#[test]
fn the_log_of_an_idle_ledger_is_empty() {
    let home = Home::new();
    let log = || std::fs::metadata(home.path("ledger.db-wal")).map_or(0, |meta| meta.len());
    let engine = open(&home.db(), "a");
    append(&engine, "s", vec![said("1", "hello")]).unwrap();
    assert!(log() > 0);
    std::thread::sleep(Duration::from_millis(6_000));
    assert_eq!(log(), 0, "while it is open");
    append(&engine, "s", vec![said("2", "again")]).unwrap();
    assert!(log() > 0);
    // Another process keeps the file open without reading.
    let other = Connection::open(home.db()).unwrap();
    let _: i64 = other.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    drop(engine);
    assert_eq!(log(), 0, "when it is closed");
    let engine = block_on(Engine::open_with(home.db(), Access::Read, tenant("a"))).unwrap();
    assert!(exported(&engine, "s").contains("again"));
}

/// Unix lets a process go on in a file that nobody can find. What it acknowledged there would be lost.
#[cfg(unix)]
#[test]
fn nothing_is_acknowledged_into_a_file_that_is_no_longer_at_its_path() {
    type Lose = fn(&Home);
    let ways: [(&str, Lose); 3] = [
        ("removed", |home| {
            for name in home.names() {
                std::fs::remove_file(home.path(&name)).unwrap();
            }
        }),
        ("moved", |home| std::fs::rename(home.db(), home.path("elsewhere.db")).unwrap()),
        ("replaced", |home| {
            std::fs::rename(home.db(), home.path("elsewhere.db")).unwrap();
            std::fs::copy(home.path("elsewhere.db"), home.db()).unwrap();
        }),
    ];
    for (way, lose) in ways {
        let home = Home::new();
        let engine = open(&home.db(), "a");
        append(&engine, "s", vec![said("1", "hello")]).unwrap();
        lose(&home);
        let written = append(&engine, "s", vec![said("2", "lost")]).map(drop).unwrap_err();
        let read = block_on(engine.streams("", 9)).unwrap_err();
        for error in [written, read] {
            let is_told = match way {
                "replaced" => matches!(error, Error::Store(StoreError::Replaced)),
                _ => matches!(error, Error::Store(StoreError::Missing(_))),
            };
            assert!(is_told, "{way}: {error:?}");
        }
        if way == "moved" {
            std::fs::rename(home.path("elsewhere.db"), home.db()).unwrap();
            append(&engine, "s", vec![said("2", "found")]).unwrap();
            assert_eq!(problems(&engine), [""; 0]);
        }
    }
}

/// The target may be on a disk that is not mounted: an empty ledger in its place would hide it.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_named_and_a_pipe_is_not_waited_for() {
    let home = Home::new();
    std::os::unix::fs::symlink(home.path("disk/ledger.db"), home.db()).unwrap();
    let pipe = home.path("pipe.db");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for access in [Access::Read, Access::Write, Access::Create, Access::Brief] {
        let error = refused(&home.db(), access);
        assert!(matches!(error, StoreError::BrokenLink { .. }), "{access:?}: {error:?}");
        assert!(error.to_string().contains("disk/ledger.db"), "{error}");
        for path in [&pipe, Path::new("/dev/null")] {
            let error = refused(path, access);
            assert!(matches!(error, StoreError::Foreign(_)), "{access:?}: {error:?}");
        }
    }
    assert_eq!(home.names(), ["ledger.db", "pipe.db"]);
    std::fs::create_dir(home.path("disk")).unwrap();
    drop(open(&home.path("disk/ledger.db"), "a"));
    append(&open(&home.db(), "a"), "s", vec![said("1", "hello")]).unwrap();
}
