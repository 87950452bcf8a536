//! Errors: what each is about, and what closes it. A call that ended well later closes none by itself.
//!
//! ```text
//!  a check fails ────► Open ──┬─ a check of its family, at least as wide, ends well ─► Fixed
//!                             ├─ one of its family fails and does not show it ───────► Replaced
//!                             ├─ the file it is about is changed ────────────────────► Stale
//!                             ├─ a change before it is taken back ───────────────────► Stale
//!                             ├─ the file it is about is removed ────────────────────► Gone
//!                             └─ the test it names passes in what a check shows ─────► Passed
//!  A green check closes what is Open, Stale, Replaced or Failed; and what another check found in the same words.
//!  another call fails ► Failed ─ the same call ends well ────────────────────────────► Passed
//! ```

use super::check::Check;
use super::cue;
use super::shell::joined;
use std::borrow::Cow;
use std::collections::HashSet;
use wunderblock_core::literal::{LiteralKind, literals};
use wunderblock_core::units::Seq;

/// How an error stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum TroubleState {
    /// Somebody tells of it: nothing says how it stands.
    Told,
    /// A call failed; what was wrong then may be so or not.
    Failed,
    /// The newest check of its family found it.
    Open,
    /// The file it is about was changed since, and no check of its family has run.
    Stale(String),
    /// The next check of its family failed, and did not show it.
    Replaced,
    /// A later check of its family ended well; the file that was changed last before that.
    Fixed(Seq, Option<String>),
    /// The file it is about was removed.
    Gone(Seq),
    /// The same call ended well later, or the test it names did: which may have other reasons, and tell of no other test.
    Passed(Seq),
}

/// An error.
#[derive(Clone, Debug)]
pub(in super::super) struct Trouble {
    pub(in super::super) at: Seq,
    /// What was done.
    pub(super) what: String,
    /// What went wrong.
    pub(in super::super) line: String,
    pub(super) state: TroubleState,
    /// What is compared to see that the same was done again.
    key: String,
    /// The checks that found it.
    checks: Vec<Check>,
}

impl Trouble {
    /// Whether a check found it and nothing has closed it.
    pub(in super::super) fn is_open(&self) -> bool {
        self.state == TroubleState::Open
    }

    /// The checks that found it; else what was done.
    pub(super) fn found_by(&self) -> Vec<String> {
        let checks: Vec<String> = self.checks.iter().map(Check::name).collect();
        if checks.is_empty() { vec![self.what.clone()] } else { checks }
    }

    /// Whether a check found it and none has found it gone.
    fn is_unclosed(&self) -> bool {
        self.closed().is_none() && !self.checks.is_empty()
    }

    /// A green check at a position closes it; the file changed last is named where that was after the error, unless the error
    /// names another.
    fn fix(&mut self, at: Seq, changed: Option<&(Seq, String)>) {
        let is_its = |path: &str| !names_place(&self.line) || self.is_about(path);
        let by = changed
            .filter(|(changed, path)| *changed > self.at && is_its(path))
            .map(|(_, path)| path.clone());
        self.state = TroubleState::Fixed(at, by);
    }

    /// Whether a result says that the test it names passes.
    fn passes_in(&self, text: &str) -> bool {
        let mut greens = PASSES.iter().filter(|(failed, _)| self.line.contains(failed));
        greens.any(|(failed, passed)| {
            let green = self.line.replacen(failed, passed, 1);
            // Behind a name may stand how long it took.
            let green = green.split(" (").next().unwrap_or_default().trim_end();
            text.lines().any(|line| {
                line.trim_start()
                    .strip_prefix(green)
                    .is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(" ("))
            })
        })
    }

    /// Where it was closed.
    pub(super) fn closed(&self) -> Option<Seq> {
        match &self.state {
            TroubleState::Fixed(at, _) | TroubleState::Gone(at) | TroubleState::Passed(at) => Some(*at),
            TroubleState::Told | TroubleState::Failed | TroubleState::Open => None,
            TroubleState::Stale(_) | TroubleState::Replaced => None,
        }
    }

    /// Whether its line names a file that is this one, or in this folder.
    fn is_about(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = self.checks.first().map(|check| check.folder.as_str()).unwrap_or_default();
        let mut named = literals(&self.line).filter(|literal| literal.kind == LiteralKind::Path);
        named.any(|literal| {
            let file = literal.normal();
            let file = file.split([':', '(']).next().unwrap_or(file).trim_start_matches("./");
            let file = joined(folder, file);
            let file = file.as_str();
            file == path || file.starts_with(&format!("{path}/")) || is_end(path, file) || is_end(file, path)
        })
    }
}

/// Whether a path ends with another that has a folder: a bare name is that of many files.
fn is_end(path: &str, end: &str) -> bool {
    end.contains('/') && path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}

