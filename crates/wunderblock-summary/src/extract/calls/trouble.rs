//! Describes the subject of each error and what closes the error. A later call that ends well does not by itself
//! close an error.
//!
//! ```text
//!  a check fails ────► Open ──┬─ a check of its family, at least as wide, ends well ─► Fixed
//!                             ├─ one of its family fails and does not show it ───────► Replaced
//!                             ├─ the file it is about is changed ────────────────────► Stale
//!                             ├─ a change before it is taken back ───────────────────► Stale
//!                             ├─ the file it is about is removed ────────────────────► Gone
//!                             └─ the test it names passes in what a check shows ─────► Passed
//!  A green check closes Open, Stale, Replaced and Failed errors, also those another check found in the same words.
//!  another call fails ► Failed ─ the same call ends well ────────────────────────────► Passed
//! ```

use super::check::Check;
use super::shell::joined;
use crate::extract::language::cue;
use std::collections::HashSet;
use wunderblock_core::literal::{LiteralKind, literals};
use wunderblock_core::units::Seq;

/// State of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TroubleState {
    /// Somebody reported the error. Nothing shows the present state of the error.
    Told,
    /// A call failed. The cause may or may not persist.
    Failed,
    /// The latest check of its family found the error.
    Open,
    /// A change concerns the error, and no check of its family has run since. Holds the changed file.
    Stale(String),
    /// The next check of its family failed but did not show the error.
    Replaced,
    /// A later check of its family ended well. Holds the position of the check, and the last file that was changed
    /// before the check.
    Fixed(Seq, Option<String>),
    /// The file that the error is about was removed at this position.
    Gone(Seq),
    /// The same call ended well later, or the test that the error names passed. Other causes are possible, and no
    /// other test is known to pass.
    Passed(Seq),
}

/// An error of a range.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) at: Seq,
    /// Call or event that reported the error.
    pub(in crate::extract) what: String,
    /// Line that reports the error.
    pub(crate) line: String,
    pub(in crate::extract) state: TroubleState,
    /// Key that is equal for calls that do the same thing.
    key: String,
    /// Checks that found the error.
    checks: Vec<Check>,
}

impl Trouble {
    /// Returns whether the latest check of its family found the error, and nothing has affected the error since.
    pub(crate) fn is_open(&self) -> bool {
        self.state == TroubleState::Open
    }

    /// Returns the names of the checks that found the error, or the call that found it if there were no checks.
    pub(in crate::extract) fn found_by(&self) -> Vec<String> {
        let checks: Vec<String> = self.checks.iter().map(Check::name).collect();
        if checks.is_empty() { vec![self.what.clone()] } else { checks }
    }

    /// Returns whether the error is that an edit did not apply.
    pub(in crate::extract) fn is_edit(&self) -> bool {
        self.key.starts_with("edit ")
    }

    /// Returns whether a check found the error and nothing has closed it.
    fn is_unclosed(&self) -> bool {
        self.closed().is_none() && !self.checks.is_empty()
    }

    /// Closes the error because a check at a given position passed. Names the last changed file if the change came
    /// after the error, unless the error names another file.
    fn fix(&mut self, at: Seq, changed: Option<&(Seq, String)>) {
        let is_its = |path: &str| !names_place(&self.line) || self.is_about(path);
        let by = changed
            .filter(|(changed, path)| *changed > self.at && is_its(path))
            .map(|(_, path)| path.clone());
        self.state = TroubleState::Fixed(at, by);
    }

    /// Returns whether a result says that the test named in the error passes.
    fn passes_in(&self, text: &str) -> bool {
        let mut greens = PASSES.iter().filter(|(failed, _)| self.line.contains(failed));
        greens.any(|(failed, passed)| {
            let green = self.line.replacen(failed, passed, 1);
            // A duration may follow the name of the test.
            let green = green.split(" (").next().unwrap_or_default().trim_end();
            text.lines().any(|line| {
                line.trim_start()
                    .strip_prefix(green)
                    .is_some_and(|rest| rest.trim().is_empty() || rest.starts_with(" ("))
            })
        })
    }

    /// Returns the position at which the error was closed.
    pub(in crate::extract) fn closed(&self) -> Option<Seq> {
        match &self.state {
            TroubleState::Fixed(at, _) | TroubleState::Gone(at) | TroubleState::Passed(at) => Some(*at),
            TroubleState::Told | TroubleState::Failed | TroubleState::Open => None,
            TroubleState::Stale(_) | TroubleState::Replaced => None,
        }
    }

    /// Returns whether the error's line names this file, or a file in this folder.
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

/// Returns whether a path ends with another path that contains a folder. Many files may share the same name without a
/// path.
fn is_end(path: &str, end: &str) -> bool {
    end.contains('/') && path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}

/// Marks of failing and passing tests in the output of cargo, go, jest and mocha.
const PASSES: [(&str, &str); 4] =
    [(" ... FAILED", " ... ok"), ("--- FAIL: ", "--- PASS: "), ("✕ ", "✓ "), ("✗ ", "✓ ")];

/// A call that failed.
pub(in crate::extract) struct FailedCall<'a> {
    /// Description of the call.
    pub(in crate::extract) what: &'a str,
    /// Key that is equal for calls that do the same thing.
    pub(in crate::extract) key: &'a str,
    pub(in crate::extract) checks: &'a [Check],
    /// Line that reports the error.
    pub(crate) line: &'a str,
    /// Result of the call.
    pub(in crate::extract) shown: &'a str,
}

