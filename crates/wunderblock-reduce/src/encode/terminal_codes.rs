//! Output written for a terminal: colours, lines written over and over, `\r\n`.
//!
//! ```text
//! ⟨=ansi ~0m1m32m ^0m⟩ ~Compiling^ serde ⟨=⟩      each sign stands for escape sequences, here ESC[0m ESC[1m ESC[32m
//! ⟨=crlf⟩ … ⟨=⟩                                    every line ends with \r\n
//! ⟨=cr⟩ a line per state ⟨=⟩                       the states of one line, each written over the one before
//! ```

use std::collections::HashMap;

use super::rewrite::Rewrite;
use super::tags::{self, CLOSE, EncodedBlock};
use super::{run_length, template};
use crate::mark::OPEN;
use crate::sink::TextSink;

/// Signs that may replace escape sequences, the clearest first. Signs that the text has are not used.
const SIGNS: [char; 16] = ['~', '^', '@', '`', '$', '§', '¤', '¢', '£', '¥', '¬', 'µ', '¶', '%', '&', '!'];

/// A text with a sign for each frequent run of escape sequences: the tag of its code, and the text.
pub(super) fn encode_colours(text: &str) -> Option<(String, String)> {
    memchr::memchr(0x1b, text.as_bytes())?;
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, run) in escape_runs(text) {
        counts.entry(run).or_insert((0, at)).0 += 1;
    }
    let mut frequent: Vec<_> = counts.into_iter().filter(|(_, (count, _))| *count >= 2).collect();
    frequent.sort_unstable_by_key(|(run, (count, at))| (usize::MAX - count * run.len(), *at));
    let signs = SIGNS.into_iter().filter(|sign| !text.contains(*sign));
    let mut tag = "ansi".to_owned();
    let mut sign_of: HashMap<&str, char> = HashMap::new();
    for ((run, _), sign) in frequent.into_iter().zip(signs) {
        tag.push(' ');
        tag.push(sign);
        tag.push_str(&run.replace("\x1b[", ""));
        sign_of.insert(run, sign);
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for (at, run) in escape_runs(text) {
        if let Some(sign) = sign_of.get(run) {
            out.push_str(text.get(kept..at)?);
            out.push(*sign);
            kept = at + run.len();
        }
    }
    out.push_str(text.get(kept..)?);
    (!sign_of.is_empty()).then_some((tag, out))
}

/// Escape sequences that set colours and the like, those that stand together as one, each with its place.
fn escape_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr(0x1b, text.as_bytes().get(at..)?)?;
            let mut end = start;
            while let Some(length) = sequence_length(text.get(end..)?) {
                end += length;
            }
            at = end.max(start + 1);
            if end > start {
                return Some((start, text.get(start..end)?));
            }
        }
    })
}

/// The length of the sequence `ESC [ digits and semicolons letter` a text begins with.
fn sequence_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\x1b[")?;
    let letter = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    letter.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| text.len() - letter.len() + 1)
}

/// The text with its escape sequences.
pub(super) fn decode_colours(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut run_of: HashMap<char, String> = HashMap::new();
    for meaning in code.args.split(' ') {
        let sign = meaning.chars().next()?;
        let run = meaning.get(sign.len_utf8()..)?.split_inclusive(|c: char| c.is_ascii_alphabetic());
        run_of.insert(sign, run.flat_map(|sequence| ["\x1b[", sequence]).collect());
    }
    let signs = |c: char| run_of.contains_key(&c);
    let mut rest = code.body;
    while let Some((before, sign)) = rest.find(signs).and_then(|at| rest.split_at_checked(at)) {
        let mut after = sign.chars();
        out.push(before)?;
        out.push(run_of.get(&after.next()?)?)?;
        rest = after.as_str();
    }
    out.push(rest)
}

/// A text all of whose lines end with `\r\n`, without the `\r`.
pub(super) fn encode_endings(text: &str) -> Option<String> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let (mut all, mut dos) = (0, 0);
    for end in ends {
        all += 1;
        dos += usize::from(end.checked_sub(1).and_then(|before| text.as_bytes().get(before)) == Some(&b'\r'));
    }
    (all >= 8 && all == dos).then(|| text.replace("\r\n", "\n"))
}

/// The states of lines that were written over and over, a line for each.
pub(super) fn encode_states(text: &str) -> Option<String> {
    memchr::memchr(b'\r', text.as_bytes())?;
    let mut instead = Rewrite::of(text);
    let mut start = 0;
    for line in text.split('\n') {
        let end = start + line.len();
        let states = memchr::memchr_iter(b'\r', line.as_bytes()).count();
        if states >= 3 && !line.contains(OPEN) {
            instead.replace_if_worthwhile(start..end, |out| {
                out.push_str("⟨=cr⟩\n");
                out.push_str(&encode_line_states(line));
                out.push('\n');
                out.push_str(CLOSE);
                Some(())
            });
        }
        start = end + 1;
    }
    instead.finish()
}

fn encode_line_states(line: &str) -> String {
    let states = line.replace('\r', "\n");
    template::encode(&states).or_else(|| run_length::encode(&states)).unwrap_or(states)
}

/// The line whose states these were.
pub(super) fn decode_states(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    tags::lines_of(code.body)?.enumerate().try_for_each(|(nth, state)| {
        out.push(if nth > 0 { "\r" } else { "" })?;
        out.push(state)
    })
}

/// The text whose lines ended with `\r\n`.
pub(super) fn decode_endings(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    code.body.split('\n').enumerate().try_for_each(|(nth, line)| {
        out.push(if nth > 0 { "\r\n" } else { "" })?;
        out.push(line)
    })
}

#[cfg(test)]
mod tests {
    use crate::encode::{decode, encode_layers};
    use crate::kind::Kind;

    #[test]
    fn colours_are_signs() {
        let text: String =
            (0..8).map(|n| format!("\x1b[0m\x1b[1m\x1b[32m   Compiling\x1b[0m crate{n} v1.0\n")).collect();
        let packed = encode_layers(&text, Kind::Build, crate::encode::LineWording::Shared).unwrap();
        assert!(
            packed.starts_with("⟨=ansi ~0m1m32m ^0m⟩~   Compiling^ crate0 v1.0\n~   Compiling^ crate1"),
            "{packed}"
        );
        assert_eq!(decode(&packed), Some(text));
    }

    #[test]
    fn states_of_one_line_are_rows() {
        let text: String = (0..60).map(|n| format!("Receiving objects: {n:>3}% ({n}/60), done\r")).collect();
        let packed = encode_layers(&text, Kind::Build, crate::encode::LineWording::Shared).unwrap();
        assert!(
            packed.starts_with("⟨=cr⟩\n⟨=t⟩\nReceiving objects:{>5} ({}/60), done\n0% 0\n1% 1\n"),
            "{packed}"
        );
        assert_eq!(decode(&packed), Some(text));
    }

    #[test]
    fn line_endings_are_said_once() {
        let text = "waiting for the lock on the build directory\r\n".repeat(12);
        let packed = encode_layers(&text, Kind::Build, crate::encode::LineWording::Shared).unwrap();
        assert_eq!(packed, "⟨=crlf⟩waiting for the lock on the build directory ⟨=×12⟩\n⟨=⟩");
        assert_eq!(decode(&packed), Some(text));
    }
}
