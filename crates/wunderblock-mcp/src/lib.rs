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
mod stop;
mod tools;
mod uri;

pub use ledger::{Served, ServedAgents};
pub use stop::{ServeError, Stopper};

use std::io::{Read, Write};

/// Serves a ledger until the input ends. Each message is a line of JSON. Nothing is opened before the first call
/// needs it, and an error of a call never ends the server. The streams are boxed, so that the server is compiled once,
/// with this crate.
///
/// # Errors
/// Fails if the operating system provides no thread, or if the client does not begin a session.
pub fn serve(
    served: Served,
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    stopper: &Stopper,
) -> Result<(), ServeError> {
    protocol::serve(served, input, output, stopper)
}

/// Returns the list of tools as clients receive it.
#[must_use]
pub fn tool_list() -> &'static str {
    include_str!("tools.json")
}
