//! A call of a tool: what every tool is given.

use crate::arguments::CheckedArguments;
use crate::ledger::SharedLedger;
use wunderblock::{Deadline, Engine, Error};
use wunderblock_core::id::StreamId;

/// A call of a tool.
pub(crate) struct ToolCall<'c> {
    pub(crate) ledger: &'c SharedLedger,
    pub(crate) arguments: &'c CheckedArguments,
    /// Time at which a search is given up: after the usual time, or when the call is cancelled.
    pub(crate) deadline: Deadline,
    /// Name of the client program.
    pub(crate) client: &'c str,
}

impl ToolCall<'_> {
    /// Returns the session that the argument `session` names, if there is one.
    pub(super) async fn named_session(&self, engine: &Engine) -> Result<Option<StreamId>, Error> {
        match self.arguments.text("session") {
            Some(id) => Ok(Some(engine.find_session(id).await?.id().clone())),
            None => Ok(None),
        }
    }
}
