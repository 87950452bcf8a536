//! What a program does, and when it is killed.

use clap::ValueEnum;
use std::fmt;
use std::time::Duration;

/// What a program is doing when it is killed; the first three make the ledger.
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

/// KillTime a program is killed.
#[derive(Clone, Copy, Debug)]
pub(super) enum KillTime {
    /// After a time.
    After(Duration),
    /// At a system call, before it is made: its name, and which of them, counted from 1.
    At(&'static str, u64),
    /// Not at all.
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
