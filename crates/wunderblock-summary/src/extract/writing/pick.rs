//! Turns what was found in a range into items of a summary, kind by kind.

mod acts;
mod turns;

use super::form::SummaryForm;
use super::item::{
    ANSWERED, COMMITTED, CountedName, DONE, ItemText, OF_PEER, OPEN_WHEN_SAID, RULE, SPARE, SummaryItem,
};
use super::log::stamp;
use crate::extract::calls::act::{Deed, Kind};
use crate::extract::calls::decision::{ANSWER_MAX, Answer};
use crate::extract::calls::outcome::Outcome;
use crate::extract::glean::{Found, Said};
use crate::extract::language::cue::{self, Cue, sentences_of};
use crate::extract::language::names::Named;
use crate::extract::language::plain::{Escaping, code, cut, cut_after, head, line};
use crate::extract::language::words::distinct_words;
use std::collections::{BTreeSet, HashMap, HashSet};
use wunderblock_core::literal;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// Maximum number of recent actions that are listed.
const RECENT: usize = 10;
/// Maximum number of next steps that are listed, counted from the newest.
const NEXT: usize = 4;
/// Maximum number of bytes quoted from a request or a sentence.
const REQUEST: usize = 420;
/// Maximum number of bytes quoted from the first request, which is the task of the whole range.
const FIRST_REQUEST: usize = 1_200;
/// Weight of each name and number in a request.
const NAMED: i64 = 125;
/// Maximum number of names and numbers that count in a request. Eight names and numbers give a request as much weight
/// as being the newest request.
const NAMED_MAX: usize = 8;
/// Weight of each name and number in a sentence, because sentences that name nothing are the least informative.
const NAMES_OF_SENTENCE: i64 = 60;
/// Weight of a sentence in a message beside the spare ones of replies, and of a delegate's report behind them.
const WRITTEN: i64 = 300;
/// Maximum number of bytes in a command.
const COMMAND: usize = 160;
/// Minimum number of words that a sentence must share with a focus, if the focus has that many words.
const FOCUS_WORDS: usize = 2;
/// Maximum number of sentences that are quoted for a focus.
const FOCUS_MAX: usize = 24;
/// Weight that puts sentences related to a focus first.
const FOCUS_WEIGHT: i64 = 40_000;
/// Maximum number of names that become items.
const NAMES: usize = 400;

/// First and last position of a range, from which the newness of a position is computed.
#[derive(Clone, Copy)]
struct RangeShare {
    from: u64,
    to: u64,
}

impl RangeShare {
    fn of(found: &Found<'_>) -> Self {
        let all = found.users.iter().chain(&found.replies).map(|said| said.at);
        let all: Vec<u64> = all.chain(found.steps.iter().map(|step| step.at)).map(|at| at.0).collect();
        Self { from: all.iter().copied().min().unwrap_or(0), to: all.iter().copied().max().unwrap_or(0) }
    }

    /// Returns how new a position is, from 0 for the oldest to 1,000 for the newest.
    fn newness(self, at: Seq) -> i64 {
        let part = at.0.saturating_sub(self.from).saturating_mul(1_000) / (self.to - self.from).max(1);
        i64::try_from(part.min(1_000)).unwrap_or(1_000)
    }
}

/// Returns all items of the kinds that the form has a place for.
pub(in crate::extract) fn items(
    found: &Found<'_>,
    form: &SummaryForm,
    focus: Option<&str>,
) -> Vec<SummaryItem> {
    let mut pick = Pick { found, form, span: RangeShare::of(found), items: Vec::new() };
    if let Some(focus) = focus {
        pick.focused(focus);
    }
    pick.all()
}

struct Pick<'f> {
    found: &'f Found<'f>,
    form: &'f SummaryForm,
    span: RangeShare,
    items: Vec<SummaryItem>,
}

impl<'f> Pick<'f> {
    fn all(mut self) -> Vec<SummaryItem> {
        let fills: BTreeSet<Fill> = self.form.parts.iter().flat_map(|part| &part.fills).copied().collect();
        for fill in fills {
            match fill {
                Fill::Intent => self.intent(),
                Fill::UserMessages => self.user_messages(),
                Fill::Constraints => self.sentences(fill, Cue::Constraint),
                Fill::Decisions => self.decisions(),
                Fill::Outcomes => self.outcomes(),
                Fill::Findings => {
                    self.sentences(fill, Cue::Finding);
                    self.statements();
                }
                Fill::Next => self.next(),
                Fill::Concepts => self.concepts(),
                Fill::FilesRead => self.files_read(),
                Fill::FilesModified => self.files_modified(),
                Fill::Commands => self.commands(),
                Fill::Errors => self.errors(),
                Fill::Todos => self.todos(),
                Fill::Done => self.done(),
                Fill::Current => self.current(),
                Fill::Recent => self.recent(),
                Fill::Identifiers => self.identifiers(),
                Fill::Statistics => self.statistics(),
            }
        }
        self.items
    }

