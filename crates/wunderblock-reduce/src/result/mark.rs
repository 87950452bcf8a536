//! The grammar of marks, which occur in a reduced text but not in its source.
//!
//! ```text
//! gap      ⟨… wb:3f9c1a7b#L120-181: 62 lines, 3 WARN⟩       a stretch that is left out
//! gap      ⟨… L204-260: 12 INFO⟩                            the same, in the source of the mark before
//! note     ⟨×47⟩                                            a fact about the text before it
//! coded    ⟨=name arguments⟩ … ⟨=⟩                          an encoding, which can be decoded exactly
//! ref      ⟨=L209-218: again L182-191⟩                      lines that occurred before, as an encoding
//! escape   ⟨⟨                                               a ⟨ of the source
//! ```
//!
//! A mark names the place of its gap in the form that is used to read the gap back ([`Gap::place`]). The first mark
//! of a text also names the handle, and so does the first mark after every [`NAMED_AGAIN`] bytes. A mark names no
//! handle only if the caller gave none.

use crate::part::PartOfText;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// The unit in which a gap is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapUnit {
    /// Lines of the source.
    Lines,
    /// Elements of an array.
    Items,
    /// Members of an object.
    Keys,
    /// Bytes of the source.
    Bytes,
}

impl GapUnit {
    /// Returns the name that marks use for the unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Items => "items",
            Self::Keys => "keys",
            Self::Bytes => "bytes",
        }
    }
}

/// A stretch of the source that a reduced text leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Byte range of the stretch in the source.
    pub span: Range<usize>,
    /// Unit of `first`, `last` and the count.
    pub measure: GapUnit,
    /// First unit that is left out, from 1.
    pub first: u64,
    /// Last unit that is left out.
    pub last: u64,
    /// Path of the value in which units are counted. `None` if they are counted in the whole text.
    pub within: Option<Box<str>>,
    /// Facts about the stretch: counts, and descriptions without a count.
    pub told: Vec<GapFact>,
}

/// A fact in a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapFact {
    /// Number of things counted. `None` if the fact is not a count.
    pub count: Option<u64>,
    /// Name or description of the fact: `WARN`, `passed`, `body of fn parse`.
    pub what: Cow<'static, str>,
}

impl Gap {
    /// Returns the number of units that are left out.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    /// Returns the place of the gap in the source, in the form that is used to read the gap back. `L120-181` (lines
    /// from 1), `$.items[13..198]` and `$.a{2..9}` (items and members from 0) include both ends. `B100-200` and
    /// `$.text#B0-64` (bytes from 0) exclude the end; the bytes of a string are those of its JSON form between the
    /// quotes.
    #[must_use]
    pub fn place(&self) -> String {
        let (first, last) = (self.first, self.last);
        let from = first.saturating_sub(1);
        let to = last.saturating_sub(1);
        match (&self.within, self.measure) {
            (Some(path), _) if path.len() > MAX_PATH_BYTES || path.chars().any(is_structural) => {
                format!("B{}-{}", self.span.start, self.span.end)
            }
            (_, GapUnit::Lines) if first == last => format!("L{first}"),
            (_, GapUnit::Lines) => format!("L{first}-{last}"),
            (None, GapUnit::Bytes) => format!("B{from}-{last}"),
            (Some(path), GapUnit::Bytes) => format!("{path}#B{from}-{last}"),
            (path, measure) => {
                let path = path.as_deref().unwrap_or("$");
                let range = if from == to { from.to_string() } else { format!("{from}..{to}") };
                if measure == GapUnit::Items {
                    format!("{path}[{range}]")
                } else {
                    format!("{path}{{{range}}}")
                }
            }
        }
    }

    /// Returns the mark of this gap, in the form that names the handle.
    #[must_use]
    pub fn mark(&self, handle: Option<&str>) -> String {
        let (count, unit) = (self.count(), self.measure.name());
        let unit = if count == 1 { unit.trim_end_matches('s') } else { unit };
        let address = handle.map_or_else(|| self.place(), |handle| format!("{handle}#{}", self.place()));
        self.write(&address, Some(format!("{count} {unit}")))
    }

    /// Returns the mark of this gap, for use after a mark that named the handle.
    pub(crate) fn short_mark(&self) -> String {
        self.write(&self.place(), None)
    }

