//! A JSON value that is opened only when it is read.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Fields of an object.
pub(super) type NodeFields<'a> = BTreeMap<String, ValueNode<'a>>;

/// Returns the text of a field.
pub(super) fn text(fields: &NodeFields<'_>, name: &str) -> Option<String> {
    fields.get(name).and_then(|node| node.text())
}

/// A value that has not been opened.
#[derive(Clone, Copy)]
pub(super) struct ValueNode<'a>(&'a RawValue);

/// Kind of a value, opened by one level.
pub(super) enum NodeKind<'a> {
    Object(BTreeMap<String, ValueNode<'a>>),
    List(Vec<ValueNode<'a>>),
    Text(String),
    /// A number, a boolean or `null`, as written.
    Word(&'a str),
    /// An object or string that cannot be read, for example because of a lone surrogate.
    Unreadable(String),
}

impl<'a> ValueNode<'a> {
    pub(super) fn document(bytes: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn kind(self) -> NodeKind<'a> {
        let json = self.0.get();
        match json.as_bytes().first() {
            Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
                Ok(fields) => {
                    NodeKind::Object(fields.into_iter().map(|(name, raw)| (name, ValueNode(raw))).collect())
                }
                Err(error) => NodeKind::Unreadable(error.to_string()),
            },
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
                Ok(items) => NodeKind::List(items.into_iter().map(ValueNode).collect()),
                Err(error) => NodeKind::Unreadable(error.to_string()),
            },
            Some(b'"') => match serde_json::from_str(json) {
                Ok(text) => NodeKind::Text(text),
                Err(error) => NodeKind::Unreadable(error.to_string()),
            },
            _ => NodeKind::Word(json),
        }
    }

    pub(super) fn text(self) -> Option<String> {
        match self.kind() {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(self) -> Option<Vec<ValueNode<'a>>> {
        match self.kind() {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn object(self) -> Option<BTreeMap<String, ValueNode<'a>>> {
        match self.kind() {
            NodeKind::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns whether the value is an object, without opening it.
    pub(super) fn is_object(self) -> bool {
        self.0.get().starts_with('{')
    }

    pub(super) fn is_null(self) -> bool {
        self.0.get() == "null"
    }

    /// Returns whether the value is a whole number of at least 1.
    pub(super) fn is_count(self) -> bool {
        self.0.get().parse::<u64>().is_ok_and(|number| number > 0)
    }

    /// Returns the text of a field.
    pub(super) fn text_of(self, name: &str) -> Option<String> {
        self.kind().text_of(name)
    }
}

impl NodeKind<'_> {
    /// Returns the text of a field, if the value is an object.
    pub(super) fn text_of(&self, name: &str) -> Option<String> {
        match self {
            Self::Object(fields) => fields.get(name)?.text(),
            _ => None,
        }
    }
}
