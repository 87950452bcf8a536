//! JSON read shallowly: an object is its fields in order, and each value stays the text it was.
//!
//! Values are not parsed into a tree: numbers past 2^53, key order and duplicate keys survive, a field nobody asks for
//! costs one scan, and a 10 MB line is never copied to look at its type.

use crate::json::ObjectWriter;
pub(crate) use crate::json::{list as array, quote as quoted};
use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use wunderblock_core::message::Extra;

/// How deep JSON may nest before a record counts as broken: the depth at which `serde_json` stops too, so that whoever
/// parses the value later is spared the surprise.
pub(crate) const MAX_DEPTH: usize = 127;

/// The fields of a JSON object, in order. Of a key that comes twice, the last one counts, as JavaScript has it.
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

    /// Reads as many whole fields as the text has before it breaks off; also the key whose value is cut.
    pub(crate) fn parse_head(text: &'a str) -> (Self, Option<Cow<'a, str>>) {
        let mut fields = Vec::new();
        let mut cut = None;
        let mut json = serde_json::Deserializer::from_str(text);
        let _broken_off = FieldsVisitor { into: &mut fields, cut: &mut cut }.deserialize(&mut json);
        (Self { fields }, cut)
    }

    /// The object a value is, if it is one.
    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        if !value.get().starts_with('{') {
            return None;
        }
        Self::parse(value.get()).ok()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// The value of a field that is there and not `null`.
    pub(crate) fn some(&self, key: &str) -> Option<&'a RawValue> {
        self.get(key).filter(|value| value.get() != "null")
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(string)
    }

    /// A text that is not empty, kept.
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

    /// The fields that are not among `known`, as the text of an object; nothing if there are none.
    pub(crate) fn extra(&self, known: &[&str]) -> Extra {
        let unknown = self.iter().filter(|(key, _)| !known.contains(key));
        written(unknown.map(|(key, value)| (key, value.get())))
    }
}

/// Fields as the text of an object; nothing if there are none.
pub(crate) fn written<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> Extra {
    let mut fields = fields.peekable();
    fields.peek()?;
    Some(ObjectWriter::default().unknown(fields).finish().into_boxed_str())
}

/// The text of a value that is a string. Half a surrogate pair, which a string cut in JavaScript ends with, becomes
/// U+FFFD; the raw record keeps it.
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

/// Whether a text, taken as JSON, nests deeper than [`MAX_DEPTH`].
pub(crate) fn too_deep(text: &str) -> bool {
    let opens = |block: &[u8]| block.iter().map(|byte| u8::from(matches!(byte, b'{' | b'['))).sum::<u8>();
    // Blocks of at most 255 bytes: the sum fits a byte and the loop vectorises.
    let total: usize = text.as_bytes().chunks(255).map(|block| usize::from(opens(block))).sum();
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

/// Where a part of a text begins in it, in bytes. Both must be of the same allocation; `0` otherwise.
pub(crate) fn position(part: &str, whole: &str) -> usize {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize).filter(|at| *at <= whole.len()).unwrap_or(0)
}

/// Reads fields one by one; also which key's value is being read.
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

/// A key; borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// A string as bytes, which serde_json also gives where the string is not UTF-8.
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
