//! Finds the output of a command between the lines that an agent puts around it, such as
//! `Chunk ID: … Wall time: … Process exited with code 0 … Output:`.
//!
//! The words are in `rules/frames.rules`. The frame is shown as it is, and only the output is judged and reduced: with
//! the frame of Codex, a list of files was taken for prose, and stayed as long as it was.

use std::ops::Range;
use std::sync::OnceLock;

/// Maximum number of lines before or after an output.
const MAX_LINES: usize = 16;

/// Words of the lines around an output.
#[derive(Default)]
struct FrameWords {
    head: Vec<&'static str>,
    opens: Vec<&'static str>,
    tail: Vec<&'static str>,
    blocks: Vec<(&'static str, &'static str)>,
    runs: Vec<&'static str>,
    polls: Vec<&'static str>,
}

impl FrameWords {
    fn get() -> &'static Self {
        static WORDS: OnceLock<FrameWords> = OnceLock::new();
        WORDS.get_or_init(|| {
            let mut words = Self::default();
            for line in include_str!("../../rules/frames.rules").lines() {
                let Some((class, text)) = line.split_once(' ') else { continue };
                match class {
                    "head" => words.head.push(text),
                    "opens" => words.opens.push(text),
                    "tail" => words.tail.push(text),
                    "runs" => words.runs.push(text),
                    "polls" => words.polls.push(text),
                    "block" => words.blocks.extend(text.split_once(' ')),
                    _ => {}
                }
            }
            words
        })
    }
}

/// Returns the range of the output in a text that has a frame; `None` if the text has none.
pub(crate) fn output(text: &str) -> Option<Range<usize>> {
    let words = FrameWords::get();
    let start = head_length(text, words);
    let end = text.len() - tail_length(text.get(start..)?, words);
    (start > 0 || end < text.len()).then_some(start..end)
}

/// Returns the name of the process that still runs, according to the frame of its first output.
#[must_use]
pub fn running(text: &str) -> Option<&str> {
    let (first, last) = (text.lines().take(MAX_LINES), text.lines().rev().take(MAX_LINES));
    first.chain(last).find_map(|line| {
        let rest = FrameWords::get().runs.iter().find_map(|words| line.strip_prefix(words))?;
        rest.split_whitespace().next().map(|word| word.trim_end_matches(['.', '>', ',']))
    })
}

/// Returns the name of the process whose output a call reads, according to its arguments, as `name=value` words.
#[must_use]
pub fn polled(arguments: &str) -> Option<&str> {
    let mut named = arguments.split_whitespace().filter_map(|word| word.split_once('='));
    named
        .find(|(name, value)| FrameWords::get().polls.contains(name) && !value.is_empty())
        .map(|(_, value)| value)
}

fn head_length(text: &str, words: &FrameWords) -> usize {
    let (mut end, mut at) = (0, 0);
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        let bare = line.trim_end();
        if let Some(word) = words.opens.iter().find(|word| bare.starts_with(*word)) {
            // The output may begin on the line of these words.
            let is_alone = bare.len() == word.len();
            let rest = line.get(word.len()..).unwrap_or("");
            end = at + if is_alone { line.len() } else { line.len() - rest.trim_start_matches(' ').len() };
            if !is_alone {
                break;
            }
        } else if words.head.iter().any(|word| bare.starts_with(*word)) {
            end = at + line.len();
        } else if !bare.is_empty() {
            break;
        }
        at += line.len();
    }
    end
}

fn tail_length(text: &str, words: &FrameWords) -> usize {
    let (mut start, mut at) = (text.len(), text.len());
    let mut until: Option<&str> = None;
    for line in text.split_inclusive('\n').rev().take(MAX_LINES) {
        at -= line.len();
        let bare = line.trim_end();
        if let Some(first) = until {
            if bare.starts_with(first) {
                (start, until) = (at, None);
            }
        } else if let Some((first, _)) = words.blocks.iter().find(|(_, last)| bare.starts_with(*last)) {
            until = Some(first);
        } else if words.tail.iter().any(|word| bare.starts_with(*word)) {
            start = at;
        } else if !bare.is_empty() {
            break;
        }
    }
    text.len() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_found_between_the_lines_of_the_agent() {
        for (before, after) in [
            (
                "Chunk ID: a1b2c3\nWall time: 0.6 seconds\nProcess exited with code 0\nOriginal token count: 379\nOutput:\n",
                "",
            ),
            ("Exit code: 1\nWall time: 2 seconds\nTotal output lines: 812\nOutput:\n", ""),
            ("Chunk ID: 1\nWall time: 9 seconds\nOutput:\nTotal output lines: 812\n", ""),
            ("Exit code 2\n", ""),
            ("Output: ", "\nProcess Group PGID: 755"),
            ("Command: ls\nDirectory: (root)\nOutput: ", "\nError: (none)\nExit Code: 0\nSignal: (none)\n"),
            (
                "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<status>completed</status>\n\n<output>\n",
                "</output>",
            ),
            ("", "<shellId: 17 completed with exit code 0>"),
            ("", "Command exited with code 1"),
            ("", "<shell_metadata>\nUser aborted the command\n</shell_metadata>\n"),
        ] {
            let middle = "src/a.rs\nsrc/b.rs\n";
            let text = format!("{before}{middle}{after}");
            let found = output(&text).unwrap();
            assert_eq!(text[found].trim_end(), middle.trim_end(), "{text}");
        }
    }

    #[test]
    fn a_process_has_one_name_in_its_output_and_in_the_calls_that_read_more() {
        for (text, name, call) in [
            (
                "Chunk ID: 1\nProcess running with session ID 432\nOutput:\na\n",
                "432",
                "session_id=432 chars=",
            ),
            (
                "Command running in background with ID: b46. Output is being written to: x",
                "b46",
                "bash_id=b46",
            ),
            (
                "a\n<command with shellId: watch is still running after 9 seconds>",
                "watch",
                "shellId=watch delay=9",
            ),
            ("<command started in background with shellId: 3>", "3", "shellId=3"),
        ] {
            assert_eq!((running(text), polled(call)), (Some(name), Some(name)));
        }
        assert_eq!((running("Process exited with code 0\n"), polled("path=a limit=3")), (None, None));
    }

    #[test]
    fn an_output_without_a_frame_has_none() {
        for text in ["", "\n", "src/a.rs\nsrc/b.rs\n", "error: no\nOutput:\n", "done\n</div>\n"] {
            assert_eq!(output(text), None, "{text}");
        }
    }
}
