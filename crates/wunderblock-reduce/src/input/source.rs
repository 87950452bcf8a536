//! The text as its reader sees it. Bytes that are not text, and terminal controls, are set aside with a mark.

use crate::part::PartOfList;
use std::borrow::Cow;
use std::ops::Range;
use wunderblock_text::encoding::TextEncoding;

use crate::result::mark::{Gap, GapFact, GapUnit};

/// A text to be reduced, and the content that was set aside from it.
#[derive(Debug)]
pub(crate) struct SourceText<'b> {
    pub(crate) text: Cow<'b, str>,
    /// A gap for each sort of content that was set aside in the whole text. The marks of content that was set aside
    /// in the whole text are at the head of the text.
    pub(crate) losses: Vec<Gap>,
    /// Positions of the text in the bytes, if the text differs from the bytes.
    places: SourceMap,
    len: usize,
    /// Number of source bytes before the bytes of this text.
    before: usize,
}

/// Decodes bytes as text. In UTF-8, bytes that are not characters become U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> SourceText<'_> {
    let (len, mut places) = (bytes.len(), SourceMap::default());
    let utf8 = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let encoding = if utf8.is_some() { TextEncoding::Utf8 } else { TextEncoding::of(bytes) };
    if let (TextEncoding::Utf8, Ok(text)) = (encoding, std::str::from_utf8(bytes)) {
        return SourceText { text: Cow::Borrowed(text), losses: Vec::new(), places, len, before: 0 };
    }
    let mut text = String::with_capacity(len + len / 8);
    let (mut bad, mut at) = (0, 0);
    for line in encoding.lines(bytes) {
        let shown = text.len();
        bad += encoding.decode_line(line, &mut text);
        let decoded = text.as_bytes().part(shown..);
        let same = line.iter().zip(decoded).take_while(|(one, other)| one == other).count();
        places.start_line(shown, at, same);
        at += line.len();
    }
    places.start_line(text.len(), at, 0);
    let loss = match encoding.note() {
        Some(note) => fact_gap(len, note.into()),
        None => whole_text_gap(len, bad, "not UTF-8, shown as \u{fffd}"),
    };
    SourceText { text: Cow::Owned(text), losses: vec![loss], places, len, before: 0 }
}

impl SourceText<'_> {
    /// Returns the same text as a continuation of bytes that its reader has already seen, so that gaps name places in
    /// the whole source.
    pub(crate) fn after(mut self, before: usize) -> Self {
        self.before = before;
        self.losses = self.losses.into_iter().map(|loss| shifted(loss, before)).collect();
        self
    }

    /// Returns the text without terminal controls, and without the columns that a CI service writes before each line.
    /// Colours are removed, and a line that was overwritten (`\r`) appears in its last state. The number of lines stays
    /// the same, so that line numbers in marks are also line numbers in the bytes.
    pub(crate) fn visible(self) -> Self {
        self.without_controls().without_columns()
    }

    fn without_columns(self) -> Self {
        let mut places = SourceMap::default();
        let shown = crate::input::ci_log::without_columns(&self.text, &mut |shown, source, len| {
            places.start_line(shown, source, len);
        });
        match shown {
            Some((text, gone)) => self.showing(text, gone, places, "job, step and time before each line"),
            None => self,
        }
    }

    fn without_controls(self) -> Self {
        if memchr::memchr3(0x1b, b'\r', 0x08, self.text.as_bytes()).is_none() {
            return self;
        }
        let mut places = SourceMap::default();
        let (text, gone) = crate::input::terminal::visible_text(&self.text, &mut |shown, source, len| {
            places.add(shown, source, len);
        });
        if gone == 0 {
            return self;
        }
        self.showing(text, gone, places, "terminal controls and overwritten text")
    }

    /// Shows another text in place of this one, with a mark for the bytes that it lacks. `places` has its positions in
    /// this text.
    fn showing(mut self, text: String, gone: u64, mut places: SourceMap, lacks: &str) -> Self {
        places.add(text.len(), self.text.len(), 0);
        places.compose(&self.places);
        let loss = whole_text_gap(self.len, gone, lacks);
        self.losses.push(shifted(loss, self.before));
        self.text = Cow::Owned(text);
        self.places = places;
        self
    }

    /// Returns a gap of the text as a gap of the bytes. Where the text and the bytes differ, the gap covers all bytes
    /// that it may concern.
    pub(crate) fn locate(&self, mut gap: Gap) -> Gap {
        if self.losses.is_empty() {
            return shifted(gap, self.before);
        }
        gap.span = self.places.range(&gap.span, self.len);
        if gap.measure == GapUnit::Bytes {
            let all = gap.first.checked_sub(1).map(|first| first as usize..gap.last as usize);
            let all = self.places.range(&all.unwrap_or_default(), self.len);
            (gap.first, gap.last) = (all.start as u64 + 1, all.end as u64);
        }
        shifted(gap, self.before)
    }

    /// Returns whether the place of a gap in the text is also its place in the source.
    pub(crate) fn is_in_place(&self) -> bool {
        self.losses.is_empty() && self.before == 0
    }

    /// Returns the marks of the content that was set aside, one per line.
    pub(crate) fn head_marks(&self, handle: Option<&str>) -> String {
        self.losses.iter().map(|loss| loss.mark(handle) + "\n").collect()
    }
}

