//! Stubs: lines that replace large bodies in a request.
//!
//! A stub is one line that says what the body was, how large it was, and how to get it: our handle, and the minimum
//! needed to repeat the call. A stub depends on the recorded message alone, so an entry always has the same stub.

use crate::id::Handle;
use crate::ports::Bodies;
use crate::record::message::{Body, Part};
use crate::units::{Bytes, Seq};

/// Minimum size of tool arguments and results that become stubs. A shorter body costs no more than its stub.
pub const TOOL_BODY_MIN: Bytes = Bytes(512);
/// Minimum size of spoken texts that become stubs.
pub const TEXT_BODY_MIN: Bytes = Bytes(4_096);
/// Maximum length of a gist in a stub, in bytes.
pub const GIST_MAX: usize = 200;
/// Replacement for erased content.
pub const ERASED: &str = "⟨erased⟩";
/// Replacement for the erased arguments of a call, which must be a JSON object.
pub const ERASED_JSON: &str = r#"{"erased":true}"#;

/// Form of a part in a stubbed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stubbed {
    /// The part is small and stays as it is.
    Kept,
    /// The part is not shown. Thinking is useful only while its turn continues.
    Gone,
    /// The given part is shown instead.
    Part(Part),
}

impl Stubbed {
    /// Returns what is shown of a part in this form.
    #[must_use]
    pub fn shown<'p>(&'p self, part: &'p Part) -> Option<&'p Part> {
        match self {
            Self::Kept => Some(part),
            Self::Gone => None,
            Self::Part(short) => Some(short),
        }
    }
}

/// Returns the stub of a part. `gist` is the gist of the call, if `part` is a tool result and the call is known.
#[must_use]
pub fn part(part: &Part, gist: Option<&str>) -> Stubbed {
    match part {
        Part::Thinking { .. } => Stubbed::Gone,
        Part::Text { text, extra } if text.bytes() >= TEXT_BODY_MIN => {
            Stubbed::Part(Part::Text { text: line("text", text, None).into(), extra: extra.clone() })
        }
        Part::ToolCall { call, name, input, gist, extra } if input.bytes() >= TOOL_BODY_MIN => {
            let line = line("arguments", input, gist.as_deref());
            Stubbed::Part(Part::ToolCall {
                call: call.clone(),
                name: name.clone(),
                input: format!("{{\"left_out\":{}}}", quoted(&line)).into(),
                gist: gist.clone(),
                extra: extra.clone(),
            })
        }
        Part::ToolResult { call, content, failed, extra } if content.iter().any(is_large) => {
            let short = content.iter().map(|inner| shorten(inner, gist)).collect();
            Stubbed::Part(Part::ToolResult {
                call: call.clone(),
                content: short,
                failed: *failed,
                extra: extra.clone(),
            })
        }
        Part::Media { mime, body, .. } => Stubbed::Part(Part::text(line(mime, body, None))),
        Part::Opaque { raw, .. } if raw.bytes() >= TOOL_BODY_MIN => Stubbed::Gone,
        _ => Stubbed::Kept,
    }
}

fn is_large(content: &Part) -> bool {
    match content {
        Part::Media { .. } => true,
        other => other.bodies().iter().any(|body| body.bytes() >= TOOL_BODY_MIN),
    }
}

fn shorten(content: &Part, gist: Option<&str>) -> Part {
    match content {
        Part::Text { text, .. } if text.bytes() >= TOOL_BODY_MIN => Part::text(line("output", text, gist)),
        Part::Media { mime, body, .. } => Part::text(line(mime, body, gist)),
        Part::Opaque { raw, .. } if raw.bytes() >= TOOL_BODY_MIN => Part::text(line("block", raw, gist)),
        other => other.clone(),
    }
}

