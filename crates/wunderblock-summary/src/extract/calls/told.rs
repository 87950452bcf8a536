//! Prose inside commands: the messages of commits, issues and pull requests, in which a model says what it did and why.

use super::act;
use crate::extract::language::cue;
use crate::extract::language::plain::{cut, readable};
use regex::Regex;
use std::sync::LazyLock;
use wunderblock_redact::Redactor;

/// Maximum number of bytes that are read from a command.
const LOOK: usize = 32 << 10;
/// Minimum number of words in a message; a shorter one is a title, which the list of commits quotes.
const WORDS_MIN: usize = 12;

/// A quoted argument of a flag that gives a message.
static ARGUMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let flags = r"(?:-m|--message|--body|-b|--comment|--notes|--description)";
    Regex::new(&format!(r#"(?s)\s{flags}[ =](?:"((?:[^"\\`]|\\.|`.)*)"|'([^']*)')"#)).ok()
});
/// Beginning of a text that ends with a line of its own: the shell's heredoc, or PowerShell's here-string.
static HERE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:<<-?\s*\\?["']?(\w+)["']?|@(["']))[^\n]*\n"#).ok());

/// Returns the messages that the command of a call gives.
pub(in crate::extract) fn of_call(input: &str, redactor: &Redactor) -> Vec<String> {
    act::command(input).map(|command| messages(&readable(&command, redactor))).unwrap_or_default()
}

/// Returns the messages that a command gives, with the lines of each paragraph joined.
fn messages(command: &str) -> Vec<String> {
    let look = command.get(..cut(command, LOOK)).unwrap_or_default();
    let mut found = here_texts(look);
    if found.is_empty() {
        let arguments = ARGUMENT.iter().flat_map(|pattern| pattern.captures_iter(look));
        found.extend(arguments.filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str())));
    }
    let is_long = |text: &&str| text.split_whitespace().nth(WORDS_MIN - 1).is_some();
    found.into_iter().filter(is_long).map(joined).collect()
}

fn here_texts(command: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for begins in HERE.iter().flat_map(|pattern| pattern.captures_iter(command)) {
        let rest = begins.get(0).and_then(|all| command.get(all.end()..)).unwrap_or_default();
        let end = begins.get(1).map(|tag| tag.as_str().to_owned());
        let end = end.or_else(|| Some(format!("{}@", begins.get(2)?.as_str()))).unwrap_or_default();
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim().starts_with(&end) {
                found.extend(rest.get(..length));
                break;
            }
            length += line.len();
        }
    }
    found
}

/// Joins the lines of each paragraph, which are broken at a width, so that its sentences are whole. Trailers are left
/// out.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        let is_trailer = line.split_once(": ").is_some_and(|(name, _)| {
            name.contains('-') && name.chars().all(|c| c.is_alphabetic() || c == '-')
        });
        if is_trailer {
            continue;
        }
        let begins = line.is_empty() || cue::is_listed(line) || line.starts_with(['#', '|']);
        if !out.is_empty() {
            out.push(if begins || out.ends_with('\n') { '\n' } else { ' ' });
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_its_message_in_whole_sentences() {
        let body = "The parser lost the last line when a file had no final\nnewline. It keeps the line now.";
        let whole = "The parser lost the last line when a file had no final newline. It keeps the line now.";
        for command in [
            format!("git commit -m 'parser: keep the last line' -m \"{body}\""),
            format!(
                "git add . && git commit -m \"$(cat <<'EOF'\nparser: keep it\n\n{body}\n\nSigned-off-by: A B\nEOF\n)\""
            ),
            format!("gh issue create --title 'x' --body '{body}'"),
            format!("$b = @'\n{body}\n'@; gh issue comment 4 --body $b"),
        ] {
            let found = messages(&command);
            assert_eq!(found.len(), 1, "{command}: {found:?}");
            assert!(found[0].lines().any(|line| line == whole), "{command}: {found:?}");
            assert!(!found[0].contains("Signed-off"), "{found:?}");
        }
        assert_eq!(messages("git commit -m 'short' && cargo test -- --body"), [""; 0]);
        assert_eq!(messages("cat <<EOF\nnever ended"), [""; 0]);
    }
}
