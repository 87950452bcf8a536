//! Splits command lines into words and operators, as a shell does. Nothing is expanded.
//!
//! [`tokens`] knows operators, redirections, here-documents and comments. [`words`] knows only blanks, quotes and
//! backslashes, for a command that runs without a shell.

use std::ops::Range;

/// A word or an operator of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellToken {
    /// A word that is not the target of a redirection.
    Word(ShellWord),
    /// A redirection from or to a file. One to a descriptor, such as `2>&1`, names no file and is skipped.
    Redirect(Redirect),
    /// `|` or `|&`.
    Pipe,
    /// `;`.
    End,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `&`, which runs the command before it in the background.
    Background,
    /// A line break. The here-documents that begin after it are skipped.
    Line,
    /// `(`, unless it is part of a word.
    Open,
    /// `)`, unless it is part of a word.
    Close,
}

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    text: String,
    /// Ranges of `text` that are commands whose output the shell would insert, with the characters around them.
    commands: Vec<Range<usize>>,
}

impl ShellWord {
    /// Returns the text of the word. Commands in it, such as `$(ls)`, are as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text with `$` in place of each command, whose output is unknown.
    #[must_use]
    pub fn outline(mut self) -> String {
        for command in self.commands.into_iter().rev() {
            self.text.replace_range(command, "$");
        }
        self.text
    }

    /// Returns whether the word contains a command whose output the shell would insert.
    #[must_use]
    pub fn has_command(&self) -> bool {
        !self.commands.is_empty()
    }
}

/// A redirection and the word that names its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Direction of the redirection.
    pub flow: Flow,
    /// Descriptor in front of the operator, such as the `2` of `2>errors`.
    pub descriptor: Option<String>,
    /// Name of the file; of a here-document, the word that ends it.
    pub target: ShellWord,
}

/// Direction of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// `>`, `>|` or `&>`: replaces a file.
    Out,
    /// `>>` or `&>>`: appends to a file.
    Append,
    /// `<` or `<>`: reads a file.
    In,
    /// `<<` or `<<<`: reads a text that is part of the command.
    Here,
}

/// Reason why a line has no complete words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclosed {
    /// The line ends within this quote.
    Quote(char),
    /// The line ends with a backslash.
    Backslash,
}

/// Splits a line into words at blanks. Quotes and backslashes keep blanks within a word; no other character is special.
///
/// # Errors
/// Returns what the line leaves open at its end.
pub fn words(line: &str) -> Result<Vec<String>, Unclosed> {
    let mut scanner = Scanner::new(line);
    let mut words = Vec::new();
    while let Some(c) = scanner.bump() {
        if is_blank(c) || c == '\n' {
            words.extend(scanner.word.take());
        } else if !scanner.reads_quoted(c) {
            scanner.push(c);
        }
    }
    words.extend(scanner.word);
    scanner.unclosed.map_or_else(|| Ok(words.into_iter().map(|word| word.text).collect()), Err)
}

/// Splits a command into words and operators. A quote that is not closed ends with the command.
pub fn tokens(command: &str) -> impl Iterator<Item = ShellToken> {
    Tokens { scanner: Scanner::new(command), nested: 0, documents: Vec::new() }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

/// The rest of a line, and the word that is being read.
struct Scanner<'c> {
    rest: &'c str,
    word: Option<ShellWord>,
    unclosed: Option<Unclosed>,
}

impl<'c> Scanner<'c> {
    const fn new(rest: &'c str) -> Self {
        Self { rest, word: None, unclosed: None }
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    /// Reads what a quote or a backslash protects, if `c` is one of them.
    fn reads_quoted(&mut self, c: char) -> bool {
        match c {
            '\'' | '"' => self.quoted(c),
            '\\' => match self.bump() {
                // The line continues.
                Some('\n') => {}
                Some(next) => self.push(next),
                None => self.unclosed = Some(Unclosed::Backslash),
            },
            _ => return false,
        }
        true
    }

    fn quoted(&mut self, quote: char) {
        self.word.get_or_insert_default();
        while let Some(c) = self.bump() {
            if c == quote {
                return;
            }
            if c == '\\' && quote == '"' {
                let Some(next) = self.bump() else { break };
                // Within double quotes, a backslash is literal unless it precedes a character that it can escape.
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    self.push(c);
                }
                self.push(next);
            } else {
                self.push(c);
            }
        }
        self.unclosed = Some(Unclosed::Quote(quote));
    }

