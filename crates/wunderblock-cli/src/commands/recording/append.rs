//! `append`: the live door. Each input line is acknowledged in order, once its event is durable.

use crate::args::{Append, Global};
use crate::drawing::terminal::{clean, clean_json};
use crate::output::console::say;
use crate::output::exit::{Exit, FAILED, Failure, REFUSED, add};
use crate::output::hint::sentence;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use wunderblock::{Error, ReadyEvent, Session};
use wunderblock_core::event::{EventSource, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::Millis;
use wunderblock_settings::Settings;
use wunderblock_wire::{LiveLine, decode_line};

/// Maximum number of lines in a group that is committed together.
const GROUP: usize = 512;
/// Maximum total length of a group's lines, in bytes. A longer line forms a group by itself.
const GROUP_BYTES: usize = 1 << 20;
/// Maximum number of bytes in lines that have been read but are not yet in a group. A longer line is accepted only
/// when no other line waits.
const WAITING_BYTES: usize = 1 << 20;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Append) -> Exit {
    let engine = settings.write().await?;
    let id = StreamId::new(wanted.session.clone()).map_err(Error::from)?;
    // The id of a session selects the session's latest branch, and so does the short id that lists print. Any other
    // beginning of an id is an id of its own.
    let is_own = |rest: &str| rest.is_empty() || rest.starts_with('~');
    let session = match engine.find_session(&wanted.session).await {
        Ok(found) if found.id().as_str().strip_prefix(id.as_str()).is_some_and(is_own) => found,
        Ok(found) if engine.ledger().short_ids(found.id()).await?.names(found.id(), &wanted.session) => {
            say(global, &format!("`{}` is the session {}", wanted.session, clean(found.id().as_str())));
            found
        }
        Ok(found) => {
            let other = clean(found.id().as_str());
            say(
                global,
                &format!("`{}` is a new session; {other} begins with the same characters", wanted.session),
            );
            engine.session_by_id(id)
        }
        Err(_) => engine.session_by_id(id),
    };
    let groups = prepare_groups(&session, read_lines());
    let (mut refused, mut failed) = (false, false);
    // All lines read while earlier groups were being prepared go into the next group, so that one sync covers them.
    while let Ok((group, broken)) = groups.recv() {
        let mut out = std::io::stdout().lock();
        for answer in handle(&session, group).await {
            refused |= ["conflict", "refused", "erased"].iter().any(|status| has_status(&answer, status));
            failed |= has_status(&answer, "error");
            writeln!(out, "{}", clean_json(&answer.to_string()))?;
        }
        out.flush()?;
        if let Some(error) = broken {
            return Err(Failure::Door(FAILED, format!("the input cannot be read: {error}")));
        }
    }
    Ok(match (failed, refused) {
        (true, _) => ExitCode::from(FAILED),
        (_, true) => ExitCode::from(REFUSED),
        _ => ExitCode::SUCCESS,
    })
}

fn has_status(answer: &Value, status: &str) -> bool {
    answer.get("status").and_then(Value::as_str) == Some(status)
}

/// What an answer repeats of a line.
#[derive(Clone, Copy)]
struct LineInfo {
    number: u64,
    /// Number of characters that could not be stored as they are.
    lone_surrogates: usize,
}

impl LineInfo {
    /// Returns the answer to the line.
    fn answer(self, fields: Value) -> Value {
        let mut answer = json!({ "line": self.number });
        add(&mut answer, fields);
        if self.lone_surrogates > 0 {
            add(&mut answer, json!({ "lone_surrogates": self.lone_surrogates }));
        }
        answer
    }
}

/// A line of input, and its event or the reason it is invalid.
type Line = (LineInfo, Result<NewEvent, String>);
/// A line of input whose event is prepared for storage.
type Answerable = (LineInfo, Result<(EventId, Result<ReadyEvent, Error>), String>);