/// How runners of tests say of one that it fails, and that it passes: cargo, go, jest and mocha.
const PASSES: [(&str, &str); 4] =
    [(" ... FAILED", " ... ok"), ("--- FAIL: ", "--- PASS: "), ("✕ ", "✓ "), ("✗ ", "✓ ")];

/// A call that failed.
pub(super) struct FailedCall<'a> {
    /// What was done, and what is compared to see that the same was done again.
    pub(super) what: &'a str,
    pub(super) key: &'a str,
    pub(super) checks: &'a [Check],
    /// What went wrong, and all that the checks showed.
    pub(super) line: &'a str,
    pub(super) shown: &'a [Cow<'a, str>],
}

/// The errors of a range, in order.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Troubles(Vec<Trouble>);

impl Troubles {
    pub(in super::super) fn iter(&self) -> std::slice::Iter<'_, Trouble> {
        self.0.iter()
    }

    /// What somebody tells of.
    pub(super) fn tell(&mut self, at: Seq, what: &str, line: &str) {
        let line = cue::bare(line).to_owned();
        if !line.is_empty() {
            let (what, key, checks) = (what.to_owned(), String::new(), Vec::new());
            self.0.push(Trouble { at, what, line, state: TroubleState::Told, key, checks });
        }
    }

    /// A call failed. What earlier checks of these families found is not known to be so any more, unless it shows it.
    pub(super) fn fail(&mut self, at: Seq, call: &FailedCall<'_>) {
        let unclosed = self.0.iter_mut().filter(|trouble| trouble.is_unclosed());
        for trouble in unclosed.filter(|trouble| covers(call.checks, &trouble.checks)) {
            let message = trouble.line.split(" --> ").next().unwrap_or_default();
            let is_shown = !message.is_empty() && call.shown.iter().any(|text| text.contains(message));
            match trouble.state {
                _ if is_shown => trouble.state = TroubleState::Open,
                TroubleState::Stale(_) => {}
                _ => trouble.state = TroubleState::Replaced,
            }
        }
        let state = if call.checks.is_empty() { TroubleState::Failed } else { TroubleState::Open };
        self.0.push(Trouble {
            at,
            what: call.what.to_owned(),
            line: cue::bare(call.line).to_owned(),
            state,
            key: call.key.to_owned(),
            checks: call.checks.to_vec(),
        });
    }

    /// A call ended well. `changed`: where a file was changed last, and which.
    pub(super) fn pass(&mut self, at: Seq, key: &str, checks: &[Check], changed: Option<&(Seq, String)>) {
        let mut gone: HashSet<String> = HashSet::new();
        for trouble in &mut self.0 {
            if trouble.is_unclosed() && covers(checks, &trouble.checks) {
                trouble.fix(at, changed);
                gone.insert(trouble.line.clone());
            } else if trouble.is_open() && compiles(checks, &trouble.checks) {
                // It may be in what only the other check looks at: it is not known to be open any more.
                trouble.state = TroubleState::Failed;
            } else if trouble.state == TroubleState::Failed && trouble.checks.is_empty() && trouble.key == key
            {
                trouble.state = TroubleState::Passed(at);
            }
        }
        // What another check found in the same words is the same error.
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed()) {
            if names_place(&trouble.line) && gone.contains(&trouble.line) {
                trouble.fix(at, changed);
            }
        }
    }

    /// A check showed this, though of how it ended nothing may be known: its output went through a filter.
    pub(super) fn show(&mut self, at: Seq, text: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed() && trouble.passes_in(text)) {
            trouble.state = TroubleState::Passed(at);
        }
    }

    /// A file was changed.
    pub(super) fn change(&mut self, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_open() && trouble.is_about(path)) {
            trouble.state = TroubleState::Stale(path.to_owned());
        }
    }

    /// What was changed since a position was taken back: what was found with it need not be so now.
    pub(super) fn revert(&mut self, since: Seq, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_open() && trouble.at > since) {
            trouble.state = TroubleState::Stale(path.to_owned());
        }
    }

    /// A file or folder was removed.
    pub(super) fn remove(&mut self, at: Seq, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed() && trouble.is_about(path)) {
            trouble.state = TroubleState::Gone(at);
        }
    }
}

/// Whether a line names a file: without one, the same words may tell of another error.
fn names_place(line: &str) -> bool {
    literals(line).any(|literal| literal.kind == LiteralKind::Path)
}

/// Whether the checks of one command are by the programs of those of another, and look at as much in another way: clippy
/// compiles what a test compiles.
fn compiles(checks: &[Check], others: &[Check]) -> bool {
    let is_near = |other: &Check| checks.iter().any(|check| check.is_near(other));
    !others.is_empty() && others.iter().all(is_near)
}

/// Whether the checks of one command look at all that those of another looked at.
fn covers(checks: &[Check], others: &[Check]) -> bool {
    !others.is_empty() && others.iter().all(|other| checks.iter().any(|check| check.covers(other)))
}
