//! The text of a slash command or a skill with its arguments, as each product makes it.
//!
//! Nothing is run and no file is read: commands of a shell, files and variables stay as written, and are listed.
//! Arguments are inserted once, and nothing in them is a placeholder.

use super::command::{CommandDefinition, CommandKind};
use std::collections::BTreeMap;

/// Part of a text that the product replaces when it runs the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftPart {
    /// Command of a shell, whose output the product inserts.
    Shell,
    /// File, whose content the product inserts.
    File,
    /// Variable, whose value the product inserts.
    Variable,
}

impl LeftPart {
    /// Returns the name of the part.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::File => "file",
            Self::Variable => "variable",
        }
    }

    /// Returns what the product does with the part.
    #[must_use]
    pub const fn action(self) -> &'static str {
        match self {
            Self::Shell => "runs",
            Self::File => "inserts the file",
            Self::Variable => "inserts the value of",
        }
    }
}

/// Text of a command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpandedCommand {
    /// Text.
    pub text: String,
    /// Parts that are left as written, with their arguments, in the order of the text.
    pub left: Vec<(LeftPart, Box<str>)>,
}

/// Returns the text of a command with its arguments, as typed after its name.
#[must_use]
pub fn expand(command: &CommandDefinition, arguments: &str) -> ExpandedCommand {
    let arguments = arguments.trim();
    let syntax = Syntax::of(command);
    let words = split_words(arguments);
    let named = match syntax {
        Syntax::Claude => named_by_order(&command.arguments, &words),
        Syntax::Codex => words.iter().filter_map(|word| named_by_key(word)).collect(),
        _ => BTreeMap::new(),
    };
    let highest = numbers(&command.prompt).max().unwrap_or_default();
    let mut expansion = Expansion { syntax, arguments, words, named, highest, used: false, left: Vec::new() };
    let mut text = expansion.text(&command.prompt);
    if !expansion.used && !arguments.is_empty() {
        match syntax {
            Syntax::Claude => text.push_str(&format!("\n\nARGUMENTS: {arguments}")),
            Syntax::Gemini => text.push_str(&format!("\n\n/{} {arguments}", command.name)),
            Syntax::OpenCode | Syntax::Fixed => text.push_str(&format!("\n\n{arguments}")),
            Syntax::Codex => {}
        }
    }
    ExpandedCommand { text, left: expansion.left }
}

/// Syntax of placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    /// No placeholders: the arguments are a prompt after the text.
    Fixed,
}

impl Syntax {
    fn of(command: &CommandDefinition) -> Self {
        match (&*command.origin.product, command.kind) {
            ("claude-code", _) => Self::Claude,
            ("opencode", _) => Self::OpenCode,
            ("codex", CommandKind::Command) => Self::Codex,
            ("gemini-cli", CommandKind::Command) => Self::Gemini,
            _ => Self::Fixed,
        }
    }

    /// Returns the length of the part at the beginning of a text that the product replaces when it runs the command.
    fn left_part(self, text: &str, before: Option<char>) -> Option<(LeftPart, usize)> {
        let apart = before.is_none_or(char::is_whitespace);
        match self {
            Self::Claude => {
                let block = || text.starts_with("```!").then(|| between(text, "```!", "```"))?;
                let shell = between(text, "!`", "`").filter(|_| apart).or_else(block);
                let variable = || {
                    let known = text.starts_with("${CLAUDE_") || text.starts_with("${user_config.");
                    known.then(|| between(text, "${", "}"))?
                };
                let file = || Some((LeftPart::File, file_length(text).filter(|_| apart)?));
                let shell = shell.map(|length| (LeftPart::Shell, length));
                shell.or_else(|| Some((LeftPart::Variable, variable()?))).or_else(file)
            }
            Self::OpenCode => {
                let apart = before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '`')));
                let file = || Some((LeftPart::File, file_length(text).filter(|_| apart)?));
                between(text, "!`", "`").map(|length| (LeftPart::Shell, length)).or_else(file)
            }
            Self::Gemini if text.starts_with("!{") => Some((LeftPart::Shell, braced(text))),
            Self::Gemini if text.starts_with("@{") => Some((LeftPart::File, braced(text))),
            Self::Gemini | Self::Codex | Self::Fixed => None,
        }
    }
}

struct Expansion<'a> {
    syntax: Syntax,
    arguments: &'a str,
    words: Vec<String>,
    named: BTreeMap<Box<str>, String>,
    /// Highest number of a placeholder.
    highest: usize,
    /// Whether the text has a placeholder.
    used: bool,
    left: Vec<(LeftPart, Box<str>)>,
}

