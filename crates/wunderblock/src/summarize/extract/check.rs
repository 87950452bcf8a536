//! The checks a command runs: tests, compilers, linters.

use serde::Deserialize;
use std::sync::LazyLock;

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// Its program, and what that is told to do: `cargo test`.
    pub(super) family: String,
    /// Where it ran, as far as the command says; empty: where the work happens.
    pub(super) folder: String,
    /// What it looks at, each by itself: packages, files, names; all there is where none is named.
    parts: Vec<String>,
    /// What limits it to some of that: kinds of targets, patterns.
    limits: Vec<String>,
    /// Whether only some of what it prints is to be seen.
    pub(super) is_filtered: bool,
}

/// The words by which checks are known; what each list is for, `check.toml` says.
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
}

// That the embedded words can be read is what tests are for.
static WORDS: LazyLock<CheckWords> =
    LazyLock::new(|| toml::from_str(include_str!("check.toml")).unwrap_or_default());

/// Words behind a runner that may say what it is to do.
const RUNNER_WORDS: usize = 3;

fn is(list: &[String], word: &str) -> bool {
    list.iter().any(|known| known == word)
}

impl Check {
    /// The check a command runs in a folder: a program that is one, or what a program is told to do if that names one.
    pub(super) fn of(words: &[String], folder: &str) -> Option<Self> {
        let passes_on = |word: &&str| word.starts_with(['-', '+']) || is(&WORDS.through, word);
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
        if is(&WORDS.checkers, &program) || is(&WORDS.compilers, &program) {
            return Some(Self { family: program, folder, parts, limits, is_filtered: false });
        }
        if !is(&WORDS.runners, &program) {
            return None;
        }
        let is_verb = |word: &String| WORDS.verbs.iter().any(|verb| word.contains(verb.as_str()));
        let told = parts.iter().take(RUNNER_WORDS).position(is_verb)?;
        let family = format!("{program} {}", parts.remove(told));
        Some(Self { family, folder, parts, limits, is_filtered: false })
    }

    /// Its family, and where it ran.
    pub(super) fn name(&self) -> String {
        if self.folder.is_empty() {
            self.family.clone()
        } else {
            format!("{} in {}", self.family, self.folder)
        }
    }

    /// Whether it looks at all that another looked at, and is seen whole.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.family == other.family && self.is_as_wide_as(other)
    }

    /// Whether the same program looks at as much in another way, or a runner builds what a compiler looked at, and is seen
    /// whole.
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

/// Whether two folders may be one: by the end of their paths, or an absolute one and where the work happens.
fn is_same_folder(one: &str, other: &str) -> bool {
    let ends = |whole: &str, end: &str| {
        whole.starts_with('/')
            && whole.strip_suffix(end).is_some_and(|before| before.ends_with('/') || end.is_empty())
    };
    one == other || ends(one, other) || ends(other, one)
}
