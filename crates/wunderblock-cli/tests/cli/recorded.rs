//! Tests of ledgers in older formats, upgraded by a program that is killed during the upgrade.
//!
//! `WUNDERBLOCK_TEST_UPGRADES` is the number of upgraded copies (default 4); the program that upgrades each copy is
//! killed ten times. `WUNDERBLOCK_TEST_SEED` determines the moments of the kills.

use crate::crash::{Draw, setting};
use crate::desk::Desk;
use std::time::Duration;
use wunderblock::store::sqlite::Access;
use wunderblock::{Engine, block_on};
use wunderblock_testkit::recorded::{RECORDINGS, Recording, compare};

#[test]
fn an_upgrade_that_is_killed_loses_nothing() {
    let copies = setting("WUNDERBLOCK_TEST_UPGRADES", 4);
    let seed = setting("WUNDERBLOCK_TEST_SEED", 1);
    let mut draw = Draw(seed ^ 0x0f02);
    for (copy, recording) in (0..copies).zip(RECORDINGS.iter().cycle()) {
        let manifest = recording.manifest().unwrap();
        let desk = Desk::bare();
        let path = recording.unpack(desk.folder()).unwrap();
        for _ in 0..10 {
            // This command opens the ledger for writing and does nothing else.
            let mut child = desk.start(&["append", "nothing"]);
            drop(child.stdin.take());
            std::thread::sleep(Duration::from_micros(draw.below(40_000)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let access = if copy / 2 % 2 == 0 { Access::Write } else { Access::Read };
        if access == Access::Read {
            desk.run(&["append", "nothing"]).exits(0);
        }
        let open = |config| block_on(Engine::open_with(&path, access, config));
        let differences = compare(open, &manifest).unwrap();
        assert!(differences.is_empty(), "copy {copy} of seed {seed}: {differences:#?}");
        desk.run(&["sessions"]).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn a_ledger_of_an_older_format_that_cannot_be_written_is_refused_with_a_reason() {
    RECORDINGS.iter().for_each(is_refused_with_a_reason);
}

#[cfg(unix)]
fn is_refused_with_a_reason(recording: &Recording) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let desk = Desk::bare();
    let path = recording.unpack(desk.folder()).unwrap();
    let ledger = desk.path("ledger.db");
    if path != ledger {
        std::fs::rename(path, &ledger).unwrap();
    }
    desk.write("chat.jsonl", "{\"role\":\"user\",\"content\":\"hello\"}\n");
    let before = std::fs::read(&ledger).unwrap();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    let is_root = desk.folder().metadata().unwrap().uid() == 0;
    for (file, folder) in [(0o444, 0o755), (0o444, 0o555), (0o644, 0o555)] {
        mode(&ledger, file);
        mode(desk.folder(), folder);
        for args in [
            &["sessions"][..],
            &["show", "s"],
            &["context", "s"],
            &["context", "chat.jsonl"],
            &["read", "wb:0123456789abcdef"],
            &["grep", "x"],
            &["search", "x"],
            &["export", "s"],
            &["describe", "s"],
            &["doctor"],
        ] {
            let mut command = desk.command(args);
            if is_root {
                // For root, no file is read-only, so the program runs as another user.
                command.uid(65_534).gid(65_534);
            }
            let done = command.output().unwrap();
            let told = String::from_utf8(done.stderr).unwrap();
            if folder == 0o555 || is_root {
                assert_eq!(done.status.code(), Some(1), "{args:?}: {told}");
                let why = format!("the database has format {} and cannot be written", recording.format);
                assert!(told.contains(&why), "{args:?}: {told}");
                assert!(told.contains("upgrade it once"), "{args:?}: {told}");
            }
        }
    }
    mode(desk.folder(), 0o755);
    mode(&ledger, 0o644);
    assert!(std::fs::read(&ledger).unwrap() == before);
    desk.run(&["sessions"]).exits(0);
}
