//! Finds what a range contains, in one pass over its entries.

mod acted;
mod ended;
mod printed;

use super::calls::act::{self, Deed, Kind, ParsedCall};
use super::calls::check::Check;
use super::calls::decision::{self, Answer, Verdict};
use super::calls::files::Files;
use super::calls::outcome::{self, Outcome};
use super::calls::todo::{self, Plan, Ticks, TodoCall};
use super::calls::trouble::Troubles;
use super::calls::{process, skill, told};
use super::language::cue::{self, Cue};
use super::language::names::Names;
use super::language::plain::readable;
use crate::standing::{rules_of_text, typed};
use crate::task::Material;
use printed::Commit;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use wunderblock_core::author::Author;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Message, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_core::view::ViewEntry;
use wunderblock_core::work::{InvokedSkill, TodoItem};
use wunderblock_redact::Redactor;

/// Maximum number of sentences of a kind that are kept from the start.
const FIRST_SENTENCES: usize = 256;
/// Number of sentences of a kind that are kept from the end. Older sentences are dropped only when twice this number
/// have accumulated.
const NEWEST_SENTENCES: usize = 2_048;

/// Maximum number of names in written texts that are remembered.
const COINED_MAX: usize = 200_000;
/// Beginning of a message that another agent of a team sent.
const TEAMMATE: &str = "<teammate-message";
/// Programs that say nothing about the task and are too common to name in a summary.
const EVERYDAY: [&str; 16] = [
    "cat", "cd", "cp", "echo", "find", "grep", "head", "ls", "mkdir", "mv", "rm", "sed", "sleep", "tail",
    "touch", "wc",
];

/// A message or sentence with its position.
#[derive(Clone, Debug)]
pub(in super::super) struct Said<'a> {
    pub(in super::super) at: Seq,
    pub(in super::super) text: Cow<'a, str>,
}

/// A call and its outcome.
#[derive(Clone, Debug)]
pub(in super::super) struct Step {
    pub(in super::super) at: Seq,
    pub(super) kind: Kind,
    pub(in super::super) what: String,
    pub(super) key: String,
    pub(super) files: Vec<(Deed, String)>,
    /// Names that the call adds to its file.
    adds: Vec<String>,
    /// Names that the call removes from a text of its file.
    removes: Vec<String>,
    pub(super) shows: bool,
    /// Whether the last command shows content, whatever the commands before it do.
    ends_showing: bool,
    /// Checks that the call runs.
    pub(super) checks: Vec<Check>,
    /// Whether the call only looks at something.
    pub(super) looks: bool,
    /// Whether the call starts a delegate.
    pub(super) delegates: bool,
    /// Whether the tool only talks to other agents or to the harness.
    pub(super) is_talk: bool,
    /// Whether the call changes something outside the files of the work.
    pub(super) acts: bool,
    /// Messages that the call gives to what it makes, such as a commit.
    messages: Vec<String>,
    /// Whether the result is the report of a delegate.
    reports: bool,
    /// Last program of a command.
    last_program: String,
    /// Whether a success of the call is one of all its commands.
    is_proved: bool,
    /// Output of a process that went on after the call, so far.
    output: String,
    /// Change that the call makes to the task list.
    pub(super) todo: Option<TodoCall>,
    /// Skill that the call invokes, with the beginning of the skill's text.
    pub(super) skill: Option<InvokedSkill>,
    /// Question that the call asks a person.
    asks: Option<String>,
    /// Boxes that the call writes to a file or reads from one.
    ticks: Option<Ticks>,
    /// Whether the call is a command in a model's text, so that only the output shows how it ended.
    pub(super) is_typed: bool,
    /// `None` until the call and the process that it started have ended.
    pub(super) outcome: Option<Outcome>,
    /// Position of the result, or of the call itself until the result arrives.
    pub(super) ended: Seq,
}

/// A sentence of a known kind.
#[derive(Clone, Debug)]
pub(in super::super) struct Sentence {
    pub(in super::super) at: Seq,
    pub(super) by_user: bool,
    pub(in super::super) text: String,
}

