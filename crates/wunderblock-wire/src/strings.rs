//! String values of a JSON document, for counts that must not depend on our own types.

use crate::outcome::WireError;
use serde::de::IgnoredAny;
use std::ops::Range;

/// Returns every string value in the order of the document, except for media data. Names of fields are not values.
///
/// The following are media data: the `data` of an Anthropic `base64` source, the `data:` URL of an OpenAI
/// `image_url`, the `data` of an `input_audio`, the `file_data` of a `file` or an `input_file`, the `data` of
/// Gemini's `inlineData`, and the base64 body of a neutral medium. An object inside a tool's input, answer or schema
/// that only looks like a medium is text, and is returned.
///
/// Works at any nesting depth, in linear time. Strings are created one at a time.
///
/// # Errors
/// Returns an error if the bytes are not JSON.
pub fn string_values(bytes: &[u8]) -> Result<impl Iterator<Item = String>, WireError> {
    let text = std::str::from_utf8(bytes).map_err(|error| WireError::Json { reason: error.to_string() })?;
    // The scan relies on valid JSON.
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| WireError::Json { reason: error.to_string() })?;
    let mut scan = StringScan { text, frames: Vec::new(), found: Vec::new() };
    scan.run();
    let found = scan.found;
    Ok(found.into_iter().flatten().filter_map(move |range| text.get(range)).map(unescape))
}

/// Fields whose objects have a shape that a tool defines.
const FOREIGN: [&str; 6] =
    ["input_schema", "parameters", "parametersJsonSchema", "args", "response", "input"];

/// Returns the text of a string that is given with its quotes. A lone surrogate becomes U+FFFD.
fn unescape(quoted: &str) -> String {
    let raw = serde_json::from_str::<&serde_json::value::RawValue>(quoted);
    raw.ok().and_then(crate::json::text).unwrap_or_default()
}

struct StringScan<'a> {
    text: &'a str,
    frames: Vec<Frame<'a>>,
    found: Vec<Option<Range<usize>>>,
}

/// An open object or array.
#[derive(Default)]
struct Frame<'a> {
    is_object: bool,
    /// Name of the field that contains this value, in the nearest enclosing object.
    name: &'a str,
    /// Name of the field whose value comes next. Escapes are not decoded, because no relevant name has any.
    key: &'a str,
    awaits_key: bool,
    /// Whether the value is inside a tool's input, answer or schema.
    foreign: bool,
    kind: &'a str,
    form: &'a str,
    /// For a string that may be media data, its index in the result.
    data: Option<usize>,
}

impl<'a> StringScan<'a> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = end_of_string(bytes, at);
                    self.string(at..end);
                    at = end;
                    continue;
                }
                b'{' | b'[' => self.open(*byte == b'{'),
                b'}' | b']' => self.close(),
                b',' => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.awaits_key = frame.is_object;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn open(&mut self, is_object: bool) {
        let frame = match self.frames.last() {
            Some(around) => {
                let name = if around.is_object { around.key } else { around.name };
                // The `input` of OpenAI Responses is a list whose items do not belong to a tool.
                let is_field = is_object && around.is_object;
                let foreign = around.foreign || (is_field && FOREIGN.contains(&name));
                Frame { is_object, name, foreign, awaits_key: is_object, ..Frame::default() }
            }
            None => Frame { is_object, awaits_key: is_object, ..Frame::default() },
        };
        self.frames.push(frame);
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let is_media = match frame.name {
            "source" => frame.kind == "base64",
            "image_url" | "input_audio" | "file" | "inlineData" => true,
            _ => frame.kind == "media" && frame.form == "base64",
        };
        // Whether a string is media data is known only when its object ends: `type` may come after the data.
        if let Some(data) = frame.data.filter(|_| is_media && !frame.foreign)
            && let Some(found) = self.found.get_mut(data)
        {
            *found = None;
        }
    }

    fn string(&mut self, range: Range<usize>) {
        let inner = self.text.get(range.start + 1..range.end.saturating_sub(1)).unwrap_or_default();
        let next = self.found.len();
        let Some(frame) = self.frames.last_mut() else {
            self.found.push(Some(range));
            return;
        };
        if frame.is_object && frame.awaits_key {
            frame.key = inner;
            frame.awaits_key = false;
            return;
        }
        let mut kept = Some(range);
        if frame.is_object {
            match (frame.name, frame.key) {
                (_, "type") => frame.kind = inner,
                (_, "form") => frame.form = inner,
                ("source" | "input_audio" | "inlineData", "data") | ("file", "file_data") => {
                    frame.data = Some(next)
                }
                ("image_url", "url") if inner.starts_with("data:") => frame.data = Some(next),
                (_, "body") => frame.data = Some(next),
                (_, "image_url" | "file_data") if inner.starts_with("data:") && !frame.foreign => kept = None,
                _ => {}
            }
        }
        self.found.push(kept);
    }
}

/// Returns the position after the closing quote of the string that opens at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
