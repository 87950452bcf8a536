//! Files without ids are identified by their content: whether copied, renamed, archived or grown, a file remains one
//! session.

use crate::scene::{Home, import, session, transcript};
use futures_executor::block_on;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use wunderblock::{Along, Engine};
use wunderblock_core::units::Seq;

/// Returns chat messages, one per line, alternating between the user and the assistant.
fn chat(texts: &[&str]) -> String {
    messages(texts).iter().map(|message| format!("{message}\n")).collect()
}

/// Returns the same messages as one document.
fn document(texts: &[&str]) -> String {
    format!("[{}]", messages(texts).join(",\n"))
}

fn messages(texts: &[&str]) -> Vec<String> {
    let role = |number: usize| if number.is_multiple_of(2) { "user" } else { "assistant" };
    let message = |(number, text): (usize, &&str)| {
        format!(r#"{{"role":"{}","content":"{text}, in a few more words than that"}}"#, role(number))
    };
    texts.iter().enumerate().map(message).collect()
}

fn write(path: &Path, bytes: impl AsRef<[u8]>, age: u64) {
    std::fs::write(path, bytes).unwrap();
    let time = SystemTime::now() - Duration::from_secs(age);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Returns the sessions by name, without the marks of paths, each with its number of messages.
fn sessions(engine: &Engine) -> Vec<(String, u64)> {
    let all = block_on(engine.streams("", 9_999)).unwrap();
    let mut all: Vec<(String, u64)> = all
        .iter()
        .map(|info| {
            let (name, rest) = info.id.as_str().split_at(info.id.as_str().find('-').unwrap());
            (format!("{name}{}", &rest[9..]), info.messages)
        })
        .collect();
    all.sort();
    all
}

fn one(name: &str, messages: u64) -> Vec<(String, u64)> {
    vec![(name.to_owned(), messages)]
}

/// Returns the id of the session named after a file.
fn id(engine: &Engine, name: &str) -> String {
    let all = block_on(engine.streams(name, 9_999)).unwrap();
    all.iter().map(|info| info.id.as_str()).find(|id| !id.contains('~')).unwrap().to_owned()
}

fn original(engine: &Engine, name: &str, number: usize) -> String {
    let mut bytes = Vec::new();
    block_on(session(engine, &id(engine, name)).export_original(Some(number), &mut bytes)).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn copies_grow_shrink_and_move_and_are_one_session() {
    for format in [chat, document] {
        let home = Home::new();
        let engine = home.engine();
        let (short, long, longer) = (["a", "b", "c"], ["a", "b", "c", "d"], ["a", "b", "c", "d", "e"]);
        let (first, copy) = (home.path("first.json"), home.path("copy.json"));
        write(&first, format(&short), 90);
        import(&engine, &first);
        write(&copy, format(&short), 90);
        let done = import(&engine, &copy);
        assert_eq!((done.appended, sessions(&engine)), (0, one("first", 3)), "copied");
        std::fs::rename(&first, home.path("renamed.json")).unwrap();
        import(&engine, &home.path("renamed.json"));
        write(&copy, format(&long), 60);
        assert_eq!(import(&engine, &copy).appended, 1);
        write(&home.path("other.json"), format(&longer), 60);
        assert_eq!(import(&engine, &home.path("other.json")).appended, 1, "a copy that has grown");
        write(&first, format(&longer), 30);
        import(&engine, &first);
        write(&copy, format(&longer), 30);
        import(&engine, &copy);
        import(&engine, &home.file("archive.json", format(&short)));
        assert_eq!(sessions(&engine), one("first", 5));
        let last = block_on(session(&engine, &id(&engine, "first")).info()).unwrap();
        assert_eq!(transcript(&session(&engine, last.id.as_str())).len(), 5);
        let verified = block_on(engine.maintenance().verify_import(&copy, None, &mut |_, _| {})).unwrap();
        assert!(verified.unchanged, "{verified:?}");
        assert!((1..=6).any(|number| original(&engine, "first", number) == format(&short)));
    }
}

#[test]
fn files_that_begin_alike_and_both_go_on_are_two_sessions() {
    for format in [chat, document] {
        let home = Home::new();
        let engine = home.engine();
        import(&engine, &home.file("one.json", format(&["a", "b", "c", "d"])));
        import(&engine, &home.file("two.json", format(&["a", "b", "x"])));
        import(&engine, &home.file("copy.json", format(&["a", "b", "x", "y"])));
        let expected = [("one".to_owned(), 4), ("two".to_owned(), 4)];
        assert_eq!(sessions(&engine), expected);
        import(&engine, &home.file("pretty.json", format(&["a", "b", "x", "y"]).replace(",\"", ", \"")));
        assert_eq!(sessions(&engine).len(), 3, "records that stand elsewhere are others");
    }
}

#[test]
fn many_conversations_begin_with_one_prompt() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("one.jsonl", chat(&["a", "b"])));
    import(&engine, &home.file("new.jsonl", chat(&["a"])));
    assert_eq!(sessions(&engine), [("new".to_owned(), 1), ("one".to_owned(), 2)]);
    import(&engine, &home.file("newer.jsonl", chat(&["a"])));
    assert_eq!(sessions(&engine).len(), 2, "the same file is the same session");
    import(&engine, &home.file("two.jsonl", chat(&["a", "c"])));
    assert_eq!(sessions(&engine).len(), 3, "and nobody's beginning");
}

#[test]
fn a_long_copy_is_compared_to_its_end() {
    let home = Home::new();
    let engine = home.engine();
    let texts: Vec<String> = (0..700).map(|number| format!("text {number}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    import(&engine, &home.file("one.jsonl", chat(&texts)));
    import(&engine, &home.file("copy.jsonl", chat(&texts[..650])));
    assert_eq!(sessions(&engine), one("one", 700));
    texts[600] = "text abc";
    import(&engine, &home.file("other.jsonl", chat(&texts)));
    assert_eq!(sessions(&engine).len(), 2);
    texts.push("more");
    assert_eq!(import(&engine, &home.file("copy of other.jsonl", chat(&texts))).appended, 1);
}

#[test]
fn a_half_written_line_waits_in_a_copy_too() {
    let home = Home::new();
    let engine = home.engine();
    let (short, long) = (chat(&["a", "b"]), chat(&["a", "b", "c"]));
    import(&engine, &home.file("one.jsonl", &long[..long.len() - 9]));
    import(&engine, &home.file("copy.jsonl", &long[..long.len() - 19]));
    assert_eq!(sessions(&engine), one("one", 2));
    import(&engine, &home.file("whole.jsonl", &long));
    import(&engine, &home.file("short.jsonl", &short));
    assert_eq!(sessions(&engine), one("one", 3));
}

#[test]
fn a_rewritten_file_is_known_in_a_copy_with_its_branch() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("one.jsonl");
    write(&path, chat(&["a", "b", "c", "d"]), 90);
    import(&engine, &path);
    write(&path, chat(&["a", "b", "x", "y"]), 60);
    import(&engine, &path);
    let expected = [("one".to_owned(), 4), ("one~2".to_owned(), 4)];
    assert_eq!(sessions(&engine), expected);
    import(&engine, &home.file("copy.jsonl", chat(&["a", "b", "x", "y"])));
    import(&engine, &home.file("old.jsonl", chat(&["a", "b", "c", "d"])));
    assert_eq!(sessions(&engine), expected);
}

#[test]
fn every_session_of_a_file_is_known_in_a_copy() {
    let home = Home::new();
    let engine = home.engine();
    let chats = |number: usize| -> String {
        let one = |n| {
            format!("\n# aider chat started at 2024-08-05 1{n}:44:27\n\n#### question {n}\n\nan answer {n}\n")
        };
        (0..number).map(one).collect()
    };
    import(&engine, &home.file("one.chat.history.md", chats(3)));
    let before = sessions(&engine);
    assert_eq!(before.len(), 3);
    import(&engine, &home.file("copy.chat.history.md", chats(3)));
    assert_eq!(sessions(&engine), before);
    import(&engine, &home.file("grown.chat.history.md", chats(4)));
    import(&engine, &home.file("again.chat.history.md", chats(4)));
    assert_eq!(sessions(&engine).len(), 4);
}

#[test]
fn a_file_of_conversations_resolves_to_one_that_has_messages() {
    let home = Home::new();
    let engine = home.engine();
    let task = |name| format!(r#"{{"task":"{name}","traj":{}}}"#, document(&[name, "done", "thanks"]));
    let path = home.file("runs.json", format!("[{},{}]", task("first"), task("second")));
    let imported = import(&engine, &path);
    assert_eq!(imported.sessions.len(), 3, "what stands around the conversations has a session, too");
    let (named, _) = block_on(engine.imported(&path)).unwrap().unwrap();
    assert_eq!(imported.sessions[0], named);
    assert!(named.as_str().ends_with("-conversation-1"), "{named}");
    assert_eq!(import(&engine, &path).sessions, [named]);
}

#[test]
fn what_was_erased_does_not_come_back_by_a_copy() {
    for (format, is_lines) in [(chat as fn(&[&str]) -> String, true), (document, false)] {
        for place in 2..=4 {
            let home = Home::new();
            let engine = home.engine();
            let texts = ["first secret", "second secret", "third secret"];
            let text = format(&texts);
            import(&engine, &home.file("one.json", &text));
            let gone = texts[place - 2];
            let was = session(&engine, &id(&engine, "one"));
            block_on(was.erase(Seq(place as u64), Seq(place as u64), None)).unwrap();
            let done = import(&engine, &home.file("copy.json", &text));
            assert_eq!((done.erased, done.appended), (1, 0), "{gone}");
            let grown = format(&["first secret", "second secret", "third secret", "fourth"]);
            import(&engine, &home.file("grown.json", &grown));
            let one_session = one("one", 4);
            assert_eq!(sessions(&engine), one_session, "{is_lines} {gone}");
            for number in 1..=3 {
                let kept = original(&engine, "one", number);
                assert!(!kept.contains(gone), "{number}: {kept}");
                let source = if number == 3 { &grown } else { &text };
                assert_eq!(kept.len(), source.len());
                assert!(kept.contains(texts[(place - 1) % 3]), "the rest is there: {kept}");
            }
            let other = format(
                &[texts[0], texts[1], "other things"].map(|it| if it == gone { it } else { "others" }),
            );
            import(&engine, &home.file("other.json", other));
            assert_eq!(sessions(&engine).len(), 2, "the rest must be the same: {is_lines} {gone}");
        }
    }
}

#[test]
fn a_session_that_was_erased_whole_does_not_come_back_by_a_copy() {
    for format in [chat, document] {
        let home = Home::new();
        let engine = home.engine();
        let texts = ["first secret", "second", "a third secret", "fourth"];
        import(&engine, &home.file("one.json", format(&texts)));
        let one = session(&engine, &id(&engine, "one"));
        block_on(one.erase_all(None, Along::default())).unwrap();
        let done = import(&engine, &home.file("copy.json", format(&texts)));
        assert!(done.erased >= 4 && done.appended == 0, "{done:?}");
        import(&engine, &home.file("short.json", format(&texts[..3])));
        assert_eq!(sessions(&engine).len(), 1);
        assert!(!original(&engine, "one", 2).contains("secret"));
        import(&engine, &home.file("new.json", format(&["first thing!", "more", "a third", "fourth"])));
        assert_eq!(sessions(&engine).len(), 2, "one place alone tells nothing");
    }
}

#[test]
fn an_erasure_finds_what_copies_hold() {
    let home = Home::new();
    let engine = home.engine();
    let texts = ["first", "the secret", "third"];
    import(&engine, &home.file("one.jsonl", chat(&texts)));
    import(&engine, &home.file("copy.jsonl", chat(&texts)));
    block_on(session(&engine, &id(&engine, "one")).erase(Seq(3), Seq(3), None)).unwrap();
    for number in [1, 2] {
        assert!(!original(&engine, "one", number).contains("secret"), "{number}");
    }
    let grown = home.path("copy.jsonl");
    write(&grown, chat(&["first", "the secret", "third", "fourth"]), 5);
    assert_eq!(import(&engine, &grown).appended, 1);
    assert_eq!(sessions(&engine), one("one", 4));
}

#[test]
fn what_was_erased_leaves_no_hash_to_find_it_by() {
    let home = Home::new();
    let engine = home.engine();
    import(&engine, &home.file("one.jsonl", chat(&["a", "b", "c"])));
    drop(engine);
    let hashes = || -> Vec<(i64, u64)> {
        let db = rusqlite::Connection::open(home.db()).unwrap();
        let mut found = db.prepare("SELECT record, seq FROM records ORDER BY seq, record").unwrap();
        found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let before = hashes();
    assert_eq!(before.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), [2, 3, 4]);
    let engine = home.engine();
    block_on(session(&engine, &id(&engine, "one")).erase(Seq(3), Seq(3), None)).unwrap();
    import(&engine, &home.file("copy.jsonl", chat(&["a", "b", "c"])));
    drop(engine);
    let after = hashes();
    assert_eq!((after.len(), after[0], after[2]), (3, before[0], before[2]));
    assert!(after[1].1 == 3 && after[1].0 & 1 == 0, "only where it was: {after:?}");
    let file = [home.db(), home.path("ledger.db-wal")].map(|path| std::fs::read(path).unwrap_or_default());
    let gone = before[1].0.to_be_bytes();
    assert!(file.iter().all(|bytes| !bytes.windows(8).any(|part| part == gone)));
}

#[test]
fn a_folder_with_copies_in_it_is_imported_in_one_go() {
    let home = Home::new();
    let engine = home.engine();
    let (short, long) = (chat(&["a", "b"]), chat(&["a", "b", "c"]));
    std::fs::create_dir(home.path("folder")).unwrap();
    for (name, text) in [("1.jsonl", &short), ("2.jsonl", &long), ("3.jsonl", &short), ("4.jsonl", &long)] {
        home.file(&format!("folder/{name}"), text);
    }
    let files = wunderblock::transcripts(&home.path("folder")).unwrap().files;
    let appended: u64 = files.iter().map(|file| import(&engine, &file.path).appended).sum();
    assert_eq!((appended, sessions(&engine)), (4, one("1", 3)));
}

#[test]
#[ignore = "to be read by a person: it measures"]
fn files_with_the_same_prompt_cost_what_others_cost() {
    for same in [false, true, false, true] {
        let home = Home::new();
        let engine = home.engine();
        let files: Vec<_> = (0..2_000)
            .map(|number| {
                let prompt = if same { "prompt 9999".to_owned() } else { format!("prompt {number:04}") };
                let question = format!("question {number:04}");
                home.file(&format!("{number}.jsonl"), chat(&[&prompt, &question, "yes", "go on"]))
            })
            .collect();
        let began = Instant::now();
        files.iter().for_each(|file| drop(import(&engine, file)));
        eprintln!("same: {same}: {:?}", began.elapsed());
        assert_eq!(sessions(&engine).len(), 2_000);
    }
}
