//! Derives from a command line how its output may be reduced.
//!
//! A command line is parsed as by a shell (quotes, pipes, lists, redirections), but nothing in it is expanded: a
//! program whose name is unknown without expansion counts as an unknown program.

mod pipeline;
mod programs;

use pipeline::{ShellStage, pipelines};

/// Maximum number of shells around a command, for example: `bash -c "sh -c '…'"`.
const MAX_WRAPPERS: usize = 4;

/// The purpose of an output, as far as its command reveals it. The purpose limits how far the output may be reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The text of a file, or a diff. A file may be edited next, and a diff may be applied, so their bytes are kept.
    File,
    /// Lines, fields, matches or rows that the caller selected, for example with: `rg`, `find`, `jq`, SQL, the last
    /// filter of a pipeline.
    Selection,
    /// The report of one program. Holds the words of the command, without the directory and the wrappers of the
    /// program.
    Report(String),
    /// Nothing is known about the output.
    Unknown,
}

impl Claim {
    /// Returns the claim of a command line, or of a tool's name with its arguments.
    #[must_use]
    pub fn of(command: &str) -> Self {
        let (tool, rest) = command
            .trim()
            .split_once(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or((command.trim(), ""));
        if programs::names("tools").any(|known| known.eq_ignore_ascii_case(tool)) {
            return if is_record(rest) { Self::Unknown } else { Self::File };
        }
        let mut claims =
            printing_pipelines(command).map(|all| all.iter().map(|stages| claim(stages)).collect());
        let claims: &mut Vec<Self> = claims.get_or_insert_default();
        match claims.as_mut_slice() {
            [one] => std::mem::replace(one, Self::Unknown),
            [] => Self::Unknown,
            // If a file is part of the output, the bytes of the output stay.
            all if all.contains(&Self::File) => Self::File,
            all if all.iter().all(|claim| *claim == Self::Selection) => Self::Selection,
            _ => Self::Unknown,
        }
    }
}

impl Claim {
    /// If the output is a report, returns the command that produced it.
    pub(crate) fn report(&self) -> Option<&str> {
        match self {
            Self::Report(report) => Some(report),
            Self::File | Self::Selection | Self::Unknown => None,
        }
    }
}

/// Returns the program whose output a command line shows first, and its command if the program has several, for
/// example: `cargo test`. `None` if the command line names no program that prints.
#[must_use]
pub fn program(command: &str) -> Option<String> {
    let pipelines = printing_pipelines(command)?;
    let first = pipelines.first()?.first()?;
    let name = first.program();
    let word = first.words.get(1).filter(|word| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
        word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(is_word)
    });
    match word.filter(|_| programs::names("several").any(|known| known == name)) {
        Some(word) => Some(format!("{name} {word}")),
        None => Some(name.to_owned()),
    }
}

/// Returns the claim of one pipeline.
fn claim(stages: &[ShellStage]) -> Claim {
    let Some((first, rest)) = stages.split_first() else { return Claim::Unknown };
    // These programs show a part of their input unchanged, so their output still counts as a file.
    let part = |stage: &ShellStage| {
        matches!(stage.program(), "cat" | "head" | "tail" | "nl" | "less" | "more")
            || (stage.program() == "sed" && is_line_selection(stage))
    };
    if shows_file(first) && rest.iter().all(part) {
        return Claim::File;
    }
    match stages.iter().rev().find_map(stage_selects) {
        Some(true) => Claim::Selection,
        // The output is still a report after stages that pass on their input unchanged (`tee`).
        _ if rest.iter().all(|stage| stage_selects(stage).is_none()) => {
            let words = first.words.iter().skip(1).map(String::as_str);
            Claim::Report(std::iter::once(first.program()).chain(words).collect::<Vec<_>>().join(" "))
        }
        _ => Claim::Unknown,
    }
}

/// Returns whether a path names a record of events or rows. Records are read, not edited.
fn is_record(path: &str) -> bool {
    let path = path.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    // `app.log:10-40` names lines of `app.log`.
    let path = path.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '-'));
    programs::names("records").any(|ending| path.ends_with(ending))
}

