//! `append`: the live door. A line in, an acknowledgement out, in order, once it is durable.

use crate::args::Append;
use crate::exit::{Exit, FAILED, Failure, REFUSED};
use crate::hint::sentence;
use crate::settings::Settings;
use crate::terminal::clean_json;
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
use wunderblock_wire::{LiveLine, decode_line};

/// Maximum lines of a group that is committed together.
const GROUP: usize = 512;
/// Maximum bytes of the lines of a group, but for one that alone is longer.
const GROUP_BYTES: usize = 1 << 20;
/// Maximum bytes of lines that are read and not yet taken into a group; a longer line waits until there are no others.
const WAITING_BYTES: usize = 1 << 20;

pub(crate) async fn run(settings: &Settings, wanted: &Append) -> Exit {
    let engine = settings.write().await?;
    let id = StreamId::new(wanted.session.clone()).map_err(Error::from)?;
    // A branch goes on where the session does; an id that only begins so is another session's.
    let is_own = |rest: &str| rest.is_empty() || rest.starts_with('~');
    let session = match engine.find_session(&wanted.session).await {
        Ok(found) if found.id().as_str().strip_prefix(id.as_str()).is_some_and(is_own) => found,
        _ => engine.session_by_id(id),
    };
    let groups = prepare_groups(&session, read_lines());
    let (mut refused, mut failed) = (false, false);
    // Whatever has been read by the time the groups before are made ready goes into the next: one sync for all of it.
    while let Ok((group, broken)) = groups.recv() {
        let mut out = std::io::stdout().lock();
        for answer in handle(&session, group).await {
            refused |= has_status(&answer, "conflict") || has_status(&answer, "refused");
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

/// A line of input: its number, and the event it is or why it is none.
type Line = (u64, Result<NewEvent, String>);
/// A line of input whose event is ready to be stored.
type Answerable = (u64, Result<(EventId, Result<ReadyEvent, Error>), String>);

/// Lines that are read and not yet taken, at most [`WAITING_BYTES`] of them.
#[derive(Default)]
struct Waiting {
    lines: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<(Line, usize)>,
    bytes: usize,
    /// Why there are no more lines: the input ended, or could not be read on.
    end: Option<Option<std::io::Error>>,
    /// Nobody takes lines any more.
    left: bool,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line once there is room; false if nobody takes lines any more.
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

    /// The lines that are there, of one group at most; waits for the first. With them, why the input broke off.
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

/// Reads and parses lines on a thread of its own, as far ahead as there is room.
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
            if !is_blank && !reading.put((number, event(&line, number)), line.len()) {
                return;
            }
            // A line of many megabytes does not hold its memory for those after it.
            line.shrink_to(GROUP_BYTES);
        }
    });
    waiting
}

/// Makes groups ready on a thread of its own: the next while the last is on the way to the disk.
fn prepare_groups(
    session: &Session,
    lines: Arc<Waiting>,
) -> Receiver<(Vec<Answerable>, Option<std::io::Error>)> {
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
    for (number, line) in lines {
        let id = line.map(|event| {
            let id = event.id.clone();
            events.push(event);
            id
        });
        ids.push((number, id));
    }
    let (mut prepared, fault) = match ReadyEvent::prepare(session, events) {
        Ok(prepared) => (prepared.into_iter(), String::new()),
        Err(error) => (Vec::new().into_iter(), error.to_string()),
    };
    let mut with_event = |id: EventId| prepared.next().map(|one| (id, one)).ok_or_else(|| fault.clone());
    ids.into_iter().map(|(number, id)| (number, id.and_then(&mut with_event))).collect()
}

async fn handle(session: &Session, group: Vec<Answerable>) -> Vec<Value> {
    let mut answers = Vec::with_capacity(group.len());
    let mut waiting: Vec<(u64, ReadyEvent)> = Vec::new();
    for (number, line) in group {
        match line {
            Ok((_, Ok(event))) => waiting.push((number, event)),
            Ok((id, Err(error))) => {
                answers.extend(commit(session, std::mem::take(&mut waiting)).await);
                answers.push(refusal(number, &id, &error));
            }
            Err(why) => {
                answers.extend(commit(session, std::mem::take(&mut waiting)).await);
                answers.push(json!({ "line": number, "status": "error", "error": why }));
            }
        }
    }
    answers.extend(commit(session, waiting).await);
    answers
}

/// Commits lines together; if one of them cannot be, each by itself, so that the others are not held up.
async fn commit(session: &Session, lines: Vec<(u64, ReadyEvent)>) -> Vec<Value> {
    if lines.is_empty() {
        return Vec::new();
    }
    let events: Vec<ReadyEvent> = lines.iter().map(|(_, event)| event.clone()).collect();
    match ReadyEvent::append(session, events).await {
        Ok(done) => lines
            .iter()
            .zip(done)
            .map(|((number, event), one)| {
                let status = if one.duplicate { "duplicate" } else { "appended" };
                json!({ "line": number, "id": event.id().as_str(), "seq": one.seq.0, "status": status })
            })
            .collect(),
        // What ails the ledger and not one line is not tried again for each of them.
        Err(error) if lines.len() == 1 || !is_of_one_line(&error) => {
            lines.iter().map(|(number, event)| refusal(*number, event.id(), &error)).collect()
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

fn is_of_one_line(error: &Error) -> bool {
    use wunderblock::store::StoreError;
    match error {
        Error::Store(error) => matches!(error, StoreError::Conflict { .. } | StoreError::HandleTaken(_)),
        _ => true,
    }
}

fn refusal(number: u64, id: &EventId, error: &Error) -> Value {
    let status = match error {
        Error::Store(wunderblock::store::StoreError::Conflict { .. }) => "conflict",
        Error::Unappendable { .. } => "refused",
        _ => "error",
    };
    let mut answer =
        json!({ "line": number, "id": id.as_str(), "status": status, "error": error.to_string() });
    if let Some(hint) = error.hint().as_ref().and_then(sentence) {
        crate::exit::add(&mut answer, json!({ "hint": hint }));
    }
    answer
}

/// A line as an event.
fn event(line: &[u8], number: u64) -> Result<NewEvent, String> {
    let LiveLine { id, at, fact } = decode_line(line).map_err(|error| error.to_string())?;
    // Without a key of the caller's an event is new: equal texts are not taken for the same event.
    let made = || format!("auto:{}-{}-{number}", now().0, std::process::id());
    let id = EventId::new(id.unwrap_or_else(made)).map_err(|error| error.to_string())?;
    Ok(NewEvent { id, at: at.unwrap_or_else(now), source: EventSource::Live, fact })
}

fn now() -> Millis {
    Millis(jiff::Timestamp::now().as_millisecond())
}
