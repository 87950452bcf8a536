//! Parses paths that point into JSON, and finds the bytes that they name.
//!
//! ```text
//! $.items[3].name     $["odd name"][0]     $.items[13..198]     $.a{2..9}     $.text#B0-64
//! ```
//! Items and members are counted from 0, and both ends of a range are included. Byte ranges exclude the end. Paths
//! without `$.` (such as `items[3].name`) and JSON pointers (RFC 6901, such as `/items/3/name`) are accepted as well.
//! If a key occurs twice, the last one counts, as in most parsers.

use std::ops::Range;

use super::locate;
use super::tree::{JsonTree, JsonType};

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathPart {
    /// A member given by its name, or an item given by its number.
    Named(String),
    Items(usize, usize),
    Members(usize, usize),
}

/// The bytes that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPlace {
    /// Bytes of a value, of several items or members (with the text between them), or of a part of a string.
    pub span: Range<usize>,
    /// Whether the path names one whole string, including its quotes.
    pub is_string: bool,
}

/// Finds the bytes that a path names in a text that is one JSON document, or has one JSON document per line.
///
/// # Errors
/// Returns a message if the text is not JSON, or if the path is invalid or names nothing in the text.
pub fn find_json(text: &str, path: &str) -> Result<JsonPlace, String> {
    let (path, part) = match path.rsplit_once("#B") {
        Some((path, part)) => (path, Some(byte_range(part).ok_or_else(|| invalid(path))?)),
        None => (path, None),
    };
    let tree = locate::find_document(text)
        .ok_or_else(|| "the text is not JSON, so no path leads into it".to_owned())?;
    let (mut at, mut way) = (0, "$".to_owned());
    let steps = steps(path).ok_or_else(|| invalid(path))?;
    for (nth, step) in steps.iter().enumerate() {
        let children: Vec<usize> = tree.children(at).collect();
        let array = tree.kind(at) == JsonType::Array;
        let (from, to) = match step {
            PathPart::Named(name) if array => {
                let item = name
                    .parse()
                    .map_err(|_| format!("invalid index `{name}`: `{way}` is an array; expected a number"))?;
                (item, item)
            }
            PathPart::Named(name) => {
                let found = children.iter().rposition(|child| is_named(&tree, *child, name));
                let found = found.ok_or_else(|| format!("`{way}` has no member `{name}`"))?;
                (found, found)
            }
            PathPart::Items(..) if !array => {
                return Err(format!("cannot select items in `{way}`: it is not an array"));
            }
            PathPart::Members(..) if tree.kind(at) != JsonType::Object => {
                return Err(format!("cannot select members in `{way}`: it is not an object"));
            }
            PathPart::Items(from, to) | PathPart::Members(from, to) => (*from, *to),
        };
        let (Some(first), Some(last)) = (children.get(from), children.get(to)) else {
            return Err(format!("index out of range: `{way}` has {} items, counted from 0", children.len()));
        };
        if from != to || matches!(step, PathPart::Members(..)) {
            if nth + 1 < steps.len() || part.is_some() {
                return Err(invalid(path));
            }
            return Ok(JsonPlace { span: tree.member(*first)..tree.span(*last).end, is_string: false });
        }
        way.push_str(&if array { format!("[{from}]") } else { format!(".{}", tree.name(*first)) });
        at = *first;
    }
    let span = tree.span(at);
    let is_string = tree.kind(at) == JsonType::Text;
    match part {
        None => Ok(JsonPlace { span, is_string }),
        Some((from, to)) if is_string && to + 2 <= span.len() => {
            let start = span.start + 1;
            Ok(JsonPlace { span: start + from..start + to, is_string: false })
        }
        Some(_) if is_string => {
            Err(format!("byte range out of bounds: the string at `{way}` has {} bytes", span.len() - 2))
        }
        Some(_) => Err(format!("cannot select bytes in `{way}`: it is not a string")),
    }
}

fn invalid(path: &str) -> String {
    format!(
        "invalid path `{path}`; expected a path such as $.items[0].name, $.items[13..198] or $.text#B0-64"
    )
}

