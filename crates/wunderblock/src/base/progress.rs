//! Progress of long work.

/// Progress of long work, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of events or files processed.
    pub done: u64,
    /// Total number of events or files.
    pub total: u64,
}
