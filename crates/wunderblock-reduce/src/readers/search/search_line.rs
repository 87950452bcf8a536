//! One line of search results.
use crate::part::PartOfText;

/// The role of a line of search results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchRole {
    /// A line that matches the search.
    Match,
    /// A line beside a match.
    Near,
    /// A path to which the lines below it belong.
    Path,
    /// A statement of the tool: totals or binary files.
    Other,
}

/// A line and its parts. A line without a role is a separator, or not a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchLine<'t> {
    pub(super) role: Option<SearchRole>,
    /// Path of the file, or empty if the line does not name it.
    pub(super) path: &'t str,
    pub(super) number: Option<u64>,
    /// Whether a column follows the number. If a column follows the number, one line may occur several times.
    pub(super) column: bool,
    pub(super) text: &'t str,
}

impl<'t> SearchLine<'t> {
    const fn none(text: &'t str) -> Self {
        Self { role: None, path: "", number: None, column: false, text }
    }

    const fn of(role: SearchRole, path: &'t str, text: &'t str) -> Self {
        Self { role: Some(role), path, number: None, column: false, text }
    }
}

pub(super) fn parse(line: &str, heading: bool) -> SearchLine<'_> {
    if line.is_empty() || line == "--" {
        return SearchLine::none(line);
    }
    if let Some(found) = parse_record(line) {
        return found;
    }
    if line.starts_with("Binary file ") && line.contains(" match")
        || line.starts_with("grep: ")
        || line.starts_with("rg: ")
    {
        return SearchLine::of(SearchRole::Other, "", line);
    }
    if heading {
        return parse_under_heading(line);
    }
    if let Some(found) = parse_numbered(line, b':', SearchRole::Match) {
        return found;
    }
    if let Some(found) = parse_numbered(line, b'-', SearchRole::Near) {
        return found;
    }
    match line.split_once(':') {
        Some((path, text)) if is_path(path) && path.contains(['/', '.']) && !text.starts_with("//") => {
            SearchLine::of(SearchRole::Match, path, text)
        }
        _ => SearchLine::none(line),
    }
}

/// Parses a line of the form `12:text` or `12-text`, or a path.
fn parse_under_heading(line: &str) -> SearchLine<'_> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let number = plain_number(number);
    match (number, rest.chars().next()) {
        (Some(number), Some(':')) => {
            SearchLine { number: Some(number), ..SearchLine::of(SearchRole::Match, "", rest.part(1..)) }
        }
        (Some(number), Some('-')) => {
            SearchLine { number: Some(number), ..SearchLine::of(SearchRole::Near, "", rest.part(1..)) }
        }
        _ if is_path(line) && line.contains(['/', '.']) && !line.contains(' ') => {
            SearchLine::of(SearchRole::Path, line, "")
        }
        _ => SearchLine::none(line),
    }
}

/// Parses a line of the form `path:12:text` or `path:12:5:text`, or of the same form with `-`. The path ends at the
/// first number between two joints.
fn parse_numbered(line: &str, joint: u8, role: SearchRole) -> Option<SearchLine<'_>> {
    let bytes = line.as_bytes();
    let window = bytes.get(..bytes.len().min(1024))?;
    for at in memchr::memchr_iter(joint, window) {
        let rest = bytes.get(at + 1..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 9 || rest.get(digits) != Some(&joint) {
            // A colon without a number after it ends the path. A dash may be part of the path.
            if joint == b':' && at > 1 {
                return None;
            }
            continue;
        }
        let path = line.get(..at)?;
        if !is_path(path) {
            return None;
        }
        let number = plain_number(line.get(at + 1..at + 1 + digits)?)?;
        let mut text = line.get(at + digits + 2..)?;
        let more = text.bytes().take_while(u8::is_ascii_digit).count();
        let column = more > 0
            && more < 6
            && text.as_bytes().get(more) == Some(&joint)
            && plain_number(text.get(..more)?).is_some();
        if column {
            text = text.get(more + 1..)?;
        }
        return Some(SearchLine { role: Some(role), path, number: Some(number), column, text });
    }
    None
}

/// Parses a number in the form in which programs count lines, without a leading zero. The `53` of a time may be a
/// line number, but the `08` cannot.
fn plain_number(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.starts_with('0') { None } else { digits.parse().ok() }
}

/// Returns whether a text may be the path of a file in the form in which a search prints it.
fn is_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !path.is_empty()
        && path.len() < 512
        && (path.contains('/') || !path.contains(' '))
        && !path.starts_with([' ', '\t', '{', '[', '<', '(', '"', '#', '*', '|', '@', '+'])
        && !path.contains("  ")
        && !path.contains("://")
        && !path
            .bytes()
            .any(|byte| matches!(byte, b'"' | b'{' | b'}' | b'=' | b';' | b'\t' | b'<' | b'>' | b'|'))
        && name.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
        && !is_dated(name)
}

/// Returns whether a name ends with the beginning of a time (`app.log_13`, `2024-05-16_13`, `2024-05-16T13`). If a
/// name ends with the beginning of a time, the text after the colon that follows is the rest of the time.
fn is_dated(name: &str) -> bool {
    let bytes = name.as_bytes();
    let tail = bytes.len().saturating_sub(3);
    let hour =
        bytes.get(tail + 1..).is_some_and(|hour| hour.len() == 2 && hour.iter().all(u8::is_ascii_digit));
    hour && matches!(bytes.get(tail), Some(b'_' | b'T' | b' ' | b'['))
}

/// Returns whether a line is a record of `rg --json`.
pub(super) fn is_record(line: &str) -> bool {
    parse_record(line).is_some()
}

fn parse_record(line: &str) -> Option<SearchLine<'_>> {
    let rest = line.strip_prefix("{\"type\":\"")?;
    let (kind, rest) = rest.split_once('"')?;
    let data = rest.strip_prefix(",\"data\":")?;
    let path = || {
        let rest = data.split_once("\"path\":{\"text\":\"")?.1;
        rest.split_once("\"}").map(|(path, _)| path)
    };
    let text = data
        .split_once("\"lines\":{")
        .map_or("", |(_, text)| text.split_once("},\"").map_or(text, |(text, _)| text));
    match kind {
        "begin" => Some(SearchLine::of(SearchRole::Near, path()?, line)),
        "match" => Some(SearchLine::of(SearchRole::Match, path()?, text)),
        "context" => Some(SearchLine::of(SearchRole::Near, path()?, text)),
        "end" => Some(SearchLine::of(SearchRole::Near, path()?, line)),
        "summary" => Some(SearchLine::of(SearchRole::Other, "", line)),
        _ => None,
    }
}

/// Returns whether paths are on their own lines, above numbered lines.
pub(super) fn has_headings(lines: &[&str]) -> bool {
    let (mut paths, mut numbered, mut said) = (0, 0, 0);
    for line in lines.iter().filter(|line| !line.is_empty() && **line != "--") {
        said += 1;
        match parse_under_heading(line).role {
            Some(SearchRole::Path) => paths += 1,
            Some(_) => numbered += 1,
            None => {}
        }
    }
    paths > 0 && numbered >= paths && (paths + numbered) * 10 >= said * 9
}
