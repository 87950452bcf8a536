//! Cuts a command line into pipelines, stages and words.
use crate::part::PartOfText;

/// One program of a pipeline, and its words.
#[derive(Debug, Default)]
pub(crate) struct ShellStage {
    pub(crate) words: Vec<String>,
    /// Whether the stage reads the output of another stage.
    pub(crate) piped: bool,
    /// Whether the output of the stage goes to a file.
    pub(crate) to_file: bool,
}

impl ShellStage {
    /// Returns the name of the program without its directory.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(word)
    }

    /// Returns whether the stage has one of these options, alone or with `=` and a value.
    pub(crate) fn has(&self, options: &[&str]) -> bool {
        self.words.iter().skip(1).any(|word| {
            let name = word.split('=').next().unwrap_or(word);
            options.contains(&name)
        })
    }

    /// Returns whether the stage has one of these one-letter options, alone or in a cluster, for example: `-rno`.
    pub(crate) fn has_letter(&self, letters: &[char]) -> bool {
        self.words.iter().skip(1).any(|word| {
            let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
            cluster.is_some_and(|cluster| {
                cluster.chars().take_while(char::is_ascii_alphabetic).any(|letter| letters.contains(&letter))
            })
        })
    }
}

/// Returns the pipelines of a command line, in order. Text in `$( )` or backquotes belongs to its word. The text of a
/// here-document is skipped.
pub(crate) fn pipelines(command: &str) -> Vec<Vec<ShellStage>> {
    let command = without_documents(command);
    let mut reader = ShellParser { rest: &command, ..ShellParser::default() };
    while reader.step() {}
    reader.end_pipeline();
    reader.pipelines
}

/// Returns the command without its here-documents: the lines after `<<WORD`, up to and including a line that is
/// `WORD`.
fn without_documents(command: &str) -> String {
    let mut kept = String::with_capacity(command.len());
    let mut until: Option<&str> = None;
    for line in command.split_inclusive('\n') {
        if let Some(word) = until {
            if line.trim() == word {
                until = None;
            }
            continue;
        }
        kept.push_str(line);
        // `<<<` passes a text that is on the same line, so no lines follow it.
        let opened = line.split_once("<<").filter(|(_, after)| !after.starts_with('<'));
        until = opened.and_then(|(_, after)| {
            let after = after.trim_start_matches(['-', ' ']).trim_start_matches(['\'', '"', '\\']);
            let word = after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            word.filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        });
    }
    kept
}

#[derive(Default)]
struct ShellParser<'c> {
    rest: &'c str,
    pipelines: Vec<Vec<ShellStage>>,
    stages: Vec<ShellStage>,
    stage: ShellStage,
    word: Option<String>,
    /// Whether output goes to the next word, if that word is the target of a redirection.
    target: Option<bool>,
}

impl ShellParser<'_> {
    fn step(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let Some(c) = chars.next() else { return false };
        self.rest = chars.as_str();
        match c {
            '\'' => self.quoted('\''),
            '"' => self.quoted('"'),
            '\\' => match self.rest.chars().next() {
                Some('\n') => self.rest = self.rest.part(1..),
                Some(next) => {
                    self.push(next);
                    self.rest = self.rest.part(next.len_utf8()..);
                }
                None => {}
            },
            '$' if self.rest.starts_with('(') => self.substitution(),
            '`' => self.quoted('`'),
            '#' if self.word.is_none() => {
                self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or("");
            }
            '|' if self.eat('|') => self.end_pipeline(),
            '|' => {
                self.eat('&');
                self.end_stage();
                self.stage.piped = true;
            }
            '&' if self.rest.starts_with('>') => self.redirect(true),
            '&' => {
                self.eat('&');
                self.end_pipeline();
            }
            ';' | '\n' => self.end_pipeline(),
            '>' => self.redirect(true),
            '<' => self.redirect(false),
            '(' | ')' if self.word.is_none() => self.end_pipeline(),
            c if c.is_whitespace() => self.end_word(),
            c => self.push(c),
        }
        true
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, quote: char) {
        let word = self.word.get_or_insert_default();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            if escaped {
                if !matches!(c, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(c);
                escaped = false;
            } else if c == quote {
                self.rest = self.rest.part(at + 1..);
                return;
            } else if c == '\\' && quote == '"' {
                escaped = true;
            } else {
                word.push(c);
            }
        }
        self.rest = "";
    }

    /// Skips `$( … )`, whatever it contains.
    fn substitution(&mut self) {
        self.push('$');
        let mut depth = 0usize;
        let mut end = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            depth = match c {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            if depth == 0 {
                end = at + 1;
                break;
            }
        }
        self.rest = self.rest.part(end..);
    }

    fn redirect(&mut self, out: bool) {
        // A number before a redirection operator is a descriptor, not a word. Only descriptor 1 counts as printed
        // output.
        let descriptor = self.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        let errors = descriptor.is_some_and(|descriptor| descriptor != "1");
        while self.eat('>') || self.eat('<') || self.eat('|') || (!out && self.eat('-')) {}
        // `>&2` and `2>&1` duplicate a descriptor and name no file.
        if self.eat('&') {
            let number = self.rest.len()
                - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
            self.rest = self.rest.part(number..);
            return;
        }
        // `<( … )` and `>( … )` are processes, not files.
        if self.rest.starts_with('(') && self.word.is_none() {
            self.substitution();
            self.end_word();
            return;
        }
        self.target = Some(out && !errors);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            match self.target.take() {
                // Output that is redirected to `/dev/stdout` or `/dev/stderr` is still printed.
                Some(out) => self.stage.to_file |= out && word != "/dev/stdout" && word != "/dev/stderr",
                None => self.stage.words.push(word),
            }
        }
    }

    fn end_stage(&mut self) {
        self.end_word();
        self.target = None;
        if !self.stage.words.is_empty() {
            self.stages.push(std::mem::take(&mut self.stage));
        } else {
            self.stage = ShellStage::default();
        }
    }

    fn end_pipeline(&mut self) {
        self.end_stage();
        if !self.stages.is_empty() {
            self.pipelines.push(std::mem::take(&mut self.stages));
        }
    }
}
