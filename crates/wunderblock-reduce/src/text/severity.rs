//! The severity that a line states.
//!
//! Severity is read from structure, not from meaning: from a level where loggers write one, and from words for
//! trouble, unless the words are denied (`0 errors`) or part of a name (`error_handler`, `errors.rs`).

use crate::part::PartOfList;
use crate::result::label::Label;
use crate::text::word_list::WordList;

static ERRORS: WordList = WordList::new("error levels");
static WARNINGS: WordList = WordList::new("warning levels");
static INFOS: WordList = WordList::new("info levels");
static ALARMS: WordList = WordList::new("alarms");

/// The levels of logs, from the mildest to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LogLevel {
    Info,
    Warning,
    Error,
}

impl LogLevel {
    /// Returns the label under which a mark counts a line of this level.
    pub(crate) const fn label(self) -> Option<Label> {
        match self {
            Self::Info => None,
            Self::Warning => Some(Label::Warning),
            Self::Error => Some(Label::Error),
        }
    }
}

/// The severity of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineSeverity {
    /// Level that a logger wrote.
    pub(crate) level: Option<LogLevel>,
    /// Whether the line has words for trouble, whatever its level.
    pub(crate) trouble: bool,
}

impl LineSeverity {
    /// Returns the label under which a mark counts the line. Words for trouble take precedence over a mild level.
    pub(crate) const fn label(self) -> Option<Label> {
        match (self.level, self.trouble) {
            (Some(LogLevel::Info), true) | (None, true) => Some(Label::Trouble),
            (Some(level), _) => level.label(),
            (None, false) => None,
        }
    }

    /// Returns the weight of the line: that of an error, of a warning (or trouble at a mild level), or of neither.
    pub(crate) const fn weight(self) -> LogLevel {
        match (self.level, self.trouble) {
            (Some(LogLevel::Error), _) | (None | Some(LogLevel::Warning), true) => LogLevel::Error,
            (Some(LogLevel::Warning), false) | (Some(LogLevel::Info), true) => LogLevel::Warning,
            (Some(LogLevel::Info) | None, false) => LogLevel::Info,
        }
    }
}

/// Returns the level of a line. Without a level, words for trouble count as an error.
pub(crate) fn level_of(line: &str) -> Option<LogLevel> {
    let stated = read_line(line);
    match (stated.level, stated.trouble) {
        (Some(level), _) => Some(level),
        (None, true) => Some(LogLevel::Error),
        (None, false) => None,
    }
}

/// Maximum number of bytes of a line in which words are examined. Levels are near the start.
const MAX_LINE_BYTES: usize = 1_000;

/// Returns everything that a line states about its severity.
pub(crate) fn read_line(line: &str) -> LineSeverity {
    let bytes = line.as_bytes();
    let bytes = bytes.get(..MAX_LINE_BYTES).unwrap_or(bytes);
    let mut stated =
        LineSeverity { level: level_by_letter(bytes).or_else(|| level_by_status(bytes)), trouble: false };
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let end = at + bytes.iter().skip(at).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = SeverityWord { bytes, at, end };
        if end - at >= 3 {
            if stated.level.is_none() {
                stated.level = word.level();
            }
            stated.trouble = stated.trouble || word.is_trouble();
        }
        at = end;
    }
    stated
}

/// Returns a level that is one letter: glog (`E1120 10:00:00`), logcat (`E/Tag`, ` 1702  2395 E Tag:`).
fn level_by_letter(bytes: &[u8]) -> Option<LogLevel> {
    let level = |byte: u8| match byte {
        b'E' | b'F' => Some(LogLevel::Error),
        b'W' => Some(LogLevel::Warning),
        b'I' | b'D' | b'V' => Some(LogLevel::Info),
        _ => None,
    };
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let first = *bytes.first()?;
    let glog = (1..5).all(digit)
        && bytes.get(5) == Some(&b' ')
        && digit(6)
        && digit(7)
        && bytes.get(8) == Some(&b':');
    if glog || (bytes.get(1) == Some(&b'/') && bytes.get(2).is_some_and(u8::is_ascii_alphabetic)) {
        return level(first);
    }
    if !first.is_ascii_digit() {
        return None;
    }
    // A single letter after the numbers at the start of a line is the level.
    let head = bytes.get(..48).unwrap_or(bytes);
    let at = head.iter().position(u8::is_ascii_alphabetic)?;
    let alone = at > 8 && head.get(at - 1) == Some(&b' ') && head.get(at + 1) == Some(&b' ');
    if alone { head.get(at).copied().and_then(level) } else { None }
}