impl Expansion<'_> {
    fn text(&mut self, template: &str) -> String {
        let (mut out, mut rest, mut before) = (String::with_capacity(template.len()), template, None);
        while let Some(c) = rest.chars().next() {
            // A letter begins nothing.
            let found = if c.is_ascii_punctuation() { self.syntax.left_part(rest, before) } else { None };
            let length = match found {
                Some((part, length)) => {
                    let written = rest.get(..length).unwrap_or(rest);
                    let filled = match (self.syntax, part) {
                        // Files are inserted before arguments.
                        (Syntax::Gemini, LeftPart::File) => written.to_owned(),
                        _ => self.fill(written, part),
                    };
                    out.push_str(&filled);
                    self.left.push((part, filled.into()));
                    length
                }
                None => self.step(rest, None, &mut out),
            };
            before = rest.get(..length).and_then(|passed| passed.chars().next_back());
            rest = rest.get(length..).unwrap_or_default();
        }
        out
    }

    /// Returns a part that the product replaces, with its arguments.
    fn fill(&mut self, part: &str, kind: LeftPart) -> String {
        let (mut out, mut rest) = (String::new(), part);
        while !rest.is_empty() {
            let length = self.step(rest, Some(kind), &mut out);
            rest = rest.get(length..).unwrap_or_default();
        }
        out
    }

    /// Writes the placeholder at the beginning of a text, or one character. Returns the length of what was read.
    fn step(&mut self, rest: &str, part: Option<LeftPart>, out: &mut String) -> usize {
        let found = match self.syntax {
            Syntax::Claude => self.claude(rest).and_then(|(length, value)| Some((length, value?))),
            Syntax::Codex => self.codex(rest),
            Syntax::OpenCode => self.opencode(rest),
            Syntax::Gemini => rest.starts_with("{{args}}").then(|| {
                let shell = part == Some(LeftPart::Shell);
                ("{{args}}".len(), if shell { quoted(self.arguments) } else { self.arguments.to_owned() })
            }),
            Syntax::Fixed => None,
        };
        if let Some((length, value)) = found {
            self.used = true;
            out.push_str(&value);
            return length;
        }
        // The backslash of an escaped placeholder goes; the dollar after it begins nothing.
        let escaped = rest.strip_prefix('\\').filter(|_| self.syntax == Syntax::Claude);
        if escaped.is_some_and(|rest| self.claude(rest).is_some()) {
            out.push('$');
            return 2;
        }
        // A doubled dollar of Codex stays as it is.
        if self.syntax == Syntax::Codex && rest.starts_with("$$") {
            let length = 2 + rest.get(2..).map_or(0, |rest| name(rest).len());
            out.push_str(rest.get(..length).unwrap_or_default());
            return length;
        }
        let first = rest.chars().next();
        out.extend(first);
        first.map_or(0, char::len_utf8)
    }

    /// Counts from 0. An argument that is not given has no value, which leaves its placeholder, unless it has a name.
    fn claude(&self, rest: &str) -> Option<(usize, Option<String>)> {
        let after = rest.strip_prefix('$')?;
        let word = |number: &str| self.word(number, 0).map(str::to_owned);
        if let Some(index) = after.strip_prefix("ARGUMENTS[") {
            let number = digits(index);
            if !number.is_empty() && index.get(number.len()..).is_some_and(|end| end.starts_with(']')) {
                return Some(("$ARGUMENTS[]".len() + number.len(), word(number)));
            }
        }
        let number = digits(after);
        if !number.is_empty() && after.get(number.len()..).is_some_and(|end| !end.starts_with(is_word)) {
            return Some((1 + number.len(), word(number)));
        }
        let written = name(after);
        let indexed = after.get(written.len()..).is_some_and(|end| end.starts_with('['));
        if let Some(value) = self.named.get(written).filter(|_| !indexed) {
            return Some((1 + written.len(), Some(value.clone())));
        }
        after.starts_with("ARGUMENTS").then(|| ("$ARGUMENTS".len(), Some(self.arguments.to_owned())))
    }

    /// Counts from 1 to 9. A named argument that is not given leaves its placeholder.
    fn codex(&self, rest: &str) -> Option<(usize, String)> {
        let after = rest.strip_prefix('$')?;
        if let Some(digit) = after.get(..1).filter(|digit| matches!(digit.as_bytes(), [b'1'..=b'9'])) {
            return Some((2, self.word(digit, 1).unwrap_or_default().to_owned()));
        }
        let written = name(after);
        if let Some(value) = self.named.get(written) {
            return Some((1 + written.len(), value.clone()));
        }
        after.starts_with("ARGUMENTS").then(|| ("$ARGUMENTS".len(), self.words.join(" ")))
    }

    /// Counts from 1. The highest number takes all arguments from its own.
    fn opencode(&self, rest: &str) -> Option<(usize, String)> {
        let after = rest.strip_prefix('$')?;
        let number = digits(after);
        if number.is_empty() {
            return after.starts_with("ARGUMENTS").then(|| ("$ARGUMENTS".len(), self.arguments.to_owned()));
        }
        let all = number.parse() == Ok(self.highest);
        let from = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let value = match from.and_then(|from| self.words.get(from..)) {
            Some(words) if all => words.join(" "),
            _ => self.word(number, 1).unwrap_or_default().to_owned(),
        };
        Some((1 + number.len(), value))
    }

    fn word(&self, number: &str, first: usize) -> Option<&str> {
        let index = number.parse::<usize>().ok()?.checked_sub(first)?;
        self.words.get(index).map(String::as_str)
    }
}

