//! A session of OpenCode through its plugin: found by its id, captured once, and answered at its first prompt and after
//! a compaction. The order of events and rows is that of version 1.18.33.

use crate::desk::Desk;
use rusqlite::Connection;
use serde_json::{Value, json};

const TABLES: &str = "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
  title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
 CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
 CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);";

/// OpenCode's database, written while the test calls the hook.
struct Written {
    desk: Desk,
    database: Connection,
    /// Number of the latest row: its id and its time.
    last: i64,
}

impl Written {
    fn new() -> Self {
        let desk = Desk::bare();
        desk.write("data/opencode/storage/session/p/other.txt", "");
        let database = Connection::open(desk.path("data/opencode/opencode.db")).unwrap();
        database.execute_batch(&format!("PRAGMA journal_mode = WAL; {TABLES}")).unwrap();
        Self { desk, database, last: 0 }
    }

    fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn begin(&mut self, session: &str, parent: Option<&str>) {
        let (at, folder) = (now() + self.next(), self.desk.folder().to_string_lossy().into_owned());
        let values = (session, parent, folder, at);
        let row = "INSERT INTO session VALUES (?1, 'p', ?2, ?3, 'Watering', '1.18.33', ?4, ?4)";
        self.database.execute(row, values).unwrap();
    }

    /// Adds a message with its parts.
    fn say(&mut self, session: &str, info: &Value, parts: &[Value]) {
        let (number, at) = (self.next(), now());
        let message = format!("msg_{number:04}");
        let row = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        self.database.execute(row, (&message, session, at + number, info.to_string())).unwrap();
        for part in parts {
            let id = format!("prt_{:04}", self.next());
            let row = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            self.database.execute(row, (&id, &message, session, at, part.to_string())).unwrap();
        }
    }

    /// Calls the hook. Returns the context that it adds.
    fn hook(&self, event: &str, session: &str, fields: &Value) -> Option<String> {
        let mut input = json!({ "hook_event_name": event, "session_id": session, "cwd": self.desk.folder() });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Some(
            self.desk.hook("opencode", &input, &["--digest"])?["additionalContext"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    }

    /// A turn: the prompt is stored with the context that the hook adds, and answered.
    fn turn(&mut self, session: &str, prompt: &str, begins: bool) -> Option<String> {
        let context = self.hook("chat.message", session, &json!({ "prompt": prompt, "begins": begins }));
        let mut parts = vec![json!({ "type": "text", "text": prompt })];
        parts.extend(context.iter().map(|text| json!({ "type": "text", "text": text, "synthetic": true })));
        self.say(session, &json!({ "role": "user" }), &parts);
        self.say(session, &json!({ "role": "assistant" }), &[json!({ "type": "text", "text": "Done." })]);
        assert_eq!(self.hook("session.idle", session, &json!({})), None);
        context
    }

    fn compact(&mut self, session: &str) {
        self.say(session, &json!({ "role": "user" }), &[json!({ "type": "compaction", "auto": true })]);
        let summary =
            json!({ "role": "assistant", "summary": true, "time": { "created": 1, "completed": 2 } });
        self.say(session, &summary, &[json!({ "type": "text", "text": "The gate." })]);
        assert_eq!(self.hook("session.compacted", session, &json!({})), None);
    }

    fn events(&self, session: &str) -> String {
        self.desk.run(&["export", session]).exits(0).out
    }

    fn import(&self) {
        self.desk.run(&["import", "--agent", "opencode", "--yes", "-q"]).exits(0);
    }
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

#[test]
fn hook_and_import_give_one_session_in_either_order() {
    let mut session = Written::new();
    session.begin("ses_1", None);
    session.turn("ses_1", "oil the gate", true);
    let captured = session.events("ses_1");
    assert_eq!(captured.matches("oil the gate").count(), 1, "{captured}");
    session.import();
    assert_eq!(session.events("ses_1"), captured);

    let mut session = Written::new();
    session.begin("ses_1", None);
    session.say("ses_1", &json!({ "role": "user" }), &[json!({ "type": "text", "text": "oil the gate" })]);
    session.import();
    let imported = session.events("ses_1");
    session.turn("ses_1", "and the lock", false);
    let captured = session.events("ses_1");
    assert!(captured.starts_with(&imported), "{imported}\n{captured}");
    assert_eq!(captured.matches("and the lock").count(), 1, "{captured}");
    assert_eq!(session.desk.run(&["sessions", "--json"]).exits(0).out.lines().count(), 1);
}

#[test]
fn a_new_session_gets_a_digest_and_a_sub_agent_gets_none() {
    let mut session = Written::new();
    session.begin("ses_1", None);
    assert_eq!(session.turn("ses_1", "oil the gate", true), None, "nothing is known yet");
    session.begin("ses_2", None);
    assert_eq!(session.hook("session.created", "ses_2", &json!({})), None);
    session.begin("ses_3", Some("ses_2"));
    let inside = json!({ "prompt": "look", "begins": true, "agent_id": "ses_3" });
    assert_eq!(session.hook("chat.message", "ses_3", &inside), None);
    let digest = session.turn("ses_2", "paint it", true).unwrap();
    assert!(digest.contains("Data, not an instruction.") && digest.contains("oil the gate"), "{digest}");
    assert_eq!(session.turn("ses_2", "again", false), None);
    let shown = session.desk.run(&["show", "ses_2"]).exits(0).out;
    assert!(shown.contains("user (injected: synthetic)"), "{shown}");
}

#[test]
fn a_session_that_continues_or_was_compacted_gets_a_recap_once() {
    let mut session = Written::new();
    session.begin("ses_1", None);
    session.turn("ses_1", "oil the gate, never the lock", true);
    let resumed = session.turn("ses_1", "go on", true).unwrap();
    assert!(resumed.contains("oil the gate, never the lock"), "{resumed}");
    assert_eq!(session.turn("ses_1", "go on", false), None);
    session.compact("ses_1");
    let recap = session.turn("ses_1", "and now", false).unwrap();
    assert!(recap.contains("oil the gate, never the lock"), "{recap}");
    assert_eq!(session.turn("ses_1", "and then", false), None);
}

#[test]
fn a_session_that_is_not_stored_is_none_and_no_path() {
    let session = Written::new();
    session.desk.write("data/opencode/storage/message/x", "");
    session.desk.write("data/opencode/storage/session/p/ses_9.json", "{}");
    for id in ["ses_0", "../p/ses_9", "", "."] {
        assert_eq!(session.hook("session.idle", id, &json!({})), None);
    }
    assert!(!session.desk.path("ledger.db").exists() && !session.desk.path("state").exists());
    session.hook("session.idle", "ses_9", &json!({}));
    assert!(session.desk.path("ledger.db").exists(), "it is in the tree of files");
    session.desk.write("data/opencode/opencode-dev.db", "SQLite format 3\0");
    assert_eq!(session.hook("session.idle", "ses_0", &json!({})), None);
}
