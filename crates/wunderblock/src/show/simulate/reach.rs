//! Reach of one read: names that a handle or a position in a line of a request leads to, if the line describes the
//! content.

use crate::show::simulate::reading::index::{Index, PositionSource, READ, all_keys, first_tokens};
use crate::show::simulate::reading::names::{Name, each_once, keys};
use crate::show::simulate::reading::said::WORDS;
use wunderblock_core::id::Handle;
use wunderblock_core::literal::{LiteralKind, literals};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::stub::head;
use wunderblock_core::units::Tokens;
use wunderblock_summary::content_words;

/// Number of bytes of a command that a line must contain to name the command. Summaries and stubs cut long commands.
const COMMAND: usize = 40;
/// Minimum number of digits of a handle in a mark.
const DIGITS: usize = 8;

/// Event at each position of a simulated lane; `None` for events of the lane itself.
pub(super) type EventsByPosition<'a> = &'a [Option<usize>];

/// Kind of text that shows handles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shower {
    /// A tool result. The call beside the result names what the result's marks replace; text of the form `#12` in a
    /// result belongs to the tool's output.
    Result,
    /// Another entry. An entry names the places left out of it; text of the form `#12` in an entry belongs to the
    /// speaker's words.
    Entry,
    /// A text that the engine wrote. Each line must itself name what it leads to.
    Ours,
}

/// Returns the names that one read of at most [`READ`] tokens brings back through the lines of a text: those on the
/// first page of a handle, a range of a handle, a position or a range of positions.
pub(super) fn reach(text: &str, shower: Shower, index: &Index, positions: EventsByPosition<'_>) -> Vec<Name> {
    let mut reader = Reader { index, positions, shower, body: None, names: Vec::new() };
    for line in text.lines() {
        reader.handles(line);
        // The lines that frame a summary contain its positions but do not describe them.
        if shower == Shower::Ours && !line.starts_with('⟨') {
            reader.positions(line);
        }
    }
    each_once(reader.names)
}

struct Reader<'a> {
    index: &'a Index,
    positions: EventsByPosition<'a>,
    shower: Shower,
    /// Handle of the previous mark. Later marks of the same text do not repeat the handle.
    body: Option<Handle>,
    names: Vec<Name>,
}

impl<'a> Reader<'a> {
    /// Follows addresses of the form `wb:3f9c1a7be2d04c58` or `wb:3f9c1a7b#L120-181`, and marks that contain only a
    /// place.
    fn handles(&mut self, line: &str) {
        for (at, _) in line.match_indices("wb:") {
            let rest = line.get(at + 3..).unwrap_or_default();
            let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            let (digits, rest) = rest.split_at(digits);
            let Some((handle, source)) = self.body_of(digits) else { continue };
            self.body = Some(handle);
            match rest.strip_prefix('#') {
                None => self.follow(line, handle, source, None),
                Some(rest) => {
                    if let Some(range) = place(rest) {
                        self.follow(line, handle, source, Some(range));
                    }
                }
            }
        }
        for (at, mark) in line.match_indices("⟨… ") {
            let named = line.get(at + mark.len()..).and_then(place);
            if let (Some(handle), Some(range)) = (self.body, named)
                && let Some(source) = self.index.bodies.get(&handle)
            {
                self.follow(line, handle, source, Some(range));
            }
        }
    }

    fn body_of(&self, digits: &str) -> Option<(Handle, &'a PositionSource)> {
        if digits.len() < DIGITS {
            return None;
        }
        let value = u64::from_str_radix(digits.get(..16).unwrap_or(digits), 16).ok()?;
        let free = 4 * 16_usize.saturating_sub(digits.len());
        let first = value << free;
        let last = first | ((1_u64 << free) - 1);
        let mut found = self.index.bodies.range(Handle(first)..=Handle(last));
        found.next().map(|(handle, source)| (*handle, source))
    }

    fn follow(&mut self, line: &str, handle: Handle, source: &PositionSource, range: Option<PlaceInText>) {
        let stands_beside_it = match self.shower {
            Shower::Result => true,
            Shower::Entry => range.is_some(),
            Shower::Ours => false,
        };
        if !stands_beside_it && !is_named(line, source) {
            return;
        }
        let Some(range) = range else { return self.names.extend(source.names.iter().copied()) };
        let Some(text) = self.index.texts.text(handle) else { return };
        let part = range.of(text);
        let tokens = source.tokens.0.saturating_mul(part.len() as u64) / (text.len() as u64).max(1);
        let mut found = Vec::new();
        all_keys(first_tokens(part, Tokens(tokens)), &self.index.wanted, &mut found);
        self.names.extend(self.index.names.known(&found));
    }

    /// Follows references of the form `#12` or `#12-80`.
    fn positions(&mut self, line: &str) {
        for (at, _) in line.match_indices('#') {
            let Some((from, to)) = line.get(at + 1..).and_then(numbers) else { continue };
            let mut left = READ;
            for seq in from..=to {
                let event = usize::try_from(seq).ok().and_then(|seq| self.positions.get(seq).copied());
                // A range may end far beyond the last position.
                let Some(event) = event else { break };
                let Some(source) = event.and_then(|event| self.index.sources.get(event)) else { continue };
                if is_named(line, source) {
                    self.names.extend(source.names.iter().copied());
                }
                left = left.saturating_sub(source.tokens);
                if left == Tokens::ZERO {
                    break;
                }
            }
        }
    }
}

