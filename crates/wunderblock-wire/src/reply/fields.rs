//! Objects that arrive in pieces.

use crate::json::{ObjectWriter, RawFields, quote};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// An object that grows. The fields are in the order in which they first arrived, and each holds the text of a JSON
/// value.
#[derive(Clone, Debug, Default)]
pub(super) struct GrowingObject {
    fields: Vec<(String, Value)>,
    places: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
enum Value {
    /// The text of a JSON value.
    Raw(String),
    /// A text that arrives in pieces, not yet quoted.
    Text(String),
    /// Values that arrive one by one.
    List(Vec<String>),
}

impl GrowingObject {
    /// Sets fields. A field that exists keeps its position. A `null` does not replace an existing value.
    pub(super) fn set_all<'a>(&mut self, fields: RawFields<'a>) {
        for (name, raw) in fields.rest() {
            self.set(&name, raw);
        }
    }

    /// Sets one field, by the rules of [`GrowingObject::set_all`].
    pub(super) fn set(&mut self, name: &str, raw: &RawValue) {
        if !(crate::json::is_null(raw) && self.places.contains_key(name)) {
            self.replace(name, raw.get().to_owned());
        }
    }

    /// Replaces a field or adds it.
    pub(super) fn replace(&mut self, name: &str, json: String) {
        *self.place(name) = Value::Raw(json);
    }

    /// Removes a field, if it exists.
    pub(super) fn remove(&mut self, name: &str) {
        if self.places.remove(name).is_some() {
            self.fields.retain(|(own, _)| own != name);
            self.places = self.fields.iter().enumerate().map(|(at, (own, _))| (own.clone(), at)).collect();
        }
    }

    /// Appends to a text. A value of another kind is replaced.
    pub(super) fn grow(&mut self, name: &str, more: &str) {
        let value = self.place(name);
        match value {
            Value::Text(text) => text.push_str(more),
            Value::Raw(raw) => {
                let begun = serde_json::from_str::<&RawValue>(raw).ok().and_then(crate::json::text);
                *value = Value::Text(begun.unwrap_or_default() + more);
            }
            Value::List(_) => *value = Value::Text(more.to_owned()),
        }
    }

    /// Appends to a list. A value of another kind is replaced.
    pub(super) fn add(&mut self, name: &str, json: &str) {
        let value = self.place(name);
        match value {
            Value::List(items) => items.push(json.to_owned()),
            Value::Raw(_) | Value::Text(_) => *value = Value::List(vec![json.to_owned()]),
        }
    }

    /// Returns the current text of a field, if it is a text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match &self.fields.get(*self.places.get(name)?)?.1 {
            Value::Text(text) => Some(text.clone()),
            Value::Raw(raw) => serde_json::from_str::<&RawValue>(raw).ok().and_then(crate::json::text),
            Value::List(_) => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn place(&mut self, name: &str) -> &mut Value {
        let next = self.fields.len();
        let at = *self.places.entry(name.to_owned()).or_insert(next);
        if at == next {
            self.fields.push((name.to_owned(), Value::Raw("null".to_owned())));
        }
        // The position was found or added above.
        #[allow(clippy::indexing_slicing)]
        &mut self.fields[at].1
    }

    /// Returns the object as JSON.
    pub(super) fn finish(self) -> String {
        let mut object = ObjectWriter::default();
        for (name, value) in self.fields {
            let json = match value {
                Value::Raw(raw) => raw,
                Value::Text(text) => quote(&text),
                Value::List(items) => crate::json::array(&items),
            };
            object = object.raw(&name, &json);
        }
        object.finish()
    }
}
