//! Arguments of `pin`, `unpin`, `hide` and `unhide`.

use clap::Args as ClapArgs;

/// An entry of a session, given by its position.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock pin 3f9c#118       position 118 stays in every request, word for word
  wunderblock unpin 3f9c#118     undoes that
  wunderblock hide 3f9c#131      position 131 is in no request from here on
  wunderblock unhide 3f9c#131    undoes that

A call and its results go together. A hidden message stays in the ledger: `read`, `grep` and `search` find it, and only
`erase` removes it. Positions are those of `show` and of reports.")]
pub(crate) struct VisibilityArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// The position of a message, if SESSION does not name it
    #[arg(value_name = "SEQ")]
    pub(crate) seq: Option<u64>,
}
