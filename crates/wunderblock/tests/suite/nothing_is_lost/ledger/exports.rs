//! Exports of ChatGPT and claude.ai: one file with the conversations of an account.

use crate::scene::{Home, events, import, original, session, transcript};
use futures_executor::block_on;
use std::path::{Path, PathBuf};
use wunderblock::{Engine, Error, ImportReason, transcripts};
use wunderblock_core::event::Fact;

/// A node of a conversation of ChatGPT: id, parent, and the other fields of its message.
fn node(id: &str, parent: &str, message: &str) -> String {
    format!(r#""{id}":{{"id":"{id}","parent":{parent},"children":[],"message":{message}}}"#)
}

fn said(id: &str, parent: &str, role: &str, text: &str) -> String {
    let message = format!(
        r#"{{"id":"{id}","author":{{"role":"{role}"}},"create_time":1767323046.5,"content":{{"content_type":"text","parts":["{text}"]}},"metadata":{{"model_slug":"gpt-x"}},"recipient":"all"}}"#
    );
    node(id, &format!("\"{parent}\""), &message)
}

fn chatgpt(id: &str, nodes: &[String], current: &str) -> String {
    let root = node("root", "null", "null").replace("root", &format!("root-{id}"));
    let nodes: Vec<String> = std::iter::once(root).chain(nodes.iter().cloned()).collect();
    format!(
        "{{\"title\":\"浇水 {id}\",\"create_time\":1767323045.1,\"update_time\":1767323050.0,\"mapping\":{{{}}},\"current_node\":\"{current}\",\"conversation_id\":\"{id}\"}}",
        nodes.join(",\n")
    )
}

/// A conversation of two messages.
fn short(id: &str) -> String {
    let nodes = [
        said(&format!("{id}-1"), &format!("root-{id}"), "user", "water the beds"),
        said(&format!("{id}-2"), &format!("{id}-1"), "assistant", "浇好了"),
    ];
    chatgpt(id, &nodes, &format!("{id}-2"))
}

fn claude(id: &str, messages: &[(&str, &str, &str)]) -> String {
    let messages: Vec<String> = messages
        .iter()
        .map(|(uuid, sender, text)| {
            format!(
                r#"{{"uuid":"{uuid}","text":"{text}","content":[{{"type":"text","text":"{text}"}}],"sender":"{sender}","created_at":"2026-01-02T03:04:05Z","attachments":[],"files":[]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"uuid":"{id}","name":"Beds","created_at":"2026-01-02T03:04:00Z","updated_at":"2026-01-02T03:05:00Z","account":{{"uuid":"a"}},"chat_messages":[{}]}}"#,
        messages.join(",")
    )
}

fn export(home: &Home, name: &str, conversations: &[String]) -> PathBuf {
    home.file(name, format!("[{}]", conversations.join(",\n")))
}

/// Imports all conversations of an export. Returns the number of added events, and the failures.
fn import_all(engine: &Engine, path: &Path) -> (u64, Vec<Error>) {
    let (mut appended, mut failed) = (0, Vec::new());
    for file in transcripts(path).unwrap().files {
        match block_on(engine.import(&file.path, None, &mut |_, _| {})) {
            Ok(done) => appended += done.appended,
            Err(error) => failed.push(error),
        }
    }
    (appended, failed)
}

#[test]
fn each_conversation_is_a_session_and_a_later_export_adds_only_what_is_new() {
    let home = Home::new();
    let engine = home.engine();
    let path = export(&home, "conversations.json", &[short("c1"), short("c2")]);
    let files = transcripts(&path).unwrap().files;
    assert_eq!(files.iter().map(|file| &file.path).collect::<Vec<_>>(), [&path.join("c1"), &path.join("c2")]);
    assert_eq!(transcripts(&home.path("")).unwrap().files, files, "in a folder");
    assert_eq!(import(&engine, &path.join("c1")).format.name(), "chatgpt");
    import_all(&engine, &path);
    let one = session(&engine, "c1");
    assert_eq!(transcript(&one), ["user: water the beds", "assistant: 浇好了"]);
    let info = block_on(one.info()).unwrap();
    assert_eq!(info.title.as_deref(), Some("浇水 c1"));
    let text = String::from_utf8(original(&one)).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains("\"model_slug\":\"gpt-x\""));
    assert_eq!(import_all(&engine, &path).0, 0);
    let known = block_on(transcripts(&path).unwrap().unchanged(&engine)).unwrap();
    assert!(known.iter().all(Option::is_some));

    let nodes = [
        said("c1-1", "root-c1", "user", "water the beds"),
        said("c1-2", "c1-1", "assistant", "浇好了"),
        said("c1-3", "c1-2", "user", "and the trees"),
    ];
    export(&home, "conversations.json", &[chatgpt("c1", &nodes, "c1-3"), short("c3")]);
    let (appended, failed) = import_all(&engine, &path);
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(appended, 1 + events(&session(&engine, "c3")).len() as u64);
    assert_eq!(transcript(&one).len(), 3);
    assert_eq!(transcript(&session(&engine, "c2")).len(), 2, "a conversation that was deleted is kept");
}

#[test]
fn a_copy_of_an_export_has_the_same_sessions() {
    let home = Home::new();
    let engine = home.engine();
    let all = [short("c1"), short("c2")];
    let path = export(&home, "conversations.json", &all);
    import_all(&engine, &path);
    let grown = [short("c2"), short("c1").replace("\"title\":\"浇水 c1\"", "\"title\":\"Trees\"")];
    let copy = export(&home, "older export.txt", &grown);
    assert_eq!(import_all(&engine, &copy).0, 1, "the new title");
    assert_eq!(block_on(session(&engine, "c1").info()).unwrap().title.as_deref(), Some("Trees"));
}

#[test]
fn an_edited_prompt_is_a_branch_and_the_selected_branch_is_the_latest() {
    let home = Home::new();
    let engine = home.engine();
    let nodes = |more: &[String]| {
        let first = [said("a", "root-c", "user", "water"), said("b", "a", "assistant", "done")];
        let other = [said("x", "root-c", "user", "mow"), said("y", "x", "assistant", "mown")];
        [&first[..], &other[..], more].concat()
    };
    let path = export(&home, "c.json", &[chatgpt("c", &nodes(&[]), "b")]);
    let leaf = import(&engine, &path.join("c")).sessions[0].clone();
    assert_eq!(transcript(&session(&engine, leaf.as_str())), ["user: water", "assistant: done"]);
    assert_eq!(transcript(&session(&engine, "c~1")), ["user: mow", "assistant: mown"]);
    // The person selects the other branch, and then continues it.
    export(&home, "c.json", &[chatgpt("c", &nodes(&[]), "y")]);
    let selected = import(&engine, &path.join("c"));
    assert_eq!((selected.appended, selected.sessions[0].as_str()), (0, "c"), "{selected:?}");
    export(&home, "c.json", &[chatgpt("c", &nodes(&[said("z", "b", "user", "thanks")]), "z")]);
    let grown = import(&engine, &path.join("c"));
    assert_eq!((grown.appended, &grown.sessions[0]), (1, &leaf), "{grown:?}");
    assert_eq!(transcript(&session(&engine, leaf.as_str())).len(), 3);
}

#[test]
fn conversations_of_claude_ai_grow_and_branch() {
    let home = Home::new();
    let engine = home.engine();
    let first = [("m1", "human", "water"), ("m2", "assistant", "done")];
    let path = export(&home, "conversations.json", &[claude("k1", &first)]);
    let done = import(&engine, &path.join("k1"));
    assert_eq!((done.format.name(), done.opaque_bytes), ("claude-ai", 0), "{done:?}");
    let grown = [("m1", "human", "water"), ("m2", "assistant", "done"), ("m3", "human", "mow")];
    export(&home, "conversations.json", &[claude("k1", &grown)]);
    assert_eq!(import(&engine, &path.join("k1")).appended, 1);
    assert_eq!(transcript(&session(&engine, "k1")), ["user: water", "assistant: done", "user: mow"]);
    let parents = |text: String| {
        let root = "00000000-0000-4000-8000-000000000000";
        let add = |text: String, id: &str, parent: &str| {
            let from = format!("{{\"uuid\":\"{id}\"");
            text.replace(&from, &format!("{from},\"parent_message_uuid\":\"{parent}\""))
        };
        add(add(add(text, "m1", root), "m2", "m1"), "m3", "m1")
    };
    let path = export(&home, "tree.json", &[parents(claude("k1", &grown).replace("k1", "k2"))]);
    let (appended, failed) = import_all(&engine, &path);
    assert!(appended > 0 && failed.is_empty(), "{failed:?}");
}

#[test]
fn a_damaged_element_is_reported_and_the_others_are_read() {
    let home = Home::new();
    let engine = home.engine();
    let cut = short("c2").replace("\"current_node\":\"", "\"current_node\":");
    let no_id = r#"{"title":"x","mapping":{}}"#.to_owned();
    let all = [short("c1"), cut, short("c3"), "null".to_owned(), no_id, short("c3"), short("../c6")];
    let path = export(&home, "conversations.json", &all);
    let (_, failed) = import_all(&engine, &path);
    let told: Vec<String> = failed.iter().map(ToString::to_string).collect();
    let wanted = [
        ("element-2", "cannot be read: invalid JSON"),
        ("element-4", "not a conversation"),
        ("element-5", "without a usable id"),
        ("element-6", "element 3 has the same id"),
        ("element-7", "without a usable id"),
    ];
    assert_eq!(told.len(), wanted.len(), "{told:?}");
    for (told, (name, why)) in told.iter().zip(wanted) {
        assert!(told.contains(name) && told.contains(why), "{told}");
    }
    for id in ["c1", "c3"] {
        assert_eq!(transcript(&session(&engine, id)).len(), 2);
    }
    assert!(
        block_on(engine.import(&path, None, &mut |_, _| {}))
            .unwrap_err()
            .to_string()
            .contains("7 conversations")
    );
    assert!(
        block_on(engine.import(&path.join("c9"), None, &mut |_, _| {}))
            .unwrap_err()
            .to_string()
            .contains("c9")
    );
}

#[test]
fn archives_and_empty_arrays_are_no_exports() {
    let home = Home::new();
    let engine = home.engine();
    let zip = home.file("export.zip", "PK\u{3}\u{4}");
    let error = block_on(engine.import(&zip, None, &mut |_, _| {})).unwrap_err();
    assert!(matches!(&error, Error::Import { reason: ImportReason::NotATranscript, .. }));
    assert!(error.to_string().contains("unpack it"), "{error}");
    let empty = home.file("conversations.json", "[]");
    assert_eq!(import(&engine, &empty).messages, 0);
    assert_eq!(import(&engine, &home.file("other.json", r#"[{"title":"x"}]"#)).format.name(), "json");
}

#[test]
fn an_export_longer_than_a_block_is_read_to_its_end() {
    let home = Home::new();
    let engine = home.engine();
    let long = "长".repeat(700_000);
    let nodes = [said("a", "root-big", "user", &long), said("b", "a", "assistant", "short")];
    let path = export(&home, "conversations.json", &[short("c1"), chatgpt("big", &nodes, "b"), short("c3")]);
    let (_, failed) = import_all(&engine, &path);
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(transcript(&session(&engine, "big")).len(), 2);
    assert_eq!(transcript(&session(&engine, "c3")).len(), 2);
    let title = |fact: &Fact| matches!(fact, Fact::SessionDescribed(_));
    assert!(events(&session(&engine, "c3")).iter().any(|event| event.fact.as_ref().is_some_and(title)));
}