fn named_by_order(names: &[Box<str>], words: &[String]) -> BTreeMap<Box<str>, String> {
    let words = words.iter().cloned().chain(std::iter::repeat(String::new()));
    names.iter().cloned().zip(words).collect()
}

fn named_by_key(word: &str) -> Option<(Box<str>, String)> {
    let (key, value) = word.split_once('=')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_uppercase()) && name(key) == key;
    is_key.then(|| (key.into(), value.to_owned()))
}

/// Splits arguments at spaces outside quotes, and removes the quotes. A backslash outside single quotes takes the next
/// character as it is.
fn split_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut open, mut quote) = (Vec::new(), String::new(), false, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => (quote, open) = (Some(c), true),
            (None | Some('"'), '\\') => {
                word.extend(chars.next());
                open = true;
            }
            (None, c) if c.is_whitespace() => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            (_, c) => {
                word.push(c);
                open = true;
            }
        }
    }
    words.extend(open.then_some(word));
    words
}

/// Returns a text as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn digits(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
}

fn name(text: &str) -> &str {
    text.split(|c: char| !is_word(c)).next().unwrap_or_default()
}

fn numbers(template: &str) -> impl Iterator<Item = usize> {
    template.split('$').skip(1).filter_map(|text| digits(text).parse().ok())
}

/// Returns the length of a part that is not empty, with its beginning and its end.
fn between(text: &str, begin: &str, end: &str) -> Option<usize> {
    let inner = text.strip_prefix(begin)?;
    let length = inner.find(end).filter(|length| *length > 0)?;
    Some(begin.len() + length + end.len())
}

