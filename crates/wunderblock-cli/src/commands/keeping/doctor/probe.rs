//! A test of the hook: a transcript of an agent, made for the test, that the hook takes into a ledger of its own.

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, Engine};
use wunderblock_wire::hook::HookAgent;

/// A folder that is removed with what it contains.
struct ProbeFolder(PathBuf);

impl ProbeFolder {
    fn new(agent: HookAgent) -> std::io::Result<Self> {
        let name = format!("wunderblock-probe-{}-{}", agent.name(), std::process::id());
        let path = std::env::temp_dir().join(name);
        // An existing folder is not ours.
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the hook of an agent on a transcript made for the test, in an empty ledger. Returns the time in milliseconds
/// that the hook took for the second message, or what failed.
pub(super) async fn probe(agent: HookAgent, program: &str) -> Result<u64, String> {
    let folder = ProbeFolder::new(agent).map_err(|error| error.to_string())?;
    let db = folder.0.join("ledger.db");
    let mut millis = 0;
    for count in [1, 2] {
        let transcript = write(agent, &folder.0, count).map_err(|error| error.to_string())?;
        let begun = Instant::now();
        call(agent, program, &folder.0, &transcript, &db).map_err(|error| error.to_string())?;
        millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    }
    let log = std::fs::read_to_string(folder.0.join("wunderblock/hook.log")).unwrap_or_default();
    if let Some(problem) = log.lines().last() {
        return Err(problem.to_owned());
    }
    let engine =
        Engine::open_with(&db, Access::Read, Config::default()).await.map_err(|error| error.to_string())?;
    let sessions = engine.streams("", 2).await.map_err(|error| error.to_string())?;
    match sessions.as_slice() {
        [only] if only.messages == 2 => Ok(millis),
        _ => Err(format!("{} sessions in its ledger instead of one with two messages", sessions.len())),
    }
}

fn call(agent: HookAgent, program: &str, folder: &Path, transcript: &Path, db: &Path) -> std::io::Result<()> {
    let event = match agent {
        HookAgent::GeminiCli => "AfterAgent",
        HookAgent::OpenCode => "session.idle",
        _ => "Stop",
    };
    let input = json!({
        "hook_event_name": event, "session_id": "probe", "transcript_path": transcript, "cwd": folder,
    });
    let mut child = Command::new(program)
        .args(["hook", agent.name()])
        .env("WUNDERBLOCK_DB", db)
        .env("XDG_STATE_HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.to_string().as_bytes())?;
    }
    child.wait()?;
    Ok(())
}

/// Writes a transcript with one message or two, as its agent does. Returns its path.
fn write(agent: HookAgent, folder: &Path, count: usize) -> std::io::Result<PathBuf> {
    if agent != HookAgent::OpenCode {
        let path = folder.join("transcript.jsonl");
        std::fs::write(&path, lines(agent).into_iter().take(count).collect::<String>())?;
        return Ok(path);
    }
    // OpenCode's tree of files, which needs no database.
    let storage = folder.join("opencode/storage");
    let put = |file: &str, value: Value| {
        let path = storage.join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(&storage))?;
        std::fs::write(&path, value.to_string())?;
        Ok::<_, std::io::Error>(path)
    };
    for id in ["first", "second"].into_iter().take(count) {
        let message = json!({ "id": id, "sessionID": "probe", "role": "user", "time": { "created": 0 } });
        put(&format!("message/probe/{id}.json"), message)?;
        let part = json!({ "id": id, "messageID": id, "sessionID": "probe", "type": "text", "text": id });
        put(&format!("part/{id}/{id}.json"), part)?;
    }
    let session =
        json!({ "id": "probe", "directory": "/", "version": "0", "time": { "created": 0, "updated": 0 } });
    put("session/probe/probe.json", session)
}

/// Returns the beginning of a transcript with one message, and a second message.
fn lines(agent: HookAgent) -> [String; 2] {
    const AT: &str = "2026-01-01T00:00:00.000Z";
    let lines = |records: &[Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    match agent {
        HookAgent::Codex => {
            let header = json!({ "id": "probe", "timestamp": AT, "cwd": "/", "originator": "probe", "cli_version": "0" });
            let said = |text: &str| {
                let content = json!([{ "type": "input_text", "text": text }]);
                let message = json!({ "type": "message", "role": "user", "content": content });
                json!({ "timestamp": AT, "type": "response_item", "payload": message })
            };
            let header = json!({ "timestamp": AT, "type": "session_meta", "payload": header });
            [lines(&[header, said("first")]), lines(&[said("second")])]
        }
        HookAgent::GeminiCli => {
            let header = json!({ "sessionId": "probe", "projectHash": "0", "startTime": AT, "lastUpdated": AT, "kind": "main" });
            let said = |id: &str| json!({ "id": id, "timestamp": AT, "type": "user", "content": id });
            [lines(&[header, said("first")]), lines(&[said("second")])]
        }
        // Claude Code.
        _ => {
            let said = |id: &str, parent: Option<&str>| {
                json!({
                    "type": "user", "uuid": id, "parentUuid": parent, "sessionId": "probe", "timestamp": AT, "cwd": "/",
                    "version": "0", "message": { "role": "user", "content": id },
                })
            };
            [lines(&[said("first", None)]), lines(&[said("second", Some("first"))])]
        }
    }
}