    /// Adds sentences related to a focus, whatever their kind. Sentences that share the most words with the focus
    /// come first and, among equals, the newest.
    fn focused(&mut self, focus: &str) {
        let Some(fill) = self.form.place_of(Fill::Findings) else { return };
        let wanted = distinct_words(focus);
        let found = self.found;
        let said = found.users.iter().map(|said| ("user: ", said));
        let said = said.chain(found.replies.iter().chain(&found.others).map(|said| ("", said)));
        let mut near: Vec<(usize, Seq, &str, &str)> = Vec::new();
        for (lead, said) in said {
            for sentence in sentences_of(&said.text) {
                let shared = distinct_words(sentence).intersection(&wanted).count();
                // A single shared word is a coincidence if the focus has several words.
                if shared >= wanted.len().min(FOCUS_WORDS) && shared > 0 {
                    near.push((shared, said.at, lead, sentence));
                }
            }
        }
        near.sort_by_key(|(shared, at, ..)| (std::cmp::Reverse(*shared), std::cmp::Reverse(*at)));
        near.dedup_by_key(|(.., sentence)| *sentence);
        for (place, (_, at, lead, sentence)) in near.into_iter().take(FOCUS_MAX).enumerate() {
            let weight = FOCUS_WEIGHT - i64::try_from(place).unwrap_or(0);
            self.quote(fill, lead, sentence, (at, weight));
        }
    }

    fn marks(&self) -> Escaping {
        self.form.marks
    }

    /// Returns a text on one line, cut to at most `most` bytes.
    fn short_line(&self, text: &str, most: usize) -> String {
        // Runs of white space shrink to one blank, so the text read is longer than the text kept.
        let look = cut(text, most.saturating_mul(2).max(64));
        let (kept, more) = (text.get(..look).unwrap_or_default(), look < text.len());
        let plain = line(kept, self.marks());
        let plain = if more { format!("{plain}…") } else { plain };
        head(&plain, most).into_owned()
    }

    /// Returns a request on one line. Of a long request the beginning and the end are kept: what is asked often stands
    /// behind what is pasted.
    fn request_line(&self, text: &str, most: usize) -> String {
        let text = text.trim();
        if text.len() <= most {
            return self.short_line(text, most);
        }
        let tail = text.get(cut_after(text, text.len() - most / 3)..).unwrap_or_default();
        let (head, tail) = (self.short_line(text, most - most / 3), self.short_line(tail, most / 3));
        format!("{head} {tail}").trim_end().to_owned()
    }

    fn quote(&mut self, fill: Fill, lead: &str, text: &str, at: (Seq, i64)) {
        let quote = self.short_line(text, REQUEST);
        if !quote.is_empty() {
            self.items.push(SummaryItem::quote(fill, lead, quote, at.0, at.1));
        }
    }

    fn user_messages(&mut self) {
        let count = self.found.users.len();
        for (place, said) in self.found.users.iter().enumerate() {
            let weight = if place + 1 == count { 9_000 } else { self.span.newness(said.at) };
            if self.form.is_log() {
                let quote = self.short_line(&said.text, FIRST_REQUEST);
                self.items.push(SummaryItem::quote(Fill::UserMessages, "user: ", quote, said.at, weight));
                continue;
            }
            let text = ItemText::Block(said.text.to_string());
            self.items.push(SummaryItem::new(Fill::UserMessages, text, said.at, weight));
        }
    }

