//! Reads what a shell command does to files, as far as its words show.

use super::act::Deed;
use super::check::Check;
use wunderblock_reduce::shell::{Flow, Redirect, ShellToken, ShellWord, tokens, words};

/// Maximum number of bytes that are read from a command.
const LOOK: usize = 4096;
/// Maximum number of words and operators that are read from a command.
const WORDS_MAX: usize = 256;
/// Maximum number of files recorded for a command.
const FILES_MAX: usize = 16;

/// Programs that show the contents of files or list files.
const SHOWS: [&str; 11] = ["cat", "ls", "find", "rg", "less", "bat", "nl", "sed", "tree", "stat", "file"];

/// A parsed shell command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shell {
    /// Each program with its first argument, such as `cargo test`. Equal keys mean that the same command was run
    /// again.
    pub(super) key: String,
    /// First program of the command, ignoring programs such as `cd` and `echo`.
    pub(super) program: String,
    /// Operations on files.
    pub(super) files: Vec<(Deed, String)>,
    /// Whether the command only shows something.
    pub(super) shows: bool,
    /// Whether the last command of the line shows something.
    pub(super) ends_showing: bool,
    /// Last program of the command, even after a pipe; the command has the exit code of this program.
    pub(super) last: String,
    /// Checks that the command runs.
    pub(super) checks: Vec<Check>,
    /// Folder after any `cd` in the command, or an empty string for the folder where the command began.
    folder: String,
}

pub(super) fn read(command: &str) -> Shell {
    let mut shell = Shell { shows: true, ..Shell::default() };
    let mut given: Vec<String> = Vec::new();
    let mut outside: Vec<String> = Vec::new();
    let (mut here, mut is_piped) = (false, false);
    let command = command.get(..super::plain::cut(command, LOOK)).unwrap_or_default();
    for token in tokens(command).take(WORDS_MAX) {
        match token {
            ShellToken::Word(word) => given.extend(pieces(&word)),
            ShellToken::Redirect(Redirect { flow: Flow::Here, .. }) => here = true,
            ShellToken::Redirect(Redirect { flow: Flow::In, .. }) => {}
            // `> /dev/null` writes no file.
            ShellToken::Redirect(redirect) if redirect.target.text().starts_with("/dev/") => {}
            ShellToken::Redirect(Redirect { flow, target, .. }) => {
                shell.shows = false;
                shell.add(if flow == Flow::Append { Deed::Changed } else { Deed::Created }, target.text());
            }
            // What follows a here-document is not read.
            ShellToken::Line if here => break,
            // The `cd` of a subshell does not affect the folder outside.
            ShellToken::Open => outside.push(shell.folder.clone()),
            ShellToken::End | ShellToken::Line | ShellToken::Pipe | ShellToken::Close => {
                shell.segment(&given, is_piped);
                given.clear();
                is_piped = token == ShellToken::Pipe;
                if token == ShellToken::Close {
                    shell.folder = outside.pop().unwrap_or_default();
                }
            }
        }
    }
    shell.segment(&given, is_piped);
    shell
}

/// Returns the words of a word: more than one if it contains a command whose output the shell would insert.
fn pieces(word: &ShellWord) -> Vec<String> {
    let text = word.text();
    let by_blanks = |_| text.split_whitespace().map(str::to_owned).collect();
    let mut parts =
        if word.has_command() { words(text).unwrap_or_else(by_blanks) } else { vec![text.to_owned()] };
    parts.retain(|part| !part.is_empty());
    parts
}

impl Shell {
    fn add(&mut self, deed: Deed, path: &str) {
        let plain = |c: char| c.is_alphanumeric() || "/._-+@~ ".contains(c);
        let is_path =
            path.chars().all(plain) && path.len() > 1 && path.len() <= 300 && !path.starts_with('-');
        if is_path && path.contains(char::is_alphabetic) && self.files.len() < FILES_MAX {
            self.files.push((deed, joined(&self.folder, path)));
        }
    }

    /// Reverts all changes in the current folder and below. An absolute folder may be the root of the working tree,
    /// so it counts as the whole tree.
    fn revert_all(&mut self) {
        let path = if self.folder.is_empty() || self.folder.starts_with('/') { "." } else { &self.folder };
        self.files.push((Deed::Reverted, path.to_owned()));
    }

    /// Enters a folder, as `cd` does. If only the shell knows the folder, it counts as unknown, and paths stay as
    /// they were written.
    fn enter(&mut self, to: Option<&str>) {
        let known = to.filter(|to| !to.starts_with(['-', '~']) && !to.contains(['$', '`', '*']));
        self.folder = known.map(|to| joined(&self.folder, to)).unwrap_or_default();
    }

