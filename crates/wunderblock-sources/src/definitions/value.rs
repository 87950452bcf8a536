//! Fields of a definition as written, in YAML, JSON or TOML. Maps keep the order of their keys, because in some
//! products the last matching rule wins.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value of any of the three languages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Value {
    #[default]
    Null,
    Bool(bool),
    /// A number, as text.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Map(Fields),
}

/// Fields in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(pub(super) Vec<(String, Value)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the text of a field: a string, a number or a flag; `None` if it is missing, empty or of another type.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(Value::scalar).filter(|text| !text.trim().is_empty())
    }

    /// Returns a flag, also one that is written as a string.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Bool(flag) => Some(*flag),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Value {
    /// Returns a flag, also one that is written as `yes`, `on` or `1`.
    pub(super) fn switch(&self) -> Option<bool> {
        match self.scalar()?.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    /// Returns a string, a number or a flag as text.
    pub(super) fn scalar(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.clone()),
            Self::Bool(flag) => Some(flag.to_string()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the items of a list, or of a string with commas. Commas in parentheses belong to an item.
    pub(super) fn items(&self) -> Vec<String> {
        match self {
            Self::List(list) => list.iter().filter_map(Self::scalar).collect(),
            Self::Text(text) => split(text, |c| c == ','),
            _ => Vec::new(),
        }
    }

    /// Returns the items of a list, or of a string with commas or spaces, except those in parentheses.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Self::Text(text) => split(text, |c| c == ',' || c.is_whitespace()),
            other => other.items(),
        }
    }

    /// Returns the value on one line, to be shown.
    pub(super) fn shown(&self) -> String {
        let list = |items: Vec<String>| items.join(", ");
        match self {
            Self::Null => String::new(),
            Self::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Self::Bool(_) | Self::Number(_) => self.scalar().unwrap_or_default(),
            Self::List(values) => list(values.iter().map(Self::shown).collect()),
            Self::Map(fields) => {
                list(fields.0.iter().map(|(key, value)| format!("{key}: {}", value.shown())).collect())
            }
        }
    }
}

fn split(text: &str, is_end: impl Fn(char) -> bool) -> Vec<String> {
    let (mut items, mut depth, mut from) = (Vec::new(), 0usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 && is_end(c) => {
                items.extend(text.get(from..at));
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    items.extend(text.get(from..));
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Map(fields) => Ok(fields),
            _ => Err(serde::de::Error::custom("expected fields with names")),
        }
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry::<String, Value>()? {
            fields.push(field);
        }
        Ok(Value::Map(Fields(fields)))
    }
}
