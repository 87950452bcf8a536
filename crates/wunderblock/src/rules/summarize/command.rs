//! A program of the user's own as a summariser: `command:PROG`.
//!
//! The program receives one JSON object on stdin, `{"system", "prompt", "most_tokens"}`, and writes the summary to
//! stdout.

use crate::rules::process::{self, Program};
use std::path::PathBuf;
use wunderblock_core::units::{Bytes, Millis, Tokens};
use wunderblock_summary::task::{Summarise, SummaryTask, SummaryText};
use wunderblock_summary::{CallFailure, TOKEN_TIME, writing_time};

/// Prefix that marks a summariser as a program.
const PREFIX: &str = "command:";
/// Time limit of a run, in addition to the time for writing.
const TIME: Millis = Millis(60_000);
/// Maximum bytes of stdout.
const OUTPUT: Bytes = Bytes(4 << 20);
/// Maximum number of characters that an error quotes from the end of stderr.
const ERRORS_CHARS: usize = 300;

/// A program that writes summaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSummariser {
    program: Program,
    /// Time added for each token that the program may write.
    per_token: Millis,
}

impl CommandSummariser {
    /// Parses a text of the form `command:PROG`: a program and its arguments, split as a shell would split them. No
    /// shell runs. `None` if the text has no `command:` prefix.
    ///
    /// # Errors
    /// Returns the reason why the line is invalid.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let line = text.strip_prefix(PREFIX)?;
        Some(process::split(line).map(|argv| Self::new(argv, None)).map_err(|why| format!("`{text}`: {why}")))
    }

    /// Creates a summariser from a program and its arguments; the program runs in `cwd`. The usual limits apply: a
    /// minute plus [`TOKEN_TIME`] for each token that the program may write, and 4 MiB of output.
    #[must_use]
    pub fn new(argv: Vec<String>, cwd: Option<PathBuf>) -> Self {
        Self { program: Program { argv, cwd, time: TIME, output: OUTPUT }, per_token: TOKEN_TIME }
    }

    /// Replaces the limits. Once the limits are replaced, the time limit no longer depends on the length of the
    /// summary.
    #[must_use]
    pub fn limited(mut self, time: Millis, output: Bytes) -> Self {
        self.per_token = Millis(0);
        (self.program.time, self.program.output) = (time, output);
        self
    }
}

impl Summarise for CommandSummariser {
    fn name(&self) -> String {
        format!("{PREFIX}{}", self.program.argv.first().map(String::as_str).unwrap_or_default())
    }

    fn window(&self) -> Option<Tokens> {
        None
    }

    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        let stdin = serde_json::json!({
            "system": task.system,
            "prompt": task.prompt,
            "most_tokens": task.most.0,
        });
        let time = Millis(self.program.time.0.saturating_add(writing_time(self.per_token, task.most).0));
        let program = Program { time, ..self.program.clone() };
        let output = process::run(&program, stdin.to_string().as_bytes(), progress)?;
        if !output.status.success() {
            let said = output.errors.split_whitespace().collect::<Vec<_>>().join(" ");
            let skipped = said.chars().count().saturating_sub(ERRORS_CHARS);
            let said: String = said.chars().skip(skipped).filter(|c| !c.is_control()).collect();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            return Err(CallFailure::Broken(format!("{} ended with {}{said}", self.name(), output.status)));
        }
        if output.text.trim().is_empty() {
            return Err(CallFailure::Empty);
        }
        Ok(SummaryText { text: output.text, ..SummaryText::default() })
    }
}
