//! Imports own what they write, sessions are recognised by their ids, and erased content does not come back.

use crate::scene::{Home, append, event, import, open, said, session, stream};
use futures_executor::block_on;
use std::path::Path;
use std::time::{Duration, SystemTime};
use wunderblock::{Along, Engine, Error};
use wunderblock_core::event::Fact;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Returns a line in the format of Claude Code.
fn line(session: &str, id: &str, parent: Option<&str>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"{session}","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

/// Returns a conversation in which each message follows the one before it.
fn talk(session: &str, ids: &[&str]) -> String {
    let lines = ids.iter().enumerate().map(|(at, id)| {
        let before = at.checked_sub(1).map(|before| ids[before]);
        line(session, id, before, &format!("what {id} says, in a few more words than that"))
    });
    lines.collect()
}

fn original(engine: &Engine, id: &str, number: Option<usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    block_on(session(engine, id).export_original(number, &mut bytes)).unwrap();
    bytes
}

fn sessions(engine: &Engine) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = block_on(engine.streams("", 99))
        .unwrap()
        .into_iter()
        .map(|info| (info.id.as_str().to_owned(), info.messages))
        .collect();
    all.sort();
    all
}

/// Writes a file and sets its modification time to `age` seconds ago, so that this time differs from the previous
/// one.
fn write(path: &Path, bytes: impl AsRef<[u8]>, age: u64) {
    std::fs::write(path, bytes).unwrap();
    let time = SystemTime::now() - Duration::from_secs(age);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn four_imports_of_one_file_at_once_are_one() {
    let home = Home::new();
    let ids: Vec<String> = (0..4_000).map(|number| format!("id-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let text = talk("s", &ids);
    let path = home.file("big.jsonl", &text);
    drop(home.engine());
    let mut threads = Vec::new();
    for number in 0..4 {
        let (db, path) = (home.db(), path.clone());
        threads.push(std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(number * 40));
            let engine = open(&db);
            block_on(engine.import(&path, None, &mut |_, _| {})).unwrap()
        }));
    }
    let done: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(done.iter().map(|one| one.appended).sum::<u64>(), 4_001, "each event once");
    let engine = home.engine();
    assert_eq!(original(&engine, "s", None), text.as_bytes());
    assert!(import(&engine, &path).unchanged);
}

#[test]
fn an_import_that_was_cut_short_is_unfinished_and_goes_on() {
    let home = Home::new();
    let ids: Vec<String> = (0..9_000).map(|number| format!("id-{number}")).collect();
    let text = talk("s", &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let path = home.file("big.jsonl", &text);
    let engine = home.engine();
    let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        block_on(engine.import(&path, None, &mut |done, _| assert!(done < 600_000)))
    }));
    assert!(cut.is_err());
    // The batches that were sent are stored before this.
    append(&engine, "other", vec![said("a", Role::User, "hello")]);
    let s = session(&engine, "s");
    assert!(block_on(s.info()).unwrap().unfinished);
    let refused = block_on(s.export_original(None, &mut Vec::new()));
    assert!(matches!(refused, Err(Error::Unfinished { .. })), "{refused:?}");
    drop(engine);
    let engine = home.engine();
    let done = import(&engine, &path);
    assert!(done.duplicates > 0 && !done.unchanged);
    assert!(!block_on(session(&engine, "s").info()).unwrap().unfinished);
    assert_eq!(original(&engine, "s", None), text.as_bytes());
    assert_eq!(sessions(&engine), [("other".to_owned(), 1), ("s".to_owned(), 9_000)]);
}

#[test]
fn copies_of_a_file_double_nothing() {
    let home = Home::new();
    let engine = home.engine();
    let (short, long) = (talk("s", &["a", "b"]), talk("s", &["a", "b", "c"]));
    import(&engine, &home.file("one.jsonl", &long));
    import(&engine, &home.file("copy.jsonl", &long));
    import(&engine, &home.file("short.jsonl", &short));
    assert_eq!(sessions(&engine), [("s".to_owned(), 3)]);
    let files = [&long, &long, &short];
    for (number, file) in files.into_iter().enumerate() {
        assert_eq!(original(&engine, "s", Some(number + 1)), file.as_bytes());
    }
}