/// Numbers of messages and calls, and the times of the first and last entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GleanCounts {
    pub(super) messages: u32,
    pub(super) by_user: u32,
    pub(super) by_assistant: u32,
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) since: Option<Millis>,
    pub(super) until: Option<Millis>,
}

/// Everything found in a range.
#[derive(Clone, Debug)]
pub(in super::super) struct Found<'a> {
    redactor: &'a Redactor,
    pub(in super::super) users: Vec<Said<'a>>,
    pub(super) replies: Vec<Said<'a>>,
    /// Messages of other agents.
    pub(super) peers: Vec<Said<'a>>,
    /// Messages in successful commands, by the model.
    pub(super) messages: Vec<Said<'a>>,
    /// Reports of delegates.
    pub(super) reports: Vec<Said<'a>>,
    /// Texts that neither the user, the model nor another agent wrote.
    pub(super) others: Vec<Said<'a>>,
    pub(in super::super) steps: Vec<Step>,
    pub(in super::super) files: Files,
    pub(in super::super) troubles: Troubles,
    sentences: HashMap<Cue, Vec<Sentence>>,
    /// Questions with their answers, in order.
    pub(super) answers: Vec<Answer>,
    /// The newest task list, with its position.
    pub(in super::super) plan: Option<(Seq, Plan)>,
    /// Work that a program reported as done.
    pub(super) done: Vec<Said<'a>>,
    /// Reported commits that were not taken back.
    commits: Vec<Commit>,
    /// Judgements on replies.
    verdicts: HashMap<Seq, Verdict>,
    /// Whether the next reply was broken off.
    is_interrupted: bool,
    pub(in super::super) names: Names,
    pub(super) tally: GleanCounts,
    todo: Vec<TodoItem>,
    /// Changes to the task list that results show and teammates report, with their positions.
    pub(super) todo_told: Vec<(Seq, TodoCall)>,
    /// Keys of the names in texts that calls wrote to files.
    coined: HashSet<u64>,
    /// Boxes of each file.
    boxes: HashMap<String, Vec<TodoItem>>,
    waiting: HashMap<&'a CallId, usize>,
    /// Calls whose processes go on, by the ids of the processes.
    running: HashMap<String, usize>,
}

/// Reads a range. The findings contain no secrets.
pub(super) fn glean<'a>(material: &Material<'a>) -> Found<'a> {
    let mut found = Found::empty(material.redactor);
    for entry in &material.entries {
        found.take(entry, material.bodies);
    }
    found
}

impl<'a> Found<'a> {
    /// Returns the findings of an empty range.
    fn empty(redactor: &'a Redactor) -> Self {
        Self {
            redactor,
            users: Default::default(),
            replies: Default::default(),
            peers: Default::default(),
            messages: Default::default(),
            reports: Default::default(),
            others: Default::default(),
            steps: Default::default(),
            files: Default::default(),
            troubles: Default::default(),
            sentences: Default::default(),
            answers: Default::default(),
            plan: Default::default(),
            done: Default::default(),
            commits: Default::default(),
            verdicts: Default::default(),
            is_interrupted: Default::default(),
            names: Default::default(),
            tally: Default::default(),
            todo: Default::default(),
            todo_told: Default::default(),
            coined: Default::default(),
            boxes: Default::default(),
            waiting: Default::default(),
            running: Default::default(),
        }
    }

    /// Returns the sentences of a kind, in order.
    pub(in super::super) fn sentences(&self, cue: Cue) -> &[Sentence] {
        self.sentences.get(&cue).map(Vec::as_slice).unwrap_or_default()
    }

