//! Options of `erase`.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock erase 3f9c#131 --reason \"a password\" --yes
  wunderblock erase 3f9c --yes                       the whole session, branches included
  wunderblock erase 3f9c --with-children --yes       its sub-agents' sessions, too
  wunderblock erase --text hunter2                   show every place where a text stands
  wunderblock erase --text - --yes < secret.txt      erase them; no shell's history keeps the text

Erases bodies, the raw records in every file the session was read from, recalled copies, foreign
summaries and index entries. --text erases whole events and records: messages, summaries, requests,
and in the originals also what is no part of the conversation. A receipt stays, and what was erased
is not stored again by another import. Copies of backups elsewhere are out of reach. There is no way
back, and --yes says that you know.")]
pub(crate) struct Erase {
    /// A session's id, a short one, or a transcript's path
    #[arg(value_name = "SESSION", required_unless_present = "text")]
    pub(crate) session: Option<String>,
    /// Every event and record of all sessions that holds this text, exactly so written; `-`: read it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["session", "at", "with_children", "with_copies"])]
    pub(crate) text: Option<String>,
    /// Positions: 12 or 12-80 [default: the whole session]
    #[arg(long, value_name = "A-B")]
    pub(crate) at: Option<String>,
    /// With the whole session: its sub-agents' sessions, too
    #[arg(long, conflicts_with = "at")]
    pub(crate) with_children: bool,
    /// With the whole session: sessions that went on from it under other ids, and copies, too
    #[arg(long, conflicts_with = "at")]
    pub(crate) with_copies: bool,
    /// Why; kept in the receipt
    #[arg(long, value_name = "WHY")]
    pub(crate) reason: Option<String>,
    /// Do it
    #[arg(long)]
    pub(crate) yes: bool,
}
