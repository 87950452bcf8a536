//! The tools, one file each: arguments become one operation of the library, and its result becomes an answer.

mod explain;
mod grep;
mod note;
mod pin;
mod read;
mod run;
mod search;

pub(crate) use explain::report;
pub(crate) use read::{page, read_uri};
pub(crate) use search::hits;

use crate::answer::{ToolAnswer, ToolFailure};
use crate::arguments::CheckedArguments;
use crate::ledger::SharedLedger;

/// A call of a tool.
pub(crate) struct ToolCall<'c> {
    pub(crate) ledger: &'c SharedLedger,
    pub(crate) arguments: &'c CheckedArguments,
    /// Name of the client program.
    pub(crate) client: &'c str,
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
            "grep" => grep::call(&call).await,
            "explain" => explain::call(&call).await,
            "note" => note::call(&call).await,
            _ => pin::call(&call).await,
        }
    };
    let answer = if name == "run" {
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
