//! How bad a line says it is.

/// The levels of logs, from the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Severity {
    Info,
    Warning,
    Error,
}

pub(crate) fn of(_line: &str) -> Option<Severity> {
    None
}
