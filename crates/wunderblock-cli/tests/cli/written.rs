//! Files that a command writes: whole or as before, private, and never over a ledger or an imported file.

use crate::desk::Desk;
use std::fs::{read, read_to_string, write};
use std::path::Path;

const SESSION: &str = "7d1f";

/// Every command that writes a file, up to the name of the file.
fn writers() -> Vec<Vec<&'static str>> {
    let s = SESSION;
    vec![
        vec!["export", s, "-o"],
        vec!["export", s, "--original", "-o"],
        vec!["export", s, "--to", "anthropic", "-o"],
        vec!["export", s, "--to", "codex", "-o"],
        vec!["context", s, "--window", "8000", "--out"],
        vec!["replay", s, "-o"],
        vec!["explain", s, "--html"],
        vec!["compact", s, "--window", "4000", "--out"],
        vec!["simulate", s, "--policy", "balanced", "--svg"],
        vec!["agents", "context", "--session", s, "--goal", "look", "--mode", "fork", "--out"],
    ]
}

fn desk() -> Desk {
    let desk = Desk::with_session();
    desk.run(&["context", SESSION, "--window", "8000"]).exits(0);
    desk
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn no_command_writes_over_a_ledger() {
    let desk = desk();
    desk.run(&["backup", "copy.db"]).exits(0);
    desk.run(&["append", "other", "--db", "other.db"]).exits(0);
    std::fs::hard_link(desk.path("copy.db"), desk.path("second.db")).unwrap();
    std::os::unix::fs::symlink("ledger.db", desk.path("link")).unwrap();
    std::os::unix::fs::symlink("ledger.db-journal", desk.path("dangling")).unwrap();
    std::fs::create_dir(desk.path("sub")).unwrap();
    for writer in writers() {
        for to in [
            "ledger.db",
            "./sub/../ledger.db",
            "link",
            "dangling",
            "ledger.db-wal",
            "ledger.db-shm",
            "ledger.db-journal",
            "ledger.db.restoring",
            "ledger.db.before-restore-1",
            "copy.db",
            "second.db",
            "other.db",
            "other.db-journal",
        ] {
            let before = read(desk.path(to)).ok();
            let done = desk.run(&[&writer[..], &[to]].concat()).exits(3);
            assert!(
                done.err.contains("belongs to a ledger: nothing is written to it; name another file"),
                "{}",
                done.err
            );
            if !to.ends_with("-wal") && !to.ends_with("-shm") {
                assert!(read(desk.path(to)).ok() == before, "{writer:?} {to}");
            }
        }
    }
    desk.run(&["backup", "ledger.db-journal"]).exits(3);
    assert!(desk.run(&["doctor"]).exits(0).out.contains("all is well"));
}

#[test]
fn an_imported_file_keeps_its_bytes() {
    let desk = desk();
    let original = read(desk.path("session.jsonl")).unwrap();
    std::os::unix::fs::symlink("session.jsonl", desk.path("link.jsonl")).unwrap();
    for to in ["session.jsonl", "link.jsonl"] {
        for writer in writers() {
            let same = writer.contains(&"--original");
            let done = desk.run(&[&writer[..], &[to]].concat()).exits(if same { 0 } else { 3 });
            assert!(same || done.err.contains("was imported into the ledger"), "{}", done.err);
            assert!(read(desk.path("session.jsonl")).unwrap() == original, "{writer:?}");
        }
    }
    // Neither does a way below `/proc`, a descriptor, or another tenant.
    for way in ["/proc/self/cwd/session.jsonl", "/proc/thread-self/cwd/link.jsonl"] {
        desk.run(&["export", SESSION, "-o", way]).exits(3);
    }
    for way in ["/dev/fd/3", "/proc/self/fd/3", "/proc/thread-self/fd/3"] {
        let done = desk.shell(&format!("exec \"$WB\" export {SESSION} -o {way} 3>>session.jsonl")).exits(3);
        assert!(done.err.contains("was imported into the ledger"), "{}", done.err);
    }
    let message = "{\"role\":\"user\",\"content\":\"hello\"}";
    desk.feed(&["--tenant", "other", "append", "talk"], message).exits(0);
    desk.run(&["--tenant", "other", "export", "talk", "-o", "session.jsonl"]).exits(3);
    assert!(read(desk.path("session.jsonl")).unwrap() == original);
    // A folder named `fd` is like any other.
    std::fs::create_dir(desk.path("fd")).unwrap();
    desk.run(&["export", SESSION, "-o", "/proc/self/cwd/fd/3"]).exits(0);
    assert!(desk.path("fd/3").metadata().unwrap().is_file());
    let open = desk.shell(&format!("\"$WB\" export {SESSION} -o /dev/fd/3 3>>fd/3; wc -l <fd/3")).exits(0);
    assert_eq!(open.out.trim().parse::<usize>().unwrap() % 2, 0, "an open file is appended to");
    // The agent has written more since the import.
    let grown = [&original[..], b"{}\n"].concat();
    write(desk.path("session.jsonl"), &grown).unwrap();
    let done = desk.run(&["export", SESSION, "--original", "-o", "session.jsonl"]).exits(3);
    assert!(done.err.contains("its content would change"), "{}", done.err);
    assert!(read(desk.path("session.jsonl")).unwrap() == grown);
    // A hard link is another name: only that name gets the new content.
    std::fs::hard_link(desk.path("session.jsonl"), desk.path("name.jsonl")).unwrap();
    desk.run(&["export", SESSION, "-o", "name.jsonl"]).exits(0);
    assert!(read(desk.path("session.jsonl")).unwrap() == grown);
}

#[test]
fn a_command_that_fails_leaves_the_file_as_it_was() {
    let desk = desk();
    desk.feed(&["append", "live"], r#"{"role":"user","content":"hello"}"#).exits(0);
    write(desk.path("mine.txt"), "mine").unwrap();
    for arguments in [
        &["export", "live", "--original", "-o", "mine.txt"][..],
        &["export", SESSION, "--original", "--source", "9", "-o", "mine.txt"],
        &["context", SESSION, "--window", "10", "--out", "mine.txt"],
        &["replay", SESSION, "--at", "1", "-o", "mine.txt"],
        &["compact", SESSION, "--dissolve", "9999", "--out", "mine.txt"],
        &["simulate", SESSION, "--policy", "unknown", "--svg", "mine.txt"],
    ] {
        assert_ne!(desk.run(arguments).code, 0, "{arguments:?}");
        assert_eq!(read_to_string(desk.path("mine.txt")).unwrap(), "mine", "{arguments:?}");
        assert!(!files(&desk.path(".")).concat().contains(".wunderblock-"), "{arguments:?}");
    }
}

#[test]
fn outputs_are_private_and_existing_files_keep_their_mode() {
    use std::os::unix::fs::PermissionsExt;
    let desk = desk();
    let mode = |name: &str| desk.path(name).metadata().unwrap().permissions().mode() & 0o777;
    for (index, writer) in writers().into_iter().enumerate() {
        let name = format!("out-{index}");
        desk.run(&[&writer[..], &[&name]].concat());
        assert_eq!(mode(&name), 0o600, "{writer:?}");
        std::fs::set_permissions(desk.path(&name), PermissionsExt::from_mode(0o640)).unwrap();
        write(desk.path(&name), "old").unwrap();
        desk.run(&[&writer[..], &[&name]].concat());
        assert_eq!(mode(&name), 0o640, "{writer:?}");
        assert_ne!(read(desk.path(&name)).unwrap(), b"old", "{writer:?}");
    }
    assert!(files(&desk.path(".")).iter().all(|name| !name.starts_with(".wunderblock-")));
}

#[test]
fn links_pipes_devices_and_folders_are_what_they_are() {
    let desk = desk();
    let whole = desk.run(&["export", SESSION]).exits(0).out;
    std::os::unix::fs::symlink("new.jsonl", desk.path("link")).unwrap();
    desk.run(&["export", SESSION, "-o", "link"]).exits(0);
    assert!(desk.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(read_to_string(desk.path("new.jsonl")).unwrap(), whole);
    for stdout in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        assert_eq!(desk.run(&["export", SESSION, "-o", stdout]).exits(0).out, whole, "{stdout}");
    }
    desk.run(&["export", SESSION, "-o", "/dev/null"]).exits(0);
    let full = desk.run(&["export", SESSION, "-o", "/dev/full"]).exits(1);
    assert!(full.err.contains("No space left"), "{}", full.err);
    for folder in [".", "config", "missing/"] {
        let done = desk.run(&["export", SESSION, "-o", folder]).exits(1);
        assert!(done.err.contains("is a folder; name a file in it"), "{}", done.err);
    }
    let done = desk.run(&["export", SESSION, "-o", "missing/file"]).exits(1);
    assert!(done.err.contains("missing/file cannot be written: No such file"), "{}", done.err);
    // A pipe gets the bytes as they come.
    let pipe = desk.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn(move || read_to_string(pipe).unwrap());
    desk.run(&["export", SESSION, "-o", "pipe"]).exits(0);
    assert_eq!(reader.join().unwrap(), whole);
    assert!(!desk.path("pipe").metadata().unwrap().is_file());
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    let desk = desk();
    write(desk.path("old.jsonl"), "old").unwrap();
    let message = serde_json::json!({ "role": "user", "content": "0123456789".repeat(30_000) });
    desk.feed(&["append", "long"], &message.to_string()).exits(0);
    // The maximum size of a file acts like a full disk: 100 KiB.
    let done = desk.shell("ulimit -f 200; exec \"$WB\" export long -o old.jsonl").exits(1);
    assert!(done.err.contains("too large"), "{}", done.err);
    assert_eq!(read_to_string(desk.path("old.jsonl")).unwrap(), "old");
    assert!(files(&desk.path(".")).iter().all(|name| !name.starts_with(".wunderblock-")));
}
