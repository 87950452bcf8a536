//! The message and the place of a failing test.

use crate::readers::line::diagnostic;

/// Returns whether a line is part of the message of an assertion.
pub(super) fn is_message(text: &str, line: &str) -> bool {
    if line.starts_with("E   ") || line.starts_with("E ") && line.len() > 4 {
        return true;
    }
    const OPENINGS: [&str; 22] = [
        "assertion",
        "left:",
        "right:",
        "Expected",
        "expected",
        "Received",
        "received",
        "Actual",
        "actual",
        "got:",
        "want:",
        "+ expected",
        "- Expected",
        "+ Received",
        "AssertionError",
        "expect(",
        "Error:",
        "panicked at",
        "Diff:",
        "Value of:",
        "Which is:",
        "Failure",
    ];
    if OPENINGS.iter().any(|opening| text.starts_with(opening)) {
        return true;
    }
    if text.contains("' panicked at ") || text.contains(") panicked at ") || text.contains("Error Trace:") {
        return true;
    }
    // A message of Go: `    shop_test.go:12: got 3, want 4`.
    line.starts_with([' ', '\t'])
        && text.split_once(".go:").is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether a line is the place of a failure: `tests/test_a.py:12: AssertionError`, `❯ src/a.test.ts:3:7`,
/// `a.cc:12: Failure`.
pub(super) fn is_place(line: &str) -> bool {
    let text = line.strip_prefix(" ❯ ").unwrap_or(line);
    if let Some(rest) = line.strip_prefix("  File \"") {
        return !rest.contains("/lib/python") && !rest.contains("site-packages") && !rest.contains("<frozen");
    }
    diagnostic::place_length(text).is_some() && !text.starts_with(' ')
}
