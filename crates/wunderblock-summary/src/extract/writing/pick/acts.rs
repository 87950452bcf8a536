//! Items about actions and their outcomes: files, commands and errors.

use super::{COMMAND, Pick};
use crate::extract::calls::act::{Deed, Kind};
use crate::extract::calls::change::ADDED_LISTED;
use crate::extract::calls::check::Check;
use crate::extract::calls::decision::Verdict;
use crate::extract::calls::files::File;
use crate::extract::calls::outcome::{Ending, Outcome};
use crate::extract::calls::trouble::{Trouble, TroubleState};
use crate::extract::glean::Step;
use crate::extract::language::plain::{code, head};
use crate::extract::writing::item::{
    CountedName, ItemText, NO_RESULT, OPEN, REPLACED, RUNNING, SPARE, SummaryItem,
};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;
use wunderblock_core::work::FileChange;

/// Tools that search.
const SEARCHES: [&str; 5] = ["grep", "glob", "ls", "find", "search"];
/// Maximum number of bytes quoted from the reason for a change.
const REASON: usize = 160;
/// Maximum number of other commands that are listed, counted from the newest.
const OTHERS: usize = 6;

impl Step {
    /// Returns whether the step is a command that changes nothing and checks nothing, or a tool that searches.
    fn only_looks(&self) -> bool {
        let tool = self.what.split_whitespace().next().unwrap_or_default().to_lowercase();
        match self.kind {
            Kind::Run => (self.shows || self.looks) && self.checks.is_empty(),
            Kind::Other => SEARCHES.contains(&tool.as_str()),
            Kind::Read | Kind::Write | Kind::Plan => false,
        }
    }

    /// Returns whether the step checks the work, changes something outside its files, or starts a delegate.
    fn matters(&self) -> bool {
        !self.checks.is_empty() || self.acts || self.delegates
    }

