//! Records the repository's example session.
//!
//! A [`scenario`] says what the user and the assistant say and which tools are called; everything a tool answers comes
//! from running it, on a throw-away copy of the repository ([`tree`]). [`play`] walks through the scenario and has each
//! step written down by a [`transcript`]; [`comment`] puts numbers from the output into what the assistant says of it,
//! and [`sanitise`] takes this machine out of it.

mod comment;
mod play;
mod sanitise;
mod scenario;
mod tools;
mod transcript;
mod tree;

use crate::program::Outcome;
use std::path::{Path, PathBuf};

/// What to record and where to.
pub(crate) struct Options {
    out: PathBuf,
    rev: String,
    target: Option<PathBuf>,
}

impl Options {
    /// Reads `--out FILE [--rev REV] [--target DIR]`.
    pub(crate) fn parse(arguments: &[String]) -> Option<Self> {
        let (mut out, mut target, mut rev) = (None, None, "HEAD".to_owned());
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let value = rest.next()?;
            match flag.as_str() {
                "--out" => out = Some(PathBuf::from(value)),
                "--target" => target = Some(PathBuf::from(value)),
                "--rev" => rev.clone_from(value),
                _ => return None,
            }
        }
        Some(Self { out: out?, rev, target })
    }
}

/// Records the session; the answer says in one line what was written.
pub(crate) fn run(options: &Options) -> Outcome<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent directory")?;
    let tree = tree::Tree::copy(repository, &options.rev)?;
    if let Some(target) = &options.target {
        tree.build_in(target)?;
    }
    let commit = tree.commit()?;
    let mut player = play::Player::new(tree);
    player.play(&scenario::all()?)?;
    let (tree, written) = player.finish();
    let text = tree.sanitiser().clean(&written.text);
    tree.sanitiser().check(&text)?;
    std::fs::write(&options.out, &text).map_err(|error| format!("{}: {error}", options.out.display()))?;
    Ok(format!(
        "{}: recorded at {commit}, {} model calls, {} tool calls, {} records, {} o200k tokens, {} bytes",
        options.out.display(),
        written.model_calls,
        written.tool_calls,
        text.lines().count(),
        written.tokens,
        text.len()
    ))
}
