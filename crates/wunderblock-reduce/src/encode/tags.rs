//! Parses encoded blocks and references in a text. A block is `⟨=name arguments⟩ body ⟨=⟩` and may contain others. A
//! reference has no body.
//!
//! Blocks are decoded from the inside out: the body that a decoder receives contains no blocks. A reference names
//! lines before it at the same depth.

use super::back_reference::{self, LineIndex};
use crate::result::mark::OPEN;
use crate::result::sink::TextSink;

/// End tag of a block.
pub(in crate::encode) const CLOSE: &str = "⟨=⟩";
/// Maximum depth of nested blocks.
const MAX_DEPTH: usize = 12;
/// Maximum bytes of a tag. This crate never writes a longer tag.
const MAX_TAG: usize = 64 << 10;

/// A function that decodes one block.
pub(in crate::encode) type CodeDecoder = dyn Fn(EncodedBlock<'_>, &mut TextSink<'_>) -> Option<()>;

/// Decodes a text. Returns `None` if a block is invalid, or if the result exceeds the limit of `out`.
pub(in crate::encode) fn decode<'e>(
    text: &str,
    decode: &CodeDecoder,
    mut out: TextSink<'e>,
) -> Option<TextSink<'e>> {
    let finder = memchr::memmem::Finder::new(OPEN.as_bytes());
    let mut open: Vec<(&str, TextSink<'e>, LineIndex)> = Vec::new();
    let mut index = LineIndex::default();
    // The text up to `at` is parsed, and the text up to `from` is in `out`. A body without inner blocks is not
    // copied.
    let (mut at, mut from) = (0, 0);
    while let Some(found) = finder.find(text.as_bytes().get(at..)?) {
        let start = at + found;
        at = start + OPEN.len();
        let inner = text.get(at..)?;
        if inner.starts_with(OPEN) {
            at += OPEN.len();
            continue;
        }
        let Some(tag) = inner.strip_prefix('=') else { continue };
        let end = tag
            .char_indices()
            .take_while(|(at, _)| *at < MAX_TAG)
            .find(|(_, c)| matches!(c, '⟩' | '⟨' | '\n'))?
            .0;
        let (tag, after) = (tag.get(..end)?, tag.get(end..)?.strip_prefix('⟩')?);
        let before = text.get(from..start)?;
        (at, from) = (text.len() - after.len(), text.len() - after.len());
        if tag.is_empty() {
            let (tag, outer, outer_index) = open.pop()?;
            let mut inner = std::mem::replace(&mut out, outer);
            index = outer_index;
            out.charge(&inner);
            if inner.len() == 0 {
                decode(EncodedBlock::of(tag, before), &mut out)?;
            } else {
                inner.push(before)?;
                decode(EncodedBlock::of(tag, inner.written()), &mut out)?;
            }
        } else if let Some((here, there)) = back_reference::parse_tag(tag) {
            out.push(before)?;
            back_reference::decode(here, there, &mut out, &mut index)?;
        } else {
            if open.len() >= MAX_DEPTH {
                return None;
            }
            out.push(before)?;
            let inner = out.inner();
            open.push((tag, std::mem::replace(&mut out, inner), std::mem::take(&mut index)));
        }
    }
    if !open.is_empty() {
        return None;
    }
    out.push(text.get(from..)?)?;
    Some(out)
}

/// A block whose body is already decoded.
#[derive(Clone, Copy, Debug)]
pub(in crate::encode) struct EncodedBlock<'t> {
    pub(in crate::encode) name: &'t str,
    pub(in crate::encode) args: &'t str,
    pub(in crate::encode) body: &'t str,
}

impl<'t> EncodedBlock<'t> {
    fn of(tag: &'t str, body: &'t str) -> Self {
        let (name, args) = tag.split_once(' ').unwrap_or((tag, ""));
        Self { name, args, body }
    }
}

/// Returns the lines of a body that consists of lines. A newline comes before the first line and after each line. The
/// end tag is where the content of the last line would end, so the newline after the tag belongs to the text.
pub(in crate::encode) fn lines_of(body: &str) -> Option<std::str::Split<'_, char>> {
    Some(body.strip_prefix('\n')?.strip_suffix('\n')?.split('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
        (code.name == "up").then(|| code.body.to_uppercase() + code.args).and_then(|output| out.push(&output))
    }

    #[test]
    fn codes_are_undone_from_the_inside_out() {
        for (text, expected) in [
            ("plain", Some("plain")),
            ("a⟨=up !⟩b⟨=up⟩c⟨=⟩d⟨=⟩e", Some("aBCD!e")),
            ("⟨⟨=up⟩ ⟨×3⟩ ⟨… lines 1–2: 2 lines⟩", Some("⟨⟨=up⟩ ⟨×3⟩ ⟨… lines 1–2: 2 lines⟩")),
            ("⟨⟨⟨=up⟩b⟨=⟩⟨⟨", Some("⟨⟨B⟨⟨")),
            ("⟨=up⟩b", None),
            ("b⟨=⟩", None),
            ("⟨=down⟩b⟨=⟩", None),
            ("⟨=up", None),
            ("⟨=up⟨=⟩⟩", None),
        ] {
            let output = decode(text, &shout, TextSink::new(99)).and_then(TextSink::finish);
            assert_eq!(output.as_deref(), expected, "{text}");
        }
        assert!(decode(&"⟨=up⟩".repeat(100_000), &shout, TextSink::new(99)).is_none());
    }
}
