//! Attacks on the ledger's files: kills at any system call, other processes that read or write, another umask.

use crate::desk::{Desk, Done};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SECRET: &str = "Quarzvenediger7731";

fn line(id: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "role": "user", "content": text }))
}

/// Returns a random number (Sebastiano Vigna's splitmix64).
fn draw(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)) >> 20
}

/// Returns the names of the ledger's file, its log, and the files beside it.
fn files(desk: &Desk) -> Vec<String> {
    let entries = std::fs::read_dir(desk.folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("ledger.db")).collect();
    names.sort();
    names
}

/// Returns the names of the ledger's files without logs, because a command that only reads leaves an empty log.
fn ledgers(desk: &Desk) -> Vec<String> {
    files(desk).into_iter().filter(|name| !name.ends_with("-wal") && !name.ends_with("-shm")).collect()
}

#[test]
fn killed_while_it_is_created_there_is_nothing_or_a_ledger() {
    let begun = Instant::now();
    let whole = Desk::bare();
    whole.feed(&["append", "s"], &line("1", "hello")).exits(0);
    let takes = begun.elapsed().as_micros() as u64;
    let mut there = 0;
    for round in 0..30 {
        let desk = Desk::bare();
        let mut child = desk.start(&["append", "s"]);
        child.stdin.take().unwrap().write_all(line("1", "hello").as_bytes()).unwrap();
        std::thread::sleep(Duration::from_micros(draw(round) % takes));
        child.kill().unwrap();
        child.wait().unwrap();
        there += i32::from(desk.path("ledger.db").exists());
        let done = desk.run(&["sessions"]);
        assert!(done.code == 0 || done.err.contains("there is no database at"), "{}", done.err);
        desk.feed(&["append", "s"], &line("2", "again")).exits(0);
        desk.run(&["doctor"]).exits(0);
        assert_eq!(ledgers(&desk), ["ledger.db"]);
    }
    eprintln!("{there} of 30 kills came after the ledger was there");
}

#[cfg(unix)]
#[test]
fn whatever_the_umask_only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    for umask in ["000", "022", "777"] {
        let desk = Desk::bare();
        desk.write("line", line("1", "hello"));
        let script =
            format!("umask {umask}; $WB append s < line > /dev/null && $WB backup copy.db && $WB doctor");
        desk.shell(&script).exits(0);
        for name in ["ledger.db", "copy.db"] {
            let mode = desk.path(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name} under {umask}");
        }
    }
    let desk = Desk::with_session();
    std::fs::set_permissions(desk.path("ledger.db"), PermissionsExt::from_mode(0o640)).unwrap();
    let found = desk.run(&["doctor"]).exits(1);
    assert!(
        found.out.contains("only its owner can read the ledger") && found.out.contains("0640"),
        "{}",
        found.out
    );
    let done = desk.run(&["doctor", "--repair", "--json"]).exits(0).json();
    assert!(done["ok"] == true && done["repaired"].as_u64() > Some(0), "{done}");
    desk.run(&["doctor"]).exits(0);
}

#[test]
#[ignore = "waits for 16 s: .ci/full runs it, and so does --ignored"]
fn an_erasure_waits_for_a_reader_and_says_what_is_left() {
    let desk = Desk::bare();
    desk.feed(&["append", "s"], &(line("1", SECRET) + &line("2", "stays"))).exits(0);
    let reader = desk.sql();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    let done = desk.run(&["erase", "s", "--at", "2", "--yes", "--json"]).exits(1);
    assert!(done.err.contains("another process is reading the ledger: waiting up to 10 s"), "{}", done.err);
    let error = done.json();
    assert!(error["error"].as_str().unwrap().contains("ledger.db-wal"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("doctor --repair"), "{error}");
    let found = desk.run(&["doctor"]).exits(1);
    assert!(found.out.contains("nothing of erased content is left"), "{}", found.out);
    drop(reader);
    desk.feed(&["append", "s"], &line("3", "more")).exits(0);
    desk.run(&["doctor"]).exits(0);
    assert!(!anywhere(&desk, SECRET));
    // The erasure waits for a reader that ends in time, and then succeeds.
    desk.feed(&["append", "s"], &line("4", SECRET)).exits(0);
    let reader = desk.sql();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    let leaves = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(3));
        drop(reader);
    });
    let done = desk.run(&["erase", "s", "--yes"]).exits(0);
    leaves.join().unwrap();
    assert!(done.err.contains("waiting up to 10 s"), "{}", done.err);
    assert!(!anywhere(&desk, SECRET));
}

