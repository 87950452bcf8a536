//! Names in a turn: files, URLs, commands, symbols, ids, handles and quoted words.

use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;
use wunderblock_core::id::HandlePrefix;

/// Maximum number of names of a turn, the first ones.
const NAMES_MAX: usize = 16;

/// A thing that a turn names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) kind: NameKind,
    pub(crate) text: String,
    /// Whether it is nothing else than a name. Other names may be ordinary words.
    pub(crate) firm: bool,
    /// Line of the file that is asked for, counted from 1.
    pub(crate) line: Option<u64>,
}

/// Kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NameKind {
    /// A handle of a text or of positions.
    Handle,
    Url,
    /// A file or a folder, with or without the folders above it.
    Path,
    Command,
    /// A symbol or an id.
    Word,
    /// Other words between quotes.
    Phrase,
    /// Digits and letters that are a commit, or an ordinary number.
    Hash,
    /// A text between quotes, whose kind its content decides.
    Quoted,
    /// Text that names nothing.
    Nothing,
}

#[derive(Deserialize)]
struct NamesTable {
    pattern: Vec<PatternRow>,
    words: NameWords,
}

#[derive(Deserialize)]
struct PatternRow {
    kind: NameKind,
    is: String,
    #[serde(default)]
    firm: bool,
}

/// Words of the table that do not belong to a pattern.
#[derive(Default, Deserialize)]
pub(super) struct NameWords {
    ignored: Vec<String>,
    standards: Vec<String>,
    pub(super) definers: Vec<String>,
    pub(super) contents: Vec<String>,
}

/// The table, with its patterns as one: `None` only if the embedded table were invalid, which a test excludes.
struct NameRules {
    /// Each pattern is a group, whose number is beside its row.
    pattern: Regex,
    rows: Vec<(usize, PatternRow)>,
    words: NameWords,
}

static RULES: LazyLock<Option<NameRules>> = LazyLock::new(|| {
    let table: NamesTable = ::toml::from_str(include_str!("names.toml")).ok()?;
    let (mut group, mut rows) = (1, Vec::new());
    let all: Vec<String> = table.pattern.iter().map(|row| format!("({})", row.is)).collect();
    for row in table.pattern {
        let own = Regex::new(&row.is).ok()?.captures_len();
        rows.push((group, row));
        group += own;
    }
    Some(NameRules { pattern: Regex::new(&all.join("|")).ok()?, rows, words: table.words })
});

/// Returns the words by which texts are chosen for names.
pub(super) fn words() -> Option<&'static NameWords> {
    RULES.as_ref().map(|rules| &rules.words)
}

/// Returns the names in a text that a person typed, at most [`NAMES_MAX`].
pub(crate) fn names(text: &str) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    let mut at = 0;
    while let Some((end, name)) = RULES.as_ref().and_then(|rules| rules.next(text, at)) {
        at = end;
        if let Some(name) = name
            && !found.iter().any(|had| had.text == name.text && had.line == name.line)
        {
            found.push(name);
            if found.len() == NAMES_MAX {
                break;
            }
        }
    }
    found
}

impl NameRules {
    /// Returns the first name from a place on, and where the search goes on.
    fn next(&self, text: &str, at: usize) -> Option<(usize, Option<Name>)> {
        let found = self.pattern.captures_at(text, at)?;
        let whole = found.get(0)?;
        let (group, row) = self.rows.iter().find(|(group, _)| found.get(*group).is_some())?;
        let next = self.rows.iter().map(|(next, _)| *next).find(|next| next > group);
        let inner = (group + 1..next.unwrap_or(found.len())).find_map(|group| found.get(group));
        let said = inner.unwrap_or(whole).as_str();
        let mut end = whole.end();
        let name = match row.kind {
            NameKind::Nothing => None,
            NameKind::Quoted => self.quoted(said.trim(), row.firm),
            kind => self.name(kind, said, row.firm),
        };
        // A command may be followed by words of the sentence, which name other things.
        if row.kind == NameKind::Command {
            end = said.match_indices(' ').nth(1).map_or(end, |(space, _)| whole.start() + space);
        }
        Some((end.max(at + 1), name))
    }

    fn name(&self, kind: NameKind, said: &str, firm: bool) -> Option<Name> {
        let mut text = said.trim_end_matches(['.', ':', ';', ',', '!', '?']);
        // All packages below a folder, as tools of Go write them.
        if kind == NameKind::Command && said.contains(" ./...") && text.ends_with('/') {
            text = said;
        }
        let mut line = None;
        let kind = match kind {
            NameKind::Hash if !text.contains(char::is_alphabetic) || !text.contains(char::is_numeric) => {
                return None;
            }
            NameKind::Hash => NameKind::Word,
            kind => kind,
        };
        if kind == NameKind::Path {
            text = text.trim_start_matches('@');
            let place = text.rsplit_once("#L").or_else(|| text.rsplit_once(':'));
            if let Some((path, number)) = place.filter(|(_, number)| number.parse::<u64>().is_ok()) {
                (text, line) = (path, number.parse().ok());
            }
        }
        let is_standard = |start: &String| text.starts_with(start.as_str());
        let is_ignored = self.words.ignored.iter().any(|word| word == text);
        if text.len() < 3 || is_ignored || self.words.standards.iter().any(is_standard) {
            return None;
        }
        let text = if kind == NameKind::Word { text.trim_end_matches("()") } else { text };
        Some(Name { kind, text: text.to_owned(), firm, line })
    }

