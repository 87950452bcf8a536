//! A text is erased everywhere it occurs, including messages, calls, branches, titles, and every state of every file.

use crate::forgetting_is_real::keeping::scene::*;
use futures_executor::block_on;
use std::path::Path;
use wunderblock::{Along, Engine, Error, TextFound};

/// A text that must not survive. JSON escapes parts of it.
const MARK: &str = r#"pass"w\örd/7731"#;

fn find(engine: &Engine) -> TextFound {
    block_on(TextFound::of(engine, MARK, &mut |_| {})).unwrap()
}

fn places(found: &TextFound) -> Vec<String> {
    let shown = |place: &wunderblock::TextPlace| match place.shown_in.as_slice() {
        [] => String::new(),
        others => format!(" in {}", others.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(",")),
    };
    found.events.iter().map(|it| format!("{}#{} {}{}", it.session, it.seq, it.kind, shown(it))).collect()
}

/// Returns a transcript of lines with role, id, parent and content.
fn transcript(lines: &[(&str, &str, Option<&str>, serde_json::Value)]) -> String {
    let line = |(role, id, parent, content): &(&str, &str, Option<&str>, serde_json::Value)| {
        let line = serde_json::json!({
            "type": role, "uuid": id, "parentUuid": parent, "sessionId": "s",
            "message": { "role": role, "content": content },
        });
        format!("{line}\n")
    };
    lines.iter().map(line).collect()
}

fn import(engine: &Engine, path: &Path) -> wunderblock::Imported {
    block_on(engine.import(path, None, &mut |_, _| {})).unwrap()
}

fn originals(engine: &Engine, id: &str) -> Vec<u8> {
    let session = engine.session_by_id(stream(id));
    let count = block_on(wunderblock::originals(&session)).unwrap().len();
    let mut bytes = Vec::new();
    for number in 1..=count {
        block_on(session.export_original(Some(number), &mut bytes)).unwrap();
    }
    bytes
}

/// Returns whether no file in the folder and no export contains the text, either plain or escaped.
fn is_gone(home: &Home, engine: &Engine) -> bool {
    let core = "rd/7731";
    let exported: Vec<u8> = ["s", "s~2", "live"]
        .iter()
        .flat_map(|id| [exported(engine, id).into_bytes(), originals(engine, id)].concat())
        .collect();
    let files = home.names().into_iter().filter(|name| name.starts_with("ledger.db"));
    let bytes: Vec<u8> = files.flat_map(|name| std::fs::read(home.path(&name)).unwrap()).collect();
    [exported, bytes].iter().all(|bytes| memchr::memmem::find(bytes, core.as_bytes()).is_none())
}