#[test]
fn an_import_says_that_it_waits_for_another_one() {
    let desk = Desk::bare();
    desk.write("chat.jsonl", "{\"role\":\"user\",\"content\":\"hello\"}\n");
    let done = desk.run(&["import", "chat.jsonl"]).exits(0);
    assert!(!done.err.contains("waiting"), "{}", done.err);
    for args in [&["import", "chat.jsonl"][..], &["context", "chat.jsonl"], &["import", "chat.jsonl", "-q"]] {
        let path = desk.path("chat.jsonl");
        let mut chat = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        chat.write_all(b"{\"role\":\"assistant\",\"content\":\"more\"}\n").unwrap();
        let claimed = "UPDATE source_revisions SET owner = 'another', until = ?1";
        desk.sql().execute(claimed, [i64::MAX]).unwrap();
        let held = std::fs::File::open(&path).unwrap();
        held.lock().unwrap();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1_500));
            drop(held);
        });
        let done = desk.run(args).exits(0);
        ends.join().unwrap();
        let told = done.err.matches("another process is importing chat.jsonl: waiting for it").count();
        assert_eq!(told, usize::from(!args.contains(&"-q")), "{args:?}: {}", done.err);
    }
}

fn anywhere(desk: &Desk, text: &str) -> bool {
    files(desk).iter().any(|name| desk.bytes(name).windows(text.len()).any(|bytes| bytes == text.as_bytes()))
}