    fn sentences(&mut self, fill: Fill, cue: Cue) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let found = self.found;
        for sentence in found.sentences(cue) {
            // A reply that was taken back, rejected, broken off or not applied does not show that anything was done
            // or found.
            if !sentence.by_user && found.verdict(sentence.at).is_some() {
                continue;
            }
            let newness = self.span.newness(sentence.at);
            // A prohibition from the beginning still applies; a finding from the beginning may be outdated.
            let weight = if cue == Cue::Constraint { 500 + newness / 2 } else { newness };
            let names = i64::try_from(literal::literals(&sentence.text).take(NAMED_MAX).count()).unwrap_or(0);
            let weight = weight + if sentence.by_user { 400 } else { 0 } + NAMES_OF_SENTENCE * names;
            if let Some(item) = seen.get(sentence.text.as_str()).and_then(|place| self.items.get_mut(*place))
            {
                item.refs = vec![sentence.at];
                item.weight = item.weight.max(weight);
                continue;
            }
            let shares_part = self.form.part(fill).is_some_and(|part| part.fills.len() > 1);
            let lead = match cue {
                Cue::Constraint if shares_part => RULE,
                Cue::Constraint => "",
                _ if sentence.by_user => "user: ",
                _ => "",
            };
            seen.insert(&sentence.text, self.items.len());
            // A fault may have been corrected since it was reported. The only sign of a correction is a later change
            // to a file.
            let since = cue == Cue::Finding && cue::names_fault(&sentence.text);
            let since = if since { self.changed_since(sentence.at) } else { String::new() };
            self.quote(fill, lead, &sentence.text, (sentence.at, weight));
            if let Some(ItemText::Line { tail, .. }) = self.items.last_mut().map(|item| &mut item.text) {
                *tail = since;
            }
        }
    }

    /// Adds the sentence that says most of each reply in the middle of a turn: work without many turns is told by these
    /// sentences alone. The other sentences of all replies that name something are spare, and so are all sentences of
    /// messages and of delegates' reports.
    fn statements(&mut self) {
        let found = self.found;
        let ends: HashSet<Seq> = found.turn_ends().iter().map(|(said, _)| said.at).collect();
        for said in &found.replies {
            let told = self.told("", said, SPARE, 1);
            let best = told.iter().max_by_key(|(names, _)| *names).map(|(_, place)| *place);
            let best = best.filter(|_| !ends.contains(&said.at));
            if let Some(item) = best.and_then(|place| self.items.get_mut(place)) {
                item.weight -= SPARE;
            }
        }
        for said in &found.messages {
            self.told("", said, SPARE + WRITTEN, 0);
        }
        for said in &found.reports {
            self.told(OF_PEER, said, SPARE - WRITTEN, 0);
        }
    }

    /// Adds the sentences of a text that say something and name at least `least` things. Returns, for each, the number
    /// of its names and its place among the items.
    fn told(&mut self, lead: &str, said: &Said<'_>, rank: i64, least: usize) -> Vec<(usize, usize)> {
        let mut told = Vec::new();
        if self.found.verdict(said.at).is_some() {
            return told;
        }
        let prose = cue::without_code(&said.text);
        for sentence in sentences_of(&prose).into_iter().filter(|sentence| cue::says_something(sentence)) {
            let names = literal::literals(sentence).take(NAMED_MAX).count();
            if names >= least && cue::says_of_names(sentence) {
                let named = NAMES_OF_SENTENCE * i64::try_from(names).unwrap_or(0);
                let weight = rank + self.span.newness(said.at) / 2 + named;
                let before = self.items.len();
                self.quote(Fill::Findings, lead, sentence, (said.at, weight));
                told.extend((self.items.len() > before).then_some((names, before)));
            }
        }
        told
    }

    fn decisions(&mut self) {
        let found = self.found;
        let is_request = |answer: &&Answer| {
            let turn = found.users.iter().find(|said| said.at == answer.said);
            self.form.has(Fill::Intent) && turn.is_some_and(|said| !is_answer(&said.text))
        };
        for answer in found.answers.iter().filter(|answer| !is_request(answer)) {
            let question = self.short_line(&answer.question, REQUEST);
            let lead = format!("\"{question}\"{ANSWERED}");
            let quote = self.short_line(&answer.answer, REQUEST);
            let weight = self.span.newness(answer.said) + 400;
            let mut item = SummaryItem::quote(Fill::Decisions, &lead, quote, answer.asked, weight);
            item.refs.push(answer.said);
            self.items.push(item);
        }
        self.sentences(Fill::Decisions, Cue::Decision);
    }

    fn next(&mut self) {
        let before = self.items.len();
        self.sentences(Fill::Next, Cue::Next);
        // A next step is outdated if it precedes the last two requests, or if anything was done after it.
        let users = &self.found.users;
        let asked = users.iter().rev().nth(1).or(users.first()).map_or(Seq::START, |said| said.at);
        let acted = self.found.steps.last().map_or(Seq::START, |step| step.at.next());
        let changed = self.found.files.changed.as_ref().map_or(Seq::START, |(at, _)| at.next());
        let since = asked.max(acted).max(changed);
        let mut place = 0;
        self.items.retain(|item| {
            place += 1;
            place <= before || item.refs.first().is_some_and(|at| *at >= since)
        });
        let old = self.items.len().saturating_sub(NEXT).max(before);
        self.items.drain(before..old);
        if let Some((at, plan)) = self.found.plan.as_ref().filter(|_| !self.form.has(Fill::Todos)) {
            for (text, _) in plan.open.iter().filter(|(_, doing)| *doing) {
                self.quote(Fill::Next, "", text, (*at, 2_000));
            }
        }
    }

    fn concepts(&mut self) {
        let found = self.found;
        let worth = |named: &&Named| named.count >= 2 || named.by_user;
        let terms = found.names.terms_found.iter().filter(worth);
        let camel = found.names.entities.iter().filter(|named| {
            let is_name = named.kind == Some(literal::LiteralKind::Identifier)
                && named.text.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_name && named.count >= 3
        });
        let mut best: Vec<&Named> = terms.chain(camel).collect();
        best.sort_by_key(|named| (std::cmp::Reverse(named.count), named.first));
        for named in best.into_iter().take(60) {
            self.named(Fill::Concepts, "", named, i64::from(named.count));
        }
    }

    fn named(&mut self, fill: Fill, label: &'static str, named: &Named, weight: i64) {
        let name = CountedName::new("", code(&named.text, self.marks()), named.count);
        self.items.push(SummaryItem::packed(fill, label, name, named.last, weight));
    }

    fn todos(&mut self) {
        let found = self.found;
        if let Some((at, plan)) = &found.plan {
            // Nobody has ticked off the work that was done after the list was written.
            let is_old = found.users.last().is_some_and(|said| said.at > *at)
                || found.steps.iter().any(|step| step.at > *at && step.kind != Kind::Plan);
            for (place, (text, doing)) in plan.open.iter().enumerate() {
                let place = i64::try_from(place).unwrap_or(i64::MAX);
                let (lead, weight) = match (*doing, is_old) {
                    (true, false) => ("in progress: ", 9_000),
                    (true, true) => ("in progress when last listed: ", 9_000),
                    (false, false) => ("open: ", 5_000 - place),
                    (false, true) => ("open when last listed: ", 5_000 - place),
                };
                let before = self.items.len();
                self.quote(Fill::Todos, lead, text, (*at, weight));
                if let Some(item) = self.items.get_mut(before) {
                    // Tasks keep the order of the list, after all items that are ordered by position.
                    item.order = u64::try_from(place).unwrap_or(0) + (1 << 40);
                }
            }
        }
        let before = self.items.len();
        self.sentences(Fill::Todos, Cue::Todo);
        // A later step may have done what a reply left open.
        let acted = found.steps.last().map_or(Seq::START, |step| step.at);
        for item in self.items.iter_mut().skip(before).filter(|item| item.refs.iter().all(|at| *at < acted)) {
            if let ItemText::Line { lead, .. } = &mut item.text {
                OPEN_WHEN_SAID.clone_into(lead);
            }
        }
    }

    fn done(&mut self) {
        let found = self.found;
        // A completed plan item would look open among open tasks, so it gets a label.
        let is_mixed = self.form.part(Fill::Done).is_some_and(|part| part.fills.contains(&Fill::Todos));
        let lead = if is_mixed { DONE } else { "" };
        for text in found.plan.iter().flat_map(|(_, plan)| &plan.done) {
            let at = found.plan.as_ref().map_or(Seq::START, |(at, _)| *at);
            self.quote(Fill::Done, lead, text, (at, 1_500));
        }
        for said in &found.done {
            self.quote(Fill::Done, "", &said.text, (said.at, self.span.newness(said.at) + 300));
        }
        for step in
            found.steps.iter().filter(|step| step.files.iter().any(|(deed, _)| *deed == Deed::Committed))
        {
            if step.outcome.as_ref().is_some_and(Outcome::is_ok) {
                let told = step.outcome.as_ref().and_then(|outcome| outcome.telling.as_deref());
                let text = match told {
                    Some(told) => ItemText::quote(COMMITTED, self.short_line(told, REQUEST)),
                    None => self.step_line(step, 1),
                };
                let weight = self.span.newness(step.at) + 900;
                self.items.push(SummaryItem::new(Fill::Done, text, step.at, weight));
            }
        }
        self.sentences(Fill::Done, Cue::Done);
    }

    fn recent(&mut self) {
        let found = self.found;
        let said = found.users.iter().rev().take(RECENT).map(|said| ("user: ", said));
        let told = found.replies.iter().rev().take(RECENT).map(|said| ("model: ", said));
        let mut items: Vec<SummaryItem> = said
            .chain(told)
            .map(|(lead, said)| {
                SummaryItem::quote(Fill::Recent, lead, self.short_line(&said.text, 160), said.at, 0)
            })
            .collect();
        for step in found.steps.iter().rev().take(RECENT) {
            items.push(SummaryItem::new(Fill::Recent, self.step_line(step, 1), step.at, 0));
        }
        items.sort_by_key(|item| std::cmp::Reverse(item.order));
        items.truncate(RECENT);
        for item in &mut items {
            item.weight = self.span.newness(item.refs.first().copied().unwrap_or_default());
        }
        self.items.extend(items);
    }

    fn identifiers(&mut self) {
        let found = self.found;
        let newest = found.users.last().map_or(Seq::START, |said| said.at);
        // Changed files are listed in a separate part.
        let files: HashSet<&str> = found
            .files
            .iter()
            .filter(|file| file.is_changed() && self.form.has(Fill::FilesModified))
            .map(|file| file.path.as_str())
            .collect();
        let mut best: Vec<(i64, &Named)> = found
            .names
            .entities
            .iter()
            .filter(|named| is_worth_naming(named))
            .filter(|named| named.count >= 2 || named.last >= newest || named.by_user)
            .map(|named| (self.worth(named, newest), named))
            .collect();
        best.sort_by_key(|(weight, named)| (std::cmp::Reverse(*weight), named.first));
        for (weight, named) in best.into_iter().take(NAMES) {
            if !files.contains(named.text.as_str()) {
                self.named(Fill::Identifiers, "", named, weight);
            }
        }
    }

    /// Returns the worth of a name, which depends on who wrote it, how often and how recently.
    fn worth(&self, named: &Named, newest: Seq) -> i64 {
        let kind = match named.kind {
            Some(literal::LiteralKind::Id) => -100,
            _ => 0,
        };
        let user = if named.by_user { 700 } else { 0 };
        let new = if named.last >= newest { 150 } else { 0 };
        self.span.newness(named.last) / 2 + i64::from(named.count.min(12)) * 50 + user + new + kind
    }

    fn statistics(&mut self) {
        let tally = self.found.tally;
        if tally.messages == 0 {
            return;
        }
        let changed = self.found.files.iter().filter(|file| file.is_changed()).count();
        let counts = [
            ("messages", tally.messages),
            ("by the user", tally.by_user),
            ("by the model", tally.by_assistant),
            ("calls", tally.calls),
            ("failed", tally.failed),
            ("files changed", u32::try_from(changed).unwrap_or(u32::MAX)),
        ];
        let counts = counts.map(|(what, count)| (what.into(), u64::from(count))).to_vec();
        let at = Seq(self.span.to);
        self.items.push(SummaryItem::new(Fill::Statistics, ItemText::Counts(counts), at, 2));
        if let (Some(since), Some(until)) = (tally.since, tally.until) {
            let span = ItemText::Span { since: stamp(since), until: stamp(until) };
            self.items.push(SummaryItem::new(Fill::Statistics, span, at, 1));
        }
    }
}

/// Returns whether a name belongs to the work, that is, a person or a model wrote it, and it is neither a number nor
/// a flag.
fn is_worth_naming(named: &Named) -> bool {
    named.is_written && named.kind != Some(literal::LiteralKind::Number) && !named.text.starts_with('-')
}

/// Returns whether a message that answers a question is short enough to be listed with it, rather than as a request.
fn is_answer(text: &str) -> bool {
    text.len() <= ANSWER_MAX
}

/// Returns whether a message asks for something rather than merely agreeing.
pub(super) fn opens_something(text: &str) -> bool {
    let text = text.trim();
    let words = text.split_whitespace().count();
    // `/help` and `/add src/a.rs` are commands for the harness.
    if words <= 2 && text.starts_with('/') {
        return false;
    }
    let wide = text.chars().filter(|c| c.len_utf8() >= 3).take(7).count();
    words >= 5 || wide >= 7 || literal::literals(text).next().is_some()
}
