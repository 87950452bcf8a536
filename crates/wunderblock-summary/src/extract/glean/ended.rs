//! Records how calls ended, and what their ends say about files and errors.

use super::{COINED_MAX, Found, Said, Step};
use crate::extract::calls::act::{self, Deed, Kind};
use crate::extract::calls::change::WrittenText;
use crate::extract::calls::check::Check;
use crate::extract::calls::decision::{self, Answer};
use crate::extract::calls::outcome::{CallTraits, Ending, Outcome};
use crate::extract::calls::todo::{self, Plan, Ticks, TodoCall};
use crate::extract::calls::trouble::FailedCall;
use crate::extract::calls::{change, outcome, process, skill};
use crate::extract::language::cue;
use crate::extract::language::plain::{cut, cut_after, readable, without_colour};
use std::borrow::Cow;
use wunderblock_core::author::Author;
use wunderblock_core::literal::Literal;
use wunderblock_core::units::Seq;
use wunderblock_redact::Redactor;

/// Number of bytes that are searched for names at each end of a tool result.
const RESULT_LOOK: usize = 2 << 10;
/// Maximum number of bytes of a delegate's report that are read.
const REPORT_LOOK: usize = 8 << 10;

/// Maximum number of bytes kept of a delegate's report.
const REPORT: usize = 320;

/// Words with which Claude Code passes on what a person said who rejected a call, and words after it.
const USER_SAID: &str = "the user said:\n";
const USER_SAID_END: &str = "\n\nNote: The user's next message";
/// Words about questions of a call that a person did not answer.
const UNANSWERED: &str = "No answer provided";

impl Step {
    /// Reads the whole result, both for its content and for how the call ended. `last` is the part of the result that
    /// states how the call ended.
    fn read(&mut self, at: Seq, (text, last): (&str, &str), failed: bool, redactor: &Redactor) -> Outcome {
        if let Some(skill) = &mut self.skill {
            skill::read(skill, at, &readable(text, redactor));
        }
        if self.kind == Kind::Read {
            self.ticks = Ticks::of_file(&readable(text, redactor));
        }
        let refused = !matches!(self.kind, Kind::Run | Kind::Read) && outcome::is_refusal(text);
        let shows = self.shows || self.ends_showing && self.checks.is_empty();
        let call = CallTraits {
            shows,
            checks: &self.checks,
            last: &self.last_program,
            is_typed: self.is_typed,
            is_proved: self.is_proved,
        };
        let mut ended = outcome::read(text, last, failed || refused, call);
        if self.kind == Kind::Other && !ended.failed() {
            ended.telling = match self.delegates {
                true => Some(cue::gist_of(&report_of(last), REPORT)).filter(|gist| !gist.is_empty()),
                false => outcome::short_answer(text).map(str::to_owned),
            };
        }
        if self.files.iter().any(|(deed, _)| *deed == Deed::Committed) && !ended.failed() {
            ended.telling = outcome::commit_line(text, &self.what).map(str::to_owned);
        }
        ended
    }
}

/// Returns what a delegate reports, without the harness's notes about its calls and its state.
fn report_of(result: &str) -> String {
    let is_note = |line: &&str| line.trim_start().starts_with(['[', '<', '{']) || line.contains("agentId: ");
    result.lines().filter(|line| !is_note(line)).collect::<Vec<_>>().join("\n")
}