/// A part of a text, in the notation of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceInText {
    /// Lines counted from 1, with both ends included.
    Lines(u64, u64),
    /// Bytes counted from 0, with the end excluded.
    Bytes(u64, u64),
}

/// Parses a range of the form `L120-181` or `B0-400` at the beginning of a text.
fn place(text: &str) -> Option<PlaceInText> {
    match text.as_bytes().first()? {
        b'L' => numbers(text.get(1..)?).map(|(from, to)| PlaceInText::Lines(from, to)),
        b'B' => numbers(text.get(1..)?).map(|(from, to)| PlaceInText::Bytes(from, to)),
        _ => None,
    }
}

/// Parses numbers of the form `12` or `12-80` at the beginning of a text. An en dash is accepted, too.
fn numbers(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| -> Option<(u64, usize)> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        Some((text.get(..end)?.parse().ok()?, end))
    };
    let (from, end) = number(text)?;
    let rest = text.get(end..).unwrap_or_default();
    let to = rest.strip_prefix(['-', '–']).and_then(number).map_or(from, |(to, _)| to);
    Some((from, to.max(from)))
}

impl PlaceInText {
    fn of(self, text: &str) -> &str {
        let cut = |from: usize, to: usize| {
            let end = text.floor_char_boundary(to);
            text.get(text.floor_char_boundary(from).min(end)..end).unwrap_or_default()
        };
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        match self {
            Self::Bytes(from, to) => cut(size(from), size(to)),
            Self::Lines(from, to) => {
                let mut ends = text.match_indices('\n').map(|(at, _)| at + 1);
                let before = size(from).saturating_sub(1);
                let start = if before == 0 { Some(0) } else { ends.nth(before - 1) };
                let Some(start) = start else { return "" };
                let end = ends.nth(size(to - from)).unwrap_or(text.len());
                cut(start, end)
            }
        }
    }
}

/// Returns whether a line describes a source: by the path or the command of its call, or by some words of its
/// message.
fn is_named(line: &str, source: &PositionSource) -> bool {
    source.gists.iter().any(|gist| names_call(line, gist))
        || !source.words.is_empty() && shares_words(line, &source.words)
}

fn shares_words(line: &str, words: &[u64]) -> bool {
    content_words(line).iter().filter(|word| words.binary_search(word).is_ok()).count() >= WORDS
}

fn names_call(line: &str, gist: &str) -> bool {
    let gist = gist.trim();
    let command = head(gist, COMMAND).trim_end();
    if !command.is_empty() && line.contains(command) {
        return true;
    }
    let mut paths = literals(gist).filter(|literal| literal.kind == LiteralKind::Path).peekable();
    if paths.peek().is_none() {
        return false;
    }
    let mut named = Vec::new();
    keys(line, &mut named);
    paths.any(|path| named.contains(&path.key()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::simulate::reading::index::sorted;

    #[test]
    fn places_are_read_as_marks_write_them() {
        assert_eq!(place("L120-181: 62 lines"), Some(PlaceInText::Lines(120, 181)));
        assert_eq!(place("B0-4"), Some(PlaceInText::Bytes(0, 4)));
        assert_eq!((place("$.items[0]"), place("L")), (None, None));
        assert_eq!(
            (numbers("12"), numbers("613–782⟩"), numbers("9-3")),
            (Some((12, 12)), Some((613, 782)), Some((9, 9)))
        );
        let text = "one\ntwo\nthree\nfour";
        assert_eq!(PlaceInText::Lines(2, 3).of(text), "two\nthree\n");
        assert_eq!(PlaceInText::Lines(1, 1).of(text), "one\n");
        assert_eq!(PlaceInText::Lines(4, 9).of(text), "four");
        assert_eq!(PlaceInText::Lines(7, 9).of(text), "");
        assert_eq!(PlaceInText::Bytes(4, 7).of(text), "two");
        assert_eq!(PlaceInText::Bytes(40, 70).of("é"), "");
    }

    #[test]
    fn a_line_must_say_what_it_leads_to() {
        let source = |gist: &str, said: &str| PositionSource {
            gists: if gist.is_empty() { Vec::new() } else { vec![gist.into()] },
            words: sorted(content_words(said).into_iter()),
            ..PositionSource::default()
        };
        assert!(is_named("- `cargo test --workspace` → ok #12", &source("cargo test --workspace", "")));
        assert!(is_named("- read src/queue/worker.rs #12", &source("src/queue/worker.rs", "")));
        assert!(!is_named("- then #12", &source("src/queue/worker.rs", "")));
        let said = "please keep the retry queue small, because memory is short on that machine";
        assert!(is_named("- rule: \"keep the retry queue small\" #4", &source("", said)));
        assert!(!is_named("- then: \"keep the queue\" #4", &source("", said)));
    }
}