/// Returns the level of the status in an access log: `HTTP/1.1" 503 `.
fn level_by_status(bytes: &[u8]) -> Option<LogLevel> {
    let at = memchr::memmem::find(bytes, b"HTTP/")?;
    let rest = bytes.get(at..)?.get(..32).or_else(|| bytes.get(at..))?;
    let quote = rest.iter().position(|byte| *byte == b'"')?;
    let status = rest.get(quote + 1..)?.iter().skip_while(|byte| !byte.is_ascii_digit());
    let status: Vec<u8> = status.take_while(|byte| byte.is_ascii_digit()).copied().collect();
    match status.as_slice() {
        [b'5', _, _] => Some(LogLevel::Error),
        [b'4', _, _] => Some(LogLevel::Warning),
        [b'1'..=b'3', _, _] => Some(LogLevel::Info),
        _ => None,
    }
}

/// A run of letters in a line.
struct SeverityWord<'l> {
    bytes: &'l [u8],
    at: usize,
    end: usize,
}

impl SeverityWord<'_> {
    fn text(&self) -> &[u8] {
        self.bytes.part(self.at..self.end)
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied()
    }

    fn after(&self, by: usize) -> Option<u8> {
        self.bytes.get(self.end + by).copied()
    }

    /// Returns the level that the word names, if it is where loggers write one: in capitals, in brackets, after
    /// `level=`, or at the start with a colon.
    fn level(&self) -> Option<LogLevel> {
        let word = self.text();
        if word.len() > 11
            || !matches!(word.first()?.to_ascii_lowercase(), b'a' | b'c'..=b'f' | b'i' | b'n' | b'p' | b's'..=b'w')
        {
            return None;
        }
        let level = level_named(word)?;
        let (before, after) = (self.before(), self.after(0));
        let joins = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
        };
        if joins(before)
            || joins(after)
            || (after == Some(b'.') && self.after(1).is_some_and(|byte| byte.is_ascii_alphabetic()))
        {
            return None;
        }
        let capitals = word.iter().all(u8::is_ascii_uppercase);
        let held = matches!(
            (before, after),
            (Some(b'['), Some(b']')) | (Some(b'<'), Some(b'>')) | (Some(b'('), Some(b')'))
        );
        let first = after == Some(b':') && (before.is_none() || self.follows_place());
        let written = (capitals || held || first || self.is_value()) && (capitals || !self.is_denied());
        (written && !(capitals && self.is_denied())).then_some(level)
    }

    /// Returns whether the word follows `level=` or `"severity": "`.
    fn is_value(&self) -> bool {
        let head = self.bytes.part(self.at.saturating_sub(16)..self.at);
        let trimmed = head.trim_ascii_end();
        let end = trimmed.iter().rposition(|byte| !matches!(byte, b'"' | b'=' | b':' | b' ' | b'\\'));
        let Some(end) = end else { return false };
        let key = trimmed.part(..=end);
        end + 1 < trimmed.len()
            && [b"level".as_slice(), b"severity", b"lvl", b"levelname", b"loglevel"]
                .iter()
                .any(|name| ends_as(key, name))
    }

    /// Returns whether the word follows a place (`src/a.c:3:7: `), or the name of a program and a colon.
    fn follows_place(&self) -> bool {
        let head = self.bytes.part(..self.at);
        head.ends_with(b": ") || head.ends_with(b" - ") || head.ends_with(b"] ")
    }

    /// Returns whether the word is a word for trouble.
    fn is_trouble(&self) -> bool {
        let word = self.text();
        let named = is_exception(word);
        if !named && !is_alarm(word) {
            return false;
        }
        let (before, after) = (self.before(), self.after(0));
        let in_name = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'\\'))
        };
        let dotted = after == Some(b'.') && self.after(1).is_some_and(|byte| byte.is_ascii_alphanumeric());
        let hyphened = after == Some(b'-') && self.after(1).is_some_and(|byte| byte.is_ascii_alphabetic());
        if in_name(after)
            || hyphened
            || (dotted && !named)
            || (!named && (in_name(before) || matches!(before, Some(b'.' | b'-'))))
        {
            return false;
        }
        !self.is_denied()
    }

    /// Returns whether the word is denied: `0 errors`, `no error`, `errors=0`, `error: null`.
    fn is_denied(&self) -> bool {
        let head = self.bytes.part(self.at.saturating_sub(24)..self.at).trim_ascii_end();
        let start = head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let last = head.part(start..);
        let known = [b"0".as_slice(), b"no", b"zero", b"without", b"not", b"never", b"non", b"any"];
        let colon = self
            .bytes
            .get(..self.at)
            .is_some_and(|all| all.trim_ascii_end().len() < all.len() || head.is_empty());
        if colon && known.iter().any(|denial| last.eq_ignore_ascii_case(denial)) {
            return true;
        }
        let tail = self.bytes.part(self.end..);
        let assigned = tail.trim_ascii_start();
        let assigned = assigned.strip_prefix(b"\"").unwrap_or(assigned);
        let Some(value) = assigned.strip_prefix(b"=").or_else(|| assigned.strip_prefix(b":")) else {
            return false;
        };
        let value = value.trim_ascii_start();
        let empty = [b"null".as_slice(), b"none", b"nil", b"false", b"\"\"", b"[]", b"{}", b"''", b"0"];
        let stop = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
        empty.iter().any(|empty| {
            value.get(..empty.len()).is_some_and(|stated| stated.eq_ignore_ascii_case(empty))
                && stop(value.get(empty.len()))
        })
    }
}

