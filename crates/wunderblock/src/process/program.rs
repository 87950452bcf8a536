//! A program as it is named, and what it came to.

use std::path::PathBuf;
use std::process::ExitStatus;
use wunderblock_core::units::{Bytes, Millis};

/// A program, its arguments, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it runs; none for where we do.
    pub cwd: Option<PathBuf>,
    /// How long it may take.
    pub time: Millis,
    /// The most it may write to stdout.
    pub output: Bytes,
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to stdout; what is not UTF-8 in it is replaced.
    pub text: String,
    /// The end of what it wrote to stderr.
    pub errors: String,
}

/// Splits a line into words as a shell does: blanks divide, quotes and backslashes keep together. Nothing else is special.
///
/// # Errors
/// What is wrong with it, in words: a quote that is not closed, a backslash at the end, no word at all.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n' | '\r') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                let Some(next) = chars.next() else {
                    return Err("it ends with a backslash".to_owned());
                };
                let word = word.get_or_insert_default();
                // Within quotes a backslash stands for itself, unless it has something to keep.
                if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a quote ({quote}) is not closed"));
    }
    words.extend(word);
    if words.is_empty() { Err("it names no program".to_owned()) } else { Ok(words) }
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