/// Returns the pipelines of a command that print anything, or `None` if it is wrapped in too many shells.
fn printing_pipelines(command: &str) -> Option<Vec<Vec<ShellStage>>> {
    let mut pending = vec![(command.to_owned(), 0)];
    let mut found = Vec::new();
    while let Some((command, depth)) = pending.pop() {
        for mut stages in pipelines(&command) {
            stages.iter_mut().for_each(strip_wrappers);
            stages.retain(|stage| !stage.program().is_empty());
            let Some(last) = stages.last() else { continue };
            if let Some(script) = inner_script(last) {
                if depth == MAX_WRAPPERS {
                    return None;
                }
                pending.push((script.to_owned(), depth + 1));
                continue;
            }
            if last.to_file || programs::is("silent", last) {
                continue;
            }
            found.push(stages);
        }
    }
    Some(found)
}

/// Removes words that run another program without printing anything themselves: `sudo`, `env X=1`, `timeout 5`, `do`.
fn strip_wrappers(stage: &mut ShellStage) {
    loop {
        let gone = match stage.words.first() {
            None => return,
            Some(word) if is_assignment(word) => 1,
            // `wunderblock run` prints the output of the command after `--`.
            Some(word)
                if word.ends_with("wunderblock") && stage.words.get(1).is_some_and(|word| word == "run") =>
            {
                stage.words.iter().position(|word| word == "--").map_or(stage.words.len(), |at| at + 1)
            }
            Some(_) => programs::wrapper_length(stage),
        };
        if gone == 0 {
            return;
        }
        stage.words.drain(..gone.min(stage.words.len()));
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or("");
    word.len() > name.len()
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the script that is passed to a shell, for example: `bash -lc '…'`.
fn inner_script(stage: &ShellStage) -> Option<&str> {
    if !matches!(stage.program(), "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish") {
        return None;
    }
    let at = stage
        .words
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    stage.words.get(at + 1).map(String::as_str)
}

/// Returns whether a stage selects from its input, or `None` if it passes its input on, so that the stage before it
/// decides.
fn stage_selects(stage: &ShellStage) -> Option<bool> {
    let selects = match stage.program() {
        // A limit on the number of lines is not a choice of lines: `cargo test 2>&1 | tail -50` is still a report.
        "head" | "tail" if stage.piped => return None,
        "sed" => is_line_selection(stage),
        "jq" | "yq" | "gojq" | "jaq" | "dasel" | "xq" => is_subdocument(stage),
        _ => programs::is("selects", stage),
    };
    (selects || !stage.piped || !programs::is("passes", stage)).then_some(selects)
}

/// Returns whether `sed` selects lines: by `-n`, or by a script that ends early or deletes lines.
fn is_line_selection(stage: &ShellStage) -> bool {
    stage.has(&["--quiet", "--silent"])
        || stage.has_letter(&['n'])
        || stage.words.iter().skip(1).any(|word| {
            let script = word.trim_end_matches(['\'', '"', '}', ' ']);
            script.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '/'))
                && script.ends_with(['q', 'd', 'Q'])
                && !script.contains("s/")
        })
}

/// Returns whether a document filter such as `jq` takes a part of the document: any filter except `.` does.
fn is_subdocument(stage: &ShellStage) -> bool {
    let program = stage
        .words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-') && !matches!(word.as_str(), "json" | "yaml" | "eval" | "e"));
    program.is_some_and(|program| !matches!(program.trim(), "." | "" | ". | ."))
}

