//! Records the repository's example session.
//!
//! A [`scenario`] contains the words of the user and the assistant and the tool calls. Every tool result is produced
//! by running the tool on a throw-away copy of the repository ([`tree`]). [`play`] walks through the scenario and
//! passes each step to a [`transcript`], [`comment`] fills numbers from the output into the assistant's words, and
//! [`sanitise`] removes traces of this machine.

mod comment;
mod play;
mod sanitise;
mod scenario;
mod tools;
mod transcript;
mod tree;

use crate::program::ChoreResult;
use clap::Args;
use std::path::{Path, PathBuf};

/// Arguments of `record`.
#[derive(Args)]
pub(crate) struct RecordArgs {
    /// The transcript
    #[arg(long)]
    out: PathBuf,
    /// The revision whose copy the session plays on
    #[arg(long, default_value = "HEAD")]
    rev: String,
    /// A directory for what is built, so that a second recording is faster
    #[arg(long)]
    target: Option<PathBuf>,
}

/// Records the session and returns a one-line description of it.
pub(crate) fn run(args: &RecordArgs) -> ChoreResult<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent directory")?;
    let tree = tree::RepositoryCopy::copy(repository, &args.rev)?;
    if let Some(target) = &args.target {
        tree.build_in(target)?;
    }
    let commit = tree.commit()?;
    let mut player = play::Player::new(tree);
    player.play(&scenario::all()?)?;
    let play::Player { tree, transcript: written, .. } = player;
    let text = tree.sanitiser().clean(&written.text);
    tree.sanitiser().check(&text)?;
    std::fs::write(&args.out, &text).map_err(|error| format!("{}: {error}", args.out.display()))?;
    Ok(format!(
        "{}: recorded at {commit}, {} model calls, {} tool calls, {} records, {} o200k tokens, {} bytes",
        args.out.display(),
        written.model_calls,
        written.tool_calls,
        text.lines().count(),
        written.tokens,
        text.len()
    ))
}
