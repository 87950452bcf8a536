//! Arguments of `pin`, `unpin`, `hide` and `unhide`.

use clap::Args as ClapArgs;

/// An entry of a session, by its position.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock pin 3f9c 118       position 118 stays in every request, word for word
  wunderblock unpin 3f9c 118     takes that back
  wunderblock hide 3f9c 131      position 131 is in no request from here on
  wunderblock unhide 3f9c 131    takes that back

A call and its results go together. What is hidden stays in the ledger: `read`, `grep` and `search` find it; `erase`
is what removes. Positions are those of `show` and of reports.")]
pub(crate) struct VisibilityArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// The position of a message
    #[arg(value_name = "SEQ")]
    pub(crate) seq: u64,
}
