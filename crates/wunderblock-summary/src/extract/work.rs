//! Updates the work log by combining the previous log with the entries after it.

use super::calls::files::{is_inside, is_taken_back};
use super::calls::todo::{self, TodoCall};
use super::glean::{Found, Step, glean};
use super::language::plain::{Escaping, head, line};
use crate::task::Material;
use std::collections::HashMap;
use wunderblock_core::state::ItemStatus;
use wunderblock_core::units::Seq;
use wunderblock_core::work::{FileChange, InvokedSkill, LastCheck, Span, TodoItem, TouchedFile, WorkLog};

/// Maximum number of tasks that a log keeps. The share in the policy determines how many items of a log appear in a
/// request.
const TODO_MAX: usize = 60;
/// Maximum number of files that a log keeps.
const FILES_MAX: usize = 40;
/// Maximum number of positions kept for the changes to a file.
const CHANGES_MAX: usize = 6;
/// Maximum number of positions kept for the results that showed a file.
const SHOWN_MAX: usize = 3;
/// Maximum number of checks that a log keeps.
const CHECKS_MAX: usize = 8;
/// Maximum number of skills that a log keeps.
const SKILLS_MAX: usize = 4;
/// Maximum number of bytes in the text of an item.
const WORDS_MAX: usize = 200;

/// Returns the log after `material`, which contains the entries after `before`. `spans` gives the exchange of each
/// entry.
pub fn work(material: &Material<'_>, before: &WorkLog, spans: &HashMap<Seq, Span>) -> WorkLog {
    let found = &glean(material);
    let span = |at: Seq| spans.get(&at).copied().unwrap_or((at, at));
    let committed = before.committed.max(found.files.committed);
    let mut log = WorkLog { through: material.to, committed, ..WorkLog::default() };
    log.todo = todo_after(found, before, &span);
    log.files = files_after(found, before, &span);
    log.checks.clone_from(&before.checks);
    log.skills.clone_from(&before.skills);
    for step in found.steps.iter().filter(|step| !step.checks.is_empty()) {
        note_check(&mut log.checks, step, span(step.at));
    }
    for step in &found.steps {
        note_skill(&mut log.skills, step, span(step.at));
    }
    log.checks.truncate(CHECKS_MAX);
    log.skills.truncate(SKILLS_MAX);
    log
}

/// Returns a text on one line, in a form that can be put in a request.
fn words(text: &str) -> Box<str> {
    head(&line(text, Escaping::Speakers), WORDS_MAX).into()
}

/// Returns the list after the newest calls, or an empty list once everything in it is done.
fn todo_after(found: &Found<'_>, before: &WorkLog, span: &dyn Fn(Seq) -> Span) -> Vec<TodoItem> {
    let mut list = before.todo.clone();
    let mut told = found.todo_told.iter().peekable();
    for step in &found.steps {
        while let Some((at, call)) = told.next_if(|(at, _)| *at < step.at) {
            todo::follow(&mut list, *at, call);
        }
        // A call without a result is read again later. Until then, the call counts only if applying it twice does no
        // harm, as with a call that writes the whole list.
        let counts = match (&step.outcome, &step.todo) {
            (Some(outcome), _) => !outcome.failed(),
            (None, call) => matches!(call, Some(TodoCall::Whole(_) | TodoCall::Merged(_))),
        };
        if let Some(call) = step.todo.as_ref().filter(|_| counts) {
            todo::follow(&mut list, step.at, call);
        }
    }
    told.for_each(|(at, call)| todo::follow(&mut list, *at, call));
    if list.iter().all(|item| matches!(item.status, ItemStatus::Done | ItemStatus::Dropped)) {
        return Vec::new();
    }
    list.truncate(TODO_MAX);
    for item in list.iter_mut().filter(|item| item.at > before.through) {
        item.span = (item.span.0.min(span(item.at).0), span(item.at).1);
        item.what = words(&item.what);
    }
    list
}

fn files_after(found: &Found<'_>, before: &WorkLog, span: &dyn Fn(Seq) -> Span) -> Vec<TouchedFile> {
    let mut files: HashMap<Box<str>, TouchedFile> =
        before.files.iter().map(|file| (file.path.clone(), file.clone())).collect();
    for (at, committed) in &found.files.taken_back {
        let since = (*committed).max(before.committed);
        let changed = |file: &TouchedFile| file.changes.first().is_some_and(|last| *last > since);
        for file in files.values_mut().filter(|file| changed(file) && is_taken_back(file.change)) {
            (file.change, file.span) = (FileChange::Reverted, span(*at));
            file.changes.insert(0, *at);
        }
    }
    for file in found.files.iter() {
        let path = words(&file.path);
        let old = files.remove(&path);
        let known = old.as_ref().is_some_and(|old| old.change != FileChange::Deleted);
        let mut now = TouchedFile { path: path.clone(), ..old.unwrap_or_default() };
        newest_first(&mut now.changes, &file.changes, CHANGES_MAX);
        newest_first(&mut now.shown, &file.shown, SHOWN_MAX);
        now.span = span(file.last_changed.max(file.last_read));
        if file.change == FileChange::Deleted {
            files.retain(|other, _| !is_inside(other, &path));
        }
        if file.is_changed() {
            now.change = match (file.change, now.change) {
                (FileChange::Created | FileChange::Edited, FileChange::Created) => FileChange::Created,
                (FileChange::Created, _) if known => FileChange::Edited,
                (change, _) => change,
            };
            now.from = file.from.as_deref().map(words);
            now.from.iter().for_each(|from| {
                files.remove(from);
            });
        }
        files.insert(path, now);
    }
    let mut files: Vec<TouchedFile> = files.into_values().collect();
    files.sort_by(|a, b| b.touched().cmp(&a.touched()).then_with(|| a.path.cmp(&b.path)));
    files.truncate(FILES_MAX);
    files
}

/// Inserts new positions, given in order, before the known ones.
fn newest_first(places: &mut Vec<Seq>, new: &[Seq], most: usize) {
    places.splice(0..0, new.iter().rev().copied());
    places.dedup();
    places.truncate(most);
}

/// Puts a check at the head of the list. A check that ended well replaces every check whose families it contains.
fn note_check(checks: &mut Vec<LastCheck>, step: &Step, span: Span) {
    let Some(outcome) = &step.outcome else { return };
    let mut family: Vec<Box<str>> = step.checks.iter().map(|check| words(&check.name())).collect();
    family.dedup();
    let speaks_for = |other: &LastCheck| {
        other.family == family || outcome.is_ok() && other.family.iter().all(|check| family.contains(check))
    };
    checks.retain(|other| !speaks_for(other));
    let told = outcome.telling.as_deref().map(words).unwrap_or_default();
    let (failed, unknown) = (outcome.failed(), !outcome.failed() && !outcome.is_ok());
    checks.insert(0, LastCheck { family, failed, unknown, told, at: step.ended, span });
}

fn note_skill(skills: &mut Vec<InvokedSkill>, step: &Step, span: Span) {
    let Some(skill) = step.skill.as_ref().filter(|_| step.outcome.as_ref().is_none_or(|it| !it.failed()))
    else {
        return;
    };
    let at = if skill.text.is_empty() { step.ended } else { skill.at };
    let name = words(&skill.name);
    skills.retain(|other| other.name != name);
    // The skill's text may come after the exchange, so the span includes the position of that text.
    skills.insert(0, InvokedSkill { name, text: skill.text.clone(), at, span: (span.0, span.1.max(at)) });
}