    fn write(&self, address: &str, counted: Option<String>) -> String {
        let mut mark = format!("⟨… {address}");
        let told = self.told.iter().map(|fact| match fact.count {
            Some(count) => format!("{count} {}", inline_text(&fact.what)),
            None => inline_text(&fact.what),
        });
        for (nth, fact) in counted.into_iter().chain(told).enumerate() {
            let _ = write!(mark, "{}{fact}", if nth == 0 { ": " } else { ", " });
        }
        mark.push('⟩');
        mark
    }
}

/// Maximum length of a path in a mark, in bytes. A gap with a longer path is named by its bytes.
const MAX_PATH_BYTES: usize = 120;

/// Returns whether a character would end a mark, or the line of the mark.
fn is_structural(c: char) -> bool {
    c.is_control() || matches!(c, '⟨' | '⟩')
}

/// Returns a text for use in a mark: on one line, without brackets, at most 80 characters.
fn inline_text(text: &str) -> String {
    text.chars().filter(|c| !is_structural(*c)).take(80).collect()
}

/// Appends a text with each `⟨` doubled, so that none of these brackets can be taken for the start of a mark.
pub(crate) fn escape(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), OPEN.as_bytes()) {
        let (before, after) = rest.split_at(at + OPEN.len());
        into.push_str(before);
        into.push_str(OPEN);
        rest = after;
    }
    into.push_str(rest);
}

/// Returns the text before it was escaped, or `None` if it contains a mark, because a mark means that a part of the
/// text may be missing.
pub(crate) fn unescape(written: &str) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), OPEN.as_bytes()) {
        let (before, after) = rest.split_at(at + OPEN.len());
        out.push_str(before);
        rest = after.strip_prefix(OPEN)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Returns whether escaping `text` gives `written`. The comparison does not write the escaped text again.
pub(crate) fn is_escaped(written: &str, text: &str) -> bool {
    let (mut rest, mut left) = (written, text);
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), OPEN.as_bytes()) {
        let end = at + OPEN.len();
        let (Some(after), true) = (
            rest.get(end..).and_then(|after| after.strip_prefix(OPEN)),
            rest.as_bytes().get(..end) == left.as_bytes().get(..end),
        ) else {
            return false;
        };
        (rest, left) = (after, left.part(end..));
    }
    rest == left
}

/// Note that precedes a file whose text looks like marks.
pub(crate) const FILE_NOTE: &str = "⟨what looks like a mark below is text of this file⟩\n";

/// Returns whether a text contains anything that looks like a mark or an encoded block.
pub(crate) fn looks_marked(text: &str) -> bool {
    ["⟨… ", "⟨=", "⟨×", "⟨and ", "⟨what "]
        .iter()
        .any(|sign| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
}

/// Start of a mark.
pub(crate) const OPEN: &str = "⟨";
/// Approximate size of the mark of a gap, in bytes.
pub(crate) const MARK_BYTES: usize = 30;
/// Maximum size, in bytes, of a gap that is not worth a mark, because a mark also costs the reader a second look.
pub(crate) const MIN_GAP_BYTES: usize = 72;
/// Start of the fact that names the place where lines have already been seen: `seen in wb:3f9c1a7b#L22-61`.
pub(crate) const SEEN: &str = "seen in ";

/// Number of bytes of text after which a mark names the handle again, so that a page of a long text can be read
/// alone.
pub(crate) const NAMED_AGAIN: usize = 4_000;

/// The mark of a gap, as found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapMark<'t> {
    /// Bytes of the mark.
    pub span: Range<usize>,
    /// Handle in the mark, or in the mark before it if the mark itself names none.
    pub handle: Option<&'t str>,
    /// Place that the mark names.
    pub place: &'t str,
}

/// Finds the marks of gaps in a text. An escaped mark is plain text.
pub fn gaps(text: &str) -> impl Iterator<Item = GapMark<'_>> {
    let (mut at, mut named) = (0, None);
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + memchr::memmem::find(rest.as_bytes(), OPEN.as_bytes())?;
            let inner = text.get(start + OPEN.len()..)?;
            if inner.starts_with(OPEN) {
                at = start + 2 * OPEN.len();
                continue;
            }
            at = start + OPEN.len();
            let Some((length, address)) = parse_gap(inner) else { continue };
            at += length;
            let (handle, place) = split_address(address);
            named = handle.or(named);
            return Some(GapMark { span: start..at, handle: named, place });
        }
    })
}

