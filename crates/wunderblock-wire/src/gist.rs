//! One-line gist of a tool call: the minimum that is needed to run it again.

use crate::json::{RawFields, list};
use serde_json::value::RawValue;

/// Maximum length of a gist, in characters.
pub const MAX_GIST_CHARS: usize = 200;

/// Maximum number of bytes that are read from a string's JSON. This many bytes suffice for the longest gist, however
/// it is escaped.
const LOOK_BYTES: usize = 4096;

const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
const URLS: [&str; 2] = ["url", "uri"];
const PATTERNS: [&str; 4] = ["pattern", "query", "regex", "glob"];
const PATHS: [&str; 5] = ["file_path", "path", "filename", "notebook_path", "file"];

/// Returns a tool call as one line of at most [`MAX_GIST_CHARS`] characters.
///
/// The line is a command, a URL, a pattern with its path, a path with its lines (`src/lib.rs:10-40`), or else up to
/// three short arguments as `name=value`. For a patch given as text, the line lists the files that the patch names.
/// The line does not contain the tool's name, control characters, or marks that reorder text. `None` if the input is
/// not a JSON object or has no argument that fits.
///
/// Takes time linear in the input and copies only what it shows.
#[must_use]
pub fn gist(name: &str, input_json: &str) -> Option<String> {
    let fields = RawFields::parse(input_json).ok()?;
    let line = command(&fields)
        .or_else(|| first(&fields, &URLS))
        .or_else(|| pattern(&fields))
        .or_else(|| path(&fields))
        .or_else(|| patch(name, &fields))
        .or_else(|| arguments(fields))?;
    let line = one_line(&line);
    (!line.is_empty()).then_some(line)
}

fn first(fields: &RawFields<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| fields.get(name).and_then(head)).filter(|text| !text.trim().is_empty())
}

fn command(fields: &RawFields<'_>) -> Option<String> {
    first(fields, &COMMANDS).or_else(|| {
        let words = COMMANDS.iter().find_map(|name| fields.get(name).and_then(list))?;
        // In `["bash", "-lc", "…"]`, only the script says what is run.
        let words: Vec<String> = words.into_iter().take(32).filter_map(head).collect();
        match words.as_slice() {
            [_, flag, script] if flag == "-lc" || flag == "-c" => Some(script.clone()),
            [] => None,
            words => Some(words.join(" ")),
        }
    })
}

fn pattern(fields: &RawFields<'_>) -> Option<String> {
    let pattern = first(fields, &PATTERNS)?;
    let place = first(fields, &PATHS).map(|path| format!(" {path}")).unwrap_or_default();
    Some(format!("{}{place}", clipped(&pattern, MAX_GIST_CHARS / 2)))
}

fn path(fields: &RawFields<'_>) -> Option<String> {
    let path = first(fields, &PATHS)?;
    let number = |name: &str| fields.get(name).and_then(|raw| raw.get().parse::<u64>().ok());
    let view = fields.get("view_range").and_then(list).unwrap_or_default();
    let view = |at: usize| view.get(at).and_then(|raw| raw.get().parse::<i64>().ok());
    let range = if let (Some(from), Some(to)) = (view(0), view(1)) {
        // An end of -1 means the end of the file.
        if to < 0 { format!(":{from}-") } else { format!(":{from}-{to}") }
    } else {
        let limit = number("limit");
        let from = number("start_line").or_else(|| number("offset"));
        let to = number("end_line")
            .or_else(|| limit.map(|limit| from.unwrap_or(1).saturating_add(limit).saturating_sub(1)));
        match (from, to) {
            (None, None) => String::new(),
            (from, None) => format!(":{}-", from.unwrap_or(1)),
            (from, Some(to)) => format!(":{}-{to}", from.unwrap_or(1)),
        }
    };
    let room = MAX_GIST_CHARS.saturating_sub(range.chars().count());
    Some(format!("{}{range}", clipped(&path, room)))
}

/// Returns the files that a patch names, from the header lines of the two common patch forms.
fn patch(name: &str, fields: &RawFields<'_>) -> Option<String> {
    if !name.contains("patch") {
        return None;
    }
    let text = first(fields, &["input", "patch", "diff"])?;
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"];
    let named = |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned);
    let files: Vec<String> = text.lines().filter_map(named).take(8).collect();
    (!files.is_empty()).then(|| files.join(" "))
}

fn arguments(fields: RawFields<'_>) -> Option<String> {
    let short =
        |raw: &RawValue| raw.get().len() <= 80 && !raw.get().starts_with(['{', '[']) && raw.get() != "null";
    let shown: Vec<String> = fields
        .rest()
        .into_iter()
        .filter(|(_, raw)| short(raw))
        .take(3)
        .filter_map(|(name, raw)| {
            Some(format!("{name}={}", head(raw).or_else(|| Some(raw.get().to_owned()))?))
        })
        .collect();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// Returns the beginning of a string value.
fn head(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if json.len() <= LOOK_BYTES {
        return crate::json::text(raw);
    }
    // Find the last complete character or escape before the limit.
    let mut end = 1;
    let mut at = 1;
    while at <= LOOK_BYTES {
        if json.is_char_boundary(at) {
            end = at;
        }
        at += match (json.as_bytes().get(at), json.as_bytes().get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), _) => 2,
            _ => 1,
        };
    }
    let kept = json.get(..end).filter(|kept| kept.starts_with('"'))?;
    let whole = format!("{kept}\"");
    crate::json::text(serde_json::from_str(&whole).ok()?)
}

fn clipped(text: &str, max: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Replaces control characters and line ends with single spaces, and removes marks that reorder or hide text.
fn one_line(text: &str) -> String {
    let is_mark = |c: char| matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{061C}');
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut line = String::with_capacity(text.len().min(4 * MAX_GIST_CHARS));
    for c in text.chars().filter(|c| !is_mark(*c)) {
        if !breaks(c) {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    clipped(&line, MAX_GIST_CHARS)
}