    /// Returns what a text between quotes names.
    fn quoted(&self, said: &str, firm: bool) -> Option<Name> {
        let inner = self.next(said, 0).filter(|_| !said.contains(['"', '`']));
        let name = inner.and_then(|(_, name)| name).filter(|name| said.starts_with(&*name.text));
        let is_whole = |name: &Name| said.len() <= name.text.len() + "():99999".len() && !said.contains(' ');
        match name {
            Some(name) if name.kind == NameKind::Command => {
                Some(Name { text: said.to_owned(), firm, ..name })
            }
            Some(name) if is_whole(&name) => Some(Name { firm: firm || name.firm, ..name }),
            _ if said.contains(char::is_whitespace) => self.name(NameKind::Phrase, said, false),
            _ if firm => self.name(NameKind::Word, said, said.contains(char::is_alphanumeric)),
            _ => self.name(NameKind::Phrase, said, false),
        }
    }
}

impl Name {
    /// Returns the words by which the index narrows the search: every text of the name has them, however much of its
    /// path the ledger writes.
    pub(crate) fn narrowing(&self) -> &str {
        match self.kind {
            NameKind::Path => self.base(),
            NameKind::Command => {
                let end = self.text.match_indices(' ').nth(1).map_or(self.text.len(), |(space, _)| space);
                self.text.get(..end).unwrap_or(&self.text)
            }
            _ => &self.text,
        }
    }

    /// Returns the beginning of the handle that the name is.
    pub(crate) fn handle(&self) -> Option<HandlePrefix> {
        let handle = self.text.split('#').next().filter(|_| self.kind == NameKind::Handle);
        handle.and_then(|handle| handle.parse().ok())
    }

    /// Returns the last part of a path.
    pub(crate) fn base(&self) -> &str {
        let path = self.text.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_turn_names() {
        for (turn, expected) in [
            ("Explain what src/parser.rs does.", "path! src/parser.rs"),
            ("看一下 src/parser.rs 里的 parse_config 函数", "path! src/parser.rs, word! parse_config"),
            ("看一下src/parser.rs里的错误。", "path! src/parser.rs"),
            ("Fix parser.rs, then ./a/b.txt!", "path! parser.rs, path! ./a/b.txt"),
            ("sts/sts.go:337 and @src/a.ts#L10", "path! sts/sts.go:337, path! src/a.ts:10"),
            (r"missing D:\site\generated\themes.json.", r"path! D:\site\generated\themes.json"),
            ("see [panel.ts](src/ui/panel.ts)", "path! panel.ts, path! src/ui/panel.ts"),
            ("Is HTTP/2 on, and/or TLS?", "path HTTP/2, path and/or"),
            ("https://example.org/a/b?c=1#d, right?", "url! https://example.org/a/b?c=1#d"),
            ("Why did cargo test -p x fail?", "command cargo test -p x"),
            ("go ahead with git push origin main", "command go ahead with, command git push origin"),
            ("Why did go test ./... fail?", "command go test ./..."),
            ("run `go test ./...`, then go vet ./...", "command! go test ./..., command go vet ./..."),
            ("run `cargo test -p x` again", "command! cargo test -p x"),
            ("run cargo test and explain src/a.rs", "command cargo test and, path! src/a.rs"),
            (
                "`parse_config` or `Parser::next` or foo()",
                "word! parse_config, word! Parser::next, word! foo",
            ),
            ("getUser of SessionLive on GitHub", "word! getUser, word SessionLive, word GitHub"),
            ("use `access` here", "word! access"),
            ("ABC-123 in 24ac2c6a5ad4, not 1234567 or UTF-8", "word! ABC-123, word! 24ac2c6a5ad4"),
            ("E0382 and ECONNREFUSED", "word! E0382, word! ECONNREFUSED"),
            ("0b5c7a3e-1d2f-4a5b-8c9d-0e1f2a3b4c5d", "word! 0b5c7a3e-1d2f-4a5b-8c9d-0e1f2a3b4c5d"),
            ("wb:0123456789abcdef#B600-2006 please", "handle! wb:0123456789abcdef#B600-2006"),
            ("who said \"connection reset by peer\"?", "phrase connection reset by peer"),
            ("谁说过「连接被重置」？", "phrase 连接被重置"),
            ("look:\n```\nsrc/pasted.rs\n```\nat src/a.rs", "path! src/a.rs"),
            ("e.g. Node.js, i.e. 3.5 times", ""),
            ("Thanks, that is done.", ""),
            ("", ""),
        ] {
            let shown = |name: &Name| {
                let kind = format!("{:?}{}", name.kind, if name.firm { "!" } else { "" }).to_lowercase();
                let line = name.line.map(|line| format!(":{line}")).unwrap_or_default();
                format!("{kind} {}{line}", name.text)
            };
            let found: Vec<String> = names(turn).iter().map(shown).collect();
            assert_eq!(found.join(", "), expected, "{turn}");
        }
    }

    #[test]
    fn a_long_turn_has_a_bounded_number_of_names() {
        let turn: String = (0..5_000).map(|number| format!("src/file_{number}.rs ")).collect();
        assert_eq!(names(&turn).len(), NAMES_MAX);
    }
}
