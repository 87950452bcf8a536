//! Raw bytes of an import, before they become chunks.
//!
//! Bytes are held back until their records are known, so that erased records are blanked before they are stored.

use crate::limits::SOURCE_CHUNK;

/// Bytes to be stored as one chunk.
pub(in crate::import::transcripts) struct RawChunk {
    pub(in crate::import::transcripts) offset: u64,
    pub(in crate::import::transcripts) bytes: Vec<u8>,
}

/// Bytes that have been read but not yet committed.
#[derive(Default)]
pub(in crate::import::transcripts) struct RawBytes {
    /// Offset up to which bytes are stored or part of a complete chunk.
    stored: u64,
    /// Offset up to which the file has been read.
    pub(in crate::import::transcripts) read: u64,
    /// Waiting bytes; `base` is the offset of the first.
    waiting: Vec<u8>,
    base: u64,
    /// The current, incomplete chunk.
    chunk: Vec<u8>,
    pub(in crate::import::transcripts) chunks: Vec<RawChunk>,
    /// Blanked ranges, each with the offset of its first byte and one past its last byte.
    pub(in crate::import::transcripts) erased: Vec<(u64, u64)>,
}

impl RawBytes {
    /// Starts reading at `begin`; bytes below `stored` are already stored.
    pub(in crate::import::transcripts) fn new(begin: u64, stored: u64) -> Self {
        Self { stored, read: begin, base: begin, ..Self::default() }
    }

    /// Returns the number of bytes that wait for their records.
    pub(in crate::import::transcripts) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(in crate::import::transcripts) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        self.read += bytes.len() as u64;
    }

    /// Overwrites with spaces the bytes that must not be imported again.
    pub(in crate::import::transcripts) fn blank(&mut self, from: u64, to: u64) {
        let place = |at: u64| usize::try_from(at.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let (first, last) = (place(from).min(self.waiting.len()), place(to).min(self.waiting.len()));
        if let Some(span) = self.waiting.get_mut(first..last) {
            span.fill(b' ');
        }
        let from = from.max(self.stored);
        if from < to {
            self.erased.push((from, to));
        }
    }

    /// Moves waiting bytes up to an offset into chunks, once their records are known.
    pub(in crate::import::transcripts) fn release(&mut self, to: u64) {
        let len = usize::try_from(to.saturating_sub(self.base)).unwrap_or(usize::MAX).min(self.waiting.len());
        let begun = self.stored + self.chunk.len() as u64;
        let skip = usize::try_from(begun.saturating_sub(self.base)).unwrap_or(usize::MAX).min(len);
        let mut rest = self.waiting.get(skip..len).unwrap_or_default();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(SOURCE_CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            rest = later;
            if self.chunk.len() == SOURCE_CHUNK {
                let bytes = std::mem::take(&mut self.chunk);
                self.chunks.push(RawChunk { offset: self.stored, bytes });
                self.stored += SOURCE_CHUNK as u64;
            }
        }
        self.waiting.drain(..len);
        self.base += len as u64;
    }

    /// Ends the current chunk.
    pub(in crate::import::transcripts) fn end(&mut self) {
        let bytes = std::mem::take(&mut self.chunk);
        if !bytes.is_empty() {
            let len = bytes.len() as u64;
            self.chunks.push(RawChunk { offset: self.stored, bytes });
            self.stored += len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(raw: &RawBytes) -> Vec<u8> {
        raw.chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect()
    }

    #[test]
    fn bytes_are_cut_blanked_and_not_stored_twice() {
        let mut raw = RawBytes::new(4, 6);
        raw.push(b"abcdef");
        raw.blank(8, 9);
        raw.release(9);
        raw.push(b"gh");
        raw.release(u64::MAX);
        raw.end();
        assert_eq!(all(&raw), b"cd fgh");
        assert_eq!((raw.chunks[0].offset, raw.read, raw.waiting()), (6, 12, 0));
        assert_eq!(raw.erased, [(8, 9)]);
    }

    #[test]
    fn chunks_are_of_one_size() {
        let mut raw = RawBytes::new(0, 0);
        raw.push(&vec![b'x'; SOURCE_CHUNK + 5]);
        raw.release(SOURCE_CHUNK as u64 + 2);
        assert_eq!(raw.chunks.len(), 1);
        raw.release(u64::MAX);
        raw.end();
        let places: Vec<(u64, usize)> =
            raw.chunks.iter().map(|chunk| (chunk.offset, chunk.bytes.len())).collect();
        assert_eq!(places, [(0, SOURCE_CHUNK), (SOURCE_CHUNK as u64, 5)]);
    }
}