/// Lines that have been read but not yet taken, with at most [`WAITING_BYTES`] bytes in total.
#[derive(Default)]
struct Waiting {
    lines: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<(Line, usize)>,
    bytes: usize,
    /// Set when there are no more lines: the input ended, or reading it failed with this error.
    end: Option<Option<std::io::Error>>,
    /// Whether the consumer of lines has ended.
    left: bool,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line once there is room. Returns false if the consumer has ended.
    fn put(&self, line: Line, bytes: usize) -> bool {
        let is_full =
            |queue: &mut Queue| !queue.left && queue.bytes > 0 && queue.bytes + bytes > WAITING_BYTES;
        let waited = self.changed.wait_while(self.lock(), is_full);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        queue.bytes += bytes;
        queue.lines.push_back((line, bytes));
        self.changed.notify_all();
        !queue.left
    }

    fn end(&self, why: Option<std::io::Error>) {
        self.lock().end = Some(why);
        self.changed.notify_all();
    }

    /// Waits for a line, and returns the lines of at most one group. An error that ended the input is returned with
    /// the last lines.
    fn take(&self) -> Option<(Vec<Line>, Option<std::io::Error>)> {
        let is_empty = |queue: &mut Queue| queue.lines.is_empty() && queue.end.is_none();
        let waited = self.changed.wait_while(self.lock(), is_empty);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < GROUP
            && bytes < GROUP_BYTES
            && let Some((line, len)) = queue.lines.pop_front()
        {
            bytes += len;
            group.push(line);
        }
        queue.bytes -= bytes;
        let broken = if queue.lines.is_empty() { queue.end.as_mut().and_then(Option::take) } else { None };
        self.changed.notify_all();
        (!group.is_empty() || broken.is_some()).then_some((group, broken))
    }

    fn leave(&self) {
        self.lock().left = true;
        self.changed.notify_all();
    }
}

/// Reads and parses lines ahead on a separate thread while there is room.
fn read_lines() -> Arc<Waiting> {
    let waiting = Arc::new(Waiting::default());
    let reading = Arc::clone(&waiting);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let (mut number, mut line) = (0, Vec::new());
        loop {
            line.clear();
            match stdin.read_until(b'\n', &mut line) {
                Ok(0) => return reading.end(None),
                Ok(_) => number += 1,
                Err(error) => return reading.end(Some(error)),
            }
            let is_blank = line.iter().all(u8::is_ascii_whitespace);
            if !is_blank && !reading.put(parsed(&line, number), line.len()) {
                return;
            }
            // The buffer of a very long line is not kept for the lines after it.
            line.shrink_to(GROUP_BYTES);
        }
    });
    waiting
}

/// Prepares groups on a separate thread, so that the next group is prepared while the previous one is being
/// committed.
fn prepare_groups(
    session: &Session,
    lines: Arc<Waiting>,
) -> Receiver<(Vec<Answerable>, Option<std::io::Error>)> {
    // The channel has no buffer, so at most one prepared group waits and a slow disk does not fill the memory.
    let (sender, groups) = sync_channel(0);
    let session = session.clone();
    std::thread::spawn(move || {
        while let Some((group, broken)) = lines.take() {
            if sender.send((ready(&session, group), broken)).is_err() {
                break;
            }
        }
        lines.leave();
    });
    groups
}

fn ready(session: &Session, lines: Vec<Line>) -> Vec<Answerable> {
    let (mut events, mut ids) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    for (info, line) in lines {
        let id = line.map(|event| {
            let id = event.id.clone();
            events.push(event);
            id
        });
        ids.push((info, id));
    }
    let (mut prepared, fault) = match ReadyEvent::prepare(session, events) {
        Ok(prepared) => (prepared.into_iter(), String::new()),
        Err(error) => (Vec::new().into_iter(), error.to_string()),
    };
    let mut with_event = |id: EventId| prepared.next().map(|one| (id, one)).ok_or_else(|| fault.clone());
    ids.into_iter().map(|(info, id)| (info, id.and_then(&mut with_event))).collect()
}

