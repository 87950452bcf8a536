//! Items about actions and their outcomes: files, commands and errors.

use super::{COMMAND, Pick, counted};
use crate::summarize::extract::act::{Deed, Kind};
use crate::summarize::extract::check::Check;
use crate::summarize::extract::decision::Verdict;
use crate::summarize::extract::files::File;
use crate::summarize::extract::glean::Step;
use crate::summarize::extract::item::{ItemText, OPEN, REPLACED, SummaryItem};
use crate::summarize::extract::plain::{code, head};
use crate::summarize::extract::trouble::{Trouble, TroubleState};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;
use wunderblock_core::work::FileChange;

/// Tools that search.
const SEARCHES: [&str; 5] = ["grep", "glob", "ls", "find", "search"];
/// Maximum number of bytes quoted from the reason for a change.
const REASON: usize = 160;
/// Maximum number of commands that only look at something, counted from the newest.
const LOOKS: usize = 4;

impl Step {
    /// Returns whether the step is a command that changes nothing and checks nothing, or a tool that searches.
    fn only_looks(&self) -> bool {
        let tool = self.what.split_whitespace().next().unwrap_or_default().to_lowercase();
        match self.kind {
            Kind::Run => self.shows && self.checks.is_empty(),
            Kind::Other => SEARCHES.contains(&tool.as_str()),
            Kind::Read | Kind::Write | Kind::Plan => false,
        }
    }

    /// Returns whether the step does nothing but change files. The current state of these files is listed elsewhere.
    fn only_changes_files(&self) -> bool {
        let ended_well = self.outcome.as_ref().is_some_and(|outcome| !outcome.failed);
        let changes = |(deed, _): &(Deed, String)| !matches!(deed, Deed::Read | Deed::Committed);
        self.kind == Kind::Run
            && ended_well
            && self.checks.is_empty()
            && self.files.first().is_some_and(changes)
    }

    /// Returns a key for steps that are listed once, with the newest result. The key consists of the step's checks
    /// without flags and filters or, if the step runs no check, of its words.
    fn fold_key(&self) -> String {
        if self.checks.is_empty() {
            return self.what.clone();
        }
        self.checks.iter().map(Check::name).collect::<Vec<_>>().join(" ")
    }
}