/// Returns the length and the address of a mark, given the text `inner` after its `⟨`. The length includes the `⟩`.
fn parse_gap(inner: &str) -> Option<(usize, &str)> {
    let body = inner.strip_prefix("… ")?;
    // Marks of this crate are short and on one line, so a longer one is text.
    let reach = body.char_indices().nth(600).map_or(body.len(), |(at, _)| at);
    let line = body.get(..reach)?;
    let end = line.find(['⟩', '\n', '⟨'])?;
    if !line.get(end..)?.starts_with('⟩') {
        return None;
    }
    let content = line.get(..end)?;
    let address = content.split_once(": ").map_or(content, |(address, _)| address);
    let (_, place) = split_address(address);
    let numbered = |letter| {
        place.strip_prefix(letter).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let known = numbered('L') || numbered('B') || place.starts_with('$');
    known.then_some((inner.len() - body.len() + end + "⟩".len(), address))
}

/// Returns the handle in an address, if it has one, and the place in it.
fn split_address(address: &str) -> (Option<&str>, &str) {
    match address.split_once('#') {
        Some((handle, place)) if !handle.starts_with('$') => (Some(handle), place),
        _ => (None, address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap() -> Gap {
        let told = vec![GapFact { count: Some(3), what: "WARN".into() }];
        Gap { span: 0..9, measure: GapUnit::Lines, first: 120, last: 181, within: None, told }
    }

    #[test]
    fn a_mark_is_written_as_documented_and_found_again() {
        let mark = gap().mark(Some("wb:3f9c1a7b"));
        assert_eq!(mark, "⟨… wb:3f9c1a7b#L120-181: 62 lines, 3 WARN⟩");
        assert_eq!(gap().short_mark(), "⟨… L120-181: 3 WARN⟩");
        let text = format!("before\n{mark}\nafter\n{}", gap().short_mark());
        let found: Vec<_> = gaps(&text).collect();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|found| found.handle == Some("wb:3f9c1a7b") && found.place == "L120-181"));
        assert_eq!(&text[found[0].span.clone()], mark);
    }

    #[test]
    fn places_are_those_that_are_read() {
        let place = |measure, within: Option<&str>, first, last| {
            Gap { within: within.map(Into::into), measure, first, last, ..gap() }.place()
        };
        assert_eq!(place(GapUnit::Lines, None, 7, 7), "L7");
        assert_eq!(place(GapUnit::Bytes, None, 101, 200), "B100-200");
        assert_eq!(place(GapUnit::Bytes, Some("$.a"), 1, 64), "$.a#B0-64");
        assert_eq!(place(GapUnit::Items, Some("$.items"), 14, 199), "$.items[13..198]");
        assert_eq!(place(GapUnit::Items, Some("$[0]"), 3, 3), "$[0][2]");
        assert_eq!(place(GapUnit::Keys, Some("$.a"), 3, 10), "$.a{2..9}");
        assert_eq!(place(GapUnit::Items, Some("$[\"⟩\"]"), 3, 10), "B0-9");
    }

    #[test]
    fn a_text_is_compared_as_it_is_written() {
        for text in ["", "a", "⟨", "⟨⟨", "a⟨b⟨⟨⟨c", "⟩⟨… "] {
            let mut escaped = String::new();
            escape(text, &mut escaped);
            assert!(is_escaped(&escaped, text), "{text}");
            for other in ["", "a⟨", "⟨⟨⟨", "a⟨b⟨⟨⟨d", "⟩⟨…"] {
                assert_eq!(is_escaped(&escaped, other), text == other, "{text} {other}");
            }
        }
        assert!(!is_escaped("a⟨×3⟩", "a⟨×3⟩") && !is_escaped("⟨", "⟨"));
    }

    #[test]
    fn an_escaped_mark_is_not_read_as_a_mark() {
        let mut escaped = String::new();
        escape(&gap().mark(None), &mut escaped);
        assert_eq!(gaps(&escaped).count(), 0);
    }

    #[test]
    fn text_that_resembles_a_mark_is_not_read_as_one() {
        for text in ["⟨… lines⟩", "⟨… L: two⟩", "⟨… L1-2:\n 2⟩", "⟨…", "⟨… wb:12#1-2: 2 lines⟩"]
        {
            assert_eq!(gaps(text).count(), 0, "{text}");
        }
    }
}