fn is_named(tree: &JsonTree<'_>, at: usize, name: &str) -> bool {
    let own = tree.name(at);
    own == name || own.contains('\\') && unescape_name(own).as_deref() == Some(name)
}

/// Returns a name with the escapes of `"`, `\` and `/` decoded, or `None` if it has other escapes.
fn unescape_name(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().filter(|c| matches!(c, '"' | '\\' | '/'))? } else { c });
    }
    Some(out)
}

/// Parses a range of the form `0-64`: from the first byte up to, but not including, the last.
fn byte_range(range: &str) -> Option<(usize, usize)> {
    let (from, to) = range.split_once('-')?;
    let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some((from, to))
}

/// Parses a path into its steps. Returns `None` if the path is invalid.
fn steps(path: &str) -> Option<Vec<PathPart>> {
    if path.is_empty() || path.starts_with('/') {
        let names = path.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"));
        return Some(names.map(PathPart::Named).collect());
    }
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(inner) = rest.strip_prefix("[\"") {
            let end = end_of_name(inner)?;
            let name = inner.get(..end)?;
            let name = unescape_name(name).unwrap_or_else(|| name.to_owned());
            (PathPart::Named(name), inner.get(end..)?.strip_prefix("\"]")?)
        } else if let Some((inner, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            (
                item_range(inner)
                    .map_or_else(|| PathPart::Named(inner.to_owned()), |(a, b)| PathPart::Items(a, b)),
                after,
            )
        } else if let Some((inner, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let (first, last) = item_range(inner)?;
            (PathPart::Members(first, last), after)
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[', '{']).filter(|end| *end > 0).unwrap_or(name.len());
            (PathPart::Named(name.get(..end)?.to_owned()), name.get(end..)?)
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// Returns the position at which a quoted name ends.
fn end_of_name(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Parses a range of the form `13..198`, or a single number.
fn item_range(range: &str) -> Option<(usize, usize)> {
    let (first, last) = range.split_once("..").unwrap_or((range, range));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"items": [{"name": "a"}, {"name":  "b"}, 3], "odd.name": {"x\"y": 1, "z": 2}, "s": "né\n"}"#;

    fn found(path: &str) -> Result<&'static str, String> {
        find_json(TEXT, path).map(|place| &TEXT[place.span])
    }

    #[test]
    fn paths_in_any_form_name_exact_bytes() {
        for (path, wanted) in [
            ("$", TEXT),
            ("", TEXT),
            ("$.items[1].name", "\"b\""),
            ("items[1].name", "\"b\""),
            ("/items/1/name", "\"b\""),
            ("$.items[0..1]", "{\"name\": \"a\"}, {\"name\":  \"b\"}"),
            ("$.items[1..2]", "{\"name\":  \"b\"}, 3"),
            ("$[\"odd.name\"][\"x\\\"y\"]", "1"),
            ("$[\"odd.name\"]{0..1}", "\"x\\\"y\": 1, \"z\": 2"),
            ("$[\"odd.name\"]{1}", "\"z\": 2"),
            ("$.s#B0-3", "né"),
        ] {
            assert_eq!(found(path).as_deref(), Ok(wanted), "{path}");
        }
        let lines = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
        assert_eq!(find_json(lines, "$[1..2]").map(|place| &lines[place.span]), Ok("{\"a\":2}\n{\"a\":3}"));
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (path, part) in [
            ("$.items[3]", "`$.items` has 3 items"),
            ("$.items[2..3]", "`$.items` has 3 items"),
            ("$.nothing", "has no member `nothing`"),
            ("$.items.name", "invalid index `name`"),
            ("$.s[0]", "$.s"),
            ("$.items{0..1}", "is not an object"),
            ("$.s#B0-9", "has 5 bytes"),
            ("$.items[0..1].name", "invalid path"),
            ("$.items[1..0]", "invalid index `1..0`"),
            ("$[\"a", "invalid path"),
        ] {
            let said = found(path).unwrap_err();
            assert!(said.contains(part), "{path}: {said}");
        }
        assert!(find_json("plain", "$").unwrap_err().contains("not JSON"));
    }
}