#[test]
fn it_is_found_and_erased_in_every_place() {
    let home = Home::new();
    let engine = open(&home.db(), "a");
    let call = serde_json::json!([{
        "type": "tool_use", "id": "t", "name": "bash",
        "input": { "command": format!("curl -d {}", serde_json::json!({ "key": MARK })) },
    }]);
    let talk = transcript(&[
        ("user", "u1", None, "hello there, this is the beginning".into()),
        ("user", "u2", Some("u1"), format!("it is {MARK}").into()),
        ("assistant", "a1", Some("u2"), call),
        ("user", "u3", Some("u1"), "another try, without it".into()),
        ("user", "u4", Some("u3"), format!("here it is again: {MARK}, you see").into()),
    ]);
    let title =
        serde_json::json!({ "type": "summary", "summary": format!("about {MARK}"), "leafUuid": "a1" });
    let path = home.path("s.jsonl");
    std::fs::write(&path, format!("{talk}{title}\n")).unwrap();
    import(&engine, &path);
    // The file is rewritten. The earlier state of the file is kept and also contains the text, escaped as another
    // program would escape it.
    std::fs::write(&path, format!("\n{}", talk.replace('ö', "\\u00f6").replace("/7731", "\\/7731"))).unwrap();
    import(&engine, &path);
    append(&engine, "live", vec![said("1", "one"), said("2", MARK), said("3", MARK), said("4", "two")])
        .unwrap();
    append(&open(&home.db(), "b"), "theirs", vec![said("1", MARK)]).unwrap();

    let found = find(&engine);
    assert_eq!(
        places(&found),
        [
            "live#3 message.appended",
            "live#4 message.appended",
            "s#3 message.appended",
            "s#4 message.appended",
            "s#5 message.appended",
            "s~2#5 message.appended",
        ],
        "a call's arguments are kept as they are written, so the second state of the file adds s#5"
    );
    assert_eq!(
        found.originals.len(),
        7,
        "three and a title in the first state of the file, three in the second"
    );
    let done = block_on(found.erase(&engine, Some("a password"))).unwrap();
    assert_eq!(done.events, 6);
    let left = find(&engine);
    assert!(left.is_empty() && left.names.is_empty(), "{left:?}");
    assert!(exported(&open(&home.db(), "b"), "theirs").contains("7731"), "others keep what is theirs");
    block_on(open(&home.db(), "b").session_by_id(stream("theirs")).erase(
        wunderblock_core::units::Seq(1),
        wunderblock_core::units::Seq(2),
        None,
    ))
    .unwrap();
    assert!(is_gone(&home, &engine));
    assert_eq!(problems(&engine), Vec::<String>::new());
    assert!(exported(&engine, "live").contains("\"from_seq\":3,\"to_seq\":4"), "one receipt for neighbours");

    // The text does not come back, whatever happens to the file.
    std::fs::write(&path, format!("{talk}{title}\n")).unwrap();
    import(&engine, &path);
    std::fs::write(home.path("copy.jsonl"), format!("{talk}{title}\n")).unwrap();
    import(&engine, &home.path("copy.jsonl"));
    assert!(find(&engine).is_empty());
    assert!(is_gone(&home, &engine));
}

/// Returns the records around a message, which are two questions and a reply with its usage.
fn surrounded() -> String {
    let record = |role: &str, id: &str, text: &str, usage: serde_json::Value| {
        let message = serde_json::json!({ "role": role, "content": text, "usage": usage });
        serde_json::json!({ "type": role, "uuid": id, "sessionId": "s", "message": message })
    };
    let none = || serde_json::Value::Null;
    let mut second = record("user", "u2", "the second question of three", none());
    second["cwd"] = MARK.into();
    let cost = serde_json::json!({ "input_tokens": 10, "output_tokens": 20 });
    let reply = record("assistant", "a1", "the reply to both questions", cost);
    [record("user", "u1", "the first question of three", none()), second, reply]
        .map(|line| format!("{line}\n"))
        .concat()
}

#[test]
fn what_stands_only_around_a_message_takes_no_message_along() {
    let home = Home::new();
    let engine = open(&home.db(), "a");
    block_on(engine.ledger().backup(&home.path("empty.db"))).unwrap();
    let path = home.path("s.jsonl");
    std::fs::write(&path, surrounded()).unwrap();
    import(&engine, &path);
    block_on(engine.ledger().backup(&home.path("copy.db"))).unwrap();
    let before = exported(&engine, "s");
    let found = find(&engine);
    assert_eq!((found.events.len(), found.originals.len()), (0, 1));
    assert_eq!(block_on(found.erase(&engine, None)).unwrap().events, 0);
    assert!(find(&engine).is_empty());
    // The usage is part of the reply's record but has its own position, so erasing that position removes it from the
    // record.
    let head = block_on(engine.session_by_id(stream("s")).info()).unwrap().head;
    assert!(before.lines().last().unwrap().contains("usage"), "{before}");
    block_on(engine.session_by_id(stream("s")).erase(head, head, None)).unwrap();
    drop(engine);
    for between in ["copy.db", "empty.db"] {
        let restore = |name: &str| {
            block_on(wunderblock::Ledger::restore(&home.path(name), &home.db(), true, tenant("a"))).unwrap()
        };
        restore(between);
        restore("copy.db");
        let engine = open(&home.db(), "a");
        let now = exported(&engine, "s");
        let is_told = |text: &str| now.contains(text);
        assert!(["first question", "second question", "reply to both"].into_iter().all(is_told), "{now}");
        assert!(find(&engine).is_empty() && !now.contains("output_tokens"), "{now}");
        assert!(is_gone(&home, &engine));
    }
    // An import does not bring the text back either, even if only the coordinates of the erasure are left.
    block_on(wunderblock::Ledger::restore(&home.path("empty.db"), &home.db(), true, tenant("a"))).unwrap();
    let engine = open(&home.db(), "a");
    import(&engine, &path);
    assert_eq!(exported(&engine, "s").lines().count(), before.lines().count() - 1);
    assert!(is_gone(&home, &engine));
    assert_eq!(problems(&engine), Vec::<String>::new());
}