    /// Adds the next `length` bytes to the word, as a command whose output the shell would insert.
    fn push_command(&mut self, length: usize) {
        let (command, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        let word = self.word.get_or_insert_default();
        let start = word.text.len();
        word.text.push_str(command);
        word.commands.push(start..word.text.len());
        self.rest = rest;
    }
}

struct Tokens<'c> {
    scanner: Scanner<'c>,
    /// Number of parentheses that are open within words, as in `a=(b c)`.
    nested: usize,
    /// Words that end the here-documents of the current line.
    documents: Vec<String>,
}

impl Iterator for Tokens<'_> {
    type Item = ShellToken;

    fn next(&mut self) -> Option<ShellToken> {
        loop {
            self.skip_blanks();
            let scanner = &mut self.scanner;
            if scanner.rest.starts_with(['<', '>']) || scanner.rest.starts_with("&>") {
                if let Some(token) = self.redirect(None) {
                    return Some(token);
                }
                continue;
            }
            if scanner.eat("\n") {
                self.skip_documents();
                return Some(ShellToken::Line);
            }
            let operators = [
                ("||", ShellToken::Or),
                ("&&", ShellToken::And),
                (";", ShellToken::End),
                ("&", ShellToken::Background),
            ];
            if let Some((_, token)) = operators.into_iter().find(|(operator, _)| scanner.eat(operator)) {
                return Some(token);
            }
            if scanner.eat("|") {
                scanner.eat("&");
                return Some(ShellToken::Pipe);
            }
            if self.nested == 0 && scanner.eat("(") {
                return Some(ShellToken::Open);
            }
            if self.nested == 0 && scanner.eat(")") {
                return Some(ShellToken::Close);
            }
            let word = self.word()?;
            // A number directly before a redirection is a descriptor.
            let is_descriptor = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_descriptor || !self.scanner.rest.starts_with(['<', '>']) {
                return Some(ShellToken::Word(word));
            }
            if let Some(token) = self.redirect(Some(word.text)) {
                return Some(token);
            }
        }
    }
}

impl Tokens<'_> {
    /// Skips blanks, continued lines and a comment.
    fn skip_blanks(&mut self) {
        let scanner = &mut self.scanner;
        loop {
            scanner.rest = scanner.rest.trim_start_matches(is_blank);
            if !scanner.eat("\\\n") {
                break;
            }
        }
        if scanner.rest.starts_with('#') {
            scanner.rest = scanner.rest.find('\n').and_then(|at| scanner.rest.get(at..)).unwrap_or_default();
        }
    }

    /// Skips the lines of here-documents up to the words that end them.
    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            loop {
                let (line, rest) = self.scanner.rest.split_once('\n').unwrap_or((self.scanner.rest, ""));
                self.scanner.rest = rest;
                if line.trim() == end || rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// Reads a word; `None` at the end of the command.
    fn word(&mut self) -> Option<ShellWord> {
        while let Some(c) = self.scanner.rest.chars().next() {
            match c {
                '\n' | ';' | '|' | '&' | '<' | '>' => break,
                ')' if self.nested == 0 => break,
                c if is_blank(c) => break,
                '$' if self.scanner.rest.starts_with("$(") => {
                    self.scanner.push_command(1 + in_parentheses(self.scanner.rest.get(1..)?));
                    continue;
                }
                '`' => {
                    let closing = self.scanner.rest.get(1..)?.find('`');
                    self.scanner.push_command(closing.map_or(self.scanner.rest.len(), |at| at + 2));
                    continue;
                }
                '(' => self.nested += 1,
                ')' => self.nested -= 1,
                _ => {}
            }
            self.scanner.bump();
            if !self.scanner.reads_quoted(c) {
                self.scanner.push(c);
            }
        }
        self.scanner.word.take()
    }

    /// Reads a redirection from its operator on; `None` if it names no file.
    fn redirect(&mut self, descriptor: Option<String>) -> Option<ShellToken> {
        let scanner = &mut self.scanner;
        // `<( … )` and `>( … )` are the names of pipes to processes.
        if scanner.rest.get(1..).is_some_and(|rest| rest.starts_with('(')) {
            scanner.push_command(1 + in_parentheses(scanner.rest.get(1..)?));
            return self.word().map(ShellToken::Word);
        }
        let operators = [
            ("&>>", Flow::Append),
            ("&>", Flow::Out),
            (">>", Flow::Append),
            (">|", Flow::Out),
            (">", Flow::Out),
            ("<<<", Flow::Here),
            ("<<-", Flow::Here),
            ("<<", Flow::Here),
            ("<>", Flow::In),
            ("<", Flow::In),
        ];
        let (operator, flow) = operators.into_iter().find(|(operator, _)| scanner.eat(operator))?;
        if scanner.eat("&") {
            let number = scanner.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
            if number.len() < scanner.rest.len() {
                scanner.rest = number;
                return None;
            }
        }
        self.skip_blanks();
        let target = self.word()?;
        // Before a number `<<` is a shift, as in `$[1<<3]`, and begins no here-document.
        if matches!(operator, "<<" | "<<-") && !target.text.starts_with(|c: char| c.is_ascii_digit()) {
            self.documents.push(target.text.clone());
        }
        Some(ShellToken::Redirect(Redirect { flow, descriptor, target }))
    }
}