    fn take(&mut self, entry: &'a ViewEntry, bodies: &'a dyn Bodies) {
        let said = &entry.message;
        if matches!(said.standing, MessageOrigin::Aside(_)) {
            return;
        }
        self.tally.messages += 1;
        self.tally.since.get_or_insert(entry.at);
        self.tally.until = Some(entry.at);
        self.say(entry.seq, said, bodies);
        for part in &said.parts {
            match part {
                Part::ToolCall { call, name, input, gist, .. } => {
                    let input = bodies.of(input).unwrap_or_default();
                    let step = self.call(entry.seq, name, gist.as_deref(), input);
                    self.waiting.extend(step.map(|step| (call, step)));
                }
                Part::ToolResult { call, content, failed, .. } => {
                    let texts = content.iter().filter_map(|part| match part {
                        Part::Text { text, .. } => bodies.of(text),
                        _ => None,
                    });
                    self.result(entry.seq, call, texts, *failed);
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, at: Seq, said: &'a Message, bodies: &'a dyn Bodies) {
        // Harnesses and teammates report in elements, which are nobody's own words.
        let whole =
            said.parts.iter().filter(|_| said.role != Role::Assistant).filter_map(|part| match part {
                Part::Text { text, .. } => bodies.of(text),
                _ => None,
            });
        for text in whole {
            self.notified(at, text);
            if said.author() == Author::Peer || text.contains(TEAMMATE) {
                self.todo_told(at, text, true);
            }
        }
        let texts = said.parts.iter().enumerate().filter_map(|(index, part)| match part {
            Part::Text { text, .. } => Some(said.own_pieces(index, bodies.of(text)?)),
            _ => None,
        });
        let texts = texts.flatten().map(|(_, text)| text);
        let mut texts = texts.filter(|text| !text.trim().is_empty());
        let Some(first) = texts.next() else { return };
        let mut text = readable(first, self.redactor);
        for more in texts {
            text = Cow::Owned(format!("{text}\n{}", readable(more, self.redactor)));
        }
        match (&said.standing, said.role) {
            (MessageOrigin::Injected(what), _) if !said.is_persons() => self.printed(at, what, text),
            (MessageOrigin::Failed(why), _) => {
                let line = super::language::plain::head(&readable(why, self.redactor), 220).into_owned();
                self.trouble(at, "reply broken off", &line);
                if said.role == Role::Assistant {
                    self.verdicts.insert(at, Verdict::BrokenOff);
                    self.replies.push(Said { at, text });
                }
            }
            (_, Role::User) if said.author() == Author::Peer => self.peers.push(Said { at, text }),
            (_, Role::User) if said.is_persons() => {
                self.tally.by_user += 1;
                self.heard(at, &text, true);
                // A rule about error codes does not report an error.
                let is_rule = |line: &str| rules_of_text(&text).iter().any(|rule| line.contains(rule));
                let line = outcome::error_line(&text).filter(|line| line.len() < 300 && !is_rule(line));
                if let Some(line) = line {
                    self.trouble(at, "the user reports", line);
                }
                self.answer(at, &text);
                if let Some(verdict) = decision::verdict(&text) {
                    self.judge(verdict);
                }
                // Some harnesses record a question twice, as typed and as sent: `/ask why?`, `why?`.
                let is_put = |typed: &mut Said<'_>| {
                    typed.text.starts_with('/') && typed.text.trim().ends_with(text.trim())
                };
                self.users.pop_if(is_put);
                self.users.push(Said { at, text });
                self.is_interrupted = false;
            }
            // Some programs write this text if a reply consists of calls alone.
            (_, Role::Assistant) if matches!(text.trim(), "None" | "null") => {}
            (_, Role::Assistant) => {
                let text = cue::fenced(text);
                self.tally.by_assistant += 1;
                self.heard(at, &text, false);
                if std::mem::take(&mut self.is_interrupted) {
                    self.verdicts.insert(at, Verdict::BrokenOff);
                }
                self.replies.push(Said { at, text });
            }
            _ => self.others.push(Said { at, text }),
        }
    }

    /// Returns the replies since the user's newest turn.
    fn newest_replies(&self) -> impl DoubleEndedIterator<Item = &Said<'a>> {
        let since = self.users.last().map_or(Seq::START, |said| said.at);
        let first = self.replies.partition_point(|reply| reply.at <= since);
        self.replies.get(first..).unwrap_or_default().iter()
    }

    fn judge(&mut self, verdict: Verdict) {
        let replies: Vec<Seq> = self.newest_replies().map(|reply| reply.at).collect();
        self.verdicts.extend(replies.into_iter().map(|at| (at, verdict)));
    }

    /// Returns the judgement that the user or a program passed on a reply, if there is one.
    pub(super) fn verdict(&self, reply: Seq) -> Option<Verdict> {
        self.verdicts.get(&reply).copied()
    }

    /// Returns the last reply of each turn, and the judgement on it. If the last reply of a turn contains a call, the
    /// reply was broken off.
    pub(super) fn turn_ends(&self) -> Vec<(&Said<'a>, Option<Verdict>)> {
        let calls: HashSet<Seq> = self.steps.iter().map(|step| step.at).collect();
        let mut replies = self.replies.iter().peekable();
        let mut ends = Vec::new();
        let turns = self.users.iter().filter(|said| !decision::goes_on(&said.text)).map(|said| said.at);
        for next in turns.chain([Seq(u64::MAX)]) {
            let turn = std::iter::from_fn(|| replies.next_if(|reply| reply.at < next));
            let Some(last) = turn.last() else { continue };
            let broken = calls.contains(&last.at).then_some(Verdict::BrokenOff);
            ends.push((last, self.verdict(last.at).or(broken)));
        }
        ends
    }

    /// Returns the last sentence in the newest reply that states the purpose of a change, ignoring lists.
    fn reason(&self) -> Option<(Seq, String)> {
        let reply = self.newest_replies().next_back()?;
        let prose = cue::without_code(&reply.text);
        let lines = prose.lines().rev().filter(|line| !cue::is_listed(line));
        let mut sentences = lines.flat_map(|line| cue::sentences_of(line).into_iter().rev());
        sentences.find(|sentence| cue::says_purpose(sentence)).map(|sentence| (reply.at, sentence.to_owned()))
    }

    fn touch(&mut self, at: Seq, seen: Seq, deed: &Deed, path: &str) {
        self.files.touch(at, seen, deed, path);
        if !matches!(deed, Deed::Read | Deed::Committed) {
            let reason = self.reason();
            self.files.explain(path, reason);
        }
    }

    /// Records the answer that a user turn gives to the previous reply.
    fn answer(&mut self, at: Seq, turn: &str) {
        let reply = self.newest_replies().next_back();
        let answer = reply.and_then(|reply| decision::answered(reply.at, &reply.text, at, turn));
        self.answers.extend(answer);
    }

    fn heard(&mut self, at: Seq, text: &str, by_user: bool) {
        if by_user {
            // Only typed sentences count: names in pasted text belong to a log or a page.
            typed(text).for_each(|sentence| self.names.learn(sentence, at, Author::Person));
        } else {
            self.names.learn(text, at, Author::Model);
        }
        self.names.learn_terms(text, at, by_user);
        if let Some(plan) = todo::of_text(text) {
            self.plan = Some((at, plan));
        }
        let sentences = &mut self.sentences;
        let mut keep = |cue, sentence: &str| {
            let kept = sentences.entry(cue).or_default();
            if kept.len() >= FIRST_SENTENCES + 2 * NEWEST_SENTENCES {
                kept.drain(FIRST_SENTENCES..kept.len() - NEWEST_SENTENCES);
            }
            kept.push(Sentence { at, by_user, text: sentence.to_owned() });
        };
        if by_user {
            rules_of_text(text).into_iter().for_each(|rule| keep(Cue::Constraint, rule));
        }
        // A user's demands are listed among the requests, so only decisions are kept here, and only typed ones.
        let own: Vec<&str> = if by_user { typed(text).collect() } else { Vec::new() };
        let is_own = |sentence: &str| {
            own.iter()
                .any(|own| own.contains(sentence) || sentence.contains(own) && own.len() * 2 > sentence.len())
        };
        cue::sentences(text, |cue, sentence| {
            let is_kind = !by_user || cue == Cue::Decision && is_own(sentence);
            if is_kind && cue::says_something(sentence) {
                keep(cue, sentence);
            }
        });
    }

    /// Returns what a call that polls or ends a running process is about: the index of its step, unless it ends it.
    fn polled(&mut self, name: &str, input: &str) -> Option<Option<usize>> {
        let step = process::named_by(input).as_ref().and_then(|id| self.running.get(id)).copied()?;
        if !process::is_end(name) {
            return Some(Some(step));
        }
        self.steps.get_mut(step)?.outcome = Some(Outcome::unknown());
        self.running.retain(|_, running| *running != step);
        Some(None)
    }

    /// Reads a call. Returns the index of the step whose outcome the result of the call tells, which is an earlier one
    /// if the call polls its process.
    fn call(&mut self, at: Seq, name: &str, gist: Option<&str>, input: &str) -> Option<usize> {
        self.tally.calls += 1;
        if let Some(step) = self.polled(name, input) {
            return step;
        }
        let gist = gist.map(|gist| readable(gist, self.redactor));
        let ParsedCall {
            kind,
            what,
            key,
            program,
            last,
            files,
            shows,
            ends_showing,
            looks,
            is_proved,
            checks,
        } = act::read(name, gist.as_deref(), input);
        let what = readable(&what, self.redactor).into_owned();
        self.names.learn(&what, at, Author::Model);
        if !program.is_empty() && !EVERYDAY.contains(&program.as_str()) {
            self.names.term(&program, at, false);
        }
        let todo = if todo::keeps_list(name) {
            todo::todo_call(name, &readable(input, self.redactor))
        } else {
            None
        };
        let skill = skill::called(name, input, &files);
        let asks =
            decision::asked_by(name, input).map(|question| readable(&question, self.redactor).into_owned());
        if let Some(call) = &todo {
            todo::follow(&mut self.todo, at, call);
            self.plan = Some((at, Plan::of(&self.todo)));
        }
        let changes = todo.is_none() && files.iter().any(|(deed, _)| *deed != Deed::Read);
        let (written, adds) = if changes { self.written(&files, input) } else { Default::default() };
        let acts = act::acts(key.strip_prefix("run ").unwrap_or_default());
        let tells = kind == Kind::Run && (acts || files.iter().any(|(deed, _)| *deed == Deed::Committed));
        let messages = if tells { told::of_call(input, self.redactor) } else { Vec::new() };
        self.steps.push(Step {
            at,
            ended: at,
            kind,
            what,
            key,
            files,
            adds,
            removes: written.removes(),
            shows,
            ends_showing,
            checks,
            looks,
            delegates: kind == Kind::Other && act::delegates(name),
            is_talk: act::talks(name),
            acts,
            messages,
            reports: act::reports(name),
            last_program: last,
            is_proved,
            output: String::new(),
            todo,
            skill,
            asks,
            ticks: Ticks::of_change(&written),
            is_typed: false,
            outcome: None,
        });
        self.steps.len().checked_sub(1)
    }

    fn result<'t>(&mut self, at: Seq, call: &'a CallId, texts: impl Iterator<Item = &'t str>, failed: bool) {
        let Some(place) = self.waiting.remove(call) else { return };
        self.ended(at, place, texts, failed);
    }

    /// Follows a plan that is kept in a file. A file that has only been read is a plan if boxes were written to it
    /// earlier or if its name indicates a plan.
    fn ticked(&mut self, at: Seq, deed: &Deed, path: &str, ticks: &Ticks) {
        let is_unknown = *deed == Deed::Read && !self.boxes.contains_key(path) && !todo::is_plan_file(path);
        if is_unknown || todo::is_template(path) {
            return;
        }
        let list = self.boxes.entry(path.to_owned()).or_default();
        ticks.follow(list, *deed == Deed::Created);
        let plan = Plan::of(list);
        if !plan.is_empty() {
            self.plan = Some((at, plan));
        }
    }

    /// Records an error that somebody has reported.
    fn trouble(&mut self, at: Seq, what: &str, line: &str) {
        self.names.learn(cue::bare(line), at, Author::Tool);
        self.troubles.tell(at, what, line);
    }

    /// Returns the files of calls without a result.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = (Seq, &Deed, &str)> {
        self.steps
            .iter()
            .filter(|step| step.outcome.is_none())
            .flat_map(|step| step.files.iter().map(|(deed, path)| (step.at, deed, path.as_str())))
    }
}
