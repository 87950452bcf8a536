//! Options of `index` and `unindex`.

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;
use wunderblock::SearchIn;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock index docs notes.md manual.pdf     add files and folders to this project
  wunderblock index docs                         again: reads only what changed
  wunderblock search rollback --in documents

Markdown, saved HTML, PDF, plain text and source code become sections that search finds. Files that git ignores
are left out, and links are not followed. The bytes are kept: a file that changes gets a new version, a file that
is gone is no longer found. Nothing is fetched from the network.")]
pub(crate) struct Index {
    /// Files, or folders with all that is in them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// User of the documents [default: `scope.user` in the settings]
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock unindex docs/old.md
  wunderblock unindex docs                       all documents below a folder, also one that is gone
  wunderblock erase --document docs --yes        erase what the ledger keeps of them

Removed documents are no longer found. What they were stays readable by its handles until it is erased.")]
pub(crate) struct Unindex {
    /// Files or folders that were indexed
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

/// Where a search looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InArg {
    Sessions,
    Documents,
}

impl InArg {
    /// Returns where a search looks; everywhere, if nothing is given.
    pub(crate) fn within(given: Option<Self>) -> SearchIn {
        match given {
            None => SearchIn::Everything,
            Some(Self::Sessions) => SearchIn::Sessions,
            Some(Self::Documents) => SearchIn::Documents,
        }
    }
}