async fn handle(session: &Session, group: Vec<Answerable>) -> Vec<Value> {
    let mut answers = Vec::with_capacity(group.len());
    let mut waiting: Vec<(LineInfo, ReadyEvent)> = Vec::new();
    for (info, line) in group {
        match line {
            Ok((_, Ok(event))) => waiting.push((info, event)),
            Ok((id, Err(error))) => {
                // Earlier lines are committed first, so that the answers keep the order of the input.
                answers.extend(commit(session, std::mem::take(&mut waiting)).await);
                answers.push(refusal(info, &id, &error));
            }
            Err(why) => {
                answers.extend(commit(session, std::mem::take(&mut waiting)).await);
                answers.push(info.answer(json!({ "status": "error", "error": why })));
            }
        }
    }
    answers.extend(commit(session, waiting).await);
    answers
}

/// Commits lines together. If one of the lines is rejected, commits each line separately, so that the others are
/// stored.
async fn commit(session: &Session, lines: Vec<(LineInfo, ReadyEvent)>) -> Vec<Value> {
    if lines.is_empty() {
        return Vec::new();
    }
    let events: Vec<ReadyEvent> = lines.iter().map(|(_, event)| event.clone()).collect();
    match ReadyEvent::append(session, events).await {
        Ok(done) => lines
            .iter()
            .zip(done)
            .map(|((info, event), one)| {
                let (id, seq) = (event.id().as_str(), one.seq.0);
                let status = if one.duplicate { "duplicate" } else { "appended" };
                info.answer(match one.erased {
                    true => json!({ "id": id, "seq": seq, "status": "erased", "error": ERASED }),
                    false => json!({ "id": id, "seq": seq, "status": status }),
                })
            })
            .collect(),
        // An error of the ledger would affect every line, so the lines are not retried one by one.
        Err(error) if lines.len() == 1 || !is_of_one_line(&error) => {
            lines.iter().map(|(info, event)| refusal(*info, event.id(), &error)).collect()
        }
        Err(_) => {
            let mut answers = Vec::with_capacity(lines.len());
            for line in lines {
                answers.extend(Box::pin(commit(session, vec![line])).await);
            }
            answers
        }
    }
}

/// Why a line with the id of an erased event is not stored.
const ERASED: &str =
    "the event with this id was erased, and nothing is stored under it again; give another id";

fn is_of_one_line(error: &Error) -> bool {
    use wunderblock::store::StoreError;
    match error {
        Error::Store(error) => matches!(error, StoreError::Conflict { .. } | StoreError::HandleTaken(_)),
        _ => true,
    }
}

fn refusal(info: LineInfo, id: &EventId, error: &Error) -> Value {
    let status = match error {
        Error::Store(wunderblock::store::StoreError::Conflict { .. }) => "conflict",
        Error::Unappendable { .. } => "refused",
        _ => "error",
    };
    let mut answer = info.answer(json!({ "id": id.as_str(), "status": status, "error": error.to_string() }));
    if let Some(hint) = error.hint().as_ref().and_then(sentence) {
        add(&mut answer, json!({ "hint": hint }));
    }
    answer
}

/// Parses a line as an event.
fn parsed(line: &[u8], number: u64) -> Line {
    let (lone_surrogates, event) = match decode_line(line) {
        Ok(line) => (line.lone_surrogates, event(line, number)),
        Err(error) => (0, Err(error.to_string())),
    };
    (LineInfo { number, lone_surrogates }, event)
}

fn event(line: LiveLine, number: u64) -> Result<NewEvent, String> {
    let LiveLine { id, at, fact, .. } = line;
    // An event without the caller's id is always new: two equal texts are not duplicates.
    let made = || format!("auto:{}-{}-{number}", now().0, std::process::id());
    let id = EventId::new(id.unwrap_or_else(made)).map_err(|error| error.to_string())?;
    Ok(NewEvent { id, at: at.unwrap_or_else(now), source: EventSource::Live, fact })
}

fn now() -> Millis {
    Millis(jiff::Timestamp::now().as_millisecond())
}