/// Errors of a range, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles(Vec<Trouble>);

impl Troubles {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Trouble> {
        self.0.iter()
    }

    /// Records an error that somebody has reported.
    pub(in crate::extract) fn tell(&mut self, at: Seq, what: &str, line: &str) {
        let line = cue::bare(line).to_owned();
        if !line.is_empty() {
            let (what, key, checks) = (what.to_owned(), String::new(), Vec::new());
            self.0.push(Trouble { at, what, line, state: TroubleState::Told, key, checks });
        }
    }

    /// Records a failed call. Errors found by earlier checks of the families that the call ran become uncertain,
    /// unless the call shows them again.
    pub(in crate::extract) fn fail(&mut self, at: Seq, call: &FailedCall<'_>) {
        let unclosed = self.0.iter_mut().filter(|trouble| trouble.is_unclosed());
        for trouble in unclosed.filter(|trouble| covers(call.checks, &trouble.checks)) {
            // `outcome` has taken the place from the next line and appended it to the message after ` --> `, so the
            // output contains only the message.
            let message = trouble.line.split(" --> ").next().unwrap_or_default();
            let is_shown = !message.is_empty() && call.shown.contains(message);
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

    /// Records a call that ended well. `changed` is the last file that was changed, with its position.
    pub(in crate::extract) fn pass(
        &mut self,
        at: Seq,
        key: &str,
        checks: &[Check],
        changed: Option<&(Seq, String)>,
    ) {
        let mut gone: HashSet<String> = HashSet::new();
        for trouble in &mut self.0 {
            if trouble.is_unclosed() && covers(checks, &trouble.checks) {
                trouble.fix(at, changed);
                gone.insert(trouble.line.clone());
            } else if trouble.is_open() && compiles(checks, &trouble.checks) {
                // The error may be in code that only the check that found it looks at, so the error is no longer
                // known to be open.
                trouble.state = TroubleState::Failed;
            } else if trouble.state == TroubleState::Failed && trouble.checks.is_empty() && trouble.key == key
            {
                trouble.state = TroubleState::Passed(at);
            }
        }
        // An error that another check reported in the same words counts as the same error.
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed()) {
            if names_place(&trouble.line) && gone.contains(&trouble.line) {
                trouble.fix(at, changed);
            }
        }
    }

    /// Records that checks ran again and nothing shows how they ended, so that errors they found earlier are no longer
    /// known to be open.
    pub(in crate::extract) fn doubt(&mut self, checks: &[Check]) {
        let open = self.0.iter_mut().filter(|trouble| trouble.is_open());
        for trouble in open.filter(|trouble| covers(checks, &trouble.checks)) {
            trouble.state = TroubleState::Failed;
        }
    }

    /// Records what a check showed. The outcome of the check may be unknown, because its output went through a
    /// filter.
    pub(in crate::extract) fn show(&mut self, at: Seq, text: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed() && trouble.passes_in(text)) {
            trouble.state = TroubleState::Passed(at);
        }
    }

    /// Records a change to a file.
    pub(in crate::extract) fn change(&mut self, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_open() && trouble.is_about(path)) {
            trouble.state = TroubleState::Stale(path.to_owned());
        }
    }

    /// Records that changes since a position were taken back. Errors found with these changes may be gone.
    pub(in crate::extract) fn revert(&mut self, since: Seq, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_open() && trouble.at > since) {
            trouble.state = TroubleState::Stale(path.to_owned());
        }
    }

    /// Records that a file or folder was removed.
    pub(in crate::extract) fn remove(&mut self, at: Seq, path: &str) {
        for trouble in self.0.iter_mut().filter(|trouble| trouble.is_unclosed() && trouble.is_about(path)) {
            trouble.state = TroubleState::Gone(at);
        }
    }
}

/// Returns whether a line names a file. If the line names no file, the same words may report a different error.
fn names_place(line: &str) -> bool {
    literals(line).any(|literal| literal.kind == LiteralKind::Path)
}

/// Returns whether the checks of one command run the same programs as the checks of another command and look at as
/// much in a different way, just as clippy compiles what a test compiles.
fn compiles(checks: &[Check], others: &[Check]) -> bool {
    let is_near = |other: &Check| checks.iter().any(|check| check.is_near(other));
    !others.is_empty() && others.iter().all(is_near)
}

/// Returns whether the checks of one command look at everything that the checks of another command looked at.
fn covers(checks: &[Check], others: &[Check]) -> bool {
    !others.is_empty() && others.iter().all(|other| checks.iter().any(|check| check.covers(other)))
}
