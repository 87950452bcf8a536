//! Fills numbers and names from a tool's output into the assistant's words about that output.
//!
//! `{lines}` is the number of lines of the latest tool results, `{files}` the number of different texts before the
//! first colon of each line, and `{/REGEX/}` the first group of the first match. A place that cannot be filled ends
//! the recording, because a comment must be true of what was recorded.

use crate::program::ChoreResult;
use regex::Regex;
use std::collections::BTreeSet;

/// Returns the words with all places filled in.
pub(super) fn fill(words: &str, output: &str) -> ChoreResult<String> {
    let files: BTreeSet<&str> = output.lines().filter_map(|line| line.split(':').next()).collect();
    let words = words
        .replace("{lines}", &output.lines().count().to_string())
        .replace("{files}", &files.len().to_string());
    let mut filled = String::with_capacity(words.len());
    let mut rest = words.as_str();
    while let Some((before, after)) = rest.split_once("{/") {
        let (pattern, after) =
            after.split_once("/}").ok_or_else(|| format!("no `/}}` after `{{/` in: {words}"))?;
        let found = Regex::new(pattern)?.captures(output).and_then(|groups| groups.get(1));
        let found = found.ok_or_else(|| format!("`{pattern}` matches nothing in:\n{output}"))?;
        filled.push_str(before);
        filled.push_str(found.as_str());
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn places_are_filled_from_the_output() {
        let output = "a.rs:1:x\na.rs:2:y\nb.rs:9:error[E0308]: z\n";
        let words = "{lines} lines in {files} files, {/error\\[(E\\d+)\\]/} in {/(\\w+\\.rs):9/}";
        assert_eq!(fill(words, output).unwrap(), "3 lines in 2 files, E0308 in b.rs");
        assert_eq!(fill("nothing to fill", output).unwrap(), "nothing to fill");
    }

    #[test]
    fn what_is_not_true_is_not_said() {
        assert!(fill("{/error\\[(E0999)\\]/}", "fine").is_err());
    }
}
