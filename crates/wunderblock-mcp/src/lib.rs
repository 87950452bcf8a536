//! A Wunderblock ledger as a server of the Model Context Protocol, over two streams of lines.
//!
//! ```text
//! input ─► protocol: messages, versions, limits ─► tools, resources, prompts ─► ledger ─► the library
//! output ◄──────────────────────────────────────── text in a fence, facts, links
//! ```
//! This crate is a door: it checks arguments, calls the library, and encodes the result. It makes no decision about
//! content. It is the only crate with an asynchronous runtime, and only `protocol/` knows the protocol's library.
//! See docs/design/0017-mcp.md.

mod answer;
mod arguments;
mod hint;
mod idle;
mod ledger;
mod prompts;
mod protocol;
mod resources;
mod tools;

pub use ledger::Served;

use std::io::{Read, Write};
use tokio_util::sync::CancellationToken;

/// Reason why a server could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The operating system refused a thread or a timer.
    #[error("the server cannot be started: {0}")]
    System(#[from] std::io::Error),
    /// The first message of the client began no session.
    #[error("the client began no session: {0}")]
    Protocol(String),
}

/// Stops a server from another thread, as the end of its input does.
#[derive(Clone, Debug, Default)]
pub struct Stopper(CancellationToken);

impl Stopper {
    /// Creates a stopper for one server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the server. Calls in progress are cancelled, and commands are ended.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// Serves a ledger until the input ends. Each message is a line of JSON. Nothing is opened before the first call
/// needs it, and an error of a call never ends the server.
///
/// # Errors
/// Fails if the operating system provides no thread, or if the client does not begin a session.
pub fn serve(
    served: Served,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stopper: &Stopper,
) -> Result<(), ServeError> {
    protocol::serve(served, (input, output), stopper)
}

/// Returns the list of tools as clients receive it.
#[must_use]
pub fn tool_list() -> &'static str {
    include_str!("tools.json")
}