/// Stretches of a text that equal its source: position in the text, position in the source, length.
#[derive(Debug, Default)]
struct SourceMap(Vec<(usize, usize, usize)>);

/// Minimum length, in bytes, of an equal stretch between two stretches that differ. Without this limit, noise would
/// have one equal stretch for each byte.
const MIN_STRETCH: usize = 64;

impl SourceMap {
    fn add(&mut self, shown: usize, source: usize, len: usize) {
        let follows =
            |(last, from, length): &(usize, usize, usize)| last + length == shown && from + length == source;
        // The end of the text is always recorded.
        if len == 0 || len >= MIN_STRETCH || self.0.last().is_none_or(follows) {
            self.start_line(shown, source, len);
        }
    }

    /// Records the start of a line, however short its first equal stretch is, because gaps consist of lines.
    fn start_line(&mut self, shown: usize, source: usize, len: usize) {
        match self.0.last_mut() {
            Some((last, from, length)) if *last + *length == shown && *from + *length == source => {
                *length += len;
            }
            _ => self.0.push((shown, source, len)),
        }
    }

    /// Maps the stretches to the text from which the source itself was made.
    fn compose(&mut self, outer: &Self) {
        if outer.0.is_empty() {
            return;
        }
        let mut inner = Self::default();
        for (shown, source, len) in self.0.drain(..) {
            let mut first = outer.0.partition_point(|(at, _, length)| at + length < source);
            while let Some((at, from, length)) = outer.0.get(first).filter(|(at, ..)| *at <= source + len) {
                let start = source.max(*at);
                let end = (source + len).min(at + length);
                if start <= end {
                    inner.add(shown + (start - source), from + (start - at), end - start);
                }
                first += 1;
            }
        }
        self.0 = inner.0;
    }

    /// Returns the widest range of the source that may correspond to a range of the text.
    fn range(&self, span: &Range<usize>, len: usize) -> Range<usize> {
        let before = self.0.partition_point(|(shown, ..)| *shown <= span.start).checked_sub(1);
        let start = before.and_then(|at| self.0.item(at)).map_or(0, |(shown, source, length)| {
            // Between two stretches, no position is known, so the end of the first stretch is used.
            source + (span.start - shown).min(*length)
        });
        let after = self.0.partition_point(|(shown, _, length)| shown + length < span.end);
        let end =
            self.0.get(after).map_or(len, |(shown, source, _)| source + span.end.saturating_sub(*shown));
        start..end.max(start)
    }
}

/// Returns a gap of bytes that follow `before` other bytes. The lines of the gap are already counted from the start
/// of the source.
pub(crate) fn shifted(mut gap: Gap, before: usize) -> Gap {
    gap.span = gap.span.start + before..gap.span.end + before;
    if gap.measure == GapUnit::Bytes && gap.within.is_none() {
        (gap.first, gap.last) = (gap.first + before as u64, gap.last + before as u64);
    }
    gap
}

/// Returns a gap that does not have a single place: `count` bytes of the whole text.
fn whole_text_gap(len: usize, count: u64, what: &str) -> Gap {
    fact_gap(len, format!("of which {count} are {what}").into())
}

/// Returns a gap with a fact about all bytes of a text.
fn fact_gap(len: usize, what: Cow<'static, str>) -> Gap {
    let facts = vec![GapFact { count: None, what }];
    Gap { span: 0..len, measure: GapUnit::Bytes, first: 1, last: len as u64, within: None, told: facts }
}

