//! Windows of a text that is too long to be held in memory.

use std::borrow::Cow;
use std::ops::Range;
use wunderblock_redact::Redactor;

/// Number of bytes of a window, without those around it.
pub(crate) const WINDOW: usize = 1 << 20;
/// Number of bytes before and after a part of a text in which the beginning and the end of a secret are looked for.
pub(crate) const AROUND: usize = 64 << 10;
/// Maximum number of bytes of a line that are shown. Of a longer line, only the part around a match is shown.
const SHOWN: usize = 64 << 10;
/// Maximum number of bytes at the end of a window that are searched for the end of a word, if the line goes on.
const WORD: usize = 4 << 10;

/// Part of a text with the bytes around it.
pub(crate) struct Window {
    /// The part, and bytes before and after it.
    pub(crate) bytes: Vec<u8>,
    /// Place of the part in `bytes`. Each byte of the text is in the part of one window. A part ends with a line, if
    /// the line is not longer than a window.
    pub(crate) own: Range<usize>,
    /// Offset of the first of `bytes` in the source.
    pub(crate) offset: u64,
    /// Number of the line that contains the first of `bytes`, counted from 1 in the text.
    pub(crate) line: u64,
}

impl Window {
    /// Returns the bytes of the part and at most `more` bytes after it.
    pub(crate) fn reach(&self, more: usize) -> &[u8] {
        let end = self.own.end.saturating_add(more).min(self.bytes.len());
        self.bytes.get(self.own.start..end).unwrap_or_default()
    }

    /// Returns the offset in the source of a place in `bytes`.
    pub(crate) const fn at(&self, place: usize) -> u64 {
        self.offset + place as u64
    }
}

/// Cuts a text, whose bytes are added to `rest`, into windows.
pub(crate) struct Windows {
    pub(crate) rest: Vec<u8>,
    /// Number of bytes of `rest` that belong to earlier windows.
    done: usize,
    offset: u64,
    line: u64,
    around: usize,
}

impl Windows {
    pub(crate) const fn new(offset: u64, around: usize) -> Self {
        Self { rest: Vec::new(), done: 0, offset, line: 1, around }
    }

    /// Returns the next window. Returns `None` at the end of the text, or if more of the text must be added first.
    pub(crate) fn next(&mut self, is_all: bool) -> Option<Window> {
        let gone = self.done.saturating_sub(self.around);
        self.line += memchr::memchr_iter(b'\n', self.rest.get(..gone)?).count() as u64;
        self.rest.drain(..gone);
        self.offset += gone as u64;
        self.done -= gone;
        let waiting = self.rest.get(self.done..)?;
        let len = match waiting.get(..WINDOW) {
            Some(full) if waiting.len() >= WINDOW + self.around => window_end(full),
            _ if is_all && !waiting.is_empty() => waiting.len(),
            _ => return None,
        };
        let own = self.done..self.done + len;
        self.done = own.end;
        let end = own.end.saturating_add(self.around).min(self.rest.len());
        let bytes = self.rest.get(..end)?.to_vec();
        Some(Window { bytes, own, offset: self.offset, line: self.line })
    }
}

/// Returns the end of the last line, or else of the last word that ends near the end of the bytes.
fn window_end(bytes: &[u8]) -> usize {
    let is_between = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let near = bytes.len().saturating_sub(WORD);
    memchr::memrchr(b'\n', bytes)
        .or_else(|| Some(near + bytes.get(near..)?.iter().rposition(is_between)?))
        .map_or(bytes.len(), |at| at + 1)
}

/// Returns the part of a line that is shown: the whole line, or what is around the match in a long one.
pub(crate) fn shown_part(line: Range<usize>, found: &Range<usize>) -> Range<usize> {
    if line.len() <= SHOWN {
        return line;
    }
    let from = found.start.saturating_sub(SHOWN / 2).max(line.start);
    from..from.saturating_add(SHOWN).min(line.end)
}

/// Returns bytes with each byte of a secret replaced by `*`, except line ends. All places stay the same.
pub(crate) fn masked<'b>(bytes: &'b [u8], redactor: &Redactor) -> Cow<'b, [u8]> {
    // A byte that is not UTF-8 becomes one character, so that a secret beside it is found at its place.
    let mut clean = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        clean.push_str(chunk.valid());
        clean.extend(chunk.invalid().iter().map(|_| '?'));
    }
    match redactor.mask(&clean) {
        Cow::Borrowed(_) => Cow::Borrowed(bytes),
        Cow::Owned(masked) => {
            let each = bytes.iter().zip(clean.bytes()).zip(masked.bytes());
            each.map(|((raw, clean), masked)| if clean == masked { *raw } else { masked }).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(text: &[u8], step: usize) -> Vec<Window> {
        let (mut windows, mut found) = (Windows::new(7, AROUND), Vec::new());
        let mut parts = text.chunks(step).peekable();
        while let Some(part) = parts.next() {
            windows.rest.extend_from_slice(part);
            found.extend(std::iter::from_fn(|| windows.next(parts.peek().is_none())));
        }
        found
    }

    /// The parts are the text, and each has its place, the number of its line and its surroundings.
    #[test]
    fn each_byte_is_in_one_window() {
        let lines: Vec<u8> = (0..400_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        let words = b"word ".repeat(500_000);
        let solid = vec![b'x'; 3 * WINDOW + 5];
        for text in [&lines, &words, &solid, &b"short".to_vec(), &vec![b'x'; WINDOW + AROUND]] {
            let mut at = 0;
            for window in windows(text, WINDOW) {
                assert_eq!(window.at(window.own.start), 7 + at as u64);
                let part = &window.bytes[window.own.clone()];
                assert_eq!(part, &text[at..at + part.len()]);
                let first = at - window.own.start;
                assert_eq!(
                    window.line,
                    1 + text[..first].iter().filter(|byte| **byte == b'\n').count() as u64
                );
                assert_eq!(window.bytes[..], text[first..first + window.bytes.len()]);
                assert_eq!(window.own.start, at.min(AROUND));
                at += part.len();
                assert!(window.bytes.len() == window.own.end + AROUND.min(text.len() - at));
                assert!(at == text.len() || matches!(text[at - 1], b'\n' | b' ' | b'x'), "a word is not cut");
            }
            assert_eq!(at, text.len());
        }
        assert!(windows(b"", 1).is_empty());
    }

    #[test]
    fn a_secret_beside_invalid_bytes_is_masked_in_its_place() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
        let text = [b"\xff\xfe token ", secret.as_bytes(), b" \xe2\x28 end"].concat();
        let shown = masked(&text, &Redactor::embedded());
        assert_eq!(shown.len(), text.len());
        assert_eq!(&shown[..9], &text[..9]);
        assert!(!String::from_utf8_lossy(&shown).contains(&secret[8..]), "{shown:?}");
        assert_eq!(&shown[shown.len() - 7..], &text[text.len() - 7..]);
    }

    #[test]
    fn of_a_long_line_the_part_around_the_match_is_shown() {
        assert_eq!(shown_part(3..10, &(4..5)), 3..10);
        let (line, found) = (5..5 + 3 * SHOWN, 2 * SHOWN..2 * SHOWN + 9);
        assert_eq!(shown_part(line.clone(), &found), 2 * SHOWN - SHOWN / 2..2 * SHOWN + SHOWN / 2);
        assert_eq!(shown_part(line, &(5..6)), 5..5 + SHOWN);
    }
}
