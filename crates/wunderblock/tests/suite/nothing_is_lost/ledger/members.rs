//! Sessions of several members: OpenCode's tree of files and its database.

use crate::scene::{Home, events, import, original, session, transcript};
use futures_executor::block_on;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wunderblock::machine::{Agent, Places, histories};
use wunderblock::{Engine, Error, ImportReason, transcripts};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::Role;

const SESSION: &str = r#"{
  "id": "ses_1",
  "projectID": "p",
  "directory": "/srv/garden",
  "title": "Watering",
  "version": "1.1.0",
  "time": {"created": 1767323045000, "updated": 1767323045000}
}
"#;

/// A message with its parts, each as its id and its other fields.
type Said<'s> = (&'s str, &'s str, &'s [(&'s str, &'s str)]);

const PROMPT: Said<'_> = (
    "msg_1",
    r#""role":"user","time":{"created":1767323046000}"#,
    &[("prt_1", r#""type":"text","text":"water the beds""#)],
);
const RUNNING: Said<'_> = (
    "msg_2",
    r#""role":"assistant","modelID":"m","time":{"created":1767323047000}"#,
    &[(
        "prt_2",
        r#""type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"tap"}}"#,
    )],
);
const DONE: Said<'_> = (
    "msg_2",
    r#""role":"assistant","modelID":"m","time":{"created":1767323047000,"completed":1767323049000}"#,
    &[
        (
            "prt_2",
            r#""type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"tap"},"output":"wet"}"#,
        ),
        ("prt_3", r#""type":"text","text":"done""#),
        ("prt_4", r#""type":"step-finish","tokens":{"input":7,"output":3,"cache":{"read":1,"write":0}}"#),
    ],
);
const INSTEAD: Said<'_> = ("msg_4", r#""role":"user""#, &[("prt_6", r#""type":"text","text":"mow""#)]);

const WHOLE: [&str; 4] = ["user: water the beds", "assistant: bash#c", "tool: #c = wet", "assistant: done"];

/// Writes a session into a tree of files. Members that it does not have any more are removed.
fn plant(storage: &Path, id: &str, said: &[Said<'_>]) -> PathBuf {
    for folder in ["session/p", &format!("message/{id}")] {
        let _ = fs::remove_dir_all(storage.join(folder));
        fs::create_dir_all(storage.join(folder)).unwrap();
    }
    let path = storage.join(format!("session/p/{id}.json"));
    fs::write(&path, SESSION.replace("ses_1", id)).unwrap();
    for (message, info, parts) in said {
        let info = format!("{{\n  \"id\": \"{message}\",\n  \"sessionID\": \"{id}\",\n  {info}\n}}\n");
        fs::write(storage.join(format!("message/{id}/{message}.json")), info).unwrap();
        fs::create_dir_all(storage.join(format!("part/{message}"))).unwrap();
        for (part, fields) in *parts {
            let text = format!(
                "{{\n  \"id\": \"{part}\",\n  \"sessionID\": \"{id}\",\n  \"messageID\": \"{message}\",\n  {fields}\n}}\n"
            );
            fs::write(storage.join(format!("part/{message}/{part}.json")), text).unwrap();
        }
    }
    settle(storage);
    path
}

/// Sets all times back, because a change within milliseconds could leave a time as it was.
fn settle(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            settle(&path);
        } else if fs::symlink_metadata(&path).unwrap().is_file() {
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        }
    }
}

const TABLES: &str = "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
  title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
 CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
 CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);";

