//! Reads what a shell command does to files, as far as its words show.

use super::act::Deed;
use super::check::{Check, ExitProof};
use wunderblock_text::shell::{Flow, Redirect, ShellToken, ShellWord, tokens, words};

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
    /// First program of the command, ignoring programs such as `cd` and `echo`.
    pub(in crate::extract) program: String,
    /// Operations on files.
    pub(in crate::extract) files: Vec<(Deed, String)>,
    /// Whether the command only shows something.
    pub(in crate::extract) shows: bool,
    /// Whether the last command of the line shows something.
    pub(in crate::extract) ends_showing: bool,
    /// Whether all commands of the line only look at something.
    pub(in crate::extract) looks: bool,
    /// Whether a success of the line is one of all its commands.
    pub(in crate::extract) is_proved: bool,
    /// Last program of the command, even after a pipe; the command has the exit code of this program.
    pub(in crate::extract) last: String,
    /// Checks that the command runs.
    pub(in crate::extract) checks: Vec<Check>,
    /// Folder after any `cd` in the command, or an empty string for the folder where the command began.
    folder: String,
    /// Commands of the line, in order.
    segments: Vec<LineSegment>,
    /// Whether a pipe fails if any of its commands fails.
    pipefail: bool,
    /// Whether the line ends with the first command that fails.
    errexit: bool,
}

/// A command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineSegment {
    /// Index of the check that the command runs.
    check: Option<usize>,
    /// Whether the command hardly ever fails, for example: `cd`, `echo`.
    is_quiet: bool,
    /// Whether the command only looks at something.
    looks: bool,
    /// Whether the exit code of the command counts only under a condition that is not known, for example: `if`.
    is_conditional: bool,
    /// Operator after the command.
    joint: Joint,
}

/// Operator between two commands, by its effect on the exit code of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    Pipe,
    And,
    Or,
    /// The exit code of the command before the operator is lost.
    Then,
    /// The command before the operator runs in the background, so its exit code is lost even at the end of the line.
    Background,
}