fn ends_as(key: &[u8], name: &[u8]) -> bool {
    key.len()
        .checked_sub(name.len())
        .and_then(|at| key.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(name))
}

/// Returns the level with this name. The names are those of log4j, syslog, Python, slf4j, glog and Windows.
fn level_named(word: &[u8]) -> Option<LogLevel> {
    match word {
        _ if ERRORS.has_any_case(word) => Some(LogLevel::Error),
        _ if WARNINGS.has_any_case(word) => Some(LogLevel::Warning),
        _ if INFOS.has_any_case(word) => Some(LogLevel::Info),
        _ => None,
    }
}

/// Returns whether a word is the name of an exception type: `IOException`, `TypeError`.
fn is_exception(word: &[u8]) -> bool {
    let long = |suffix: &[u8]| word.len() > suffix.len() && word.ends_with(suffix);
    long(b"Error") || long(b"Exception")
}

fn is_alarm(word: &[u8]) -> bool {
    (4..=12).contains(&word.len()) && ALARMS.has_any_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_where_loggers_write_them() {
        use LogLevel::{Error, Info, Warning};
        let cases = [
            ("2024-03-01 10:00:00,123 ERROR [main] c.e.App - no route", Some(Error)),
            ("2024-03-01 10:00:00 WARN  queue is filling up", Some(Warning)),
            ("081109 203518 143 INFO dfs.DataNode: receiving", Some(Info)),
            ("ts=2024-03-01T10:00:00Z level=error msg=\"disk gone\"", Some(Error)),
            (r#"{"time":"2024","level":"warning","msg":"slow"}"#, Some(Warning)),
            (r#"{"severity": "INFO", "message": "served"}"#, Some(Info)),
            ("[Sun Dec 04 04:47:44 2005] [error] mod_x child in state 6", Some(Error)),
            ("[Sun Dec 04 04:47:44 2005] [notice] workers ready", Some(Info)),
            ("E1120 10:15:30.123456  4321 pool.cc:12] lost", Some(Error)),
            ("I1120 10:15:30.123456  4321 pool.cc:12] ready", Some(Info)),
            ("03-17 16:13:38.811  1702  2395 W WindowManager: late", Some(Warning)),
            ("E/ActivityManager( 123): gone", Some(Error)),
            ("WARNING:root:disk is slow", Some(Warning)),
            ("src/a.c:3:7: warning: unused variable 'x'", Some(Warning)),
            ("error: could not open", Some(Error)),
            ("error[E0601]: `main` function not found", Some(Error)),
            (r#"10.0.0.1 - - [01/Mar/2024:10:00:00 +0000] "GET /a HTTP/1.1" 503 12"#, Some(Error)),
            (r#"10.0.0.1 - - [01/Mar/2024:10:00:00 +0000] "GET /a HTTP/1.1" 404 12"#, Some(Warning)),
            (r#"10.0.0.1 - - [01/Mar/2024:10:00:00 +0000] "GET /errors HTTP/1.1" 200 12"#, Some(Info)),
            ("Mar  1 10:00:00 host sshd[12]: Failed password for root from 10.0.0.1", Some(Error)),
            ("java.io.IOException: broken pipe", Some(Error)),
            ("ModuleNotFoundError: No module named 'x'", Some(Error)),
            ("connection refused by 10.0.0.7", Some(Error)),
        ];
        for (line, wanted) in cases {
            assert_eq!(level_of(line), wanted, "{line}");
        }
    }

    #[test]
    fn negated_errors_and_error_names_are_not_trouble() {
        for line in [
            "0 errors, 0 failures",
            "finished with no error",
            "summary errors=0 failed=0",
            r#"{"ok":true,"error":null}"#,
            "reading src/errors.rs and error_handler",
            "fn on_error(self)",
            "error-page template loaded",
            "timeout=0",
            "information desk",
            "ErrorReporter ready",
        ] {
            assert!(!read_line(line).trouble, "{line}");
            assert_ne!(level_of(line), Some(LogLevel::Error), "{line}");
        }
    }
}
