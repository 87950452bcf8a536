//! A program to run, and its result.

use std::path::PathBuf;
use std::process::ExitStatus;
use wunderblock_core::units::{Bytes, Millis};
use wunderblock_text::shell::{Unclosed, words};

/// A program, its arguments, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Program name or path, followed by the arguments.
    pub argv: Vec<String>,
    /// Working directory; `None` for the current one.
    pub cwd: Option<PathBuf>,
    /// Maximum run time.
    pub time: Millis,
    /// Maximum bytes of stdout.
    pub output: Bytes,
}

/// Result of a program's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Exit status.
    pub status: ExitStatus,
    /// Contents of stdout; invalid UTF-8 is replaced.
    pub text: String,
    /// The end of stderr.
    pub errors: String,
}

/// What a program wrote on both streams, and what ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Reason why the program ended.
    pub end: ProgramEnd,
    /// Bytes of stdout and stderr, in the order in which they were written.
    pub bytes: Vec<u8>,
}

/// Reason why a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// The program ended by itself.
    Exited(ExitStatus),
    /// The program was ended because it ran longer than [`Program::time`].
    TimedOut,
    /// The program was ended because it wrote more than [`Program::output`].
    TooLong,
    /// The program was ended by its caller.
    Stopped,
}

impl ProgramEnd {
    /// Returns the exit code of a program that ended by itself. If a signal ended the program, the exit code is 128
    /// plus the signal's number, as in shells.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exited(status) => exit_code(status),
            Self::TimedOut | Self::TooLong | Self::Stopped => None,
        }
    }
}

/// Returns the exit code of a status, as shells count: 128 plus the signal's number if a signal ended the program.
#[must_use]
pub fn exit_code(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    status.code().or(signal)
}

/// Splits a line into words as a shell does: blanks separate words, unless quotes or backslashes make the blanks part
/// of a word. No other character is special.
///
/// # Errors
/// Returns the reason why the line is invalid: an unclosed quote, a trailing backslash, or no words.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    match words(line) {
        Ok(words) if words.is_empty() => Err("it names no program".to_owned()),
        Ok(words) => Ok(words),
        Err(Unclosed::Quote(quote)) => Err(format!("a quote ({quote}) is not closed")),
        Err(Unclosed::Backslash) => Err("it ends with a backslash".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_into_words_without_a_shell() {
        let table: [(&str, &[&str]); 8] = [
            ("prog", &["prog"]),
            ("  prog  -a\tb\n", &["prog", "-a", "b"]),
            ("prog 'a b' \"c d\"", &["prog", "a b", "c d"]),
            ("prog a\\ b '' \"\"", &["prog", "a b", "", ""]),
            ("prog 'it'\\''s'", &["prog", "it's"]),
            (r#"prog "a\"b\n" 'a\b'"#, &["prog", "a\"b\\n", "a\\b"]),
            ("prog $HOME *.rs a;b | c", &["prog", "$HOME", "*.rs", "a;b", "|", "c"]),
            ("/opt/my\\ tools/sum --lang=汉", &["/opt/my tools/sum", "--lang=汉"]),
        ];
        for (line, words) in table {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for wrong in ["", "  ", "prog 'a", "prog \"a", "prog a\\", "prog \"a\\"] {
            assert!(split(wrong).is_err(), "{wrong:?}");
        }
    }
}