#[test]
fn an_appender_beside_a_restore_loses_nothing_that_was_acknowledged() {
    let desk = Desk::bare();
    desk.feed(&["append", "s"], &line("old", "of the backup")).exits(0);
    desk.run(&["backup", "copy.db"]).exits(0);
    let mut child = desk.start(&["append", "s"]);
    let mut stdin = child.stdin.take().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let feeder = std::thread::spawn(move || {
        for number in 0..40 {
            stdin.write_all(line(&format!("m{number}"), "live").as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    std::thread::sleep(Duration::from_millis(800));
    let restored = desk.run(&["restore", "copy.db", "--replace"]).exits(0);
    assert!(restored.out.contains("the ledger that was there is now"), "{}", restored.out);
    feeder.join().unwrap();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let kept = desk.run(&["export", "s", "--db", "ledger.db.before-restore-1"]).exits(0).out;
    let now = desk.run(&["export", "s"]).exits(0).out;
    let is_in = |text: &str, id: &Value| text.contains(&format!("\"id\":{id}"));
    for answer in &answers {
        let stored = is_in(&kept, &answer["id"]) || is_in(&now, &answer["id"]);
        assert_eq!(stored, answer["status"] == "appended", "{answer}");
    }
    let refused = answers.iter().find(|answer| answer["status"] == "error").expect("it hears of it");
    assert!(refused["error"].as_str().unwrap().contains("replaced by a restore"), "{refused}");
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn doctor_examines_all_tenants_unless_one_is_named() {
    let desk = Desk::bare();
    desk.feed(&["append", "s", "--tenant", "A"], &line("1", "of A")).exits(0);
    desk.feed(&["append", "s", "--tenant", "B"], &line("1", "of B")).exits(0);
    desk.run(&["backup", "copy.db"]).exits(0);
    let forge = "UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'of B', 'of C') AS BLOB)
         WHERE kind = 'message.appended'";
    for name in ["ledger.db", "copy.db"] {
        rusqlite::Connection::open(desk.path(name)).unwrap().execute_batch(forge).unwrap();
    }
    let all = desk.run(&["doctor", "--json"]).exits(1).json();
    assert_eq!(all["tenants"], serde_json::json!(["A", "B"]));
    assert_eq!((&all["sessions"], &all["problems"][0]["tenant"]), (&Value::from(2), &Value::from("B")));
    assert!(all["path"].as_str().unwrap().ends_with("ledger.db") && all["bytes"].as_u64() > Some(8_192));
    assert!(desk.run(&["doctor"]).exits(1).out.contains("tenant `B`: "));
    desk.run(&["doctor", "--tenant", "A"]).exits(0);
    desk.run(&["doctor", "--tenant", "B"]).exits(1);
    let refused = desk.run(&["restore", "copy.db", "--db", "new.db"]).exits(1);
    assert!(refused.err.contains("is not what was written"), "{}", refused.err);
    assert!(!desk.path("new.db").exists());
}

/// Runs the program under strace, which kills it at the n-th of these system calls. Returns whether the program
/// survived.
fn lives(desk: &Desk, calls: &str, nth: u32, command: &str) -> bool {
    let inject = format!("-e trace={calls} -e inject={calls}:signal=SIGKILL:when={nth}");
    let done = desk.shell(&format!("strace -f -qq -o strace.log {inject} $WB {command}"));
    assert!(!done.err.contains("panicked"), "{}", done.err);
    done.code == 0
}

fn has_strace() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    let works = strace.status().is_ok_and(|status| status.success());
    if !works {
        eprintln!("SKIPPED: strace is not at hand, so nothing was killed at its system calls");
    }
    works
}

/// System calls that change names, and those that make data durable.
const NAMES: &str = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,fsync,fdatasync,ftruncate";
/// System calls that change content.
const CONTENT: &str = "pwrite64,write";

/// Kills a command at calls that change names or content, and checks what is left. With `WUNDERBLOCK_TEST_KILLS` set,
/// kills the command at every call; otherwise, kills it at the first calls and after that at growing intervals.
fn killed_everywhere(command: &str, prepare: impl Fn() -> Desk, look: impl Fn(&Desk, &str)) {
    let mut kills = 0;
    let all = std::env::var_os("WUNDERBLOCK_TEST_KILLS").is_some();
    for (calls, part) in [(NAMES, 3), (CONTENT, 1)] {
        let mut nth = 1;
        loop {
            let desk = prepare();
            let lived = lives(&desk, calls, nth, command);
            look(&desk, &format!("{command}, killed at {calls} {nth}"));
            if lived {
                break;
            }
            kills += 1;
            nth += if all { 1 } else { 1 + nth / part };
        }
    }
    assert!(kills > 5, "{command}: {kills} kills");
    eprintln!("{command}: {kills} kills");
}

fn sound(desk: &Desk, when: &str) {
    let done: Done = desk.run(&["doctor", "--json"]);
    let report = done.json();
    let problems =
        report["problems"].as_array().unwrap_or_else(|| panic!("{when}: {}{}", done.out, done.err));
    assert!(problems.iter().all(|problem| problem["derived"] == true), "{when}: {report}");
}

#[test]
fn killed_at_a_system_call_of_creation() {
    if !has_strace() {
        return;
    }
    let prepare = || {
        let desk = Desk::bare();
        desk.write("line", line("1", "hello"));
        desk
    };
    killed_everywhere("append s < line", prepare, |desk, when| {
        let done = desk.run(&["sessions"]);
        assert!(done.code == 0 || done.err.contains("there is no database at"), "{when}: {}", done.err);
        desk.feed(&["append", "s"], &line("2", "again")).exits(0);
        sound(desk, when);
        assert_eq!(ledgers(desk), ["ledger.db"], "{when}");
    });
}

/// Prepares a ledger that has changed since its backup.
fn gone_on(desk: &Desk) {
    desk.feed(&["append", "s"], &(line("1", "of the backup") + &line("2", SECRET))).exits(0);
    desk.run(&["backup", "copy.db"]).exits(0);
    desk.feed(&["append", "s"], &line("3", "since then")).exits(0);
    desk.run(&["erase", "s", "--at", "3", "--yes"]).exits(0);
}

/// Returns whether a file beside the ledger has the secret.
fn holds_secret(desk: &Desk, name: &str) -> bool {
    let bytes = std::fs::read(desk.path(name)).unwrap();
    String::from_utf8_lossy(&bytes).contains(SECRET)
}

#[test]
fn an_erasure_names_copies_of_the_ledger_and_erases_there_if_asked() {
    let desk = Desk::bare();
    desk.feed(&["append", "s"], &(line("1", "of the backup") + &line("2", SECRET))).exits(0);
    desk.run(&["backup", "copy.db"]).exits(0);
    desk.run(&["backup", "moved.db"]).exits(0);
    std::fs::rename(desk.path("moved.db"), desk.path("elsewhere.db")).unwrap();
    desk.run(&["restore", "copy.db", "--replace"]).exits(0);
    // What a killed restore and a killed backup leave.
    std::fs::copy(desk.path("copy.db"), desk.path("ledger.db.restoring")).unwrap();
    std::fs::copy(desk.path("copy.db"), desk.path("ledger.db.restoring-journal")).unwrap();
    let done = desk.run(&["erase", "s", "--at", "3", "--yes"]).exits(0);
    let names = ["ledger.db.before-restore-1", "copy.db"];
    assert!(names.iter().all(|name| done.err.contains(name)), "{}", done.err);
    assert!(done.err.contains("2 copies") && done.err.contains("--with-kept"), "{}", done.err);
    assert!(names.iter().all(|name| holds_secret(&desk, name)));
    assert!(!desk.path("ledger.db.restoring").exists() && !desk.path("ledger.db.restoring-journal").exists());
    let done = desk.run(&["erase", "--text", SECRET, "--yes"]);
    assert_eq!(done.code, 1, "the ledger itself no longer has it");
    let old = "has content that was erased since";
    assert_eq!(desk.run(&["doctor"]).exits(0).out.matches(old).count(), 2);
    desk.run(&["erase", "s", "--at", "3", "--yes", "--with-kept"]).exits(0);
    assert!(!desk.run(&["doctor"]).exits(0).out.contains(old));
    assert!(!names.iter().any(|name| holds_secret(&desk, name)));
    assert!(!holds_secret(&desk, "ledger.db") && holds_secret(&desk, "elsewhere.db"));
    let done = desk.run(&["erase", "s", "--at", "3", "--yes", "--json"]).exits(0);
    assert!(done.out.contains(r#""files_left":[]"#), "{}", done.out);
    assert!(desk.run(&["--db", "copy.db", "export", "s"]).exits(0).out.contains("of the backup"));
}

#[test]
fn killed_at_a_system_call_of_a_restore() {
    if !has_strace() {
        return;
    }
    let prepare = || {
        let desk = Desk::bare();
        gone_on(&desk);
        desk
    };
    killed_everywhere("restore copy.db --replace", prepare, |desk, when| {
        let kept = desk.path("ledger.db.before-restore-1").exists();
        let now = desk.run(&["export", "s"]).exits(0).out;
        assert!(now.contains("of the backup") && !now.contains(SECRET), "{when}: {now}");
        assert!(now.contains("since then") || kept, "{when}: the old ledger or the new one");
        sound(desk, when);
        desk.feed(&["append", "s"], &line("9", "goes on")).exits(0);
        desk.run(&["restore", "copy.db", "--replace"]).exits(0);
        let left = ledgers(desk);
        assert!(left.iter().skip(1).all(|name| name.contains(".before-restore-")), "{when}: {left:?}");
    });
}

#[test]
fn killed_at_a_system_call_of_a_restore_over_something_broken() {
    if !has_strace() {
        return;
    }
    let prepare = || {
        let desk = Desk::bare();
        gone_on(&desk);
        desk.write("ledger.db", "what a broken disk left of it");
        desk
    };
    killed_everywhere("restore copy.db --replace", prepare, |desk, when| {
        let bytes = desk.bytes("ledger.db");
        let broken = bytes.starts_with(b"what a broken disk left");
        assert!(broken || desk.run(&["export", "s"]).exits(0).out.contains("of the backup"), "{when}");
        desk.run(&["restore", "copy.db", "--replace"]).exits(0);
        sound(desk, when);
    });
}

#[test]
fn killed_at_a_system_call_of_a_restore_where_nothing_is() {
    if !has_strace() {
        return;
    }
    let prepare = || {
        let desk = Desk::bare();
        gone_on(&desk);
        for name in files(&desk) {
            std::fs::remove_file(desk.path(&name)).unwrap();
        }
        desk
    };
    killed_everywhere("restore copy.db", prepare, |desk, when| {
        if !desk.path("ledger.db").exists() && desk.path("ledger.db.restoring").exists() {
            let done = desk.feed(&["append", "s"], &line("9", "nowhere")).exits(1);
            assert!(done.err.contains("ledger.db.restoring"), "{when}: {}", done.err);
            assert!(!Path::exists(&desk.path("ledger.db")), "{when}");
        }
        if !desk.path("ledger.db").exists() {
            desk.run(&["restore", "copy.db"]).exits(0);
        }
        assert!(desk.run(&["export", "s"]).exits(0).out.contains(SECRET), "{when}");
        sound(desk, when);
    });
}

#[test]
fn killed_at_a_system_call_of_an_erasure() {
    if !has_strace() {
        return;
    }
    let prepare = || {
        let desk = Desk::bare();
        desk.feed(&["append", "s"], &(line("1", "stays") + &line("2", SECRET))).exits(0);
        desk
    };
    killed_everywhere("erase s --at 3 --yes", prepare, |desk, when| {
        sound(desk, when);
        desk.run(&["doctor", "--repair"]).exits(0);
        let now = desk.run(&["export", "s"]).exits(0).out;
        assert!(now.contains("stays"), "{when}");
        assert_eq!(now.contains(SECRET), anywhere(desk, SECRET), "{when}");
    });
}

#[test]
fn a_text_is_shown_in_every_place_before_it_is_erased() {
    let desk = Desk::bare();
    let record = |id: &str, parent: Option<&str>, text: &str| {
        serde_json::json!({
            "type": "user", "uuid": id, "parentUuid": parent, "sessionId": "talk",
            "message": { "role": "user", "content": text },
        })
    };
    let said = record("u1", None, &format!("the word is \"{SECRET}\""));
    let other = record("u2", Some("u1"), "something else");
    let title = serde_json::json!({ "type": "ai-title", "sessionId": "talk", "aiTitle": SECRET });
    desk.write("talk.jsonl", format!("{said}\n{other}\n{title}\n"));
    desk.run(&["import", "talk.jsonl"]).exits(0);
    desk.feed(&["append", "s"], &line("1", "hello")).exits(0);
    desk.write("AGENTS.md", format!("The word is {SECRET}.\n"));
    let built = ["context", "s", "--cwd", ".", "--window", "8000", "--out", "request.json"];
    desk.run(&built).exits(0);

    let shown = desk.run(&["erase", "--text", SECRET]).exits(3);
    let places = shown.out.lines().map(|line| line.split("  ").last().unwrap()).collect::<Vec<_>>();
    assert!(shown.out.contains("  instructions") && shown.out.contains("  message"), "{}", shown.out);
    assert_eq!(places.iter().filter(|place| place.starts_with("(`read wb:")).count(), 2, "{}", shown.out);
    assert!(
        shown.err.contains("2 records of originals would be erased permanently; confirm with --yes"),
        "{}",
        shown.err
    );
    let read = shown.out.lines().find(|line| line.contains("(`read ")).unwrap();
    let read = read.split('`').nth(1).unwrap().split(' ').collect::<Vec<_>>();
    assert_eq!(desk.run(&read).exits(0).out, said.to_string(), "the place can be looked at");
    assert!(anywhere(&desk, SECRET), "nothing was erased");

    let done =
        desk.feed(&["erase", "--text", "-", "--yes", "--json"], &format!("{SECRET}\n")).exits(0).json();
    assert!(done["events"].as_u64() >= Some(2) && done["left"]["events"] == serde_json::json!([]), "{done}");
    assert!(!anywhere(&desk, SECRET));
    let again = desk.run(&["erase", "--text", SECRET, "--yes"]).exits(1);
    assert!(again.err.contains("no event and no imported file contains the text"), "{}", again.err);
    assert!(desk.run(&["replay", "s"]).exits(0).out.contains("has been erased"));
    desk.run(&["import", "talk.jsonl", "--verify"]).exits(0);
    assert!(!desk.run(&["export", "talk", "--original"]).exits(0).out.contains(SECRET));
    desk.run(&["doctor"]).exits(0);

    desk.run(&["erase"]).exits(2);
    desk.run(&["erase", "s", "--text", SECRET]).exits(2);
    desk.run(&["erase", "--text", "abc"]).exits(2);
    desk.feed(&["erase", "--text", "-"], "").exits(2);
}

#[test]
fn an_import_that_was_cut_short_is_called_unfinished_everywhere() {
    let desk = Desk::with_session();
    let id = desk.run(&["sessions", "--json"]).exits(0).lines()[0]["session"].as_str().unwrap().to_owned();
    desk.sql().execute("UPDATE source_revisions SET whole = 0, reader = NULL", []).unwrap();
    let shown = desk.run(&["show", &id]).exits(0);
    assert!(shown.err.contains("import unfinished"), "{}", shown.err);
    assert!(desk.run(&["sessions"]).exits(0).out.contains("import unfinished"));
    let examined = desk.run(&["doctor"]).exits(0).out;
    assert!(
        examined.contains("import unfinished; another import of ") && examined.contains("all is well"),
        "{examined}"
    );
    let notes = desk.run(&["doctor", "--json"]).exits(0).json()["notes"].clone();
    assert_eq!(notes.as_array().unwrap().len(), 2, "{notes}");
    assert!(desk.run(&["export", &id, "--original"]).exits(1).err.contains("is not finished"));
}

/// A mistyped id must not erase the session whose id happens to begin with it.
#[test]
fn erase_takes_an_id_or_a_printed_short_id_and_no_other_beginning() {
    let desk = Desk::bare();
    let line = "{\"id\":\"1\",\"role\":\"user\",\"content\":\"worth keeping\"}\n";
    for session in ["sA-outputs", "3f9c0d52-a-long-session-id", "shell"] {
        desk.feed(&["append", session], line).exits(0);
    }
    for (beginning, whole) in [
        ("sA", "give sA-outputs, if"),
        ("sA#2", "give sA-outputs, if"),
        ("3f9c", "give 3f9c0d52-a-long-session-id or 3f9c0d52, if"),
        ("3f9c0d52-a", "give 3f9c0d52-a-long-session-id or 3f9c0d52, if"),
    ] {
        for args in [&["erase", beginning, "--yes"][..], &["erase", beginning]] {
            let done = desk.run(args).exits(2);
            assert!(done.err.contains(whole), "{args:?}: {}", done.err);
        }
        desk.run(&["show", beginning]).exits(0);
    }
    // A file of that name does not make the beginning a name.
    desk.write("sA", "x");
    assert!(desk.run(&["erase", "sA", "--yes"]).exits(2).err.contains("give sA-outputs, if"));
    desk.run(&["erase", "3f9c0d52#2", "--yes"]).exits(0);
    desk.run(&["erase", "shell", "--yes"]).exits(0);
    desk.run(&["erase", "sA-outputs", "--at", "2", "--yes"]).exits(0);
    assert_eq!(desk.run(&["grep", "worth keeping"]).exits(1).out, "");
}