    fn segment(&mut self, words: &[String], is_piped: bool) {
        let words = command_of(words);
        let Some((program, rest)) = words.split_first() else { return };
        let check = Check::of(words, &self.folder);
        let program = program.rsplit('/').next().unwrap_or_default();
        // The output of a check that is piped into another program is not wholly visible: `grep` and `head` hide
        // lines and exit codes.
        if is_piped && check.is_none() && !matches!(program, "tail" | "tee" | "cat") {
            self.checks.last_mut().into_iter().for_each(|check| check.is_filtered = true);
        }
        self.checks.extend(check);
        let before = self.folder.clone();
        let rest = if program == "git" { self.git_folder(rest) } else { rest };
        let named: Vec<&str> =
            rest.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
        let quiet = matches!(
            program,
            "cd" | "export" | "source" | "set" | "echo" | "true" | "sleep" | "pwd" | "printf"
        );
        let filter =
            matches!(program, "tail" | "head" | "grep" | "sort" | "uniq" | "wc" | "cut" | "awk" | "tr");
        program.clone_into(&mut self.last);
        if !quiet && !is_piped {
            let shows = matches!(
                rest.first().map(String::as_str),
                Some("diff" | "show" | "log" | "status" | "blame")
            );
            self.ends_showing = filter || SHOWS.contains(&program) || program == "git" && shows;
        }
        let is_first = self.key.is_empty();
        if !quiet && !is_piped {
            let what = named.first().map(|word| super::plain::head(word, 60)).unwrap_or_default();
            let between = if is_first { "" } else { "; " };
            self.key.push_str(&format!("{between}{program} {what}"));
        }
        if is_first && !quiet {
            self.program = program.to_owned();
            if !SHOWS.contains(&program) && !filter {
                self.shows = false;
            }
        } else if !quiet && !filter && !matches!(program, "cat" | "ls" | "rg" | "sed") {
            self.shows = false;
        }
        self.files_of(program, rest, &named);
        self.folder = before;
        if program == "cd" {
            self.enter(named.first().copied());
        }
    }

    /// Applies the git options that set the working folder, and returns the words after those options.
    fn git_folder<'w>(&mut self, mut words: &'w [String]) -> &'w [String] {
        while let [flag, value, rest @ ..] = words {
            match flag.as_str() {
                "-C" => self.enter(Some(value)),
                "-c" => {}
                _ => break,
            }
            words = rest;
        }
        words
    }

    /// Reads `mv`, which moves files into a directory or gives a file another name.
    fn moved(&mut self, named: &[&str]) {
        let [from @ .., to] = named else { return };
        let into = from.len() > 1 || to.ends_with(['/', '.']);
        for file in from {
            let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let target = if into { format!("{}/{name}", to.trim_end_matches('/')) } else { (*to).to_owned() };
            self.add(Deed::MovedFrom(joined(&self.folder, file)), &target);
        }
    }

    /// Reads what git does to the files of the working tree.
    fn git(&mut self, named: &[&str], words: &[String]) {
        let has = |word: &str| words.iter().any(|given| *given == word);
        match named {
            ["rm", files @ ..] => files.iter().for_each(|file| self.add(Deed::Removed, file)),
            ["mv", files @ ..] => self.moved(files),
            ["commit", ..] => self.files.push((Deed::Committed, String::new())),
            // The working tree no longer contains changes that are stashed.
            ["stash"] | ["stash", "push" | "save", ..] => self.files.push((Deed::Reverted, ".".to_owned())),
            ["reset", ..] if has("--hard") => self.files.push((Deed::Reverted, ".".to_owned())),
            ["checkout" | "restore", files @ ..] if !has("--staged") => {
                for file in files {
                    if *file == "." {
                        self.revert_all();
                    } else if has("--") || looks_like_file(file) {
                        self.add(Deed::Reverted, file);
                    }
                }
            }
            _ => {}
        }
    }

    fn files_of(&mut self, program: &str, rest: &[String], named: &[&str]) {
        let flag = |flag: &str| rest.iter().any(|word| word.starts_with(flag));
        match program {
            "cat" | "bat" | "less" | "nl" | "head" | "tail" | "wc" => {
                let files = named.iter().filter(|word| looks_like_file(word));
                files.for_each(|file| self.add(Deed::Read, file));
            }
            "sed" | "perl" if flag("-i") || flag("-pi") => {
                self.shows = false;
                let files = named.iter().skip(1).filter(|word| looks_like_file(word));
                files.for_each(|file| self.add(Deed::Changed, file));
            }
            "sed" => {
                if let Some(file) = named.get(1..).and_then(<[_]>::last).filter(|word| looks_like_file(word))
                {
                    self.add(Deed::Read, file);
                }
            }
            "rm" | "rmdir" | "unlink" => named.iter().for_each(|file| self.add(Deed::Removed, file)),
            "tee" if flag("-a") => named.iter().for_each(|file| self.add(Deed::Changed, file)),
            "touch" | "tee" | "truncate" => named.iter().for_each(|file| self.add(Deed::Created, file)),
            "mv" => self.moved(named),
            "cp" => named.iter().skip(1).next_back().into_iter().for_each(|to| self.add(Deed::Created, to)),
            "git" => self.git(named, rest),
            _ => {}
        }
    }
}

