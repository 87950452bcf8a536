//! Reads objects field by field and writes them byte by byte, without interpreting unknown fields.
//!
//! Values are [`RawValue`]s: numbers, key order and spacing of unknown fields stay unchanged. Reading takes linear
//! time and constant stack at any depth, because only the known levels are opened.

use crate::outcome::WireError;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Fields of one object, in their original order.
#[derive(Default)]
pub(crate) struct RawFields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> RawFields<'a> {
    /// Opens an object. `None` if the value is not an object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::parse(raw.get()).ok()
    }

    /// Opens the text of an object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the value of a field. If several fields have the name, the last counts, as in most JSON parsers.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the text of a field, if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// Returns the fields of a nested object, if the field is an object.
    pub(crate) fn object(&self, name: &str) -> Option<RawFields<'a>> {
        self.get(name).and_then(Self::of)
    }

    /// Returns the number in a field, or zero if it is missing or not a number.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.get(name).and_then(|raw| raw.get().parse().ok()).unwrap_or_default()
    }

    /// Removes a field and returns its value.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let value = self.get(name)?;
        self.0.retain(|(key, _)| key != name);
        Some(value)
    }

    /// Removes a field if `read` accepts its value. Otherwise the field stays among the unknown fields.
    pub(crate) fn take_if<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'a RawValue) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.get(name)?)?;
        self.0.retain(|(key, _)| key != name);
        Some(value)
    }

    /// Removes a field if it is a string.
    pub(crate) fn take_text(&mut self, name: &str) -> Option<String> {
        self.take_if(name, text)
    }

    /// Removes a field if it is a non-empty string.
    pub(crate) fn take_word(&mut self, name: &str) -> Option<String> {
        self.take_if(name, |raw| text(raw).filter(|text| !text.is_empty()))
    }

    /// Removes a field if it is a non-empty list of objects.
    pub(crate) fn take_objects(&mut self, name: &str) -> Vec<&'a RawValue> {
        let objects =
            |raw| list(raw).filter(|list| !list.is_empty() && list.iter().all(|raw| is_object(raw)));
        self.take_if(name, objects).unwrap_or_default()
    }

    /// Removes all fields that `wanted` selects, and returns them.
    pub(crate) fn take_all(
        &mut self,
        wanted: impl Fn(&str, &RawValue) -> bool,
    ) -> Vec<(String, &'a RawValue)> {
        let (taken, kept) =
            std::mem::take(&mut self.0).into_iter().partition(|(name, value)| wanted(name, value));
        self.0 = kept;
        taken
    }

    /// Writes the remaining fields as an object.
    pub(crate) fn written(&self) -> String {
        let fields = self.0.iter().map(|(name, value)| (name.as_str(), value.get()));
        ObjectWriter::default().unknown(fields).finish()
    }

    /// Renames each field to `other(name)` if that name is in `known`. Returns whether any field was renamed.
    pub(crate) fn rename(&mut self, other: impl Fn(&str) -> String, known: &[&str]) -> bool {
        let mut any = false;
        for (name, _) in &mut self.0 {
            let new = other(name);
            if new != *name && known.contains(&new.as_str()) {
                *name = new;
                any = true;
            }
        }
        any
    }

    /// Returns the names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the number of fields.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the fields that were not removed.
    pub(crate) fn rest(self) -> Vec<(String, &'a RawValue)> {
        self.0
    }
}

impl<'de> serde::Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawFieldsVisitor;
        impl<'de> Visitor<'de> for RawFieldsVisitor {
            type Value = RawFields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(LossyText(key)) = map.next_key()? {
                    fields.push((key, map.next_value()?));
                }
                Ok(RawFields(fields))
            }
        }
        deserializer.deserialize_map(RawFieldsVisitor)
    }
}

/// A string that may contain escapes of lone surrogates such as `\ud800`. Lone surrogates have no UTF-8 form and
/// providers refuse them, so each becomes U+FFFD.
struct LossyText(String);

