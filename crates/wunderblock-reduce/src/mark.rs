//! The one grammar of marks: what a reduced text has that its source does not have.
//!
//! ```text
//! gap      ⟨… lines 120–181: 62 lines, 3 WARN · wb:3f9c1a7be2d04c58⟩      something is left out here
//! note     ⟨×47⟩                                                          a fact about the text before it
//! coded    ⟨=name arguments⟩ … ⟨=⟩                                        an encoding, which can be decoded exactly
//! point    ⟨=×47⟩   ⟨=↑ 12–30: how they begin⟩                            lines written before: how often, or where
//! escape   ⟨⟨                                                             the source had a ⟨ here
//! ```
//!
//! A gap is in the source's own units (lines, items of an array, keys of an object, bytes), counted from 1, both ends
//! included. Its handle reads the source; it is absent only where the caller gave none.

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
    /// Its name in a mark.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Items => "items",
            Self::Keys => "keys",
            Self::Bytes => "bytes",
        }
    }

    const ALL: [Self; 4] = [Self::Lines, Self::Items, Self::Keys, Self::Bytes];
}

/// One stretch of the source that a reduced text leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its bytes in the source.
    pub span: Range<usize>,
    /// The unit of `first`, `last` and the count.
    pub measure: GapUnit,
    /// The first unit that is left out, from 1.
    pub first: u64,
    /// The last unit that is left out.
    pub last: u64,
    /// The path of the array or object in which units are counted, if not in the whole text.
    pub within: Option<Box<str>>,
    /// The facts about the stretch: counts, and descriptions without a count.
    pub told: Vec<GapFact>,
}

/// A fact in a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapFact {
    /// The number; none where the fact is not a count.
    pub count: Option<u64>,
    /// What is counted or described: `WARN`, `passed`, `body of fn parse`.
    pub what: Cow<'static, str>,
}

impl Gap {
    /// The number of units that are left out.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }

    /// The mark of this gap.
    #[must_use]
    pub fn mark(&self, handle: Option<&str>) -> String {
        let mut mark = format!("⟨… {}", self.measure.name());
        if let Some(within) = &self.within {
            let _ = write!(mark, " of {}", inline_text(within));
        }
        let _ = write!(mark, " {}–{}", self.first, self.last);
        let (count, unit) = (self.count(), self.measure.name());
        let unit = if count == 1 { unit.trim_end_matches('s') } else { unit };
        let _ = write!(mark, ": {count} {unit}");
        for fact in &self.told {
            let _ = match fact.count {
                Some(count) => write!(mark, ", {count} {}", inline_text(&fact.what)),
                None => write!(mark, ", {}", inline_text(&fact.what)),
            };
        }
        if let Some(handle) = handle {
            let _ = write!(mark, " · {handle}");
        }
        mark.push('⟩');
        mark
    }
}

/// Text that may stand inside a mark: on one line, without brackets, at most 80 characters.
fn inline_text(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '⟨' | '⟩')).take(80).collect()
}

/// Writes a text where marks may stand: a `⟨` of the source is doubled.
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

/// The text that was escaped. None where a mark stands: then part of the text is missing.
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

/// Whether escaping `text` gives `written`, without writing it again.
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
        (rest, left) = (after, left.get(end..).unwrap_or(""));
    }
    rest == left
}

/// What opens a mark.
pub(crate) const OPEN: &str = "⟨";
/// Bytes that the mark of a gap takes, about: a shorter gap is not worth one.
pub(crate) const MARK_BYTES: usize = 72;
/// The start of the fact that names where lines were seen before: `seen in lines 22–61 of wb:…`.
pub(crate) const SEEN: &str = "seen in ";

/// Whether `text` holds the mark of a gap with a handle that `ours` accepts. A mark without a handle counts as well:
/// there is nothing to ask about it.
#[must_use]
pub fn is_reduced(text: &str, ours: &dyn Fn(&str) -> bool) -> bool {
    gaps(text).any(|gap| gap.handle.is_none_or(ours))
}

/// The mark of a gap, as found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapMark<'t> {
    /// The bytes of the mark.
    pub span: Range<usize>,
    /// Its handle, if it has one.
    pub handle: Option<&'t str>,
}

/// The marks of gaps in a text. An escaped mark is plain text.
pub fn gaps(text: &str) -> impl Iterator<Item = GapMark<'_>> {
    let mut at = 0;
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
            let Some((length, handle)) = parse_gap(inner) else { continue };
            at += length;
            return Some(GapMark { span: start..at, handle });
        }
    })
}

/// The mark that `inner` continues after `⟨`: its length with the `⟩`, and its handle.
fn parse_gap(inner: &str) -> Option<(usize, Option<&str>)> {
    let body = inner.strip_prefix("… ")?;
    // A mark is short and on one line: what is longer was never written by us.
    let reach = body.char_indices().nth(600).map_or(body.len(), |(at, _)| at);
    let line = body.get(..reach)?;
    let end = line.find(['⟩', '\n', '⟨'])?;
    if !line.get(end..)?.starts_with('⟩') {
        return None;
    }
    let content = line.get(..end)?;
    let (range, rest) = content.split_once(": ")?;
    let known = GapUnit::ALL.iter().any(|measure| range.starts_with(measure.name()));
    let counted = rest.starts_with(|c: char| c.is_ascii_digit());
    if !known || !counted {
        return None;
    }
    let handle = rest.rsplit_once(" · ").map(|(_, handle)| handle);
    let length = inner.len() - body.len() + end + "⟩".len();
    Some((length, handle))
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
        let mark = gap().mark(Some("wb:3f9c1a7be2d04c58"));
        assert_eq!(mark, "⟨… lines 120–181: 62 lines, 3 WARN · wb:3f9c1a7be2d04c58⟩");
        let text = format!("before\n{mark}\nafter");
        let found: Vec<_> = gaps(&text).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].handle, Some("wb:3f9c1a7be2d04c58"));
        assert_eq!(&text[found[0].span.clone()], mark);
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
    fn what_is_escaped_is_no_mark() {
        let mut escaped = String::new();
        escape(&gap().mark(None), &mut escaped);
        assert_eq!(gaps(&escaped).count(), 0);
        assert!(!is_reduced(&escaped, &|_| true));
    }

    #[test]
    fn a_mark_with_a_foreign_handle_is_text() {
        let text = gap().mark(Some("wb:0000000000000000"));
        assert!(is_reduced(&text, &|_| true));
        assert!(!is_reduced(&text, &|_| false));
        assert!(is_reduced(&gap().mark(None), &|_| false));
    }

    #[test]
    fn what_only_looks_like_a_mark_is_none() {
        for text in
            ["⟨… lines⟩", "⟨… lines 1–2: two⟩", "⟨… lines 1–2:\n 2⟩", "⟨…", "⟨… wishes 1–2: 2 wishes⟩"]
        {
            assert_eq!(gaps(text).count(), 0, "{text}");
        }
    }
}
