//! The end of a run: exit codes, and errors that say what to do next.

use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_json, clean_lines};
use crate::output::hint::sentence;
use clap::error::ErrorKind;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;
use wunderblock::Error;

/// Exit code of a failure, or of a search without results.
pub(crate) const FAILED: u8 = 1;
/// Exit code of wrong usage.
pub(crate) const USAGE: u8 = 2;
/// Exit code of an intentional refusal, also because of other processes: the same command can succeed later.
pub(crate) const REFUSED: u8 = 3;

/// Returns the word for an exit code in JSON.
fn kind(code: u8) -> &'static str {
    match code {
        USAGE => "usage",
        REFUSED => "refused",
        _ => "failed",
    }
}

/// Result of a command.
pub(crate) type Exit = Result<ExitCode, Failure>;

/// Error of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the engine.
    Engine(Error),
    /// An error of the command line, with its exit code.
    Door(u8, String),
    /// The reader of our output has gone.
    BrokenPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Output(error) => Self::from(error),
            other => Self::Engine(other),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::Door(FAILED, format!("the output cannot be written: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Door(FAILED, error.to_string())
    }
}

impl Failure {
    /// Returns the exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            // It is not an error if a reader such as `head` stops reading.
            Self::BrokenPipe => 0,
            Self::Door(code, _) => *code,
            Self::Engine(error) => match error.kind() {
                wunderblock::ErrorKind::Usage => USAGE,
                wunderblock::ErrorKind::Refused | wunderblock::ErrorKind::Busy => REFUSED,
                _ => FAILED,
            },
        }
    }

    /// Returns the error message as a single line.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Engine(error) => clean(&error.to_string()),
            Self::Door(_, text) => clean(text),
            Self::BrokenPipe => "the reader of the output has closed it".to_owned(),
        }
    }
}

/// Creates an error for invalid usage that is found after parsing.
pub(crate) fn wrong(text: impl Into<String>) -> Failure {
    Failure::Door(USAGE, text.into())
}

/// Creates an error for a named file that cannot be used.
pub(crate) fn refused(path: &std::path::Path, why: &str) -> Failure {
    wrong(format!("{}: {why}", clean(&path.to_string_lossy())))
}

/// Creates an error for a file that cannot be written.
pub(crate) fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::Door(FAILED, format!("{} cannot be written: {error}", path.display()))
}

/// Prints an error of clap. Help and version texts are printed as well, although they are not errors.
pub(crate) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    let code = if error.use_stderr() { USAGE } else { 0 };
    if json && code == USAGE {
        let text = error.to_string();
        let said: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let said = match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                "no command is given".to_owned()
            }
            _ => said.join(" "),
        };
        let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
        let hint =
            tip.unwrap_or("`wunderblock help` lists the commands, `wunderblock help COMMAND` its options");
        let message = said.strip_prefix("error: ").unwrap_or(&said);
        print_json(&described(message, code, Some(hint)));
    }
    // The arguments are part of the message. Their control characters must not reach the terminal.
    let text = error.render().to_string();
    let safe = clean_lines(&text);
    let _ = if safe == text { error.print() } else { std::io::stderr().lock().write_all(safe.as_bytes()) };
    ExitCode::from(code)
}

/// Returns an error as JSON.
fn described(message: &str, code: u8, hint: Option<&str>) -> Value {
    let mut value = serde_json::json!({ "error": message, "kind": kind(code), "exit_code": code });
    if let Some(hint) = hint {
        add(&mut value, serde_json::json!({ "hint": hint }));
    }
    value
}

/// Adds the fields of one object to another.
pub(crate) fn add(value: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
        fields.extend(more);
    }
}

fn print_json(value: &Value) {
    let _ = writeln!(std::io::stdout().lock(), "{}", clean_json(&value.to_string()));
}

/// Prints an error and the hint on what to do next.
pub(crate) fn failed(failure: &Failure, json: bool) -> ExitCode {
    let code = failure.code();
    let (message, hint) = match failure {
        Failure::BrokenPipe => return ExitCode::SUCCESS,
        Failure::Door(_, message) => (message.clone(), None),
        Failure::Engine(error) => (error.to_string(), error.hint().as_ref().and_then(sentence)),
    };
    let mut stderr = std::io::stderr().lock();
    if let Failure::Engine(Error::OverBudget(refusal)) = failure {
        for part in &refusal.parts {
            let _ = writeln!(
                stderr,
                "  {:>10} tokens  {:<12} {}",
                wunderblock_core::stub::grouped(part.cost.tokens.0),
                part.section.name(),
                clean(&part.what)
            );
        }
    }
    if json {
        let mut value = described(&message, code, hint.as_deref());
        if let Failure::Engine(Error::OverBudget(refusal)) = failure {
            let parts = refusal.parts.iter().map(|part| {
                serde_json::json!({ "section": part.section.name(), "what": part.what, "tokens": part.cost.tokens.0 })
            });
            let parts: Vec<_> = parts.collect();
            add(
                &mut value,
                serde_json::json!({
                    "error_code": "context_overflow",
                    "limit": refusal.limit.tokens.0,
                    "needed": refusal.needed.tokens.0,
                    "parts": parts,
                }),
            );
        }
        print_json(&value);
    }
    let paint = Paint::stderr();
    let _ = writeln!(stderr, "{} {}", paint.failed("error:"), clean_lines(&message).trim_end());
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "{} {hint}", paint.bold("hint:"));
    }
    ExitCode::from(code)
}
