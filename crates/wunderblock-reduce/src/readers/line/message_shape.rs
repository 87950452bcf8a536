//! The shape of a message: its text without the names and numbers in it.

use crate::part::{PartOfList, PartOfText};
use std::ops::Range;

/// Text that replaces a name or a number in a shape.
pub(crate) const HOLE: &str = "…";

/// Returns the byte ranges of the names and numbers in a message: quoted text, and numbers that are not part of a
/// word.
pub(crate) fn holes(message: &str) -> Vec<Range<usize>> {
    let bytes = message.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        // No name or number begins within a multi-byte character.
        let rest = message.get(at..).unwrap_or_default();
        let before = bytes.part(..at).last().copied();
        let hole = quoted(rest, before).or_else(|| {
            let word = before.is_some_and(|before| before.is_ascii_alphanumeric() || before == b'_');
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let joined = rest
                .as_bytes()
                .get(digits)
                .is_some_and(|after| after.is_ascii_alphabetic() || *after == b'_');
            (digits > 0 && !word && !joined).then_some(0..digits)
        });
        match hole {
            Some(hole) => {
                found.push(at + hole.start..at + hole.end);
                at += hole.end + usize::from(hole.start > 0);
            }
            None => at += if byte.is_ascii() { 1 } else { rest.chars().next().map_or(1, char::len_utf8) },
        }
    }
    found
}

/// Returns the range of the text in the quotes with which `text` begins. An apostrophe within a word does not open a
/// quote.
fn quoted(text: &str, before: Option<u8>) -> Option<Range<usize>> {
    let open = text.chars().next()?;
    let close = match open {
        '\'' if before.is_some_and(|before| before.is_ascii_alphanumeric()) => return None,
        '\'' | '"' | '`' => open,
        '‘' => '’',
        '“' => '”',
        _ => return None,
    };
    let start = open.len_utf8();
    let len = text.get(start..)?.find(close).filter(|len| *len > 0)?;
    Some(start..start + len)
}

/// Returns a message with its names and numbers replaced.
pub(crate) fn shape(message: &str, holes: &[Range<usize>]) -> String {
    fill(message, holes, |_| Some(HOLE))
}

/// Returns a message with its holes filled by `with`. A hole for which `with` returns `None` stays as it is.
pub(crate) fn fill<'f>(
    message: &str,
    holes: &[Range<usize>],
    with: impl Fn(usize) -> Option<&'f str>,
) -> String {
    let mut out = String::with_capacity(message.len());
    let mut from = 0;
    for (nth, hole) in holes.iter().enumerate() {
        out.push_str(message.part(from..hole.start));
        out.push_str(with(nth).unwrap_or_else(|| message.part(hole.clone())));
        from = hole.end;
    }
    out.push_str(message.part(from..));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape_of(message: &str) -> String {
        shape(message, &holes(message))
    }

    #[test]
    fn names_and_numbers_are_holes() {
        for (message, wanted) in [
            ("unused variable: `x`", "unused variable: `…`"),
            ("Type 'A' is not assignable to type 'B'.", "Type '…' is not assignable to type '…'."),
            ("Line too long (93 > 88)", "Line too long (… > …)"),
            ("don't use i32 or TS2304", "don't use i32 or TS2304"),
            ("‘foo’ undeclared", "‘…’ undeclared"),
            ("'", "'"),
            ("it''s", "it''s"),
        ] {
            assert_eq!(shape_of(message), wanted);
        }
    }

    proptest! {
        #[test]
        fn a_message_is_its_shape_filled(message in "(['\"`‘’ a7é_]|[0-9]{1,3}|\\PC){0,20}") {
            let holes = holes(&message);
            prop_assert_eq!(fill(&message, &holes, |_| None), message.clone());
            prop_assert!(holes.windows(2).all(|two| two[0].end <= two[1].start));
        }
    }
}
