//! Options of `erase`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock erase 3f9c0d52#131 --reason \"a password\" --yes
  wunderblock erase 3f9c0d52 --yes                  the whole session with its branches
  wunderblock erase 3f9c0d52 --with-children --yes  the sessions of its sub-agents, too
  wunderblock erase --document docs/old.md --yes    a document, or all below a folder
  wunderblock erase --text hunter2                  list every place that holds a text
  wunderblock erase --text - --yes < secret.txt     erase them; no shell history keeps the text

Erases bodies, the raw records in every imported file, recalled copies, foreign summaries and index
entries. --text erases whole events and records: messages, summaries, requests, and other records of
the imported files. A receipt stays, and a later import does not store erased content again.
Ledgers that restores kept, and backups, still have the content: they are named, and --with-kept
erases it there, too. Backups that were moved are out of reach. Erasing cannot be undone, so nothing
happens without --yes.")]
pub(crate) struct Erase {
    /// A session's whole id, its short id as `sessions` prints it, or a transcript's path
    #[arg(value_name = "SESSION", required_unless_present_any = ["text", "document"])]
    pub(crate) session: Option<String>,
    /// Every event and record that holds this exact text, in all sessions; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["session", "at", "with_children", "with_copies"])]
    pub(crate) text: Option<String>,
    /// The documents that were indexed at this path, with all their versions; the files stay
    #[arg(long, value_name = "PATH", conflicts_with_all = ["session", "text", "at", "with_children", "with_copies"])]
    pub(crate) document: Option<PathBuf>,
    /// Positions, such as 12 or 12-80; or SESSION#12-80 [default: the whole session]
    #[arg(long, value_name = "A-B")]
    pub(crate) at: Option<String>,
    /// Also erase the sessions of its sub-agents
    #[arg(long, conflicts_with = "at")]
    pub(crate) with_children: bool,
    /// Also erase sessions that continue it under other ids, and copies
    #[arg(long, conflicts_with = "at")]
    pub(crate) with_copies: bool,
    /// Also erase in copies of the ledger: those that restores kept, and backups
    #[arg(long)]
    pub(crate) with_kept: bool,
    /// Reason, kept in the receipt
    #[arg(long, value_name = "WHY")]
    pub(crate) reason: Option<String>,
    /// Confirm: erase now
    #[arg(long)]
    pub(crate) yes: bool,
}
