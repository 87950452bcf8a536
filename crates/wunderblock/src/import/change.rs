//! What has become of a file since it was imported: nothing, more, or something else.
//!
//! A file that grew is known by samples taken when it was imported: its beginning, what stood before its end, and blocks
//! between. All of it is compared only where its time moved and its length did not, where there are no samples (an
//! earlier format, an erasure), and where a caller asks for it.

use super::opened::{OpenedFile, read_full};
use super::saved::Saved;
use crate::engine::Engine;
use crate::error::{Error, file_error};
use crate::imported_records::holds_erased_text;
use crate::store::{Answer, Query, SourceInfo, codec};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a file differs from what is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileChange {
    /// Nothing is new.
    None,
    /// What is kept is its beginning.
    Grown,
    /// Something else stands there now.
    Rewritten,
}

/// Bytes of a sampled block.
const BLOCK: u64 = 4 << 10;
/// Blocks between the beginning and the end.
const BLOCKS: u64 = 16;
/// Bytes before the end.
const TAIL: u64 = 64 << 10;
/// A file that was changed so short a time before it was looked at may be changed again without its time moving.
const RACY: Duration = Duration::from_millis(50);

/// The time of a file in nanoseconds since 1970, if it is old enough to tell a later change.
pub(super) fn modified(meta: &Metadata) -> Option<i64> {
    let time = meta.modified().ok()?;
    let settled = SystemTime::now().duration_since(time).is_ok_and(|age| age > RACY);
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    if settled { i64::try_from(since.as_nanos()).ok() } else { None }
}

/// Whether a file has the length and time it had when it was imported.
pub(crate) fn is_same(old: &SourceInfo, meta: &Metadata) -> bool {
    let revision = &old.revision;
    revision.whole
        && revision.len == meta.len()
        && revision.modified.is_some()
        && revision.modified == modified(meta)
}

/// Checksums of places in a file's first `len` bytes.
pub(super) fn samples(file: &mut File, len: u64) -> std::io::Result<Vec<(u64, u64, i64)>> {
    let mut places = vec![(0, BLOCK.min(len)), (len.saturating_sub(TAIL), TAIL.min(len))];
    if len > TAIL + BLOCK * BLOCKS {
        places.extend((1..=BLOCKS).map(|number| (len / (BLOCKS + 1) * number, BLOCK)));
    }
    places.into_iter().map(|(at, size)| Ok((at, size, checksum(file, at, size)?))).collect()
}

fn checksum(file: &mut File, at: u64, size: u64) -> std::io::Result<i64> {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(codec::checksum(&[&bytes]))
}

/// What a file has of what is kept of one. Erased bytes may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptBytes {
    /// Something else.
    Other,
    /// All of it, and all of it was erased.
    Blanks,
    /// All of it.
    Bytes,
}

/// Compares a file with what is kept of it.
pub(super) async fn find_change(
    engine: &Engine,
    old: &SourceInfo,
    opened: &mut OpenedFile<'_>,
    verify: bool,
) -> Result<FileChange, Error> {
    let OpenedFile { file, path, meta, .. } = opened;
    let (revision, len) = (&old.revision, meta.len());
    if !verify && is_same(old, meta) {
        return Ok(FileChange::None);
    }
    if len < revision.len {
        return Ok(FileChange::Rewritten);
    }
    let saved = revision.reader.as_deref().and_then(Saved::decode);
    let same = match saved {
        Some(saved) if len > revision.len && !verify => saved
            .samples
            .iter()
            .all(|(at, size, stated)| checksum(file, *at, *size).is_ok_and(|now| now == *stated)),
        _ => match kept_since(engine, old, file, path).await? {
            // Of what was erased whole not even the line ends are kept: it is read from the beginning.
            KeptBytes::Other | KeptBytes::Blanks => false,
            // What stands in the place of erased bytes may be something else, of the same length.
            KeptBytes::Bytes => revision.erased.is_empty() || holds_erased_text(engine, old, file).await?,
        },
    };
    Ok(match same {
        false => FileChange::Rewritten,
        true if len == revision.len && revision.whole => FileChange::None,
        true => FileChange::Grown,
    })
}

/// Compares a file with what is kept of one, up to the shorter one's end.
pub(super) async fn kept_since(
    engine: &Engine,
    old: &SourceInfo,
    file: &mut File,
    path: &Path,
) -> Result<KeptBytes, Error> {
    let read_error = |error: std::io::Error| file_error(path, &error);
    let len = old.revision.len.min(file.metadata().map_err(read_error)?.len());
    let mut kept_all = if old.revision.erased.is_empty() { KeptBytes::Bytes } else { KeptBytes::Blanks };
    let mut at = 0;
    while at < len {
        let query = Query::Chunks { source: old.no, revision: old.revision.no, from: at, to: len, limit: 8 };
        let chunks = engine.ask(query, Answer::chunks).await?;
        // Bytes that are missing are not those of the file.
        if chunks.first().is_none_or(|chunk| chunk.offset > at) {
            return Ok(KeptBytes::Other);
        }
        for chunk in chunks {
            let bytes = codec::unpack_chunk(&chunk)?;
            let skip = usize::try_from(at.saturating_sub(chunk.offset)).unwrap_or(usize::MAX);
            let end = chunk.len.min(len.saturating_sub(chunk.offset));
            let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
            let Some(kept) = bytes.get(skip..end).filter(|kept| !kept.is_empty()) else {
                return Ok(KeptBytes::Other);
            };
            let mut now = vec![0; kept.len()];
            file.seek(SeekFrom::Start(at)).map_err(read_error)?;
            let read = read_full(file, &mut now).map_err(read_error)?;
            if read < kept.len() || !equal(kept, &now, (at, &old.revision.erased)) {
                return Ok(KeptBytes::Other);
            }
            if kept.iter().any(u8::is_ascii_alphanumeric) {
                kept_all = KeptBytes::Bytes;
            }
            at += kept.len() as u64;
        }
    }
    Ok(kept_all)
}

/// Whether bytes are the same wherever nothing was erased.
fn equal(kept: &[u8], now: &[u8], (at, erased): (u64, &[(u64, u64)])) -> bool {
    if kept == now {
        return true;
    }
    let is_erased = |place: u64| erased.iter().any(|(from, to)| *from <= place && place < *to);
    (at..).zip(kept.iter().zip(now)).all(|(place, (a, b))| a == b || is_erased(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erased_bytes_may_be_anything() {
        assert!(equal(b"a  d", b"abcd", (10, &[(11, 13)])));
        assert!(!equal(b"a  d", b"abce", (10, &[(11, 13)])));
        assert!(!equal(b"a  d", b"abcd", (10, &[(11, 12)])));
    }
}