/// Returns a part with the head and tail of each text longer than `keep` bytes, and the mark that a rendering version
/// puts between them. Arguments of a call become an object with their head and tail, because a cut JSON object is
/// not JSON. Bodies that have no handle stay. Returns `None` if nothing is shorter.
#[must_use]
pub fn clip(piece: &Part, keep: Bytes, bodies: &dyn Bodies, version: u32) -> Option<Part> {
    let (body, extra) = match piece {
        Part::Text { text, extra } if text.bytes() > keep.max(TOOL_BODY_MIN) => (text, extra),
        Part::ToolResult { call, content, failed, extra } => {
            let short: Vec<Option<Part>> =
                content.iter().map(|inner| clip(inner, keep, bodies, version)).collect();
            short.iter().any(Option::is_some).then_some(())?;
            let content = short.into_iter().zip(content).map(|(short, inner)| short.unwrap_or(inner.clone()));
            let (call, content) = (call.clone(), content.collect());
            return Some(Part::ToolResult { call, content, failed: *failed, extra: extra.clone() });
        }
        Part::ToolCall { call, name, input, gist, extra } if input.bytes() > keep.max(TOOL_BODY_MIN) => {
            let (line, text) = (line("arguments", input, gist.as_deref()), bodies.of(input)?);
            let half = usize::try_from(keep.0 / 2).unwrap_or(usize::MAX);
            let [line, head, tail] = [&line, head(text, half), tail(text, half)].map(quoted);
            let input = format!("{{\"left_out\":{line},\"begins\":{head},\"ends\":{tail}}}").into();
            let (call, name, gist) = (call.clone(), name.clone(), gist.clone());
            return Some(Part::ToolCall { call, name, input, gist, extra: extra.clone() });
        }
        _ => return None,
    };
    let half = usize::try_from(keep.0 / 2).unwrap_or(usize::MAX);
    let whole = match (version, body.handle()) {
        (..=3, handle) => WholeText::Old(handle),
        (_, Some(handle)) => WholeText::Body(handle),
        (_, None) => WholeText::Nowhere,
    };
    let text = ends(bodies.of(body)?, half, half, whole);
    Some(Part::Text { text: text.into(), extra: extra.clone() })
}

/// Place at which a text that was cut can be read whole.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WholeText {
    /// Under the handle of the text.
    Body(Handle),
    /// At a position of a session.
    Position(Handle, Seq),
    /// No place: the text cannot be addressed.
    Nowhere,
    /// Handle only, as in the marks before version 4 of rendering.
    Old(Option<Handle>),
}

/// Returns the head and tail of a text, each up to its given maximum length in bytes, with a mark between them that
/// says where the rest can be read: `⟨… wb:3f9c1a7b#B600-2006: 1,406 bytes⟩`.
pub(crate) fn ends(text: &str, front: usize, back: usize, whole: WholeText) -> String {
    let (head, tail) = (head(text, front), tail(text, back));
    let mark = mark(head.len(), text.len().saturating_sub(tail.len()).max(head.len()), whole);
    format!("{head}\n{mark}\n{tail}")
}

/// Returns the lines around a stretch of a text, at most about `keep` bytes, with marks in place of what precedes and
/// follows.
pub(crate) fn around(text: &str, from: Bytes, to: Bytes, keep: Bytes, whole: WholeText) -> String {
    let place = |at: u64| text.floor_char_boundary(usize::try_from(at).unwrap_or(usize::MAX));
    let (from, to) = (place(from.0), place(to.0.min(from.0.saturating_add(keep.0))));
    let to = to.max(from);
    let beside = keep.0.saturating_sub((to - from) as u64) / 2;
    let (first, last) = (place((from as u64).saturating_sub(beside)), place(to as u64 + beside));
    let lines_from = || text.get(first..from).and_then(|before| before.find('\n')).map(|at| first + at + 1);
    let lines_to = || text.get(to..last).and_then(|after| after.rfind('\n')).map(|at| to + at + 1);
    let first = if first == 0 { 0 } else { lines_from().unwrap_or(first) };
    let last = if last == text.len() { last } else { lines_to().unwrap_or(last) };
    let mut shown = text.get(first..last).unwrap_or_default().to_owned();
    if first > 0 {
        shown.insert_str(0, &format!("{}\n", mark(0, first, whole)));
    }
    if last < text.len() {
        let end = if shown.ends_with('\n') { "" } else { "\n" };
        shown.push_str(&format!("{end}{}", mark(last, text.len(), whole)));
    }
    shown
}

