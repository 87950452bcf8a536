//! A call of a tool: what every tool is given.

use crate::arguments::CheckedArguments;
use crate::ledger::SharedLedger;

/// A call of a tool.
pub(crate) struct ToolCall<'c> {
    pub(crate) ledger: &'c SharedLedger,
    pub(crate) arguments: &'c CheckedArguments,
    /// Name of the client program.
    pub(crate) client: &'c str,
}