/// Minimum share, in per cent, of bytes in binary data that are not text.
const BINARY_PERCENT: usize = 10;

/// Returns the gap that replaces binary data, such as an image, an archive, or a program. Binary data is recognised
/// by invalid characters, and by control characters that text does not have.
pub(crate) fn detect_binary(bytes: &[u8]) -> Option<Gap> {
    let odd = |byte: &u8| matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let control = bytes.iter().filter(|byte| odd(byte)).count();
    let bad: usize = match std::str::from_utf8(bytes) {
        Ok(_) => 0,
        Err(_) => bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum(),
    };
    if (control + bad) * 100 < bytes.len() * BINARY_PERCENT || TextEncoding::of(bytes).note().is_some() {
        return None;
    }
    let is =
        SIGNATURES.iter().find(|(begin, _)| bytes.starts_with(begin)).map_or("no text", |(_, name)| name);
    let facts = vec![GapFact { count: None, what: is.into() }];
    let last = bytes.len() as u64;
    Some(Gap { span: 0..bytes.len(), measure: GapUnit::Bytes, first: 1, last, within: None, told: facts })
}

/// First bytes of the files that commands print most often (`file(1)` has them all), with descriptions.
const SIGNATURES: [(&[u8], &str); 10] = [
    (b"\x7fELF", "a program (ELF)"),
    (b"\x89PNG\r\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"%PDF-", "a document (PDF)"),
    (b"\x1f\x8b", "compressed data (gzip)"),
    (b"\x28\xb5\x2f\xfd", "compressed data (zstd)"),
    (b"\xfd7zXZ", "compressed data (xz)"),
    (b"PK\x03\x04", "an archive (zip)"),
    (b"SQLite format 3\0", "a database (SQLite)"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(first: u64, last: u64, span: Range<usize>, measure: GapUnit) -> Gap {
        Gap { span, measure, first, last, within: None, told: Vec::new() }
    }

    #[test]
    fn a_gap_spans_the_bytes_it_replaces() {
        let long = "a line that stays as it is, however long it is, and is sixty-four at least\n";
        let bytes =
            [long.as_bytes(), b"\x1b[31mred\x1b[0m \xff\xfe\n", long.as_bytes(), b"50%\r99%\n"].concat();
        let source = decode(&bytes).visible();
        assert_eq!(source.text, format!("{long}red \u{fffd}\u{fffd}\n{long}99%\n"));
        let second = long.len() + "red \u{fffd}\u{fffd}\n".len();
        let placed = |span: Range<usize>| {
            let gap = lines(span.start as u64 + 1, span.end as u64, span, GapUnit::Bytes);
            let gap = source.locate(gap);
            assert_eq!((gap.first, gap.last), (gap.span.start as u64 + 1, gap.span.end as u64));
            gap.span
        };
        let changed = long.len()..long.len() + b"\x1b[31mred\x1b[0m \xff\xfe\n".len();
        assert_eq!(placed(0..long.len()), 0..long.len());
        assert_eq!(placed(4..9), 4..9);
        // All bytes of a changed line are named.
        assert_eq!(placed(long.len() + 1..long.len() + 3), changed);
        assert_eq!(placed(second..second + 5), changed.end..changed.end + 5);
        assert_eq!(placed(second..source.text.len()), changed.end..bytes.len());
        assert_eq!(source.locate(lines(2, 3, long.len()..second, GapUnit::Lines)).first, 2);
    }

    #[test]
    fn binary_data_is_distinguished_from_unusual_text() {
        let noise = |bytes: &[u8]| detect_binary(bytes).map(|gap| gap.told[0].what.to_string());
        assert_eq!(noise(&[0; 600]).as_deref(), Some("no text"));
        assert_eq!(noise(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0").as_deref(), Some("a picture (PNG)"));
        assert_eq!(
            noise(&"na\u{ef}ve and th\u{e9}, one byte each\n".chars().map(|c| c as u8).collect::<Vec<_>>()),
            None
        );
        assert_eq!(noise(b"./src/a.rs\0./src/lib.rs\0./src/main.rs\0"), None);
        assert_eq!(noise("\u{1b}[1mbold\u{1b}[0m\ttab\r\n".as_bytes()), None);
    }
}
