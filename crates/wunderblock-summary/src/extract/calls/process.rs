//! Processes that go on after the call that started them. Later calls poll them, or a notice reports their end. The
//! outcome of the call is that of the process.

use super::act::{fields, has_word};
use serde::Deserialize;
use std::sync::LazyLock;

/// Minimum number of bytes in the report of a delegate; a shorter result only says that it was started.
pub(in crate::extract) const REPORT_MIN: usize = 400;
/// Words about processes; `process.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessWords {
    starts: Vec<String>,
    running: Vec<String>,
    ids: Vec<String>,
    ends: Vec<String>,
    reports: Vec<String>,
    report_ends: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<ProcessWords> =
    LazyLock::new(|| toml::from_str(include_str!("process.toml")).unwrap_or_default());

/// Maximum number of bytes at each end of a result that are searched for the state of its process.
const LOOK: usize = 600;

/// Returns both ends of a result, where harnesses state what became of the process.
fn ends_of(result: &str) -> [&str; 2] {
    let tail = result.ceil_char_boundary(result.len().saturating_sub(LOOK));
    let head = result.floor_char_boundary(LOOK);
    [result.get(..head).unwrap_or_default(), result.get(tail..).unwrap_or_default()]
}

/// Returns whether a result says that its process goes on.
pub(in crate::extract) fn goes_on(result: &str) -> bool {
    ends_of(result).into_iter().any(|end| WORDS.running.iter().any(|words| end.contains(words.as_str())))
}

/// Returns the id that a result gives to the process that goes on.
pub(in crate::extract) fn id_of(result: &str) -> Option<&str> {
    let starts = |end: &&str| WORDS.starts.iter().any(|words| end.contains(words.as_str()));
    let end = ends_of(result).into_iter().find(starts)?;
    let after = WORDS.starts.iter().find_map(|words| end.split_once(words.as_str()))?.1;
    let id = after.split(|c: char| !c.is_alphanumeric() && !"-_".contains(c)).next()?;
    Some(id).filter(|id| !id.is_empty())
}

/// Returns what a delegate reports in a result, without the list of its calls before the report, and without
/// what the harness adds after it.
pub(in crate::extract) fn report(result: &str) -> &str {
    let after = |words: &String| result.split_once(words.as_str()).map(|(_, report)| report.trim());
    let report = WORDS.reports.iter().find_map(after).unwrap_or(result);
    let ends = WORDS.report_ends.iter().filter_map(|words| report.find(words.as_str()));
    report.get(..ends.min().unwrap_or(report.len())).unwrap_or(report)
}

/// Returns the id of the process that a call polls, writes to or ends.
pub(in crate::extract) fn named_by(input: &str) -> Option<String> {
    let fields = fields(input);
    let raw = WORDS.ids.iter().find_map(|name| fields.get(name.as_str()))?;
    Some(raw.get().trim_matches('"').to_owned()).filter(|id| !id.is_empty())
}

/// Returns whether a tool ends a process, by the words in the tool's name.
pub(in crate::extract) fn is_end(name: &str) -> bool {
    has_word(name, &WORDS.ends)
}

/// Report of the end of a process.
pub(in crate::extract) struct ProcessEnd<'t> {
    pub(in crate::extract) id: &'t str,
    pub(in crate::extract) failed: bool,
    /// Report of a delegate.
    pub(in crate::extract) result: &'t str,
    /// Words that state the exit code.
    pub(in crate::extract) summary: &'t str,
}

/// Returns the ends of processes that a text reports in the form of Claude Code.
pub(in crate::extract) fn reported(text: &str) -> impl Iterator<Item = ProcessEnd<'_>> {
    text.split("<task-notification>").skip(1).filter_map(|notice| {
        let notice = notice.split("</task-notification>").next()?;
        let field = |name: &str| {
            let after = notice.split_once(&format!("<{name}>"))?.1;
            after.split_once(&format!("</{name}>")).map(|(value, _)| value.trim())
        };
        let (id, status) = (field("task-id")?, field("status")?);
        let is_end = matches!(status, "completed" | "failed");
        let told = |name| field(name).unwrap_or_default();
        let (failed, result, summary) = (status == "failed", told("result"), told("summary"));
        is_end.then_some(ProcessEnd { id, failed, result, summary })
    })
}