#[test]
fn files_that_both_go_on_are_branches() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("one.jsonl", talk("s", &["a", "b", "c"])));
    import(&engine, &home.file("two.jsonl", talk("s", &["a", "b", "x", "y"])));
    assert_eq!(sessions(&engine), [("s".to_owned(), 3), ("s~2".to_owned(), 4)]);
    import(&engine, &home.file("three.jsonl", talk("s", &["a", "b", "x", "y"])));
    assert_eq!(sessions(&engine), [("s".to_owned(), 3), ("s~2".to_owned(), 4)], "known where it went on");
}

#[test]
fn another_id_with_the_same_records_is_a_child() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("one.jsonl", talk("s", &["a", "b", "c"])));
    import(&engine, &home.file("two.jsonl", talk("child", &["a", "b", "x"])));
    let child = block_on(session(&engine, "child").info()).unwrap();
    assert_eq!(child.fork, Some((stream("s"), Seq(3))));
    let other = line("other", "a", None, "the same id, and something else");
    import(&engine, &home.file("three.jsonl", other));
    assert_eq!(block_on(session(&engine, "other").info()).unwrap().fork, None, "an id alone is not enough");
    let erased = block_on(session(&engine, "child").erase_all(None, Along::default())).unwrap();
    assert_eq!((erased.events, sessions(&engine).len()), (1, 3), "what is shared is the parent's");
    let erased = block_on(session(&engine, "s").erase_all(None, Along::default())).unwrap();
    assert_eq!(erased.copies, [stream("child")]);
}

#[test]
fn the_same_id_and_nothing_in_common_are_two() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("one.jsonl", talk("s", &["a", "b"])));
    let done = import(&engine, &home.file("two.jsonl", talk("s", &["x", "y"])));
    assert!(done.sessions[0].as_str().starts_with("s@") && !done.warnings.is_empty(), "{done:?}");
    assert_eq!(import(&engine, &home.file("three.jsonl", talk("s", &["x", "y"]))).appended, 0);
}

#[test]
fn a_live_session_is_imported_later_and_not_doubled() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.file("one.jsonl", talk("s", &["a", "b"]));
    append(
        &engine,
        "s",
        vec![
            said("a", Role::User, "what a says, in a few more words than that"),
            said("b", Role::User, "what b says, in a few more words than that"),
        ],
    );
    import(&engine, &path);
    assert_eq!(sessions(&engine), [("s".to_owned(), 2)]);
}

#[test]
fn a_grown_file_is_read_from_where_it_ended() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("one.jsonl");
    let text = talk("s", &["a", "b"]);
    let half = line("s", "c", Some("b"), "half a line");
    write(&path, format!("{text}{}", &half[..40]), 90);
    let first = import(&engine, &path);
    assert_eq!(first.appended, 3);
    write(&path, format!("{text}{half}"), 60);
    let grown = import(&engine, &path);
    assert_eq!((grown.records, grown.appended), (1, 1), "only what is new is read");
    write(&path, format!("{text}{half}{}", line("s", "e", Some("a"), "an edited prompt")), 30);
    import(&engine, &path);
    assert_eq!(sessions(&engine), [("s".to_owned(), 3), ("s~2".to_owned(), 2)]);
    assert_eq!(original(&engine, "s~1", None), std::fs::read(&path).unwrap());
    let verified = block_on(engine.maintenance().verify_import(&path, None, &mut |_, _| {})).unwrap();
    assert!(verified.unchanged);
}

#[test]
fn what_stood_at_a_path_stays_readable() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("rot.jsonl");
    let texts = [talk("first", &["a", "b"]), talk("second", &["x", "y"])];
    for (age, text) in texts.iter().enumerate() {
        write(&path, text, 90 - age as u64);
        import(&engine, &path);
    }
    assert_eq!(original(&engine, "first", None), texts[0].as_bytes());
    assert_eq!(original(&engine, "second", None), texts[1].as_bytes());
    block_on(session(&engine, "first").erase_all(None, Along::default())).unwrap();
    assert_eq!(original(&engine, "second", None), texts[1].as_bytes(), "another's bytes are not touched");
    // The new text has the same length but different words.
    let changed = texts[1].replace("says", "SAYS");
    write(&path, &changed, 20);
    assert!(!import(&engine, &path).unchanged);
    assert_eq!(original(&engine, "second", None), changed.as_bytes());
    assert_eq!(original(&engine, "second", Some(1)), texts[1].as_bytes());
}