/// Strips words that only say how a command is run, for example variables, `sudo` and `timeout 60`.
fn command_of(mut words: &[String]) -> &[String] {
    let is_setting = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let mut runs = false;
    while let [word, rest @ ..] = words {
        let is_runner =
            matches!(word.as_str(), "sudo" | "time" | "env" | "nohup" | "nice" | "timeout" | "stdbuf");
        let is_told = runs && word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        if !is_runner && !is_told && !is_setting(word) {
            break;
        }
        runs |= is_runner;
        words = rest;
    }
    words
}

/// Joins a folder and a path, and resolves `.` and `..`.
pub(super) fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if folder.starts_with('/') { "/" } else { "" };
    let end = if path.ends_with('/') { "/" } else { "" };
    format!("{root}{}{end}", parts.join("/"))
}

fn looks_like_file(word: &str) -> bool {
    word.contains(['/', '.'])
        && !word.contains(['*', '$', '{', ',', '\'', '|', '='])
        && word.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_it_touches() {
        use Deed::{Changed, Created, MovedFrom, Read, Removed};
        let moved = |from: &str| MovedFrom(from.to_owned());
        type Case<'a> = (&'a str, &'a str, &'a [(Deed, &'a str)]);
        let cases: &[Case<'_>] = &[
            ("cd /x && cargo test -p core 2>&1 | tail -5", "cargo test", &[]),
            ("cat > src/a.rs <<'EOF'\nrm b.rs\nEOF", "cat ", &[(Created, "src/a.rs")]),
            ("sed -n '1,20p' src/a.rs", "sed 1,20p", &[(Read, "src/a.rs")]),
            (
                "sed -i 's/a/b/' src/a.rs src/b.rs",
                "sed s/a/b/",
                &[(Changed, "src/a.rs"), (Changed, "src/b.rs")],
            ),
            ("RUST_LOG=1 sudo rm -rf build/old", "rm build/old", &[(Removed, "build/old")]),
            (
                "git mv a.rs b.rs; mv c.rs d/",
                "git mv; mv c.rs",
                &[(moved("a.rs"), "b.rs"), (moved("c.rs"), "d/c.rs")],
            ),
            ("echo hi >> notes.txt 2>/dev/null", "", &[(Changed, "notes.txt")]),
            (
                "cd web/src && rm a.ts ../b.ts /tmp/c.ts",
                "rm a.ts",
                &[(Removed, "web/src/a.ts"), (Removed, "web/b.ts"), (Removed, "/tmp/c.ts")],
            ),
            (
                "(cd web && mv a.ts lib/); rm $(cat list.txt) c.ts",
                "mv a.ts; rm $(cat",
                &[(moved("web/a.ts"), "web/lib/a.ts"), (Removed, "c.ts")],
            ),
            (
                "git -C web -c core.pager=cat rm a.ts && rm b.ts",
                "git rm; rm b.ts",
                &[(Removed, "web/a.ts"), (Removed, "b.ts")],
            ),
            ("cd web && cd $OLD && rm a.ts", "rm a.ts", &[(Removed, "a.ts")]),
        ];
        for (command, key, files) in cases {
            let shell = read(command);
            let found: Vec<(Deed, &str)> =
                shell.files.iter().map(|(deed, path)| (deed.clone(), path.as_str())).collect();
            assert_eq!((shell.key.as_str(), found.as_slice()), (*key, *files), "{command}");
        }
        assert!(read("cat a.rs | grep x").shows && !read("cargo test").shows);
    }

    #[test]
    fn a_check_speaks_for_what_it_looks_at_and_is_seen_of() {
        let covers = |green: &str, red: &str| {
            let [green, red] = [green, red].map(|command| read(command).checks.remove(0));
            green.covers(&red)
        };
        assert!(covers("npx tsgo --noEmit", "npx tsgo --noEmit 2>&1 | head -80"));
        assert!(covers("cargo test 2>&1 | tail -5", "cd /x && timeout 60 cargo test -p core --lib since"));
        assert!(covers("pytest tests -q || true", "python -m pytest tests -x"));
        assert!(!covers("cargo test -p core", "cargo test"));
        assert!(!covers("cargo test --lib", "cargo test"));
        assert!(!covers("npx tsgo --noEmit | grep src/a.ts", "npx tsgo --noEmit"));
        assert!(covers("cargo clippy -p core -p wire -- -D warnings", "cargo clippy -q -p core --lib"));
        assert!(covers("pytest tests/a.py tests/b.py", "pytest tests/a.py -k one"));
        assert!(!covers("pytest tests/a.py -k two", "pytest tests/a.py -k one"));
        assert!(!covers("cargo check", "cargo test"));
        assert!(covers("cd web && npm test", "cd /home/me/web && npm test"));
        assert!(!covers("cd web && npm test", "npm test") && !covers("npm test", "cd web && npm test"));
        assert!(!covers("cd /x/api && npm test", "cd /x/web && npm test"));
    }
}
