//! Recognises the checks that a command runs: tests, compilers and linters.

use serde::Deserialize;
use std::sync::LazyLock;

/// A check that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) struct Check {
    /// Program with its subcommand, such as `cargo test`.
    pub(in crate::extract) family: String,
    /// Folder where the check ran, as far as the command shows, or an empty string for the working folder.
    pub(in crate::extract) folder: String,
    /// Packages, files and names that the check looks at, each listed separately. The list is empty if the check
    /// looks at everything.
    pub(in crate::extract) parts: Vec<String>,
    /// Flags and patterns that limit the check to some of its parts.
    pub(in crate::extract) limits: Vec<String>,
    /// Whether only some of the check's output is visible.
    pub(in crate::extract) is_filtered: bool,
    /// What the exit code of the whole command line proves about the check.
    pub(in crate::extract) proof: ExitProof,
}

/// What the exit code of a command line proves about one of its checks. The exit code of a pipe, of `a || b` and of
/// `a; b` is that of the last command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::extract) struct ExitProof {
    /// If the line succeeds, the check has passed.
    pub(in crate::extract) passes: bool,
    /// If the line fails, the check has failed.
    pub(super) fails: bool,
}

/// Words by which checks are recognised; `check.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckWords {
    checkers: Vec<String>,
    compilers: Vec<String>,
    builds: Vec<String>,
    runners: Vec<String>,
    verbs: Vec<String>,
    through: Vec<String>,
    limits: Vec<String>,
    patterns: Vec<String>,
    about: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<CheckWords> =
    LazyLock::new(|| toml::from_str(include_str!("check.toml")).unwrap_or_default());

/// Maximum number of words after a runner that are searched for its subcommand.
const RUNNER_WORDS: usize = 3;

fn is(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known == word)
}

impl Check {
    /// Returns the check that a command runs in a folder: either a program that is itself a check, or a runner with a
    /// subcommand that is a check.
    pub(super) fn of(words: &[String], folder: &str) -> Option<Self> {
        let passes_on = |word: &&str| word.starts_with(['-', '+']) || is(&WORDS.through, word);
        if words.iter().any(|word| is(&WORDS.about, word)) {
            return None;
        }
        let mut words = words.iter().map(|word| word.as_str()).skip_while(passes_on);
        let program = words.next()?.rsplit('/').next().unwrap_or_default().to_owned();
        let (mut parts, mut limits) = (Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            if is(&WORDS.patterns, word) {
                limits.push(format!("{word} {}", words.next().unwrap_or_default()));
            } else if is(&WORDS.limits, word) {
                limits.push(word.to_owned());
            } else if !passes_on(&word) {
                parts.push(word.to_owned());
            }
        }
        let folder = folder.to_owned();
        let check = |family: String, parts| {
            let (is_filtered, proof) = (false, ExitProof::default());
            Self { family, folder, parts, limits, is_filtered, proof }
        };
        if is(&WORDS.checkers, &program) || is(&WORDS.compilers, &program) {
            return Some(check(program, parts));
        }
        if !is(&WORDS.runners, &program) {
            return None;
        }
        let is_verb = |word: &String| {
            !word.contains(['/', '@']) && WORDS.verbs.iter().any(|verb| word.contains(verb.as_str()))
        };
        let told = parts.iter().take(RUNNER_WORDS).position(is_verb)?;
        let family = format!("{program} {}", parts.remove(told));
        Some(check(family, parts))
    }

    /// Returns the family of the check, and its folder if known.
    pub(in crate::extract) fn name(&self) -> String {
        if self.folder.is_empty() {
            self.family.clone()
        } else {
            format!("{} in {}", self.family, self.folder)
        }
    }

    /// Returns whether the check looks at everything that another check looked at and shows all its output.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.family == other.family && self.is_as_wide_as(other)
    }

    /// Returns whether the check looks at as much through another subcommand of the same program, or is a runner's
    /// build of what a compiler looked at. All output of the check must be visible.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        let (program, verb) = self.family.split_once(' ').unwrap_or((&self.family, ""));
        let builds = is(&WORDS.compilers, &other.family)
            && WORDS.builds.iter().any(|word| verb.contains(word.as_str()));
        (builds || other.family.split(' ').next() == Some(program)) && self.is_as_wide_as(other)
    }

    fn is_as_wide_as(&self, other: &Self) -> bool {
        !self.is_filtered
            && is_same_folder(&self.folder, &other.folder)
            && self.limits.iter().all(|limit| other.limits.contains(limit))
            && (self.parts.is_empty()
                || !other.parts.is_empty() && other.parts.iter().all(|part| self.parts.contains(part)))
    }
}

/// Returns whether two folders may be the same: they are equal, one is an absolute path that ends with the other, or
/// one is absolute and the other is the working folder.
fn is_same_folder(one: &str, other: &str) -> bool {
    let ends = |whole: &str, end: &str| {
        whole.starts_with('/')
            && whole.strip_suffix(end).is_some_and(|before| before.ends_with('/') || end.is_empty())
    };
    one == other || ends(one, other) || ends(other, one)
}