impl Found<'_> {
    /// Records the ends of processes that a text reports.
    pub(super) fn notified(&mut self, at: Seq, text: &str) {
        for end in process::reported(text) {
            if let Some(step) = self.running.get(end.id).copied() {
                self.ended(at, step, [end.result, end.summary].into_iter(), end.failed);
            }
        }
    }

    /// Follows changes to the task list that a text shows. In a report, a teammate says what is done.
    pub(super) fn todo_told(&mut self, at: Seq, text: &str, is_report: bool) {
        for call in todo::told(text, is_report) {
            if !self.todo.is_empty() {
                todo::follow(&mut self.todo, at, &call);
                self.plan = Some((at, Plan::of(&self.todo)));
            }
            // The work log may know items of earlier entries.
            self.todo_told.push((at, call));
        }
    }

    /// Records how a step ended, or that its process goes on.
    pub(super) fn ended<'t>(
        &mut self,
        at: Seq,
        place: usize,
        texts: impl Iterator<Item = &'t str>,
        failed: bool,
    ) {
        let redactor = self.redactor;
        let texts: Vec<Cow<'t, str>> = texts.map(without_colour).collect();
        let last = match texts.as_slice() {
            [one] => Cow::Borrowed(&**one),
            several => Cow::Owned(several.join("\n")),
        };
        // A person who rejects a call may say why in its result.
        if failed && outcome::was_not_run(&last) {
            let why = last.split_once(USER_SAID).map_or("", |(_, why)| why);
            let why = why.split(USER_SAID_END).next().unwrap_or_default().trim().to_owned();
            self.steps.get_mut(place).into_iter().for_each(|step| step.outcome = Some(Outcome::unknown()));
            if !why.is_empty() && !why.contains(UNANSWERED) {
                self.heard(at, &why, true);
                self.users.push(Said { at, text: Cow::Owned(why) });
            }
            return;
        }
        let Some(step) = self.steps.get_mut(place) else { return };
        step.ended = at;
        let has_process = step.kind == Kind::Run || step.delegates;
        if has_process && process::goes_on(&last) && !failed {
            step.output.push_str(&last);
            step.output.push('\n');
            self.running.extend(process::id_of(&last).map(|id| (id.to_owned(), place)));
            return;
        }
        // A file into which a process writes shows its output.
        let outputs = self.running.iter().filter(|(id, of)| **of != place && step.what.contains(id.as_str()));
        let outputs: Vec<usize> = outputs.map(|(_, of)| *of).collect();
        for of in outputs {
            self.steps.get_mut(of).into_iter().for_each(|step| step.output.push_str(&last));
        }
        self.running.retain(|_, running| *running != place);
        let Some(step) = self.steps.get_mut(place) else { return };
        let mut output = std::mem::take(&mut step.output);
        output.push_str(&last);
        let text = output.as_str();
        if let Some(call) = &mut step.todo {
            call.named(text);
            // An added item gets its id only from the result.
            if let (TodoCall::Added(item), Some(last)) = (call, self.todo.last_mut()) {
                last.id.clone_from(&item.id);
            }
        }
        let report = process::report(&last);
        if step.reports && !failed && report.len() > process::REPORT_MIN {
            let report = report.get(..cut(report, REPORT_LOOK)).unwrap_or_default();
            let report = readable(report, redactor).into_owned();
            self.reports.push(Said { at, text: Cow::Owned(report) });
        }
        if let Some(question) = step.asks.take() {
            let pairs = decision::answers_of(&question, &readable(text, redactor)).into_iter();
            let asked = step.at;
            self.answers.extend(pairs.map(|(question, answer)| Answer { asked, question, said: at, answer }));
        }
        if step.kind == Kind::Write && step.files.is_empty() {
            step.files.extend(act::open_file(text).map(|path| (Deed::Changed, path.to_owned())));
        }
        let mut ended = step.read(at, (text, &last), failed, redactor);
        let end = cut_after(text, text.len().saturating_sub(RESULT_LOOK).max(RESULT_LOOK));
        for look in [text.get(..cut(text, RESULT_LOOK)), text.get(end..)] {
            self.names.learn(&readable(look.unwrap_or_default(), redactor), at, Author::Tool);
        }
        if step.kind == Kind::Read && self.coined.len() < COINED_MAX {
            self.coined.extend(change::coins(text));
        }
        ended.telling = ended.telling.map(|line| readable(&line, redactor).into_owned());
        step.outcome = Some(ended);
        if step.kind != Kind::Run && step.files.is_empty() {
            self.todo_told(at, text, false);
        }
        self.follow(at, place, text);
    }

    /// Records what the end of a step says about files and errors. `text` is its result.
    fn follow(&mut self, at: Seq, place: usize, text: &str) {
        let Some(step) = self.steps.get_mut(place) else { return };
        let Some(ended) = step.outcome.clone() else { return };
        let (what, key, began) = (step.what.clone(), step.key.clone(), step.at);
        let shows = step.shows && step.kind == Kind::Run;
        let is_read = step.kind == Kind::Read;
        let (files, checks) = (step.files.clone(), step.checks.clone());
        let (ticks, messages) = (step.ticks.take(), std::mem::take(&mut step.messages));
        let (adds, removes) = (std::mem::take(&mut step.adds), std::mem::take(&mut step.removes));
        if ended.failed() {
            self.tally.failed += 1;
            let line = ended.telling.unwrap_or_default();
            // A search without a match exits with an error code, too. A call that somebody broke off is not an error.
            let is_nothing = shows && checks.is_empty() || is_read || line.ends_with("aborted");
            if !is_nothing {
                self.names.learn(cue::bare(&line), at, Author::Tool);
                let blamed = if ended.blames_checks { checks.as_slice() } else { &[] };
                let call = FailedCall { what: &what, key: &key, checks: blamed, line: &line, shown: text };
                self.troubles.fail(at, &call);
            }
            if !ended.blames_checks {
                self.troubles.doubt(&checks);
            }
        } else {
            // A log into which a check writes its output corrects nothing.
            let is_log = !checks.is_empty() && files.iter().all(|(deed, _)| *deed == Deed::Created);
            let before = self.files.changed.clone().filter(|_| is_log);
            if let (Some(ticks), Some((deed, path))) = (ticks, files.first()) {
                self.ticked(at, deed, path, &ticks);
            }
            for (deed, path) in &files {
                self.did(began, at, deed, path);
            }
            self.messages.extend(messages.into_iter().map(|text| Said { at: began, text: Cow::Owned(text) }));
            if let [(_, path)] = files.as_slice() {
                self.files.add_names(began, path, adds, &removes);
            }
            match ended.ending {
                Ending::Ok => {
                    let changed = if is_log { before.as_ref() } else { self.files.changed.as_ref() };
                    // An exit code speaks for what a filter hides, too.
                    let seen = |check: &Check| Check {
                        is_filtered: check.is_filtered && !check.proof.passes,
                        ..check.clone()
                    };
                    let checks: Vec<Check> = checks.iter().map(seen).collect();
                    self.troubles.pass(at, &key, &checks, changed);
                }
                _ => self.troubles.doubt(&checks),
            }
        }
        if !checks.is_empty() {
            self.troubles.show(at, text);
        }
    }

    /// Returns the texts that a change writes, and the names that it adds to its file.
    pub(super) fn written(&mut self, files: &[(Deed, String)], input: &str) -> (WrittenText, Vec<String>) {
        let written = WrittenText::of_call(&readable(input, self.redactor));
        let is_known = |name: &Literal<'_>| self.names.has(name) || self.coined.contains(&name.key());
        let adds = match files {
            // A file that is written again defines what it defined before.
            [(deed, path)] => written.adds(*deed == Deed::Created && self.files.is_known(path), is_known),
            _ => Vec::new(),
        };
        if self.coined.len() < COINED_MAX {
            self.coined.extend(written.written.iter().flat_map(|text| change::coins(text)));
        }
        (written, adds)
    }

    /// Records what a call did to a file, and which errors that affects.
    fn did(&mut self, at: Seq, seen: Seq, deed: &Deed, path: &str) {
        let is_back = matches!(deed, Deed::Reverted | Deed::MaybeReverted);
        if *deed == Deed::MaybeReverted && !self.files.is_changed(path) {
            return;
        }
        let taken_back = is_back.then(|| self.files.changed_since(path)).flatten();
        let deed = if is_back { &Deed::Reverted } else { deed };
        self.touch(at, seen, deed, path);
        match deed {
            Deed::Removed => self.troubles.remove(seen, path),
            Deed::Reverted => {
                if let Some((since, path)) = taken_back {
                    self.troubles.revert(since, &path);
                }
            }
            Deed::Read | Deed::Committed => {}
            _ => self.troubles.change(path),
        }
    }
}