impl Pick<'_> {
    pub(super) fn files_read(&mut self) {
        let found = self.found;
        let mut files: Vec<(&str, u32, Seq)> = found
            .files
            .iter()
            .filter(|file| !file.is_changed())
            .map(|file| (file.path.as_str(), file.read, file.last_read))
            .collect();
        let mut seen: HashSet<&str> = files.iter().map(|(path, ..)| *path).collect();
        let unanswered =
            found.unanswered().filter(|(_, deed, path)| **deed == Deed::Read && seen.insert(path));
        files.extend(unanswered.map(|(at, _, path)| (path, 1, at)));
        for (path, count, at) in files {
            let name = counted(&code(path, self.marks()), count);
            let weight = self.span.newness(at) + i64::from(count.min(10)) * 50;
            self.items.push(SummaryItem::packed(Fill::FilesRead, "read", name, at, weight));
        }
    }

    pub(super) fn files_modified(&mut self) {
        let found = self.found;
        let mut told: HashSet<&str> = HashSet::new();
        for file in found.files.iter().filter(|file| file.is_changed()) {
            let File { path, changed, change, from, last_changed, reason, defined, .. } = file;
            let name = counted(&code(path, self.marks()), *changed);
            let lead = match (change, from) {
                (FileChange::Deleted, _) => format!("removed {name}"),
                (FileChange::Reverted, _) => format!("taken back {name}"),
                (FileChange::Moved, Some(from)) => format!("moved {} → {name}", code(from, self.marks())),
                _ => format!("changed {name}"),
            };
            let weight = self.span.newness(*last_changed) + i64::from((*changed).min(10)) * 40;
            // Each sentence is quoted as the reason for only one file.
            let reason = reason
                .as_ref()
                .filter(|(said, text)| told.insert(text) && found.verdict(*said).is_none_or(Verdict::stands));
            let quote = reason.map(|(_, text)| self.short_line(text, REASON)).unwrap_or_default();
            let names: Vec<String> = defined.iter().map(|(_, name)| format!("`{name}`")).collect();
            let lead = if names.is_empty() { lead } else { format!("{lead}, defines {}", names.join(", ")) };
            let lead = if quote.is_empty() { lead } else { format!("{lead}: ") };
            let mut item = SummaryItem::quote(Fill::FilesModified, &lead, quote, *last_changed, weight);
            for at in defined.iter().map(|(at, _)| *at).chain(reason.map(|(said, _)| *said)) {
                if !item.refs.contains(&at) {
                    item.refs.push(at);
                }
            }
            self.items.push(item);
        }
        let mut seen: HashSet<&str> =
            found.files.iter().filter(|file| file.is_changed()).map(|file| file.path.as_str()).collect();
        let waiting = found
            .unanswered()
            .filter(|(_, deed, path)| !matches!(deed, Deed::Read | Deed::Committed) && seen.insert(path));
        for (at, deed, path) in waiting {
            let name = counted(&code(path, self.marks()), 1);
            let lead = match (self.waits(at), deed) {
                (true, Deed::Removed) => format!("removing {name}, no result yet"),
                (true, _) => format!("changing {name}, no result yet"),
                (false, Deed::Removed) => format!("removed {name}"),
                (false, _) => format!("changed {name}"),
            };
            self.items.push(SummaryItem::quote(Fill::FilesModified, &lead, String::new(), at, 1_500));
        }
    }

    pub(super) fn commands(&mut self) {
        let found = self.found;
        // Commands that only look at files are covered by the list of files that were read. The newest commands that
        // only look at something are listed, because they show where the work was.
        let looks = found.steps.iter().rev().filter(|step| step.only_looks()).map(|step| step.at);
        let since = looks.take(LOOKS).last().unwrap_or_default();
        let has_files = self.form.has(Fill::FilesModified);
        let steps = found.steps.iter().filter(|step| {
            let is_told = has_files && step.only_changes_files();
            let is_passing = step.only_looks() && step.at < since;
            matches!(step.kind, Kind::Run | Kind::Other) && !is_told && !is_passing
        });
        let steps: Vec<&Step> = steps.collect();
        for (_, step) in folded(steps.iter().copied(), Step::fold_key) {
            // The newest run of a check represents all its runs. Only runs with the same words are counted.
            let same = steps.iter().filter(|other| other.what == step.what).count();
            let count = u32::try_from(same).unwrap_or(u32::MAX);
            let failed = step.outcome.as_ref().is_some_and(|outcome| outcome.failed);
            let weight =
                self.span.newness(step.at) + i64::from(count.min(8)) * 60 + if failed { 150 } else { 0 }
                    - if step.shows { 900 } else { 0 };
            let (lead, quote) = self.step_line(step, count);
            self.items.push(SummaryItem::quote(Fill::Commands, &lead, quote, step.at, weight));
        }
    }

    /// Returns a command as it was given, on one line, in a form that can be put in backticks.
    pub(super) fn command(&self, what: &str) -> String {
        code(&head(what, COMMAND), self.marks())
    }

    /// Returns whether a result may still arrive. In some formats, results do not name their calls, so later events
    /// show that a result has arrived.
    fn waits(&self, at: Seq) -> bool {
        self.found.others.last().into_iter().chain(self.found.users.last()).all(|said| said.at < at)
            && self.found.steps.last().is_none_or(|step| step.at == at)
    }

    /// Describes a step and how it ended.
    pub(super) fn step_line(&self, step: &Step, count: u32) -> (String, String) {
        let what = counted(&self.command(&step.what), count);
        let Some(outcome) = &step.outcome else {
            let waits = if self.waits(step.at) { " → no result yet" } else { "" };
            return (format!("{what}{waits}"), String::new());
        };
        let mut lead = what;
        if outcome.failed {
            lead.push_str(" → failed");
            if let Some(code) = outcome.exit.as_deref().filter(|code| *code != "0") {
                lead.push_str(&format!(", exit code {code}"));
            }
        } else if outcome.found_nothing {
            lead.push_str(" → no match");
        } else if !step.shows || step.kind == Kind::Write {
            lead.push_str(if step.is_typed { "" } else { " → ok" });
        }
        let quote =
            outcome.telling.as_deref().map(|telling| self.short_line(telling, 200)).unwrap_or_default();
        if !quote.is_empty() {
            let is_unsaid = step.is_typed && !outcome.failed;
            lead.push_str(if is_unsaid { " → " } else { ": " });
        }
        (lead, quote)
    }

    /// Returns a note on the file that was changed first after a position, or an empty string if no file was changed.
    pub(super) fn changed_since(&self, at: Seq) -> String {
        self.found.files.changed_after(at).map(|path| self.since(path)).unwrap_or_default()
    }

    fn since(&self, path: &str) -> String {
        format!(" → `{}` changed since", code(path, self.marks()))
    }

    pub(super) fn errors(&mut self) {
        let found = self.found;
        let troubles = folded(found.troubles.iter(), |trouble| (trouble.found_by(), trouble.line.as_str()));
        for (count, trouble) in troubles {
            let Trouble { at, what, line, state, .. } = trouble;
            let is_told = *state == TroubleState::Told;
            let lead = if is_told { what.clone() } else { counted(&self.command(what), count) };
            let quote = self.short_line(line, 220);
            let lead = if quote.is_empty() { lead } else { format!("{lead}: ") };
            let tail = match state {
                // A reported error does not name a check, so the next change is all that is known about the error.
                TroubleState::Told => self.changed_since(*at),
                TroubleState::Failed => " → failed".to_owned(),
                TroubleState::Open => OPEN.to_owned(),
                TroubleState::Stale(path) => self.since(path),
                TroubleState::Replaced => REPLACED.to_owned(),
                TroubleState::Fixed(_, Some(path)) => {
                    format!(" → fixed after changing `{}`", code(path, self.marks()))
                }
                TroubleState::Fixed(_, None) => " → fixed".to_owned(),
                TroubleState::Gone(_) => " → file removed".to_owned(),
                TroubleState::Passed(_) => " → ok later".to_owned(),
            };
            let weight = self.span.newness(*at)
                + match state {
                    TroubleState::Open => 700,
                    TroubleState::Stale(_) => 500,
                    TroubleState::Failed | TroubleState::Replaced => 300,
                    _ => 0,
                };
            let mut item = SummaryItem::new(Fill::Errors, ItemText::Line { lead, quote, tail }, *at, weight);
            item.refs.extend(trouble.closed());
            self.items.push(item);
        }
    }
}

/// Folds items with equal keys into one. Returns, for each key, the number of items and the last item, in the order
/// of the last items.
fn folded<'i, T, K: Eq + Hash>(
    items: impl Iterator<Item = &'i T>,
    key: impl Fn(&'i T) -> K,
) -> Vec<(u32, &'i T)> {
    let mut folded: HashMap<K, (u32, usize, &T)> = HashMap::new();
    for (place, item) in items.enumerate() {
        let fold = folded.entry(key(item)).or_insert((0, place, item));
        *fold = (fold.0 + 1, place, item);
    }
    let mut folded: Vec<_> = folded.into_values().collect();
    folded.sort_by_key(|(_, place, _)| *place);
    folded.into_iter().map(|(count, _, item)| (count, item)).collect()
}
