//! The tools, one file each: arguments become one operation of the library, and its result becomes an answer.

mod agents;
mod call;
mod exact;
mod explain;
mod filters;
mod note;
mod pin;
mod read;
mod run;
mod search;

pub(crate) use call::ToolCall;
pub(crate) use explain::report;
pub(crate) use read::page;
pub(crate) use search::hits;

use crate::answer::{ToolAnswer, ToolFailure};
use crate::arguments::CheckedArguments;
use crate::idle::CallKind;

/// Name of the tool that runs commands.
const RUN: &str = "run";

/// Returns what to call instead of a tool that there was in the version before, or the tools that there are.
pub(crate) fn instead(name: &str, names: &[&str]) -> String {
    match name {
        "grep" => "`grep` is a part of `search` now: give `query` and `exact`, which is `text` or `regex`"
            .to_owned(),
        _ => format!("unknown tool; the tools are {}", names.join(", ")),
    }
}

/// Returns the kind of a call.
pub(crate) fn kind(name: &str, arguments: &CheckedArguments) -> CallKind {
    match name {
        RUN => CallKind::Command,
        "search" if arguments.text("exact").is_none() => CallKind::Search,
        "search" => CallKind::Scan,
        "read" if arguments.text("query").is_some() => CallKind::Scan,
        "explain" => CallKind::Report,
        _ => CallKind::Quick,
    }
}

/// Calls a tool that exists. `cancelled` becomes ready when nobody waits for the answer any more.
pub(crate) async fn call(
    name: &str,
    call: ToolCall<'_>,
    cancelled: impl Future<Output = ()>,
) -> Result<ToolAnswer, ToolFailure> {
    let ledger = call.ledger;
    let answer = async {
        match name {
            "search" => search::call(&call).await,
            "read" => read::call(&call).await,
            "explain" => explain::call(&call).await,
            "agents" => agents::call(&call).await,
            "note" => note::call(&call).await,
            _ => pin::call(&call).await,
        }
    };
    let answer = if name == RUN {
        // What a command has written is kept even if the call is cancelled.
        run::call(&call, cancelled).await
    } else {
        tokio::select! {
            biased;
            answer = answer => answer,
            () = cancelled => Err(ToolFailure::Door("cancelled".to_owned())),
        }
    };
    answer.inspect_err(|failure| ledger.note(failure))
}
