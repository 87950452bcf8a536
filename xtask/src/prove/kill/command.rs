//! Commands to kill, and the moments of the kills.

use clap::ValueEnum;
use std::fmt;
use std::time::Duration;

/// The command that is running when the program is killed. The first three commands create the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum KilledCommand {
    CreateByAppend,
    CreateByImport,
    CreateByContext,
    Append,
    Import,
    ImportUnindexed,
    ContextOfPath,
    Context,
    Compact,
    Erase,
    EraseAll,
    Backup,
    Restore,
    Repair,
}

/// Moment of a kill.
#[derive(Clone, Copy, Debug)]
pub(super) enum KillTime {
    /// After this time.
    After(Duration),
    /// Just before a system call, given by its name and its number among the calls of that name, counted from 1.
    At(&'static str, u64),
    /// No kill.
    Never,
}

impl fmt::Display for KillTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(delay) => write!(f, "after {:.1} ms", delay.as_secs_f64() * 1e3),
            Self::At(call, which) => write!(f, "at {call} {which}"),
            Self::Never => f.write_str("never"),
        }
    }
}
