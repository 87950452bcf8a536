//! Frame around everything that the index stores: version, checksum and compression.
//!
//! ```text
//! version 1 │ kind 1 │ method 1 │ raw length varint │ payload │ first 4 bytes of BLAKE3 of all before
//! ```
//! The checksum detects accidental corruption, not tampering: anyone who can write the database can compute it. The
//! content is therefore decoded as untrusted input, and a frame never decompresses to more than [`MAX_RAW_BYTES`].

use crate::storing::varint;
use std::cell::RefCell;

/// Version of the stored form that is written. Version 1 differs in the header ([`crate::storing::header`]), versions 1
/// and 2 in the blocks ([`crate::storing::block`]); both are still read.
pub(crate) const VERSION: u8 = 3;
/// Maximum uncompressed size of a frame in bytes: about twice the header of a full segment.
pub(crate) const MAX_RAW_BYTES: usize = 64 << 20;

const CHECKSUM_BYTES: usize = 4;
const STORED: u8 = 0;
const ZSTD: u8 = 1;
/// Compression level. On logs and code, the output of level 3 is 1 % smaller than that of level 1 and 1 % larger than
/// that of level 6; the build times do not differ measurably. Front-coded terms leave little to compress.
const LEVEL: i32 = 3;

/// Reason why stored bytes are invalid. The index is derived data and can be rebuilt from the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// A later version wrote the index.
    #[error(
        "the text index has version {found}, this program reads up to {VERSION}; use the newer program or rebuild the index"
    )]
    Newer {
        /// Version of the index.
        found: u8,
    },
    /// The checksum does not match.
    #[error("the text index is damaged: {what} does not match its checksum; rebuild the index")]
    Checksum {
        /// Damaged part.
        what: &'static str,
    },
    /// The bytes do not follow the format.
    #[error("the text index is damaged: {what}; rebuild the index")]
    Malformed {
        /// Description of the damage.
        what: &'static str,
    },
    /// A segment would have more documents than allowed.
    #[error("a segment of the text index is full: it holds at most {most} documents")]
    Full {
        /// Maximum number of documents in a segment.
        most: usize,
    },
    /// The compressor failed, which happens only if memory is short.
    #[error("compressing a part of the text index failed")]
    Compressor,
}

/// Content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Documents, and the directory of blocks.
    Header,
    /// Terms with their postings.
    Block,
    /// Keys of vectors.
    VectorHeader,
    /// Vectors.
    Vectors,
}

impl FrameKind {
    const fn byte(self) -> u8 {
        match self {
            Self::Header => b'h',
            Self::Block => b'b',
            Self::VectorHeader => b'k',
            Self::Vectors => b'v',
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Header => "a segment's header",
            Self::Block => "a block of terms",
            Self::VectorHeader => "a header of vectors",
            Self::Vectors => "a block of vectors",
        }
    }
}

/// Writes frames, reusing the compressor's memory.
pub(crate) struct Framer(zstd::bulk::Compressor<'static>);

impl Framer {
    pub(crate) fn new() -> Result<Self, SegmentError> {
        zstd::bulk::Compressor::new(LEVEL).map(Self).map_err(|_| SegmentError::Compressor)
    }

    /// Wraps `raw` in a frame, compressed if that is smaller.
    pub(crate) fn wrap(&mut self, kind: FrameKind, raw: &[u8]) -> Result<Vec<u8>, SegmentError> {
        let compressed = self.0.compress(raw).map_err(|_| SegmentError::Compressor)?;
        let (method, payload) =
            if compressed.len() < raw.len() { (ZSTD, compressed.as_slice()) } else { (STORED, raw) };
        Ok(frame(kind, method, raw.len(), payload))
    }
}

/// Wraps `raw` in a frame without compressing it.
pub(crate) fn stored(kind: FrameKind, raw: &[u8]) -> Vec<u8> {
    frame(kind, STORED, raw.len(), raw)
}

fn frame(kind: FrameKind, method: u8, len: usize, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 16);
    frame.extend_from_slice(&[VERSION, kind.byte(), method]);
    varint::put(len as u64, &mut frame);
    frame.extend_from_slice(payload);
    let checksum = checksum(&frame);
    frame.extend_from_slice(&checksum);
    frame
}

/// Returns the version of a frame.
pub(crate) fn version(frame: &[u8]) -> u8 {
    frame.first().copied().unwrap_or_default()
}

/// Returns the content of a frame that [`Framer::wrap`] created.
pub(crate) fn unwrap(kind: FrameKind, frame: &[u8]) -> Result<Vec<u8>, SegmentError> {
    let malformed = |what| SegmentError::Malformed { what };
    // The version is checked before the checksum, because a newer format may compute the checksum differently.
    if let Some(&found) = frame.first().filter(|version| **version > VERSION) {
        return Err(SegmentError::Newer { found });
    }
    let (body, sum) = frame.split_last_chunk().ok_or(malformed("a part is too short"))?;
    if checksum(body) != *sum {
        return Err(SegmentError::Checksum { what: kind.name() });
    }
    let [1..=VERSION, found, method, rest @ ..] = body else { return Err(malformed("unknown version")) };
    if *found != kind.byte() {
        return Err(malformed("a part is in the place of another kind of part"));
    }
    let mut payload = rest;
    let len = varint::take(&mut payload).and_then(|len| usize::try_from(len).ok());
    let len = len.filter(|len| *len <= MAX_RAW_BYTES).ok_or(malformed("a part is too large"))?;
    let raw = match *method {
        STORED => payload.to_vec(),
        ZSTD => decompress(payload, len).ok_or(malformed("a part does not decompress"))?,
        _ => return Err(malformed("unknown compression")),
    };
    if raw.len() == len {
        Ok(raw)
    } else {
        Err(malformed("the length of a part differs from the stated length"))
    }
}

thread_local! {
    /// Kept, because preparing a decompressor takes longer than decompressing a block.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

fn decompress(payload: &[u8], len: usize) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = zstd::bulk::Decompressor::new().ok();
        }
        slot.as_mut()?.decompress(payload, len).ok()
    })
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let hash = blake3::hash(bytes);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_every_changed_byte_is_found() {
        for raw in [Vec::new(), b"short".to_vec(), b"again and ".repeat(100)] {
            let frame = Framer::new().unwrap().wrap(FrameKind::Block, &raw).unwrap();
            assert_eq!(unwrap(FrameKind::Block, &frame), Ok(raw));
            assert!(unwrap(FrameKind::Header, &frame).is_err());
            for at in 0..frame.len() {
                let mut bad = frame.clone();
                bad[at] ^= 1;
                assert!(unwrap(FrameKind::Block, &bad).is_err(), "byte {at}");
                assert!(unwrap(FrameKind::Block, &frame[..at]).is_err(), "cut at {at}");
            }
        }
        assert_eq!(unwrap(FrameKind::Block, &[9, 0]), Err(SegmentError::Newer { found: 9 }));
    }

    #[test]
    fn a_claimed_length_is_bounded_before_anything_is_allocated() {
        for len in [MAX_RAW_BYTES as u64 + 1, u64::MAX] {
            let mut frame = vec![VERSION, b'b', ZSTD];
            varint::put(len, &mut frame);
            frame.extend_from_slice(b"rest");
            let sum = checksum(&frame);
            frame.extend_from_slice(&sum);
            assert_eq!(
                unwrap(FrameKind::Block, &frame),
                Err(SegmentError::Malformed { what: "a part is too large" })
            );
        }
    }
}
