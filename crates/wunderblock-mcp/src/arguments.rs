//! Arguments of a tool, checked against the tool's input schema.
//!
//! Only the part of JSON Schema that `tools.json` uses is known: strings, integers with limits, booleans and enums.

use serde_json::{Map, Value};
use wunderblock::nearest;

/// Arguments that satisfy a schema.
#[derive(Debug)]
pub(crate) struct CheckedArguments(Map<String, Value>);

impl CheckedArguments {
    /// Checks arguments against an input schema. An argument that is null counts as missing.
    ///
    /// # Errors
    /// Returns the reason why the first wrong argument is wrong, and what was expected.
    pub(crate) fn check(schema: &Map<String, Value>, given: Map<String, Value>) -> Result<Self, String> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let mut checked = Map::new();
        for (name, value) in given {
            let Some(expected) = properties.get(&name) else { return Err(unknown(&name, properties)) };
            if value.is_null() {
                continue;
            }
            if !fits(expected, &value) {
                let (expected, found) = (describe(expected), quoted(&value));
                return Err(format!("`{name}` must be {expected}, not {found}"));
            }
            checked.insert(name, value);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            match checked.get(name) {
                None => {
                    let expected = properties.get(name).map(describe).unwrap_or_default();
                    return Err(format!("`{name}` is missing; give {expected}"));
                }
                Some(Value::String(text)) if text.trim().is_empty() => {
                    return Err(format!("`{name}` is empty"));
                }
                Some(_) => {}
            }
        }
        Ok(Self(checked))
    }

    /// Returns a string, or `None` if it is missing or blank.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    /// Returns a required string, which is not blank.
    pub(crate) fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// Returns a number as a maximum of items.
    pub(crate) fn limit(&self, default: usize) -> usize {
        self.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

fn fits(expected: &Value, value: &Value) -> bool {
    let limit = |name: &str, default| expected.get(name).and_then(Value::as_u64).unwrap_or(default);
    match expected.get("type").and_then(Value::as_str) {
        Some("integer") => value
            .as_u64()
            .is_some_and(|number| (limit("minimum", 0)..=limit("maximum", u64::MAX)).contains(&number)),
        Some("boolean") => value.is_boolean(),
        _ => value.is_string() && words(expected).is_none_or(|words| words.contains(value)),
    }
}

fn words(expected: &Value) -> Option<&Vec<Value>> {
    expected.get("enum").and_then(Value::as_array)
}

/// Describes what a schema accepts, such as `an integer from 1 to 50`.
fn describe(expected: &Value) -> String {
    let limit = |name: &str| expected.get(name).and_then(Value::as_u64);
    match expected.get("type").and_then(Value::as_str) {
        Some("integer") => {
            let from = limit("minimum").map(|from| format!(" from {from}")).unwrap_or_default();
            let to = limit("maximum").map(|to| format!(" to {to}")).unwrap_or_default();
            format!("an integer{from}{to}")
        }
        Some("boolean") => "true or false".to_owned(),
        _ => match words(expected) {
            Some(words) => {
                let words: Vec<String> = words.iter().map(ToString::to_string).collect();
                format!("one of {}", words.join(", "))
            }
            None => "a string".to_owned(),
        },
    }
}

/// Maximum number of characters of a wrong value that an error repeats.
const QUOTED: usize = 60;

/// Returns the beginning of a value as it may stand in an error.
fn quoted(value: &Value) -> String {
    let json = wunderblock_core::fence::plain(&value.to_string());
    let short: String = json.chars().take(QUOTED).collect();
    if short.len() < json.len() { format!("`{short}…`") } else { format!("`{short}`") }
}

fn unknown(name: &str, properties: &Map<String, Value>) -> String {
    let name: String = wunderblock_core::fence::plain(name).chars().take(QUOTED).collect();
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let meant = nearest(&name, names.iter().copied());
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("unknown argument `{name}`{meant} The arguments are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(given: Value) -> Result<CheckedArguments, String> {
        let schema = json!({
            "properties": {
                "query": {"type": "string"},
                "page": {"type": "integer", "minimum": 1, "maximum": 9},
                "all": {"type": "boolean"},
                "action": {"type": "string", "enum": ["pin", "hide"]},
            },
            "required": ["query"],
        });
        CheckedArguments::check(schema.as_object().unwrap(), given.as_object().unwrap().clone())
    }

    #[test]
    fn each_wrong_argument_is_named_with_what_was_expected() {
        let table = [
            (json!({}), "`query` is missing; give a string"),
            (json!({"query": null}), "`query` is missing; give a string"),
            (json!({"query": " "}), "`query` is empty"),
            (json!({"query": 5}), "`query` must be a string, not `5`"),
            (json!({"query": "a", "page": 0}), "`page` must be an integer from 1 to 9, not `0`"),
            (json!({"query": "a", "page": "2"}), "`page` must be an integer from 1 to 9, not `\"2\"`"),
            (json!({"query": "a", "page": 1.5}), "`page` must be an integer from 1 to 9, not `1.5`"),
            (json!({"query": "a", "all": 1}), "`all` must be true or false, not `1`"),
            (json!({"query": "a", "action": "x"}), "`action` must be one of \"pin\", \"hide\", not `\"x\"`"),
            (
                json!({"pages": 1}),
                "unknown argument `pages`; did you mean `page`? The arguments are query, page, all, action",
            ),
        ];
        for (given, error) in table {
            assert_eq!(check(given.clone()).unwrap_err(), error, "{given}");
        }
    }

    #[test]
    fn right_arguments_are_found() {
        let found = check(json!({"query": "a", "page": 3, "all": true, "action": null})).unwrap();
        assert_eq!((found.required("query"), found.number("page"), found.flag("all")), ("a", Some(3), true));
        assert_eq!((found.text("action"), found.limit(7)), (None, 7));
    }
}