    /// Returns whether the step does nothing but change files. The current state of these files is listed elsewhere.
    fn only_changes_files(&self) -> bool {
        let ended_well = self.outcome.as_ref().is_some_and(Outcome::is_ok);
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
            let name = CountedName::new("", code(path, self.marks()), count);
            let weight = self.span.newness(at) + i64::from(count.min(10)) * 50;
            self.items.push(SummaryItem::packed(Fill::FilesRead, "read", name, at, weight));
        }
    }

    pub(super) fn files_modified(&mut self) {
        let found = self.found;
        let mut told: HashSet<&str> = HashSet::new();
        for file in found.files.iter().filter(|file| file.is_changed()) {
            let File { path, changed, change, from, last_changed, reason, added, .. } = file;
            let verb = match (change, from) {
                (FileChange::Deleted, _) => "removed ".to_owned(),
                (FileChange::Reverted, _) => "taken back ".to_owned(),
                (FileChange::Moved, Some(from)) => format!("moved {} → ", code(from, self.marks())),
                _ => "changed ".to_owned(),
            };
            let file = CountedName::new(verb, code(path, self.marks()), *changed);
            let with = |added: &[(Seq, String)]| {
                let added = added.iter().map(|(_, name)| name.clone()).collect();
                CountedName { added, ..file.clone() }
            };
            let weight = self.span.newness(*last_changed) + i64::from((*changed).min(10)) * 40;
            // Each sentence is quoted as the reason for only one file.
            let reason = reason.as_ref().filter(|(said, text)| {
                told.insert(text) && says_more(text, path) && found.verdict(*said).is_none_or(Verdict::stands)
            });
            let quote = reason.map(|(_, text)| self.short_line(text, REASON)).unwrap_or_default();
            // What was taken back or removed adds nothing.
            let is_gone = matches!(change, FileChange::Deleted | FileChange::Reverted);
            let added = if is_gone { &[] } else { added.as_slice() };
            let (older, added) = added.split_at(added.len().saturating_sub(ADDED_LISTED));
            if let Some((at, _)) = older.last() {
                let text = ItemText::about(with(older), "", String::new());
                self.items.push(SummaryItem::new(Fill::FilesModified, text, *at, SPARE + weight));
            }
            let text = ItemText::about(with(added), ": ", quote);
            let mut item = SummaryItem::new(Fill::FilesModified, text, *last_changed, weight);
            for at in added.iter().map(|(at, _)| *at).chain(reason.map(|(said, _)| *said)) {
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
            let waits = self.waits(at);
            let verb = match (waits, deed) {
                (true, Deed::Removed) => "removing ",
                (true, _) => "changing ",
                (false, Deed::Removed) => "removed ",
                (false, _) => "changed ",
            };
            let lead = if waits { format!(", {NO_RESULT}") } else { String::new() };
            let text =
                ItemText::about(CountedName::new(verb, code(path, self.marks()), 1), lead, String::new());
            self.items.push(SummaryItem::new(Fill::FilesModified, text, at, 1_500));
        }
    }

    pub(super) fn commands(&mut self) {
        let found = self.found;
        let mut steps: Vec<&Step> = found.steps.iter().filter(|step| self.is_worth_listing(step)).collect();
        // What a command shows that neither checks nor changes anything is seldom needed later.
        let others = steps.iter().rev().filter(|step| !step.matters()).map(|step| step.at);
        let since = others.take(OTHERS).last().unwrap_or_default();
        steps.retain(|step| step.matters() || step.at >= since);
        for (_, step) in folded(steps.iter().copied(), Step::fold_key) {
            // The newest run of a check represents all its runs. Only runs with the same words are counted.
            let same = found.steps.iter().filter(|other| other.what == step.what).count();
            let count = u32::try_from(same).unwrap_or(u32::MAX);
            let failed = step.outcome.as_ref().is_some_and(Outcome::failed);
            let weight = self.span.newness(step.at)
                + i64::from(count.min(8)) * 60
                + if failed { 150 } else { 0 }
                + if step.matters() { 900 } else { 0 };
            let text = self.step_line(step, count);
            self.items.push(SummaryItem::new(Fill::Commands, text, step.at, weight));
        }
    }

    /// Returns whether the result of a command matters later and no other part states it. Commands that only look at
    /// something are covered by what the model says about it, and by the list of files that were read.
    pub(super) fn is_worth_listing(&self, step: &Step) -> bool {
        let has_ended =
            |ending: Ending| step.outcome.as_ref().is_some_and(|outcome| outcome.ending == ending);
        // A call that a person rejected or ended has no result.
        let has_result = |outcome: &Outcome| outcome.ending != Ending::Unknown || outcome.telling.is_some();
        let is_void = step.checks.is_empty() && !step.outcome.as_ref().is_none_or(has_result);
        let is_commit = step.files.iter().any(|(deed, _)| *deed == Deed::Committed);
        let is_told = step.only_looks()
            || is_void
            || step.is_talk
            || step.todo.is_some()
            || self.form.has(Fill::FilesModified) && step.only_changes_files()
            || self.form.has(Fill::Done) && is_commit && has_ended(Ending::Ok)
            || self.form.has(Fill::Errors) && has_ended(Ending::Failed);
        matches!(step.kind, Kind::Run | Kind::Other) && !is_told
    }

    /// Returns a command as it was given, on one line, in a form that can be put in backticks.
    pub(super) fn command(&self, what: &str) -> String {
        code(&head(what, COMMAND), self.marks())
    }

    /// Returns whether a result may still arrive. In some formats, results do not name their calls, so later events
    /// show that a result has arrived.
    pub(super) fn waits(&self, at: Seq) -> bool {
        self.found.others.last().into_iter().chain(self.found.users.last()).all(|said| said.at < at)
            && self.found.steps.last().is_none_or(|step| step.at == at)
    }

    /// Describes a step and how it ended.
    pub(super) fn step_line(&self, step: &Step, count: u32) -> ItemText {
        let about = CountedName::new("", self.command(&step.what), count);
        let Some(outcome) = &step.outcome else {
            let state = match () {
                () if step.ended > step.at => format!(" → {RUNNING}"),
                () if self.waits(step.at) => format!(" → {NO_RESULT}"),
                () => String::new(),
            };
            return ItemText::about(about, state, String::new());
        };
        let mut lead = String::new();
        match outcome.ending {
            Ending::Failed => {
                lead.push_str(" → failed");
                if let Some(code) = outcome.exit.as_deref().filter(|code| *code != "0") {
                    lead.push_str(&format!(", exit code {code}"));
                }
            }
            Ending::NothingFound => lead.push_str(" → no match"),
            // The line that follows is all that is known.
            Ending::Unknown if step.checks.is_empty() => lead.push_str(" →"),
            Ending::Unknown => lead.push_str(" → outcome not known"),
            Ending::Ok if step.is_typed => {}
            Ending::Ok if !step.shows || step.kind == Kind::Write => lead.push_str(" → ok"),
            Ending::Ok => {}
        }
        let quote =
            outcome.telling.as_deref().map(|telling| self.short_line(telling, 200)).unwrap_or_default();
        if !quote.is_empty() {
            let is_unsaid = step.is_typed && !outcome.failed();
            lead.push_str(if is_unsaid { " → " } else { ": " });
        }
        ItemText::about(about, lead, quote)
    }

    /// Returns a note on the file that was changed first after a position, or an empty string if no file was changed.
    pub(super) fn changed_since(&self, at: Seq) -> String {
        self.found.files.changed_after(at).map(|path| self.since(path)).unwrap_or_default()
    }

    fn since(&self, path: &str) -> String {
        format!(" → `{}` changed since", code(file_name(path), self.marks()))
    }

    pub(super) fn errors(&mut self) {
        let found = self.found;
        // An edit that did not apply and was made later says nothing about the work.
        let is_made = |trouble: &&Trouble| trouble.is_edit() && trouble.closed().is_some();
        let troubles = found.troubles.iter().filter(|trouble| !is_made(trouble));
        let troubles = folded(troubles, |trouble| (trouble.found_by(), trouble.line.as_str()));
        for (count, trouble) in troubles {
            let Trouble { at, what, line, state, .. } = trouble;
            let is_told = *state == TroubleState::Told;
            let quote = self.short_line(line, 220);
            let lead = if is_told { format!("{what}: ") } else { ": ".to_owned() };
            let about = (!is_told).then(|| CountedName::new("", self.command(what), count));
            let tail = match state {
                // A reported error does not name a check, so the next change is all that is known about the error.
                TroubleState::Told => self.changed_since(*at),
                TroubleState::Failed => " → failed".to_owned(),
                TroubleState::Open => OPEN.to_owned(),
                TroubleState::Stale(path) => self.since(path),
                TroubleState::Replaced => REPLACED.to_owned(),
                TroubleState::Fixed(_, Some(path)) => {
                    format!(" → fixed after changing `{}`", code(file_name(path), self.marks()))
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
            let mut item =
                SummaryItem::new(Fill::Errors, ItemText::Line { about, lead, quote, tail }, *at, weight);
            item.refs.extend(trouble.closed());
            self.items.push(item);
        }
    }
}

/// Returns the name of a file with its folder. The whole path is listed among the files.
fn file_name(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    slashes.nth(1).and_then(|at| path.get(at..)).unwrap_or(path)
}

/// Returns whether a reason says more than the path of its file.
fn says_more(reason: &str, path: &str) -> bool {
    let path = path.to_lowercase();
    let lower = reason.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let wide = reason.chars().filter(|c| c.len_utf8() >= 3).count();
    wide >= 4 || words.filter(|word| word.len() >= 4 && !path.contains(word)).count() >= 4
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
