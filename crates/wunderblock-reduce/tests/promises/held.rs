//! Properties of any reduction, checked from outside the crate.
//!
//! The tests beside this file and the fuzzer (`fuzz/`) include this file by its path. The properties are therefore
//! stated only once, and the crate has no public item that exists only for tests.

use wunderblock_reduce::{GapUnit, Level, Options, Reduced, gaps, invert, reduce, unpack};
use wunderblock_text::encoding::decode_other;

/// Handle in the marks.
pub(crate) const HANDLE: &str = "wb:3f9c1a7be2d04c58";

/// Minimum budget that every reduction must meet, in tokens. A mark alone may cost this many tokens.
const LEAST_BUDGET: u64 = 24;

/// Reduces a text, and checks every property that must hold for it.
///
/// # Errors
/// Returns the property that does not hold.
pub(crate) fn check(bytes: &[u8], options: &Options<'_>) -> Result<Reduced, String> {
    let short = reduce(bytes, options);
    let holds = |promise: &str, holds: bool| {
        if holds { Ok(()) } else { Err(format!("{promise}: {:?}\n{}", short.gaps, short.text)) }
    };
    let decoded = decode_other(bytes);
    let is_text = decoded.is_none() && std::str::from_utf8(bytes).is_ok();
    let source = decoded.map_or_else(|| String::from_utf8_lossy(bytes), Into::into);
    holds("tokens are those of the text", short.tokens_after == (options.count)(&short.text))?;
    holds("nothing grows", short.tokens_after <= short.tokens_before || !is_text || source.contains('⟨'))?;
    holds("what has gaps is not lossless", short.lossless == short.gaps.is_empty())?;
    if short.untouched.is_some() {
        let is_source = short.text.ends_with(&*source) || short.text.ends_with(&source.replace('⟨', "⟨⟨"));
        holds("what is untouched is the source", is_source)?;
    }
    if let (Level::Budget(tokens), None, true) = (short.level, short.untouched, is_text) {
        holds("a budget holds", short.tokens_after <= tokens.max(LEAST_BUDGET))?;
    }
    for gap in &short.gaps {
        holds("gaps lie in the source", gap.span.start <= gap.span.end && gap.span.end <= bytes.len())?;
        holds("gaps count what they say", gap.first >= 1 && gap.first <= gap.last)?;
        let in_bytes = gap.measure == GapUnit::Bytes && !gap.span.is_empty();
        let place = (gap.span.start as u64 + 1, gap.span.end as u64);
        holds("a place in bytes is one of the source", !in_bytes || place == (gap.first, gap.last))?;
    }
    holds("nothing is lost without a mark", is_whole(bytes, &short)?)?;
    let shown = unpack(&short.text).unwrap_or_default();
    let marks = gaps(&shown).filter(|found| found.handle == options.handle).count();
    holds("a mark names the place of its gap", {
        let places: Vec<String> = short.gaps.iter().map(wunderblock_reduce::Gap::place).collect();
        gaps(&shown).all(|found| places.iter().any(|place| place == found.place))
    })?;
    holds("each gap has its mark", short.untouched.is_some() || marks >= short.gaps.len())?;
    let known = |text: &str| text == short.text;
    let again = reduce(short.text.as_bytes(), &Options { known: &known, ..*options });
    holds("twice is once", matches!(options.level, Level::Budget(_)) || again.text == short.text)?;
    Ok(short)
}

/// Returns whether the source consists of the short text and the contents of its gaps.
fn is_whole(bytes: &[u8], short: &Reduced) -> Result<bool, String> {
    if short.lossless {
        let is_source = |text: &str| text.as_bytes() == bytes;
        return Ok(is_source(&short.text) || invert(&short.text).as_deref().is_some_and(is_source));
    }
    // A page is rewritten: its gaps cover the whole page, and its text follows them. Content that is set aside in the
    // whole text (controls, bytes that are not text) is also a gap over the whole text.
    let end = short.gaps.iter().try_fold(0, |at, gap| (gap.span.start == at).then_some(gap.span.end));
    if end == Some(bytes.len()) || short.gaps.iter().any(|gap| gap.span == (0..bytes.len())) {
        return Ok(true);
    }
    let source = std::str::from_utf8(bytes).map_err(|_| "bytes that are not text are lost".to_owned())?;
    let mut kept = String::new();
    let mut at = 0;
    for gap in &short.gaps {
        let before = source.get(at..gap.span.start).ok_or_else(|| format!("{gap:?} is not after {at}"))?;
        kept.push_str(before);
        at = gap.span.end;
    }
    kept.push_str(source.get(at..).ok_or("a gap ends inside a character")?);
    let shown = unpack(&short.text).ok_or_else(|| format!("an encoded block is invalid\n{}", short.text))?;
    Ok(bare(&without_notes(&without_marks(&shown))) == bare(&without_notes(&kept)))
}

/// Returns the text without the marks of its gaps.
fn without_marks(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for found in gaps(text) {
        out.push_str(&text[at..found.span.start]);
        at = found.span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Returns the text without notes, which are facts about what is shown and not part of the source.
fn without_notes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["⟨×", "⟨and "].iter().filter_map(|note| rest.find(note)).min() {
        out.push_str(&rest[..at]);
        let end = rest[at..].find('⟩').map_or(rest.len(), |end| at + end + '⟩'.len_utf8());
        rest = &rest[end..];
    }
    out + rest
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '⟨').collect()
}