/// Returns the length of a text up to the parenthesis that closes its first one.
fn in_parentheses(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a command's tokens in one line: words in brackets, redirections with their descriptor and target.
    fn shown(command: &str) -> String {
        let one = |token: ShellToken| match token {
            ShellToken::Word(word) => format!("[{}]", word.text()),
            ShellToken::Redirect(Redirect { flow, descriptor, target }) => {
                format!("{}{flow:?}:{}", descriptor.unwrap_or_default(), target.text())
            }
            other => format!("{other:?}"),
        };
        tokens(command).map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_command_is_split_as_a_shell_does_it() {
        let table = [
            ("cargo test -p core 2>&1 | tail -5", "[cargo] [test] [-p] [core] Pipe [tail] [-5]"),
            ("a && b || c; d & e |& f", "[a] And [b] Or [c] End [d] Background [e] Pipe [f]"),
            (r#"echo 'a b' "c \"d\n" e\ f '' # not this"#, r#"[echo] [a b] [c "d\n] [e f] []"#),
            ("a \\\n  b#c\nd", "[a] [b#c] Line [d]"),
            ("(cd x; make)", "Open [cd] [x] End [make] Close"),
            ("f() { a=(b c); }", "[f()] [{] [a=(b] [c)] End [}]"),
            ("x >a 2>>b &>c <d >|e 3<>f", "[x] Out:a 2Append:b Out:c In:d Out:e 3In:f"),
            ("x >&2 2>&- >&all", "[x] Out:all"),
            ("cat <<'END' >a; b\nc > d\n END\ne", "[cat] Here:END Out:a End [b] Line [e]"),
            ("a <<A <<B\nA\nB\nb <<< 'c d'", "[a] Here:A Here:B Line [b] Here:c d"),
            ("rm $(ls | grep 'x y') `pwd`/b", "[rm] [$(ls | grep 'x y')] [`pwd`/b]"),
            ("diff <(sort a) <(sort b)", "[diff] [<(sort a)] [<(sort b)]"),
            ("a | | > ", "[a] Pipe Pipe"),
            ("", ""),
        ];
        for (command, expected) in table {
            assert_eq!(shown(command), expected, "{command}");
        }
        let outlines = |command| {
            tokens(command).filter_map(|token| match token {
                ShellToken::Word(word) => Some((word.has_command(), word.outline())),
                _ => None,
            })
        };
        let expected = [(true, "a$b$"), (false, "$(c)")].map(|(has, outline)| (has, outline.to_owned()));
        assert_eq!(outlines("a$(x)b`y` '$(c)'").collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_line_without_a_shell_has_words_alone() {
        assert_eq!(words("a | b>c $(d e) # f").unwrap(), ["a", "|", "b>c", "$(d", "e)", "#", "f"]);
        assert_eq!(words("a 'b"), Err(Unclosed::Quote('\'')));
        assert_eq!(words("a \"b\\"), Err(Unclosed::Quote('"')));
        assert_eq!(words("a \\"), Err(Unclosed::Backslash));
    }

    proptest! {
        #[test]
        fn any_command_is_read_to_its_end(command in "[ -~\\n]{0,80}|[-a-z ()<>|&;$`'\"\\\\#\\n]{0,40}") {
            prop_assert!(tokens(&command).count() <= command.len());
            let _ = words(&command);
        }
    }
}
