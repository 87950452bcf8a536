//! Writes members as JSON on one line.

use serde_json::value::RawValue;

/// Returns the text of a JSON object without line breaks, or `None` if it is not one. Only white space between values
/// can contain a line break, because strings escape it.
pub(super) fn object(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    let value = serde_json::from_str::<&RawValue>(text).ok()?;
    value.get().starts_with('{').then(|| value.get().replace(['\n', '\r'], " "))
}

/// Returns bytes as an object: the object that they are, or else one that holds them as a string. No reader takes that
/// string for a text of the conversation.
pub(super) fn object_or_string(bytes: &[u8]) -> String {
    let kept = || format!("{{\"unreadable\":{}}}", quoted(&String::from_utf8_lossy(bytes)));
    object(bytes).unwrap_or_else(kept)
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns an object with the fields of two objects.
#[cfg(any(feature = "sqlite", test))]
pub(super) fn joined(one: &str, other: &str) -> String {
    let (Some(one), Some(other)) = (one.strip_suffix('}'), other.strip_prefix('{')) else {
        return one.to_owned();
    };
    let is_empty = |text: &str| text.trim().trim_matches(['{', '}']).trim().is_empty();
    let comma = if is_empty(one) || is_empty(other) { "" } else { "," };
    format!("{one}{comma}{other}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_one_line_and_keep_their_values() {
        assert_eq!(object(b" {\n  \"a\": \"x\\ny\"\r\n}\n").unwrap(), "{   \"a\": \"x\\ny\"  }");
        for other in ["[1]", "7", "", "{\"a\":", "{} {}"] {
            assert_eq!(object(other.as_bytes()), None, "{other}");
        }
        assert_eq!(object_or_string(b"{\"a\n"), r#"{"unreadable":"{\"a\n"}"#);
    }

    #[test]
    fn two_objects_become_one() {
        assert_eq!(joined(r#"{"a":1}"#, r#"{ "b":2}"#), r#"{"a":1, "b":2}"#);
        assert_eq!(joined("{}", r#"{"b":2}"#), r#"{"b":2}"#);
        assert_eq!(joined(r#"{"a":1}"#, "{ }"), r#"{"a":1 }"#);
    }
}