impl<'de> serde::Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = LossyText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LossyText, E> {
                Ok(LossyText(text.to_owned()))
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<LossyText, E> {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    return Ok(LossyText(text.to_owned()));
                }
                let mut text = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    text.push_str(chunk.valid());
                    // A surrogate consists of three bytes, the first of which is ED. The three bytes of a surrogate
                    // arrive as separate invalid chunks.
                    match chunk.invalid() {
                        [] | [0x80..=0xBF] => {}
                        [0xED] => text.push(char::REPLACEMENT_CHARACTER),
                        _ => return Err(E::custom("not UTF-8")),
                    }
                }
                Ok(LossyText(text))
            }
        }
        // When asked for bytes, serde_json passes lone surrogates on. Otherwise, serde_json rejects lone surrogates.
        deserializer.deserialize_bytes(TextVisitor).map_err(D::Error::custom)
    }
}

/// Counts the escapes of lone surrogates in JSON, in names and values.
pub(crate) fn lone_surrogates(json: &str) -> usize {
    let bytes = json.as_bytes();
    let (mut count, mut at, mut high) = (0, 0, None);
    while let Some(next) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()).map(|next| at + next) {
        let code = bytes.get(next + 1).filter(|kind| **kind == b'u');
        let digits = code.and_then(|_| json.get(next + 2..next + 6));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        at = next + if unit.is_some() { 6 } else { 2 };
        match unit {
            Some(0xD800..=0xDBFF) => {
                count += 1;
                high = Some(at);
            }
            // A low surrogate right after a high one completes it.
            Some(0xDC00..=0xDFFF) if high == Some(next) => {
                count -= 1;
                high = None;
            }
            Some(0xDC00..=0xDFFF) => count += 1,
            _ => {}
        }
    }
    count
}

/// Returns the text of a string value. `None` for any other kind of value.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    raw.get()
        .starts_with('"')
        .then(|| serde_json::from_str::<LossyText>(raw.get()).ok())?
        .map(|LossyText(text)| text)
}

/// Returns the elements of an array. `None` for any other kind of value.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok())?
}

/// Returns whether a value is an object.
pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Returns whether a value is `null`.
pub(crate) fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Returns a whole document as one raw value.
///
/// # Errors
/// Returns an error if the bytes are not UTF-8 or not JSON.
pub(crate) fn document(bytes: &[u8]) -> Result<&RawValue, WireError> {
    let text = std::str::from_utf8(bytes).map_err(|error| WireError::Json { reason: error.to_string() })?;
    raw(text)
}

/// Returns a text as one raw value.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub(crate) fn raw(text: &str) -> Result<&RawValue, WireError> {
    serde_json::from_str(text).map_err(|error| WireError::Json { reason: error.to_string() })
}

/// Returns a string as JSON.
pub(crate) fn quote(text: &str) -> String {
    // Every string has a JSON form, so the default is never used.
    serde_json::to_string(text).unwrap_or_default()
}

/// Joins values that are already JSON into an array.
pub(crate) fn array<S: AsRef<str>>(items: &[S]) -> String {
    let mut text = String::with_capacity(items.iter().map(|item| item.as_ref().len() + 1).sum::<usize>() + 2);
    text.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(item.as_ref());
    }
    text.push(']');
    text
}

/// An object that is being written. Its fields keep the order in which they are added.
#[derive(Clone, Default)]
pub(crate) struct ObjectWriter {
    text: String,
    names: Vec<String>,
}

impl ObjectWriter {
    /// Starts an object with its `type`.
    pub(crate) fn typed(kind: &str) -> Self {
        Self::default().text("type", kind)
    }

    /// Adds a value that is already JSON.
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        self.text.push(if self.names.is_empty() { '{' } else { ',' });
        self.text.push_str(&quote(name));
        self.text.push(':');
        self.text.push_str(value);
        self.names.push(name.to_owned());
        self
    }

    /// Adds a string.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, &quote(value))
    }

    /// Adds unknown fields after the known ones. An unknown field with the name of a known one is left out.
    pub(crate) fn unknown<'a>(mut self, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let known = self.names.len();
        for (name, value) in fields {
            if !self.names.iter().take(known).any(|own| own == name) {
                self = self.raw(name, value);
            }
        }
        self
    }

    /// Returns the number of bytes already written.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the JSON text of the object.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str(if self.names.is_empty() { "{}" } else { "}" });
        self.text
    }
}
