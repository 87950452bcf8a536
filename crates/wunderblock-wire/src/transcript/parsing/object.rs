//! Shallow reading of JSON: an object is a list of fields in order, and each value stays text.
//!
//! Values are not parsed into a tree. Numbers beyond 2^53, key order and duplicate keys survive, an unused field
//! costs one scan, and a line of 10 MB is not copied to read its type.

use crate::json::ObjectWriter;
pub(crate) use crate::json::{list as array, quote as quoted};
use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use wunderblock_core::message::Extra;

/// Maximum nesting depth of JSON. Deeper records count as broken. `serde_json` has the same limit, so callers can
/// parse every value later.
pub(crate) const MAX_DEPTH: usize = 127;

/// The fields of a JSON object, in order. If a key occurs twice, the last field counts, as in JavaScript.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Reads the text of one JSON object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut fields = Vec::with_capacity(16);
        let mut json = serde_json::Deserializer::from_str(text);
        FieldsVisitor { into: &mut fields, cut: &mut None }.deserialize(&mut json)?;
        json.end()?;
        Ok(Self { fields })
    }

    /// Reads all complete fields before the text breaks off. Also returns the key whose value is incomplete.
    pub(crate) fn parse_head(text: &'a str) -> (Self, Option<Cow<'a, str>>) {
        let mut fields = Vec::new();
        let mut cut = None;
        let mut json = serde_json::Deserializer::from_str(text);
        let _broken_off = FieldsVisitor { into: &mut fields, cut: &mut cut }.deserialize(&mut json);
        (Self { fields }, cut)
    }

    /// Returns a value as an object, if it is one.
    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        if !value.get().starts_with('{') {
            return None;
        }
        Self::parse(value.get()).ok()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Returns the value of a field that exists and is not `null`.
    pub(crate) fn some(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(string)
    }

    /// Returns a non-empty text as an owned value.
    pub(crate) fn word(&self, key: &str) -> Option<Box<str>> {
        self.text(key).filter(|text| !text.is_empty()).map(|text| text.into_owned().into_boxed_str())
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.get() == "true")
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|value| value.get().parse().ok())
    }

    pub(crate) fn object(&self, key: &str) -> Option<Self> {
        self.get(key).and_then(Self::of)
    }

    pub(crate) fn array(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        self.get(key).and_then(array)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.fields.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// Returns the fields that are not in `known` as the text of an object. `None` if all are.
    pub(crate) fn extra(&self, known: &[&str]) -> Extra {
        let unknown = self.iter().filter(|(key, _)| !known.contains(key));
        written(unknown.map(|(key, value)| (key, value.get())))
    }
}

/// Returns fields as the text of an object. `None` without any field.
pub(crate) fn written<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> Extra {
    let mut fields = fields.peekable();
    fields.peek()?;
    Some(ObjectWriter::default().unknown(fields).finish().into_boxed_str())
}

/// Returns the text of a string value. Half a surrogate pair, which JavaScript leaves at the end of a truncated
/// string, becomes U+FFFD. The raw record keeps the original bytes.
pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    if let Ok(text) = serde_json::from_str::<String>(value.get()) {
        return Some(Cow::Owned(text));
    }
    let bytes = serde_json::from_str::<Bytes>(value.get()).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes.0).into_owned()))
}

/// Returns whether a text, read as JSON, nests deeper than [`MAX_DEPTH`].
pub(crate) fn too_deep(text: &str) -> bool {
    let opens = |block: &[u8]| block.iter().map(|byte| u8::from(matches!(byte, b'{' | b'['))).sum::<u8>();
    // A block has at most 255 bytes, so the sum fits into a byte and the loop is vectorised.
    let total: usize = text.as_bytes().chunks(255).map(|block| usize::from(opens(block))).sum();
    // A low number of brackets rules out deep nesting, so most texts do not need the slower count.
    total > MAX_DEPTH && nests_deeper(text.as_bytes())
}

fn nests_deeper(bytes: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        if in_string {
            if escaped {
                escaped = false;
            } else if *byte == b'\\' {
                escaped = true;
            } else if *byte == b'"' {
                in_string = false;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// Returns the byte offset of a part in its text, or 0 if `part` is not a slice of `whole`.
pub(crate) fn position(part: &str, whole: &str) -> usize {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize).filter(|at| *at <= whole.len()).unwrap_or(0)
}

/// Collects the fields of an object, and records the key whose value is being read.
struct FieldsVisitor<'v, 'a> {
    into: &'v mut Vec<(Cow<'a, str>, &'a RawValue)>,
    cut: &'v mut Option<Cow<'a, str>>,
}

impl<'a> DeserializeSeed<'a> for FieldsVisitor<'_, 'a> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for FieldsVisitor<'_, 'a> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(FieldName(key)) = map.next_key()? {
            *self.cut = Some(key.clone());
            let value = map.next_value()?;
            *self.cut = None;
            self.into.push((key, value));
        }
        Ok(())
    }
}

/// A key, borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// A string as bytes. serde_json also reads a string that is not valid UTF-8 this way.
#[derive(Deserialize)]
#[serde(transparent)]
struct Bytes<'a>(#[serde(borrow)] Cow<'a, [u8]>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_does_not_lose_the_text() {
        let value: &RawValue = serde_json::from_str(r#""cut \ud83d""#).unwrap();
        assert!(string(value).unwrap().starts_with("cut \u{fffd}"));
    }

    #[test]
    fn numbers_and_unknown_fields_stay_as_they_were() {
        let object = Object::parse(r#"{"a": 90071992547409931234, "b" : [1.10], "c":"x"}"#).unwrap();
        assert_eq!(object.extra(&["c"]).unwrap().as_ref(), r#"{"a":90071992547409931234,"b":[1.10]}"#);
    }

    #[test]
    fn depth_is_counted_outside_strings_only() {
        let quoted = format!("[\"{}\"]", "[".repeat(10_000));
        assert!(!too_deep(&quoted));
        assert!(too_deep(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))));
        assert!(!too_deep(&"[]".repeat(10_000)));
    }

    #[test]
    fn a_cut_object_still_tells_its_keys() {
        let (head, cut) = Object::parse_head(r#"{"type":"x","payload":{"a":"bro"#);
        assert_eq!(head.text("type").as_deref(), Some("x"));
        assert_eq!(cut.as_deref(), Some("payload"));
    }
}
