//! A JSON value that is opened when it is looked at.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A value and nothing of what is inside it yet.
#[derive(Clone, Copy)]
pub(super) struct Node<'a>(&'a RawValue);

/// What kind of value it is, opened one level.
pub(super) enum Kind<'a> {
    Object(BTreeMap<String, Node<'a>>),
    List(Vec<Node<'a>>),
    Text(String),
    /// A number, a truth value or `null`, as it is written.
    Word(&'a str),
    /// An object or string that cannot be read: a lone surrogate in it.
    Unreadable(String),
}

impl<'a> Node<'a> {
    pub(super) fn document(bytes: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn kind(self) -> Kind<'a> {
        let json = self.0.get();
        match json.as_bytes().first() {
            Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
                Ok(fields) => Kind::Object(fields.into_iter().map(|(name, raw)| (name, Node(raw))).collect()),
                Err(error) => Kind::Unreadable(error.to_string()),
            },
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
                Ok(items) => Kind::List(items.into_iter().map(Node).collect()),
                Err(error) => Kind::Unreadable(error.to_string()),
            },
            Some(b'"') => match serde_json::from_str(json) {
                Ok(text) => Kind::Text(text),
                Err(error) => Kind::Unreadable(error.to_string()),
            },
            _ => Kind::Word(json),
        }
    }

    pub(super) fn text(self) -> Option<String> {
        match self.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(self) -> Option<Vec<Node<'a>>> {
        match self.kind() {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn object(self) -> Option<BTreeMap<String, Node<'a>>> {
        match self.kind() {
            Kind::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Whether it is an object, without opening it.
    pub(super) fn is_object(self) -> bool {
        self.0.get().starts_with('{')
    }

    pub(super) fn is_null(self) -> bool {
        self.0.get() == "null"
    }

    /// A field's text.
    pub(super) fn text_of(self, name: &str) -> Option<String> {
        self.object()?.get(name)?.text()
    }
}