pub(in crate::extract) fn read(command: &str) -> Shell {
    let mut shell = Shell { shows: true, looks: true, ..Shell::default() };
    let mut given: Vec<String> = Vec::new();
    let mut outside: Vec<String> = Vec::new();
    let (mut here, mut is_piped, mut to_file) = (false, false, false);
    let command = command.get(..crate::extract::language::plain::cut(command, LOOK)).unwrap_or_default();
    for token in tokens(command).take(WORDS_MAX) {
        match token {
            ShellToken::Word(word) => given.extend(pieces(&word)),
            ShellToken::Redirect(Redirect { flow: Flow::Here, .. }) => here = true,
            ShellToken::Redirect(Redirect { flow: Flow::In, .. }) => {}
            ShellToken::Redirect(Redirect { flow, target, descriptor }) => {
                // Errors that are redirected are not in the output either.
                to_file |= descriptor.is_none_or(|number| number == "1");
                // `> /dev/null` writes no file.
                if !target.text().starts_with("/dev/") {
                    shell.shows = false;
                    let deed = if flow == Flow::Append { Deed::Changed } else { Deed::Created };
                    shell.add(deed, target.text());
                }
            }
            // What follows a here-document is not read.
            ShellToken::Line if here => break,
            // The `cd` of a subshell does not affect the folder outside.
            ShellToken::Open => outside.push(shell.folder.clone()),
            ShellToken::End
            | ShellToken::And
            | ShellToken::Or
            | ShellToken::Background
            | ShellToken::Line
            | ShellToken::Pipe
            | ShellToken::Close => {
                shell.segment(&given, is_piped, to_file);
                shell.join(&token);
                given.clear();
                (is_piped, to_file) = (token == ShellToken::Pipe, false);
                if token == ShellToken::Close {
                    shell.folder = outside.pop().unwrap_or_default();
                }
            }
        }
    }
    shell.segment(&given, is_piped, to_file);
    shell.prove();
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

    /// Records the operator after the latest command.
    fn join(&mut self, token: &ShellToken) {
        let Some(last) = self.segments.last_mut() else { return };
        last.joint = match token {
            ShellToken::Pipe => Joint::Pipe,
            ShellToken::Or => Joint::Or,
            ShellToken::Background => Joint::Background,
            ShellToken::End | ShellToken::Line if !self.errexit => Joint::Then,
            _ => Joint::And,
        };
    }

    /// Determines what the exit code of the line proves about each check.
    fn prove(&mut self) {
        let keeps = |segment: &LineSegment| match segment.joint {
            Joint::And => true,
            Joint::Pipe => self.pipefail,
            Joint::Or | Joint::Then | Joint::Background => false,
        };
        // An operator after the last command joins nothing, unless it is `&`.
        let last = self.segments.len().saturating_sub(1);
        let is_lost = |(at, segment): (usize, &LineSegment)| {
            !(keeps(segment) || at == last && segment.joint != Joint::Background)
        };
        if self.segments.iter().any(|segment| segment.is_conditional) {
            return;
        }
        let loses = |(at, segment): (usize, &LineSegment)| {
            !segment.is_quiet && !segment.looks && is_lost((at, segment))
        };
        self.is_proved = !self.segments.iter().enumerate().any(loses);
        for (at, segment) in self.segments.iter().enumerate() {
            let Some(check) = segment.check.and_then(|check| self.checks.get_mut(check)) else { continue };
            let before = self.segments.iter().take(at).rposition(|before| before.joint == Joint::Then);
            let from = before.map_or(0, |before| before + 1);
            let passes = !self.segments.iter().enumerate().skip(from).any(is_lost);
            let others = self.segments.iter().skip(from);
            let only_checks = others.into_iter().all(|other| other.check.is_some() || other.is_quiet);
            check.proof = ExitProof { passes, fails: passes && only_checks };
        }
    }

    fn segment(&mut self, words: &[String], is_piped: bool, to_file: bool) {
        let words = command_of(words);
        let Some((program, rest)) = words.split_first() else { return };
        let check = Check::of(words, &self.folder);
        let program = program.rsplit('/').next().unwrap_or_default();
        // The output of a check that is piped into another program is not wholly visible: `grep` and `head` hide
        // lines.
        if is_piped && check.is_none() && !matches!(program, "tail" | "tee" | "cat") {
            self.checks.last_mut().into_iter().for_each(|check| check.is_filtered = true);
        }
        let number = check.is_some().then_some(self.checks.len());
        self.checks.extend(check);
        if let Some(check) = number.and_then(|number| self.checks.get_mut(number)) {
            check.is_filtered = to_file;
        }
        if program == "set" {
            let has = |flag: char| rest.iter().any(|word| word.starts_with('-') && word.contains(flag));
            self.errexit |= has('e');
            self.pipefail |= rest.iter().any(|word| word == "pipefail");
        }
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
        let looks = quiet || filter || SHOWS.contains(&program) || super::act::looks(words);
        self.looks &= looks;
        let is_filter = filter || matches!(program, "tee" | "cat" | "sed");
        self.segments.push(LineSegment {
            check: number,
            is_quiet: quiet || is_piped && is_filter,
            looks,
            is_conditional: matches!(program, "if" | "while" | "until" | "for" | "case" | "!"),
            joint: Joint::And,
        });
        if !quiet && !is_piped {
            let shows = matches!(
                rest.first().map(String::as_str),
                Some("diff" | "show" | "log" | "status" | "blame")
            );
            self.ends_showing = filter || SHOWS.contains(&program) || program == "git" && shows;
        }
        let is_first = self.program.is_empty();
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
            ["reset", ..] if has("--hard") => self.files.push((Deed::Reverted, ".".to_owned())),
            ["checkout", ..] => self.checked_out(words),
            ["restore", files @ ..] if !has("--staged") || has("--worktree") => {
                let is_source = |word: &&String| word.starts_with("--source") || *word == "-s";
                let deed =
                    if words.iter().any(|word| is_source(&word)) { Deed::Changed } else { Deed::Reverted };
                files.iter().for_each(|file| self.revert(&deed, file));
            }
            _ => {}
        }
    }

    /// Reads `git checkout`. Only a form that names files changes any: without `--`, a word may be a branch, which
    /// [`Deed::MaybeReverted`] leaves open. With a revision, files get the content of that revision.
    fn checked_out(&mut self, words: &[String]) {
        let dashes = words.iter().position(|word| word == "--");
        let (before, after) = words.split_at(dashes.unwrap_or(words.len()));
        let takes_side = |word: &String| matches!(word.as_str(), "--theirs" | "--ours" | "--merge");
        let is_head =
            |word: &&String| !matches!(word.as_str(), "HEAD" | "checkout") && !word.starts_with('-');
        let named: Vec<&String> = before.iter().filter(is_head).collect();
        let deed = match () {
            () if before.iter().any(takes_side) => Deed::Changed,
            () if dashes.is_some() && named.is_empty() => Deed::Reverted,
            () if dashes.is_some() => Deed::Changed,
            () => Deed::MaybeReverted,
        };
        let files: Vec<&String> = if dashes.is_some() { after.iter().skip(1).collect() } else { named };
        files.into_iter().for_each(|file| self.revert(&deed, file));
    }

    fn revert(&mut self, deed: &Deed, file: &str) {
        match (file, deed) {
            (".", Deed::Reverted | Deed::MaybeReverted) => self.revert_all(),
            (".", _) => {}
            _ => self.add(deed.clone(), file),
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
        type Case<'a> = (&'a str, &'a [(Deed, &'a str)]);
        let cases: &[Case<'_>] = &[
            ("cd /x && cargo test -p core 2>&1 | tail -5", &[]),
            ("cat > src/a.rs <<'EOF'\nrm b.rs\nEOF", &[(Created, "src/a.rs")]),
            ("sed -n '1,20p' src/a.rs", &[(Read, "src/a.rs")]),
            ("sed -i 's/a/b/' src/a.rs src/b.rs", &[(Changed, "src/a.rs"), (Changed, "src/b.rs")]),
            ("RUST_LOG=1 sudo rm -rf build/old", &[(Removed, "build/old")]),
            ("git mv a.rs b.rs; mv c.rs d/", &[(moved("a.rs"), "b.rs"), (moved("c.rs"), "d/c.rs")]),
            ("echo hi >> notes.txt 2>/dev/null", &[(Changed, "notes.txt")]),
            (
                "cd web/src && rm a.ts ../b.ts /tmp/c.ts",
                &[(Removed, "web/src/a.ts"), (Removed, "web/b.ts"), (Removed, "/tmp/c.ts")],
            ),
            (
                "(cd web && mv a.ts lib/); rm $(cat list.txt) c.ts",
                &[(moved("web/a.ts"), "web/lib/a.ts"), (Removed, "c.ts")],
            ),
            ("git -C web -c core.pager=cat rm a.ts && rm b.ts", &[(Removed, "web/a.ts"), (Removed, "b.ts")]),
            ("cd web && cd $OLD && rm a.ts", &[(Removed, "a.ts")]),
        ];
        for (command, files) in cases {
            let shell = read(command);
            let found: Vec<(Deed, &str)> =
                shell.files.iter().map(|(deed, path)| (deed.clone(), path.as_str())).collect();
            assert_eq!(found.as_slice(), *files, "{command}");
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

    #[test]
    fn only_a_form_that_names_files_takes_them_back() {
        use Deed::{Changed, MaybeReverted, Reverted};
        let cases: &[(&str, &[(Deed, &str)])] = &[
            ("git checkout -- src/a.rs b.rs", &[(Reverted, "src/a.rs"), (Reverted, "b.rs")]),
            ("git checkout HEAD -- src/a.rs", &[(Reverted, "src/a.rs")]),
            ("git checkout main -- src/a.rs", &[(Changed, "src/a.rs")]),
            ("git checkout lea/issue-12-hooks", &[(MaybeReverted, "lea/issue-12-hooks")]),
            ("git checkout --theirs src/a.rs", &[(Changed, "src/a.rs")]),
            ("git restore src/a.rs", &[(Reverted, "src/a.rs")]),
            ("git restore --source=HEAD~2 src/a.rs", &[(Changed, "src/a.rs")]),
            ("git restore --staged src/a.rs", &[]),
            ("git switch lea/issue-12-hooks", &[]),
            ("git stash && git stash pop", &[]),
            ("cd web && git checkout .", &[(Reverted, "web")]),
        ];
        for (command, files) in cases {
            let shell = read(command);
            let found: Vec<(Deed, &str)> =
                shell.files.iter().map(|(deed, path)| (deed.clone(), path.as_str())).collect();
            assert_eq!(found.as_slice(), *files, "{command}");
        }
    }

    #[test]
    fn an_exit_code_proves_only_what_decides_it() {
        // Whether a success of the line proves that the check passed, and a failure that it failed.
        let cases = [
            ("cargo test", true, true),
            ("cd web && cargo test 2>&1", true, true),
            ("cargo fmt --check && cargo test", true, true),
            ("git add -A && cargo test", true, false),
            ("cargo test && git commit -m done", true, false),
            ("sleep 1; cargo test", true, true),
            ("git status; cargo test", true, true),
            ("cargo test | tail -5", false, false),
            ("cargo test | grep FAILED | head", false, false),
            ("set -o pipefail; cargo test | tail -5", true, true),
            ("cargo test || true", false, false),
            ("cargo test; true", false, false),
            ("cargo test\ngit status", false, false),
            ("set -e; cargo test; echo done", true, true),
            ("cargo test | true", false, false),
            ("cargo test &", false, false),
            ("if cargo test; then echo yes; fi", false, false),
            ("test -f a || cargo test", false, false),
        ];
        for (command, passes, fails) in cases {
            let shell = read(command);
            let proved = shell.checks.last().map_or(ExitProof::default(), |check| check.proof);
            assert_eq!(proved, ExitProof { passes, fails }, "{command}");
        }
    }
}