#[test]
fn names_are_told_and_short_texts_refused() {
    let home = Home::new();
    let engine = open(&home.db(), "a");
    append(&engine, "about-hunter2", vec![said("1", "nothing of it")]).unwrap();
    let found = block_on(TextFound::of(&engine, "hunter2", &mut |_| {})).unwrap();
    assert!(found.is_empty());
    assert_eq!(found.names, ["the session about-hunter2"]);
    let error = block_on(TextFound::of(&engine, "abc", &mut |_| {})).unwrap_err();
    assert!(matches!(error, Error::Query(_)) && error.to_string().contains("the minimum is 4"), "{error}");
}

/// A fork or a resumed session repeats the records of another session, with the same ids, under its own name.
#[test]
fn what_was_erased_stays_so_in_files_of_forks() {
    let home = Home::new();
    let engine = open(&home.db(), "local");
    let ids = |session: &str, end: &str| ["a", "b", "c"].map(|id| format!("{session}-{id}{end}"));
    let lines = |session: &str, ids: &[String]| {
        let texts = ["begin the work", &format!("the key is {MARK}"), "done"];
        let parents = std::iter::once(None).chain(ids.iter().map(Some));
        let line = |((id, parent), text): ((&String, Option<&String>), &str)| {
            serde_json::json!({
                "type": "user", "uuid": id, "parentUuid": parent, "sessionId": session,
                "message": { "role": "user", "content": text },
            })
            .to_string()
                + "\n"
        };
        ids.iter().zip(parents).zip(texts).map(line).collect::<String>()
    };
    for (whole, short) in [(false, false), (true, false), (false, true)] {
        let session = format!("first-{whole}-{short}");
        let ids = if short { ids("s", "1") } else { ids(&session, "-9b7a-4f00-a9ce-5f0e11d2c3b4") };
        let first = home.path(&format!("{session}.jsonl"));
        std::fs::write(&first, lines(&session, &ids)).unwrap();
        import(&engine, &first);
        let found = find(&engine);
        match whole {
            true => {
                _ = block_on(engine.session_by_id(stream(&session)).erase_all(None, Along::default()))
                    .unwrap()
            }
            false => _ = block_on(found.erase(&engine, None)).unwrap(),
        }
        let fork = format!("fork-{whole}-{short}");
        let path = home.path(&format!("{fork}.jsonl"));
        std::fs::write(&path, lines(&fork, &ids)).unwrap();
        import(&engine, &path);
        assert!(find(&engine).is_empty(), "{whole} {short}: {:?}", places(&find(&engine)));
        let exported = [exported(&engine, &fork).into_bytes(), originals(&engine, &fork)].concat();
        assert!(!String::from_utf8_lossy(&exported).contains("rd/7731"), "{whole} {short}");
        let begins = String::from_utf8_lossy(&exported).contains("begin the work");
        assert_eq!(begins, !whole, "what was not erased is there");
    }
}