/// Returns the mark in place of a stretch of a text.
fn mark(from: usize, to: usize, whole: WholeText) -> String {
    let gone = grouped((to - from) as u64);
    match whole {
        WholeText::Body(handle) => format!("⟨… {}#B{from}-{to}: {gone} bytes⟩", handle.short()),
        WholeText::Position(stream, at) => format!("⟨… {}#{at}: {gone} bytes⟩", stream.short()),
        WholeText::Nowhere => format!("⟨… {gone} bytes⟩"),
        WholeText::Old(Some(handle)) => format!("⟨{gone} bytes left out · {handle}⟩"),
        WholeText::Old(None) => format!("⟨{gone} bytes left out⟩"),
    }
}

/// Returns a part with its bodies inline. An erased body is replaced by a mark that says so. Thinking is dropped if
/// its text was erased, since it is useless without its exact text.
#[must_use]
pub fn resolve(piece: &Part, bodies: &dyn Bodies) -> Option<Part> {
    if let Part::ToolResult { call, content, failed, extra } = piece {
        let content = content.iter().filter_map(|inner| resolve(inner, bodies)).collect();
        return Some(Part::ToolResult { call: call.clone(), content, failed: *failed, extra: extra.clone() });
    }
    let mut shown = piece.clone();
    let mut erased = false;
    for body in shown.bodies_mut() {
        if let Body::Blob { blob, .. } = body {
            match bodies.text(*blob) {
                Some(text) => *body = Body::Inline(text.to_owned()),
                None => erased = true,
            }
        }
    }
    match shown {
        shown if !erased => Some(shown),
        Part::Thinking { .. } => None,
        Part::ToolCall { call, name, gist, extra, .. } => {
            Some(Part::ToolCall { call, name, input: ERASED_JSON.into(), gist, extra })
        }
        _ => Some(Part::text(ERASED)),
    }
}

/// Returns the stub line of a body.
fn line(what: &str, body: &Body, gist: Option<&str>) -> String {
    let mut line = format!("⟨{}", if what.is_empty() { "medium" } else { what });
    if let Some(gist) = gist.filter(|gist| !gist.is_empty()) {
        line.push_str(" of `");
        line.extend(head(gist, GIST_MAX).chars().map(|c| if c.is_control() { ' ' } else { c }));
        line.push('`');
    }
    line.push_str(&format!(": {} bytes", grouped(body.bytes().0)));
    if body.lines() > 1 {
        line.push_str(&format!(", {} lines", grouped(body.lines())));
    }
    match body.handle() {
        Some(handle) => line.push_str(&format!(" · {handle}⟩")),
        None => line.push('⟩'),
    }
    line
}

/// Returns the longest prefix of at most `max` bytes that ends on a character boundary.
#[must_use]
pub fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

/// Returns the longest suffix of at most `max` bytes that begins on a character boundary.
#[must_use]
pub fn tail(text: &str, max: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(max))..).unwrap_or_default()
}

/// Returns a number with its digits in groups of three, for example: `12,431`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a text as a JSON string, quotes included.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Handle;

    #[test]
    fn a_stub_says_what_it_was_how_large_and_how_to_get_it() {
        let body = Body::Blob { blob: Handle(0x3f9c), bytes: Bytes(12_431), lines: 310 };
        let result = Part::ToolResult {
            call: "c1".into(),
            content: vec![Part::text(body)],
            failed: false,
            extra: None,
        };
        let Stubbed::Part(Part::ToolResult { content, .. }) = part(&result, Some("cargo test")) else {
            panic!("a large result becomes a stub")
        };
        assert_eq!(
            content,
            [Part::text("⟨output of `cargo test`: 12,431 bytes, 310 lines · wb:0000000000003f9c⟩")]
        );
    }

    #[test]
    fn small_bodies_stay() {
        assert_eq!(part(&Part::text("short"), None), Stubbed::Kept);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_stubbed_call_is_still_a_json_object() {
        let call = Part::ToolCall {
            call: "c1".into(),
            name: "Write".into(),
            input: Body::Blob { blob: Handle(1), bytes: Bytes(9_000), lines: 1 },
            gist: Some("src/\"odd\".rs".into()),
            extra: None,
        };
        let Stubbed::Part(Part::ToolCall { input, .. }) = part(&call, None) else { panic!("a stub") };
        assert_eq!(
            input.inline(),
            Some(r#"{"left_out":"⟨arguments of `src/\"odd\".rs`: 9,000 bytes · wb:0000000000000001⟩"}"#)
        );
    }
}