#[test]
fn what_was_erased_is_not_imported_again() {
    let home = Home::new();
    let engine = home.engine();
    let secret = "what b says, in a few more";
    let title = "{\"type\":\"summary\",\"summary\":\"what b says, in a few more words than that\"}\n";
    let text = format!("{}{title}", talk("s", &["a", "b", "c"]));
    let path = home.path("one.jsonl");
    write(&path, &text, 90);
    import(&engine, &path);
    let place = 3;
    block_on(session(&engine, "s").erase(Seq(place), Seq(place), None)).unwrap();
    let has = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().contains(secret);
    let grown = format!("{text}{}", line("s", "d", Some("c"), "later"));
    write(&path, &grown, 60);
    import(&engine, &path);
    assert!(!has(original(&engine, "s", None)), "grown");
    let db = rusqlite::Connection::open(home.db()).unwrap();
    let states = "SELECT count(*) FROM source_revisions WHERE reader IS NOT NULL";
    let states: u64 = db.query_row(states, [], |row| row.get(0)).unwrap();
    assert_eq!(states, 0, "no checksum of bytes that were erased");
    import(&engine, &home.file("copy.jsonl", &text));
    assert!(!has(original(&engine, "s", None)), "copied");
    block_on(engine.maintenance().verify_import(&path, None, &mut |_, _| {})).unwrap();
    assert!(!has(original(&engine, "s", Some(1))), "verified");
    assert_eq!(sessions(&engine), [("s".to_owned(), 4)]);
    block_on(session(&engine, "s").erase_all(None, Along::default())).unwrap();
    let done = import(&engine, &home.file("again.jsonl", &text));
    assert!(done.erased > 0 && done.appended == 0, "{done:?}");
    assert!(original(&engine, "s", None).iter().all(u8::is_ascii_whitespace), "nothing of it is stored");
    // Messages added to the session after its erasure are not erased.
    let later = line("s", "later", Some("d"), "first") + &line("s", "still later", Some("later"), "second");
    write(&path, format!("{grown}{later}"), 10);
    assert_eq!(import(&engine, &path).appended, 2);
}

#[test]
fn a_file_in_the_place_of_an_erased_one_keeps_all_its_bytes() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("one.jsonl");
    write(&path, talk("s", &["a", "b"]), 90);
    import(&engine, &path);
    block_on(session(&engine, "s").erase_all(None, Along::default())).unwrap();
    let other = talk("t", &["c", "d", "e"]);
    write(&path, &other, 60);
    import(&engine, &path);
    assert_eq!(original(&engine, "t", None), other.as_bytes());
    block_on(session(&engine, "t").erase_all(None, Along::default())).unwrap();
    assert!(original(&engine, "t", None).iter().all(u8::is_ascii_whitespace));
}

#[test]
fn another_record_of_the_same_length_in_the_place_of_an_erased_one_is_read() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("one.jsonl");
    let (one, two) = (talk("s", &["a", "b"]), talk("s", &["a", "c"]));
    assert_eq!(one.len(), two.len());
    write(&path, &one, 90);
    import(&engine, &path);
    block_on(session(&engine, "s").erase(Seq(3), Seq(3), None)).unwrap();
    // Only the modification time has changed.
    write(&path, &one, 60);
    assert!(import(&engine, &path).unchanged);
    write(&path, &two, 30);
    assert_eq!(import(&engine, &path).appended, 2, "a branch, and what is said in it");
    assert_eq!(original(&engine, "s", None), two.as_bytes());
    // More records of the same file are imported first; then the erased record is imported again.
    write(&path, format!("{two}{}", line("s", "d", Some("c"), "more")), 20);
    assert_eq!(import(&engine, &path).appended, 1);
    write(&path, &one, 10);
    assert!(!import(&engine, &path).unchanged);
    let now = String::from_utf8(original(&engine, "s", None)).unwrap();
    assert!(now.contains("what a says") && !now.contains("what b says"), "{now}");
}