/// Returns whether a stage prints a diff or an unchanged file. Records alone do not count, because they are only
/// read. A record beside another file counts, because the other file may matter.
fn shows_file(stage: &ShellStage) -> bool {
    let script = usize::from(matches!(stage.program(), "sed" | "awk"));
    let named: Vec<&String> = stage
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.starts_with('-') && word.parse::<u64>().is_err())
        .skip(script)
        .collect();
    let files = if named.iter().all(|file| is_record(file)) { 0 } else { named.len() };
    match stage.program() {
        "sed" => files > 0 && is_line_selection(stage),
        "awk" => {
            let by_number = |script: &String| script.starts_with("NR") && !script.contains("print $");
            files > 0 && stage.words.get(1).is_some_and(by_number)
        }
        _ => files > 0 && programs::is("shows", stage) || programs::is("diffs", stage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_line_is_the_one_whose_output_is_shown() {
        for (command, name) in [
            ("cargo test -p core", Some("cargo test")),
            ("cd src && RUST_LOG=x sudo cargo build 2>&1 | tail -5", Some("cargo build")),
            ("git -C dir status", Some("git")),
            ("/usr/bin/git log --oneline", Some("git log")),
            ("bash -lc 'npm run build'", Some("npm run")),
            ("wunderblock run -- grep -rn word src", Some("grep")),
            ("cat notes.txt", Some("cat")),
            ("cargo ../x", Some("cargo")),
            ("cd src", None),
            ("", None),
        ] {
            assert_eq!(program(command).as_deref(), name, "{command}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn the_last_stage_that_chooses_decides() {
        let selected = [
            "cargo test 2>&1 | grep FAIL | tail -n 50",
            "grep -c fn src/a.rs",
            "grep -rno 'unsafe.*' src",
            "rg --count foo",
            "rg foo | wc -l",
            "jq '.items[].name' pods.json",
            "curl -s https://example.org/x | jq -r .name",
            "yq eval '.a.b' f.yaml",
            "awk '{print $2}' f",
            "cut -d, -f1 data.csv",
            "sort names | uniq -c | sort -rn",
            "kubectl get pods -o jsonpath='{.items}'",
            "ls | grep x | head -3 | cat",
            "find . -name '*.rs' | xargs wc -l",
            "head -c 20 <<< \"$(cat x | grep y)\"",
        ];
        for command in selected {
            assert_eq!(Claim::of(command), Claim::Selection, "{command}");
        }
        for command in [
            "grep -rn fn src",
            "rg foo",
            "ls | grep x",
            "cargo test | grep FAIL",
            "find . -name '*.rs'",
            "sqlite3 a.db 'select 1'",
            "psql -c 'select 1'",
            "git grep x",
            "cat app.log | grep ERROR",
        ] {
            assert_eq!(Claim::of(command), Claim::Selection, "{command}");
        }
        for (command, report) in [
            ("cargo build", "cargo build"),
            ("cd /x && FOO=1 timeout 5 /usr/bin/cargo test 2>&1", "cargo test"),
            ("cargo test | tee out", "cargo test"),
            ("cargo test 2>&1 | tail -n 50", "cargo test"),
            ("go test ./... -v | head -100 | cat", "go test ./... -v"),
            ("bash -lc 'pytest -v'", "pytest -v"),
            ("kubectl get pods -o wide", "kubectl get pods -o wide"),
            ("uv run --with x pytest -v", "pytest -v"),
            ("cd shop && poetry run python -m pytest -q", "pytest -q"),
            ("npx --yes tsc --noEmit", "tsc --noEmit"),
            ("pnpm exec eslint src", "eslint src"),
            ("bundle exec rubocop", "rubocop"),
            ("wc -l src/a.rs src/b.rs", "wc -l src/a.rs src/b.rs"),
            ("git log --stat", "git log --stat"),
        ] {
            assert_eq!(Claim::of(command), Claim::Report(report.to_owned()), "{command}");
        }
        for command in ["", "'", "a |", "| |", "head a > b", "echo 'a | head'", "printf 'x' | cat"] {
            assert!(!matches!(Claim::of(command), Claim::File | Claim::Selection), "{command}");
        }
    }

    #[test]
    fn a_file_that_is_read_is_recognised() {
        for command in [
            "cat src/a.rs",
            "sed -n 1,50p src/a.rs",
            "bat -p a.rs",
            "less a",
            "git show HEAD:src/a.rs",
            "Read src/a.rs",
            "read_file {\"path\":\"a\"}",
            "head -100 a.rs",
            "cat -n a | head -20",
            "cd x && cat a b",
            "nl -ba a | sed -n '2,3p'",
            "cat app.log notes.md",
            "git diff HEAD~1",
            "git blame src/a.rs",
            "git log -p -3",
            "sed -n '10,40p' src/a.rs",
            "cd /x && head a.rs; tail b.rs",
            "cargo build; cat src/lib.rs",
        ] {
            assert_eq!(Claim::of(command), Claim::File, "{command}");
        }
        for command in [
            "cat a | grep x",
            "grep x a",
            "cat app.log",
            "Read /var/log/app.log",
            "Read data/events.jsonl:1-2000",
            "git diff --stat",
            "cargo build",
            "cat",
            "tail -f a",
            "cat > a <<E\nx\nE",
            "ls",
        ] {
            assert_ne!(Claim::of(command), Claim::File, "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_string_has_an_answer(command in "[ -~\\n]{0,80}") {
            let _ = Claim::of(&command);
        }
    }
}
