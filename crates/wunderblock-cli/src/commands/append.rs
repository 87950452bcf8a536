//! `append`: the live door. A line in, an acknowledgement out, in order, once it is durable.

use crate::args::Append;
use crate::exit::{FAILED, Failure, REFUSED};
use crate::settings::Settings;
use crate::terminal::clean_json;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use wunderblock::{Error, Session};
use wunderblock_core::event::{NewEvent, Source};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::Millis;
use wunderblock_wire::{LiveLine, decode_line};

/// Lines that are committed together at most.
const GROUP: usize = 512;

/// A line of input and its number, or why there are no more.
type Line = Result<(u64, Vec<u8>), std::io::Error>;

pub(crate) async fn run(settings: &Settings, wanted: &Append) -> Result<ExitCode, Failure> {
    let engine = settings.write().await?;
    let id = StreamId::new(wanted.session.clone()).map_err(Error::from)?;
    let session = match engine.find(&wanted.session).await {
        Ok(found)
            if found.id().as_str().starts_with(id.as_str())
                && found.id().as_str().len() == id.as_str().len() =>
        {
            found
        }
        Ok(found)
            if found.id().as_str().strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with('~')) =>
        {
            found
        }
        _ => engine.session(id),
    };
    let lines = read_lines();
    let (mut refused, mut failed) = (false, false);
    // Whatever has been read by the time the last group is on the disk goes into the next: one sync for all of it.
    while let Some(group) = next_group(&lines) {
        let (group, broken) = whole(group);
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

fn read_lines() -> Receiver<Line> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut number = 0;
        loop {
            let mut line = Vec::new();
            match stdin.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => {
                    number += 1;
                    if sender.send(Ok((number, line))).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            }
        }
    });
    receiver
}

fn next_group(lines: &Receiver<Line>) -> Option<Vec<Line>> {
    let mut group = vec![lines.recv().ok()?];
    while group.len() < GROUP {
        match lines.recv_timeout(Duration::ZERO) {
            Ok(line) => group.push(line),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Some(group)
}

/// The lines before whatever broke the input off.
fn whole(group: Vec<Line>) -> (Vec<(u64, Vec<u8>)>, Option<std::io::Error>) {
    let mut lines = Vec::with_capacity(group.len());
    for line in group {
        match line {
            Ok(line) => lines.push(line),
            Err(error) => return (lines, Some(error)),
        }
    }
    (lines, None)
}

async fn handle(session: &Session, group: Vec<(u64, Vec<u8>)>) -> Vec<Value> {
    let mut answers = Vec::with_capacity(group.len());
    let mut waiting: Vec<(u64, NewEvent)> = Vec::new();
    for (number, line) in group {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match event(&line, number) {
            Ok(event) => waiting.push((number, event)),
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
async fn commit(session: &Session, lines: Vec<(u64, NewEvent)>) -> Vec<Value> {
    if lines.is_empty() {
        return Vec::new();
    }
    let events: Vec<NewEvent> = lines.iter().map(|(_, event)| event.clone()).collect();
    match session.append(events).await {
        Ok(done) => lines
            .iter()
            .zip(done)
            .map(|((number, event), one)| {
                let status = if one.duplicate { "duplicate" } else { "appended" };
                json!({ "line": number, "id": event.id.as_str(), "seq": one.seq.0, "status": status })
            })
            .collect(),
        // What ails the ledger and not one line is not tried again for each of them.
        Err(error) if lines.len() == 1 || !is_of_one_line(&error) => {
            lines.iter().map(|(number, event)| refusal(*number, event, &error)).collect()
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

fn refusal(number: u64, event: &NewEvent, error: &Error) -> Value {
    let status = match error {
        Error::Store(wunderblock::store::StoreError::Conflict { .. }) => "conflict",
        Error::Unappendable { .. } => "refused",
        _ => "error",
    };
    let mut answer =
        json!({ "line": number, "id": event.id.as_str(), "status": status, "error": error.to_string() });
    if let Some(hint) = error.hint() {
        crate::report::add(&mut answer, json!({ "hint": hint }));
    }
    answer
}

/// A line as an event.
fn event(line: &[u8], number: u64) -> Result<NewEvent, String> {
    let LiveLine { id, at, fact } = decode_line(line).map_err(|error| error.to_string())?;
    // Without a key of the caller's an event is new: equal texts are not taken for the same event.
    let made = || format!("auto:{}-{}-{number}", now().0, std::process::id());
    let id = EventId::new(id.unwrap_or_else(made)).map_err(|error| error.to_string())?;
    Ok(NewEvent { id, at: at.unwrap_or_else(now), source: Source::Live, fact })
}

fn now() -> Millis {
    Millis(jiff::Timestamp::now().as_millisecond())
}
