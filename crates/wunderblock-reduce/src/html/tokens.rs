//! Splits markup into tokens and tolerates malformed markup. One pass examines each byte once.

use crate::part::PartOfList;
use std::ops::Range;

/// A token of markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HtmlToken<'t> {
    Text(&'t str),
    /// A tag that opens an element: its name as written, and its attributes.
    Open {
        name: &'t str,
        attributes: &'t str,
        closed: bool,
    },
    Close(&'t str),
    /// A comment, a declaration, or a processing instruction.
    Aside,
    /// The content of an element whose content is not markup, for example: `script`, `style`.
    Raw,
}

/// The tokens of a text, each with its range.
pub(super) struct HtmlTokens<'t> {
    text: &'t str,
    at: usize,
    /// Element whose content is not markup, if the last token opened one.
    raw: Option<&'static str>,
    /// Elements whose end tags do not occur in the rest of the text, so that these tags are not searched for again.
    endless: Vec<&'static str>,
}

const RAW: [&str; 4] = ["script", "style", "textarea", "xmp"];

impl<'t> HtmlTokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, at: 0, raw: None, endless: Vec::new() }
    }

    /// Continues at a later position.
    pub(super) fn jump(&mut self, to: usize) {
        self.at = to.max(self.at);
        self.raw = None;
    }

    fn raw_content(&mut self, name: &'static str) -> Option<(Range<usize>, HtmlToken<'t>)> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut from = start;
        while !self.endless.contains(&name) {
            let rest = bytes.part(from..);
            let Some(found) = memchr::memmem::find(rest, b"</") else {
                self.endless.push(name);
                break;
            };
            let after = bytes.part(from + found + 2..);
            if after.get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes())) {
                self.at = from + found;
                return (self.at > start).then_some((start..self.at, HtmlToken::Raw));
            }
            from += found + 2;
        }
        // Without an end tag, the rest of the text is part of the script, so it is not read.
        if matches!(name, "script" | "style") && start < bytes.len() {
            self.at = bytes.len();
            return Some((start..self.at, HtmlToken::Raw));
        }
        None
    }

    fn tag(&mut self, start: usize) -> Option<HtmlToken<'t>> {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(start + 1..)?;
        let first = *rest.first()?;
        if rest.starts_with(b"!--") {
            let end = memchr::memmem::find(rest.get(3..)?, b"-->").map_or(bytes.len(), |end| start + 7 + end);
            self.at = end;
            return Some(HtmlToken::Aside);
        }
        if first == b'!' || first == b'?' {
            self.at = memchr::memchr(b'>', rest).map_or(bytes.len(), |end| start + 2 + end);
            return Some(HtmlToken::Aside);
        }
        let closes = first == b'/';
        let name_at = start + 1 + usize::from(closes);
        if !bytes.get(name_at).is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        let after = bytes.get(name_at..)?;
        let length = after
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/' | b'<'))
            .unwrap_or(after.len());
        let name = self.text.get(name_at..name_at + length)?;
        let end = tag_end(bytes, name_at + length);
        self.at = (end + 1).min(bytes.len());
        if closes {
            return Some(HtmlToken::Close(name));
        }
        let attributes = self.text.get(name_at + length..end)?;
        let closed = attributes.ends_with('/');
        self.raw = RAW.into_iter().find(|raw| !closed && name.eq_ignore_ascii_case(raw));
        Some(HtmlToken::Open { name, attributes, closed })
    }
}

/// Returns the position of the `>` that ends a tag. Quoted values may contain a `>`. A quote that is never closed
/// does not hide the rest of the text.
fn tag_end(bytes: &[u8], from: usize) -> usize {
    /// Maximum length of an attribute's value, in bytes. The limit is large, because images are embedded in
    /// attributes.
    const MAX_VALUE_BYTES: usize = 1 << 20;
    let mut at = from;
    let mut equals = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => return at,
            b'"' | b'\'' if equals => {
                let value = bytes.part(at + 1..bytes.len().min(at + 1 + MAX_VALUE_BYTES));
                match memchr::memchr(*byte, value) {
                    Some(end) => at += end + 2,
                    None => {
                        let rest = bytes.part(at..);
                        return memchr::memchr(b'>', rest).map_or(bytes.len(), |end| at + end);
                    }
                }
                equals = false;
                continue;
            }
            b'=' => equals = true,
            b' ' | b'\n' | b'\t' | b'\r' => {}
            _ => equals = false,
        }
        at += 1;
    }
    bytes.len()
}

impl<'t> Iterator for HtmlTokens<'t> {
    type Item = (Range<usize>, HtmlToken<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(name) = self.raw.take()
            && let Some(raw) = self.raw_content(name)
        {
            return Some(raw);
        }
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut from = start;
        loop {
            let rest = bytes.get(from..)?;
            let Some(found) = memchr::memchr(b'<', rest) else {
                self.at = bytes.len();
                let text = self.text.get(start..)?;
                return (!text.is_empty()).then_some((start..self.at, HtmlToken::Text(text)));
            };
            let open = from + found;
            let is_tag =
                bytes.get(open + 1).is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next));
            if !is_tag {
                from = open + 1;
                continue;
            }
            if open > start {
                self.at = open;
                return self.text.get(start..open).map(|text| (start..open, HtmlToken::Text(text)));
            }
            match self.tag(open) {
                Some(token) => return Some((open..self.at, token)),
                None => from = open + 1,
            }
        }
    }
}

/// Returns the value of an attribute, as written between its quotes.
pub(super) fn attribute_value<'t>(attributes: &'t str, wanted: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end =
            rest.find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/').unwrap_or(rest.len()).max(1);
        let (name, after) = rest.split_at_checked(end)?;
        let after = after.trim_start();
        let Some(after) = after.strip_prefix('=') else {
            if name.eq_ignore_ascii_case(wanted) {
                return Some("");
            }
            rest = after;
            continue;
        };
        let after = after.trim_start();
        let (value, after) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let inner = after.get(1..)?;
                inner.split_once(quote).unwrap_or((inner, ""))
            }
            _ => after.split_at(after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len())),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}