#[test]
fn a_broken_line_does_not_split_what_ids_join() {
    let home = Home::new();
    let engine = home.engine();
    let text =
        format!("{}\0\0\0\0\0\n{}", line("s", "a", None, "question"), line("s", "b", Some("a"), "answer"));
    import(&engine, &home.file("one.jsonl", text));
    assert_eq!(sessions(&engine).len(), 1);
}

#[test]
fn a_line_that_is_too_long_is_kept_where_it_is() {
    let home = Home::new();
    let engine = home.engine();
    let long = "x".repeat(wunderblock::MAX_LINE + 10);
    let text = format!(
        "{}{}{}",
        line("s", "a", None, "before"),
        line("s", "b", Some("a"), &long),
        line("s", "c", Some("a"), "after")
    );
    let path = home.file("one.jsonl", &text);
    import(&engine, &path);
    assert!(original(&engine, "s~1", None) == text.as_bytes());
    let events =
        block_on(session(&engine, "s~1").events(Seq(3), Seq(3), 1, wunderblock_core::units::Bytes(1 << 20)));
    let told = serde_json::to_string(&events.unwrap()[0].fact).unwrap();
    assert!(told.contains("too long to be parsed: read wb:"), "{told}");
}

/// The records before the first message name a session and say nothing about it. Reading the file at each of its lines,
/// as a hook does, gives the same session as reading it at once.
#[test]
fn a_session_is_opened_by_its_first_record_with_content() {
    let first = "{\"type\":\"summary\",\"summary\":\"t\",\"leafUuid\":\"x\"}\n";
    let second = "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\"}\n";
    let message = |id: &str, parent: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"parentUuid\":{parent},\"uuid\":\"{id}\",\"sessionId\":\"s\",\"cwd\":\"/srv/garden\",\"type\":\"user\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
        )
    };
    let request =
        "{\"type\":\"nova\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"all\"}}\n";
    let lines =
        [first.to_owned(), second.to_owned(), message("a", ""), request.to_owned(), message("b", "a")];
    let (at_once, grown) = (Home::new(), Home::new());
    let read = |home: &Home, count: usize| {
        let path = home.folder.path().join("f.jsonl");
        write(&path, lines[..count].concat(), 3_600 - count as u64);
        let _ = block_on(home.engine().import(&path, None, &mut |_, _| {}));
    };
    read(&at_once, lines.len());
    (1..=lines.len()).for_each(|count| read(&grown, count));
    for home in [&at_once, &grown] {
        let found = block_on(home.engine().streams("", 9)).unwrap();
        let found: Vec<_> =
            found.iter().map(|info| (info.id.as_str(), info.scope.project.as_deref())).collect();
        assert_eq!(found, [("s", Some("/srv/garden"))]);
    }
}

#[test]
fn a_session_has_one_opening() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", vec![said("a", Role::User, "first")]);
    let opening = event("again", Fact::SessionOpened(wunderblock_core::event::SessionOpened::default()));
    assert!(block_on(session(&engine, "s").append(vec![opening])).is_err());
}

#[test]
fn whatever_a_record_is_called_it_stays_erased() {
    let home = Home::new();
    let engine = home.engine();
    let (long, receipt) = ("x".repeat(600), "content.erased@8:2-7");
    let ids = ["plain", "with#3", &long, receipt, "with"];
    let text = talk("s", &ids);
    import(&engine, &home.file("a.jsonl", &text));
    // The same id with different words is a different event of the same record.
    import(&engine, &home.file("a.jsonl", text.replace("what plain says", "what plain said")));
    let done = block_on(session(&engine, "s").erase(Seq(2), Seq(7), None)).unwrap();
    assert_eq!((done.events, done.receipt), (6, Some(Seq(8))), "no record can take the receipt's id");
    let copy = home.file("copy.jsonl", text.replace("what plain says", "what plain said"));
    import(&engine, &copy);
    import(&engine, &home.file("other.jsonl", &text));
    let count = block_on(wunderblock::originals(&session(&engine, "s"))).unwrap().len();
    assert_eq!(count, 4);
    for number in 1..=count {
        let kept = original(&engine, "s", Some(number));
        assert!(!String::from_utf8(kept).unwrap().contains("what "), "original {number}");
    }
}
