//! What reveals a change of a source without reading it.

use std::fs::Metadata;
use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Age below which a modification time is not reliable: the file may change again while its modification time stays
/// the same.
pub(crate) const RACY: Duration = Duration::from_millis(50);

/// What reveals a change of a source without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    /// Length in bytes, if it is known without reading the source.
    pub(crate) len: Option<u64>,
    /// Modification time, or a checksum of the times of all members; `None` if it may not reveal the next change.
    pub(crate) modified: Option<i64>,
}

impl Stamp {
    /// Returns the stamp of a file.
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self { len: Some(meta.len()), modified: modified(meta) }
    }
}

/// Returns a file's modification time in nanoseconds since 1970, if it is old enough to reveal a later change.
fn modified(meta: &Metadata) -> Option<i64> {
    let time = meta.modified().ok()?;
    let settled = SystemTime::now().duration_since(time).is_ok_and(|age| age > RACY);
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    if settled { i64::try_from(since.as_nanos()).ok() } else { None }
}

/// Reads the next bytes of a file, at most `max`.
pub(crate) fn read_up_to(file: &mut impl Read, max: usize, into: &mut Vec<u8>) -> std::io::Result<()> {
    into.clear();
    file.take(max as u64).read_to_end(into).map(drop)
}