/// Returns the length of a mark and a text in balanced braces; all of the text if the braces are not balanced, because the
/// product rejects it.
fn braced(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a file's name after an `@`, without the punctuation after it.
fn file_length(text: &str) -> Option<usize> {
    let path = text.strip_prefix('@')?;
    let path = path.split(|c: char| c.is_whitespace() || matches!(c, '`' | ',')).next().unwrap_or_default();
    let path = path.trim_end_matches(['.', ';', ':', '!', '?', ')', '"', '\'']);
    (!path.is_empty()).then_some(1 + path.len())
}

#[cfg(test)]
mod tests {
    use super::super::definition::{Layer, Origin};
    use super::*;
    use proptest::prelude::*;

    type Left<'a> = &'a [(LeftPart, &'a str)];

    fn command(product: &str, kind: CommandKind, prompt: &str) -> CommandDefinition {
        let origin =
            Origin { layer: Layer::User, distance: 0, product: product.into(), place: "here".into() };
        let mut command = CommandDefinition::new(kind, "fix", prompt, origin);
        command.arguments = vec!["issue".into(), "branch".into()];
        command
    }

    fn text(product: &str, prompt: &str, arguments: &str) -> String {
        expand(&command(product, CommandKind::Command, prompt), arguments).text
    }

    #[test]
    fn arguments_are_inserted_as_each_product_does() {
        for (product, prompt, arguments, expected) in [
            ("claude-code", "Fix $ARGUMENTS!", " 'a b' c ", "Fix 'a b' c!"),
            ("claude-code", "$0|$1|$ARGUMENTS[1]|$ARGUMENTS[0]", "'a b' c", "a b|c|c|a b"),
            ("claude-code", "$1 and $ARGUMENTS[7], $0", "a", "$1 and $ARGUMENTS[7], a"),
            ("claude-code", "costs $5", "a", "costs $5\n\nARGUMENTS: a"),
            ("claude-code", "$0x $0.", "a", "$0x a."),
            ("claude-code", "$issue on $branch, $issues", "7", "7 on , $issues"),
            (
                "claude-code",
                r"\$0 \$issue \$ARGUMENTS \$9 \$HOME",
                "a",
                "$0 $issue $ARGUMENTS $9 \\$HOME\n\nARGUMENTS: a",
            ),
            ("claude-code", "Plain.", "a  b", "Plain.\n\nARGUMENTS: a  b"),
            ("claude-code", "Plain.", " ", "Plain."),
            ("claude-code", "Say $ARGUMENTS", "$0 $ARGUMENTS", "Say $0 $ARGUMENTS"),
            ("codex", "$1|$2|$9|$0", "a 'b c'", "a|b c||$0"),
            ("codex", "$ARGUMENTS", "a  'b c'", "a b c"),
            ("codex", "$$1 $$FILE $FILE $NONE", "FILE='a b' x=y", "$$1 $$FILE a b $NONE"),
            ("codex", "Plain.", "a", "Plain."),
            ("gemini-cli", "Do {{args}} twice: {{args}}", "a 'b'", "Do a 'b' twice: a 'b'"),
            ("gemini-cli", "!{grep {{args}} x}", "it's", r"!{grep 'it'\''s' x}"),
            ("gemini-cli", "Plain $1.", "a", "Plain $1.\n\n/fix a"),
            ("gemini-cli", "Plain.", "", "Plain."),
            ("opencode", "$1|$2", "a b c", "a|b c"),
            ("opencode", "$2|$1|$3", "a b", "b|a|"),
            ("opencode", "$ARGUMENTS", "\"a b\" c", "\"a b\" c"),
            ("opencode", "Plain.", "a", "Plain.\n\na"),
            ("claude-code", "$0 $1", r#"a\ b "c \"d""#, "a b c \"d"),
            ("claude-code", "Prüfe $0 für 测试", "日本", "Prüfe 日本 für 测试"),
        ] {
            assert_eq!(text(product, prompt, arguments), expected, "{product}: {prompt}");
        }
        for product in ["codex", "gemini-cli"] {
            let skill = command(product, CommandKind::Skill, "Use $1 {{args}} !{ls}.");
            assert_eq!(expand(&skill, "a").text, "Use $1 {{args}} !{ls}.\n\na");
            assert_eq!(expand(&skill, "a").left, []);
        }
    }

    #[test]
    fn shells_files_and_variables_are_left_as_written() {
        use LeftPart::{File, Shell, Variable};
        let cases: [(&str, &str, Left<'_>); 6] = [
            (
                "claude-code",
                "Log: !`git log $0` x!`no`\n```!\nls $1\n```\nSee @src/$0.rs, a@b.c, `@x` in ${CLAUDE_SKILL_DIR}/x and ${HOME}",
                &[
                    (Shell, "!`git log main`"),
                    (Shell, "```!\nls b\n```"),
                    (File, "@src/main.rs"),
                    (Variable, "${CLAUDE_SKILL_DIR}"),
                ],
            ),
            ("claude-code", "!`open\n!`` @ @. ${CLAUDE_", &[(Shell, "!`open\n!`")]),
            ("opencode", "x!`ls $1` @a/b.md. me@x `@y`", &[(Shell, "!`ls main b`"), (File, "@a/b.md")]),
            (
                "gemini-cli",
                "!{awk '{print}' {{args}}} @{docs/{{args}}.md} @plain",
                &[(Shell, "!{awk '{print}' 'main b'}"), (File, "@{docs/{{args}}.md}")],
            ),
            ("gemini-cli", "a !{ { b", &[(Shell, "!{ { b")]),
            ("codex", "!`ls` @file !{ls}", &[]),
        ];
        for (product, prompt, expected) in cases {
            let got = expand(&command(product, CommandKind::Command, prompt), "main b");
            let left: Vec<(LeftPart, &str)> = got.left.iter().map(|(part, text)| (*part, &**text)).collect();
            assert_eq!(left, expected, "{product}: {prompt}");
            assert!(left.iter().all(|(_, written)| got.text.contains(written)), "{}", got.text);
        }
        // An argument begins no command of a shell.
        assert_eq!(expand(&command("claude-code", CommandKind::Command, "$0"), "'!`rm x`'").left, []);
    }

    proptest! {
        #[test]
        fn any_text_is_expanded_and_arguments_only_once(
            prompt in "[a-z$ \\\\!`@{}0-9ARGUMENTS\\[\\]äß\n]{0,60}",
            arguments in "[a-z$'\"\\\\ {}0-9é]{0,20}",
        ) {
            for product in ["claude-code", "codex", "gemini-cli", "opencode", "other"] {
                let got = text(product, &prompt, &arguments);
                prop_assert!(got.len() <= (prompt.len() + 20) * (3 * arguments.len() + 8));
            }
            let inserted = text("claude-code", "$ARGUMENTS", &arguments);
            prop_assert_eq!(inserted, arguments.trim());
            prop_assert_eq!(text("other", &prompt, ""), prompt);
        }
    }
}
