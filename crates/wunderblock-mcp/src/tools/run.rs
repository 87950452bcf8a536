//! `run`: runs a command, keeps its output, and returns a reduction.

use super::call::ToolCall;
use crate::answer::{ContentLink, ToolAnswer, ToolFailure};
use crate::ledger::LedgerUse;
use crate::uri::read_uri;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wunderblock::process::ProgramEnd;
use wunderblock::{CommandResult, Output, ShellCommand};
use wunderblock_core::fence;
use wunderblock_core::stub::grouped;
use wunderblock_settings::spool::remove_stored;

/// Default time limit of a command.
const TIME: u64 = 120;

pub(super) async fn call(
    call: &ToolCall<'_>,
    cancelled: impl Future<Output = ()>,
) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    // What is kept is compared with everything that is kept; which session it belongs to is found within the reach.
    let engine = call.ledger.open_whole(LedgerUse::Created).await?;
    let seen = call.ledger.open(LedgerUse::Created).await?;
    let session = call.ledger.find_session(&seen, arguments.text("session")).await?;
    let session = session.map(|session| engine.session_by_id(session.id().clone()));
    let (guard, name) = (&call.ledger.served.guard, Output::unique_call("run")?);
    let beside = session.as_ref().map_or("outputs", |session| session.id().as_str());
    let mut through = guard.clone();
    if !guard.is_empty() {
        through.extend(["--session", beside, "--call", &name, "--"].map(str::to_owned));
    }
    let command = ShellCommand {
        through: &through,
        line: arguments.required("command"),
        cwd: &call.ledger.served.cwd,
        time: Duration::from_secs(arguments.number("seconds").unwrap_or(TIME)),
        query: arguments.text("query"),
        call: &name,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let mut running = pin!(command.run(&engine, session.as_ref(), &stop));
    let done = tokio::select! {
        done = &mut running => done?,
        () = cancelled => {
            stop.store(true, Ordering::Relaxed);
            running.await?
        }
    };
    remove_stored(&call.ledger.served.db, &name);
    Ok(answer(&done))
}

fn answer(done: &CommandResult) -> ToolAnswer {
    let reduced = &done.output.reduced;
    let handle = done.output.handle.map(|handle| handle.short());
    let (ended, words) = match (done.end, done.end.code()) {
        (ProgramEnd::Exited(_), Some(code)) => ("exited", format!("Exit code {code}.")),
        (ProgramEnd::Exited(_), None) => ("exited", "The command ended.".to_owned()),
        (ProgramEnd::TimedOut, _) => {
            ("timed_out", "The command was ended at its time limit; `seconds` raises it.".to_owned())
        }
        (ProgramEnd::TooLong, _) => {
            ("too_long", "The command was ended because it wrote too much.".to_owned())
        }
        (ProgramEnd::Stopped, _) => ("stopped", "The command was cancelled.".to_owned()),
    };
    let mut text = words;
    if let Some(handle) = &handle {
        let (before, after) = (grouped(reduced.tokens_before), grouped(reduced.tokens_after));
        text.push_str(&format!(" {after} of {before} tokens are shown; `read` {handle} shows the rest."));
    }
    text.push('\n');
    if reduced.text.is_empty() {
        text.push_str("It wrote nothing.");
    } else {
        text.push_str(&fence::data("output of the command", &reduced.text));
    }
    let mut facts = json!({
        "ended": ended,
        "tokens_before": reduced.tokens_before,
        "tokens_after": reduced.tokens_after,
    });
    if let Some(fields) = facts.as_object_mut() {
        fields.extend(done.end.code().map(|code| ("exit_code".to_owned(), code.into())));
        fields.extend(handle.clone().map(|handle| ("handle".to_owned(), handle.into())));
    }
    let mut answer = ToolAnswer::new(text, facts);
    answer.links.extend(handle.map(|handle| ContentLink {
        uri: read_uri(&handle),
        name: handle,
        description: "the whole output",
    }));
    answer
}
