//! Detects whether a file is unchanged, has grown, or has been rewritten since its import.
//!
//! A grown file is recognised by samples taken when it was imported: its beginning, the bytes before its end, and
//! blocks in between. The whole file is compared only if its time has changed but its length has not, if there are no
//! samples (because of an earlier format or an erasure), or on request.

use crate::base::error::{Error, file_error};
use crate::histories::stamp::Stamp;
use crate::import::records::find::holds_erased_text;
use crate::import::transcripts::files::opened::{Content, OpenedFile, read_full};
use crate::import::transcripts::files::saved::Saved;
use crate::ledger::engine::Engine;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use wunderblock_store::{Answer, Query, SourceInfo, codec};

/// Difference between a file and its stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import::transcripts) enum FileChange {
    /// The file is unchanged.
    None,
    /// The stored bytes are the beginning of the file.
    Grown,
    /// The file does not begin with the stored bytes.
    Rewritten,
}

/// Size of a sampled block in bytes.
const BLOCK: u64 = 4 << 10;
/// Number of sampled blocks between the beginning and the end.
const BLOCKS: u64 = 16;
/// Size in bytes of the sample before the end of the file.
const TAIL: u64 = 64 << 10;
/// Returns whether a source still has the stamp that it had when it was imported.
pub(crate) fn is_same(old: &SourceInfo, now: Stamp) -> bool {
    let revision = &old.revision;
    revision.whole
        && now.len.is_none_or(|len| len == revision.len)
        && now.modified.is_some()
        && revision.modified == now.modified
}

/// Returns checksums of samples of a file's first `len` bytes, each with its offset and size.
pub(in crate::import::transcripts) fn samples(
    file: &mut Content,
    len: u64,
) -> std::io::Result<Vec<(u64, u64, i64)>> {
    let mut places = vec![(0, BLOCK.min(len)), (len.saturating_sub(TAIL), TAIL.min(len))];
    if len > TAIL + BLOCK * BLOCKS {
        places.extend((1..=BLOCKS).map(|number| (len / (BLOCKS + 1) * number, BLOCK)));
    }
    places.into_iter().map(|(at, size)| Ok((at, size, checksum(file, at, size)?))).collect()
}

fn checksum(file: &mut Content, at: u64, size: u64) -> std::io::Result<i64> {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(codec::checksum(&[&bytes]))
}

/// Result of comparing a file with stored bytes. Erased bytes match anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import::transcripts) enum KeptBytes {
    /// The file differs.
    Other,
    /// The file matches, but all stored bytes are erased.
    Blanks,
    /// The file matches.
    Bytes,
}

/// Detects how a file differs from its stored bytes.
pub(in crate::import::transcripts) async fn find_change(
    engine: &Engine,
    old: &SourceInfo,
    opened: &mut OpenedFile<'_>,
    verify: bool,
) -> Result<FileChange, Error> {
    let (revision, len) = (&old.revision, opened.len);
    if !verify && is_same(old, opened.stamp) {
        return Ok(FileChange::None);
    }
    if len < revision.len {
        return Ok(FileChange::Rewritten);
    }
    if opened.continues() {
        return Ok(FileChange::Grown);
    }
    let OpenedFile { file, path, .. } = opened;
    let saved = revision.reader.as_deref().and_then(Saved::decode);
    let same = match saved {
        Some(saved) if len > revision.len && !verify => saved
            .samples
            .iter()
            .all(|(at, size, stated)| checksum(file, *at, *size).is_ok_and(|now| now == *stated)),
        _ => match kept_since(engine, old, file, path).await? {
            // A fully erased file does not even keep its line ends, so it is read from the beginning.
            KeptBytes::Other | KeptBytes::Blanks => false,
            // Other records of the same length may have replaced the erased ones, so the file must still contain the
            // erased text.
            KeptBytes::Bytes => revision.erased.is_empty() || holds_erased_text(engine, old, file).await?,
        },
    };
    Ok(match same {
        false => FileChange::Rewritten,
        true if len == revision.len && revision.whole => FileChange::None,
        true => FileChange::Grown,
    })
}

/// Compares a file with stored bytes, up to the end of the shorter one.
pub(in crate::import::transcripts) async fn kept_since(
    engine: &Engine,
    old: &SourceInfo,
    file: &mut Content,
    path: &Path,
) -> Result<KeptBytes, Error> {
    let read_error = |error: std::io::Error| file_error(path, &error);
    let len = old.revision.len.min(file.len().map_err(read_error)?);
    let mut kept_all = if old.revision.erased.is_empty() { KeptBytes::Bytes } else { KeptBytes::Blanks };
    let mut at = 0;
    while at < len {
        let query = Query::Chunks { source: old.no, revision: old.revision.no, from: at, to: len, limit: 8 };
        let chunks = engine.ask(query, Answer::chunks).await?;
        // Missing chunks count as a difference.
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
            if read < kept.len() || !equal(kept, &now, at, &old.revision.erased) {
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

/// Returns whether bytes are equal outside the erased ranges.
fn equal(kept: &[u8], now: &[u8], at: u64, erased: &[(u64, u64)]) -> bool {
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
        assert!(equal(b"a  d", b"abcd", 10, &[(11, 13)]));
        assert!(!equal(b"a  d", b"abce", 10, &[(11, 13)]));
        assert!(!equal(b"a  d", b"abcd", 10, &[(11, 12)]));
    }
}