/// Writes a session into a database, at a time in milliseconds.
pub(super) fn store(database: &Connection, id: &str, said: &[Said<'_>], at: i64) {
    let put = |query: &str, values: &[&dyn rusqlite::ToSql]| {
        database.execute(query, values).unwrap();
    };
    put("DELETE FROM message WHERE session_id = ?1", &[&id]);
    put(
        "INSERT OR REPLACE INTO session VALUES (?1, 'p', NULL, '/srv/garden', 'Watering', '1.2.0', NULL, 1767323045000, ?2)",
        &[&id, &at],
    );
    for (number, (message, info, parts)) in said.iter().enumerate() {
        let data = format!("{{{info}}}");
        put("INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5)", &[message, &id, &(number as i64), &at, &data]);
        for (part, fields) in *parts {
            let data = format!("{{{fields}}}");
            put(
                "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, 0, ?4, ?5)",
                &[part, message, &id, &at, &data],
            );
        }
    }
}

pub(super) fn database(home: &Home) -> (PathBuf, Connection) {
    let path = home.path("opencode.db");
    let database = Connection::open(&path).unwrap();
    database.execute_batch(&format!("PRAGMA journal_mode = WAL; {TABLES}")).unwrap();
    (path, database)
}

fn refusal(engine: &Engine, path: &Path) -> Error {
    block_on(engine.import(path, None, &mut |_, _| {})).unwrap_err()
}

#[test]
fn a_tree_is_imported_as_it_grows_and_nothing_twice() {
    let home = Home::new();
    let (engine, storage) = (home.engine(), home.path("storage"));
    let path = plant(&storage, "ses_1", &[PROMPT, RUNNING]);
    let files = transcripts(&home.path("storage")).unwrap().files;
    assert_eq!(files.iter().map(|file| &file.path).collect::<Vec<_>>(), [&path]);
    assert_eq!(import(&engine, &path).format.name(), "opencode");
    assert!(import(&engine, &path).unchanged);
    plant(&storage, "ses_1", &[PROMPT, DONE]);
    let grown = import(&engine, &path);
    assert_eq!((grown.appended, grown.duplicates, grown.opaque_bytes), (3, 0, 0), "{grown:?}");
    let one = session(&engine, "ses_1");
    assert_eq!(transcript(&one), WHOLE);
    let usage = |fact: &Fact| matches!(fact, Fact::UsageMeasured(usage) if usage.input.0 == 7);
    assert!(events(&one).iter().any(|event| event.fact.as_ref().is_some_and(usage)));
    let info = block_on(one.info()).unwrap();
    assert_eq!(info.scope.project.as_deref(), Some("/srv/garden"));
    assert_eq!(info.scope.agent.as_deref(), Some("opencode"));
    assert!(
        import(&engine, &path).unchanged
            && block_on(engine.maintenance().verify_import(&path, None, &mut |_, _| {})).unwrap().unchanged
    );
    let lines = String::from_utf8(original(&one)).unwrap();
    assert_eq!(lines.lines().count(), 4, "the session, the prompt, and two versions of the reply: {lines}");
}

#[test]
fn a_session_is_the_same_from_a_tree_and_from_a_database() {
    let (home, other) = (Home::new(), Home::new());
    let (engine, storage) = (home.engine(), home.path("storage"));
    let path = plant(&storage, "ses_1", &[PROMPT, RUNNING]);
    import(&engine, &path);
    plant(&storage, "ses_1", &[PROMPT, DONE]);
    import(&engine, &path);
    let (path, rows) = database(&home);
    store(&rows, "ses_1", &[PROMPT, DONE], 1);
    let moved = import(&engine, &path.join("ses_1"));
    assert_eq!((moved.appended, moved.sessions.len()), (0, 1), "{moved:?}");
    let fresh = other.engine();
    import(&fresh, &path.join("ses_1"));
    let ids = |engine: &Engine| {
        let mut ids: Vec<_> =
            events(&session(engine, "ses_1")).into_iter().skip(1).map(|event| event.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&fresh), ids(&engine));
}

#[test]
fn a_database_in_use_is_read_and_not_changed() {
    let home = Home::new();
    let engine = home.engine();
    let (path, rows) = database(&home);
    store(&rows, "ses_1", &[PROMPT, RUNNING], 1);
    store(&rows, "ses_2", &[INSTEAD], 1);
    let before = fs::read(&path).unwrap();
    let found = transcripts(&path).unwrap().files;
    assert_eq!(
        found.iter().map(|file| &file.path).collect::<Vec<_>>(),
        [&path.join("ses_1"), &path.join("ses_2")]
    );
    // The owner writes at the same time; what it has not committed is not read.
    rows.execute_batch("BEGIN IMMEDIATE; UPDATE part SET data = '{}'").unwrap();
    let first = import(&engine, &path.join("ses_1"));
    assert_eq!((first.messages, first.opaque_bytes), (2, 0), "{first:?}");
    rows.execute_batch("ROLLBACK").unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(import(&engine, &path.join("ses_1")).unchanged);
    store(&rows, "ses_1", &[PROMPT, DONE], 2);
    assert_eq!(import(&engine, &path.join("ses_1")).appended, 3);
    assert_eq!(transcript(&session(&engine, "ses_1")), WHOLE);
    assert!(block_on(engine.imported(&path.join("ses_1"))).unwrap().unwrap().1);
    let known = block_on(transcripts(&path).unwrap().unchanged(&engine)).unwrap();
    assert_eq!(known.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_reverted_prompt_begins_a_branch() {
    let home = Home::new();
    let engine = home.engine();
    let (path, rows) = database(&home);
    let again: Said<'_> =
        ("msg_3", r#""role":"user""#, &[("prt_5", r#""type":"text","text":"and the trees""#)]);
    store(&rows, "ses_1", &[PROMPT, DONE, again], 1);
    import(&engine, &path.join("ses_1"));
    store(&rows, "ses_1", &[PROMPT, DONE, INSTEAD], 2);
    let leaf = import(&engine, &path.join("ses_1")).sessions[0].clone();
    assert_eq!(leaf.as_str(), "ses_1~2");
    assert_eq!(transcript(&session(&engine, "ses_1~1")).last().unwrap(), "user: and the trees");
    assert_eq!(transcript(&session(&engine, "ses_1~2")).last().unwrap(), "user: mow");
}

#[test]
fn hostile_members_are_kept_or_refused() {
    let home = Home::new();
    let (engine, storage) = (home.engine(), home.path("storage"));
    let path = plant(&storage, "ses_1", &[PROMPT, DONE]);
    fs::write(storage.join("part/msg_2/prt_3.json"), "{\"id\": \"prt_3\", \"ty").unwrap();
    fs::write(storage.join("part/msg_2/prt_5.json"), b"\xff\xfe").unwrap();
    fs::write(storage.join("message/ses_1/msg_9.json"), "[]").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&storage, storage.join("part/msg_2/loop.json")).unwrap();
        std::os::unix::fs::symlink("..", storage.join("session/loop")).unwrap();
    }
    let done = import(&engine, &path);
    assert_eq!((done.messages, done.broken), (3, 0), "{done:?}");
    assert!(done.opaque_bytes > 0);
    assert!(String::from_utf8(original(&session(&engine, "ses_1"))).unwrap().contains(r#"\"ty"#), "kept");
    transcripts(&home.path("storage")).unwrap();

    let text = home.file("not.db", "SQLite format 3\0but no database");
    assert!(matches!(transcripts(&text), Err(Error::File { .. })));
    let (path, rows) = database(&home);
    rows.execute_batch("DROP TABLE part").unwrap();
    assert!(matches!(transcripts(&path), Err(Error::Import { reason: ImportReason::NotATranscript, .. })));
    assert!(matches!(refusal(&engine, &path), Error::Import { .. }));
    rows.execute_batch("DROP TABLE message; DROP TABLE session").unwrap();
    rows.execute_batch(TABLES).unwrap();
    assert!(refusal(&engine, &path.join("ses_7")).to_string().contains("ses_7"));
    store(&rows, "ses_8", &[], 1);
    rows.execute_batch(
        "INSERT INTO message VALUES ('msg_1', 'ses_8', 1, 1, 'no JSON'), ('msg_2', 'ses_8', 2, 1, x'ff00');
         INSERT INTO part VALUES ('prt_1', 'msg_2', 'ses_8', 1, 1, '[7]'), ('prt_2', NULL, 'ses_8', 'x', NULL, '{}')",
    )
    .unwrap();
    assert_eq!(import(&engine, &path.join("ses_8")).messages, 0);
}

#[test]
fn a_session_of_ten_thousand_members_is_imported_and_grows_by_one() {
    let home = Home::new();
    let engine = home.engine();
    let (path, mut rows) = database(&home);
    let insert = rows.transaction().unwrap();
    store(&insert, "ses_1", &[], 1);
    for number in 0..10_000 {
        let message = format!("msg_{number:05}");
        let data = format!(r#"{{"role":"user","time":{{"created":{number}}}}}"#);
        insert
            .execute("INSERT INTO message VALUES (?1, 'ses_1', ?2, 1, ?3)", (&message, number, data))
            .unwrap();
        let (part, data) = (format!("prt_{number:05}"), r#"{"type":"text","text":"go on"}"#);
        insert
            .execute("INSERT INTO part VALUES (?1, ?2, 'ses_1', 1, 1, ?3)", (part, &message, data))
            .unwrap();
    }
    insert.commit().unwrap();
    assert_eq!(import(&engine, &path.join("ses_1")).messages, 10_000);
    rows.execute("INSERT INTO message VALUES ('msg_x', 'ses_1', 20000, 2, '{\"role\":\"user\"}')", ())
        .unwrap();
    rows.execute(
        "INSERT INTO part VALUES ('prt_x', 'msg_x', 'ses_1', 2, 2, '{\"type\":\"text\",\"text\":\"stop\"}')",
        (),
    )
    .unwrap();
    let grown = import(&engine, &path.join("ses_1"));
    assert_eq!((grown.records, grown.appended), (1, 1), "{grown:?}");
}

#[test]
fn histories_contain_the_sessions_of_both_forms() {
    let home = Home::new();
    let folder = home.path("data/opencode");
    fs::create_dir_all(&folder).unwrap();
    let tree = plant(&folder.join("storage"), "ses_1", &[PROMPT]);
    let rows = Connection::open(folder.join("opencode.db")).unwrap();
    rows.execute_batch(TABLES).unwrap();
    store(&rows, "ses_2", &[INSTEAD], 1_767_323_045_000);
    fs::write(folder.join("opencode-dev.db"), "SQLite format 3\0").unwrap();
    let variables = [("XDG_DATA_HOME".to_owned(), home.path("data").into())].into();
    let places = Places { home: home.path("nowhere"), variables, projects: Vec::new() };
    let found = histories(&[Agent::from_name("opencode").unwrap()], &places);
    let files: Vec<_> = found.iter().flat_map(|history| &history.files).collect();
    assert_eq!(
        files.iter().map(|file| &file.path).collect::<Vec<_>>(),
        [&folder.join("opencode.db/ses_2"), &tree]
    );
    assert!(files.iter().all(|file| file.bytes > 0 && file.modified.is_some()));
    assert_eq!(found[0].unread.len(), 1, "a damaged database is reported");
}

#[test]
fn erased_text_stays_erased_when_the_session_grows() {
    let home = Home::new();
    let engine = home.engine();
    let (path, rows) = database(&home);
    store(&rows, "ses_1", &[PROMPT, RUNNING], 1);
    import(&engine, &path.join("ses_1"));
    let one = session(&engine, "ses_1");
    let is_prompt = |event: &&Event| matches!(&event.fact, Some(Fact::MessageAppended(said)) if said.message.role == Role::User);
    let seq = events(&one).iter().find(is_prompt).unwrap().seq;
    block_on(one.erase(seq, seq, None)).unwrap();
    store(&rows, "ses_1", &[PROMPT, DONE], 2);
    let grown = import(&engine, &path.join("ses_1"));
    assert_eq!(grown.erased, 1, "{grown:?}");
    let text = String::from_utf8(original(&one)).unwrap();
    assert!(!text.contains("water the beds"), "{text}");
    let len = text.len();
    assert!(import(&engine, &path.join("ses_1")).unchanged);
    store(&rows, "ses_1", &[PROMPT, DONE], 3);
    import(&engine, &path.join("ses_1"));
    let text = String::from_utf8(original(&one)).unwrap();
    assert!(!text.contains("water the beds") && text.len() < len * 2, "{text}");
}

#[test]
fn conversations_of_cursor_are_imported_from_its_database() {
    let home = Home::new();
    let engine = home.engine();
    let path = home.path("state.vscdb");
    let rows = Connection::open(&path).unwrap();
    rows.execute_batch("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        .unwrap();
    let put = |key: &str, value: &str| {
        rows.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", (key, value.as_bytes())).unwrap();
    };
    let composer = |bubbles: &[&str], at: u64| {
        let headers: Vec<_> = bubbles.iter().map(|id| format!(r#"{{"bubbleId":"{id}"}}"#)).collect();
        let headers = headers.join(",");
        let text = format!(
            r#"{{"composerId":"c1","name":"Beds","lastUpdatedAt":{at},"workspaceIdentifier":{{"uri":{{"fsPath":"/srv/garden"}}}},"fullConversationHeadersOnly":[{headers}]}}"#
        );
        put("composerData:c1", &text);
    };
    put("bubbleId:c1:z", r#"{"type":1,"text":"water"}"#);
    put("bubbleId:c1:y", r#"{"type":2,"text":"sure"}"#);
    put("bubbleId:c2:y", "no JSON");
    put("composerData:empty", "{}");
    composer(&["z", "y"], 1);
    let found = transcripts(&home.path("")).unwrap().files;
    assert_eq!(found.iter().map(|file| &file.path).collect::<Vec<_>>(), [&path.join("c1")]);
    assert_eq!(import(&engine, &path.join("c1")).messages, 2);
    assert!(import(&engine, &path.join("c1")).unchanged);
    let one = session(&engine, "c1");
    assert_eq!(transcript(&one), ["user: water", "assistant: sure"]);
    let scope = block_on(one.info()).unwrap().scope;
    assert_eq!((scope.project.as_deref(), scope.agent.as_deref()), (Some("/srv/garden"), Some("cursor")));
    put("bubbleId:c1:x", r#"{"type":1,"text":"mow"}"#);
    composer(&["x"], 2);
    assert_eq!(import(&engine, &path.join("c1")).sessions[0].as_str(), "c1~2");
    assert_eq!(transcript(&session(&engine, "c1~2")), ["user: mow"]);
}
