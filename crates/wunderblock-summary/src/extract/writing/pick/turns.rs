//! Items about requests, their outcomes, and the work at the end of the range.

use super::{FIRST_REQUEST, NAMED, NAMED_MAX, Pick, REQUEST, is_answer, opens_something};
use crate::extract::calls::act::Kind;
use crate::extract::calls::decision::{Answer, Verdict};
use crate::extract::glean::{Said, Step};
use crate::extract::language::cue;
use crate::extract::language::words::distinct_words;
use crate::extract::writing::item::{OF_PEER, OUTCOME, SPARE, SummaryItem, THEN, WRAPPED_UP};
use crate::standing::typed;
use wunderblock_core::literal;
use wunderblock_core::policy::Fill;

/// Weight of the last request, in addition to the weight of its names.
const LAST_REQUEST: i64 = 6_000;
/// Maximum number of bytes quoted from a reply that ends a turn.
const REPLY: usize = 400;
/// Maximum number of bytes quoted from the current work, and from the last reply that ended a turn.
const CURRENT: usize = 800;
/// Minimum percentage of a request's words that the next request contains if it says the same again.
const REPEATED: usize = 80;

impl Pick<'_> {
    pub(super) fn intent(&mut self) {
        let found = self.found;
        // Where no person speaks, as in a delegate's session, another agent gives the task.
        if let Some(asked) = found.peers.first().filter(|_| found.users.is_empty()) {
            let quote = self.request_line(&asked.text, FIRST_REQUEST);
            self.items.push(SummaryItem::quote(Fill::Intent, OF_PEER, quote, asked.at, 9_000));
        }
        let first = found.users.iter().position(|said| opens_something(&said.text)).unwrap_or(0);
        for (place, said) in found.users.iter().enumerate() {
            let next = found.users.get(place + 1);
            let is_decision = |answer: &Answer| answer.said == said.at && is_answer(&said.text);
            if place != first
                && (next.is_some_and(|next| repeats(&next.text, &said.text))
                    || self.form.has(Fill::Decisions) && found.answers.iter().any(is_decision))
            {
                // It is said again in the next request, or listed as an answer.
                continue;
            }
            if place == first {
                let quote = self.request_line(&said.text, FIRST_REQUEST);
                self.items.push(SummaryItem::quote(Fill::Intent, "", quote, said.at, 9_000));
            } else if opens_something(&said.text) {
                // Names and numbers in a request cannot be guessed from its outcome.
                let named = typed(&said.text).flat_map(literal::literals).take(NAMED_MAX).count();
                let newest = if place + 1 == found.users.len() { LAST_REQUEST } else { 0 };
                let weight = self.span.newness(said.at) + NAMED * i64::try_from(named).unwrap_or(0) + newest;
                let quote = self.request_line(&said.text, REQUEST);
                self.items.push(SummaryItem::quote(Fill::Intent, THEN, quote, said.at, weight));
            } else if !said.text.starts_with('/') {
                self.quote(Fill::Intent, THEN, &said.text, (said.at, SPARE + self.span.newness(said.at)));
            }
        }
    }

    /// Adds the beginning of the reply that ended each turn, as the outcome of the request.
    pub(super) fn outcomes(&mut self) {
        let found = self.found;
        for said in &found.peers {
            let quote = self.short_line(&cue::without_code(&said.text), REPLY);
            let weight = self.span.newness(said.at) + 500;
            self.items.push(SummaryItem::quote(Fill::Outcomes, OF_PEER, quote, said.at, weight));
        }
        // The last reply is quoted at length as current work.
        let last = found.replies.last().filter(|_| self.form.has(Fill::Current)).map(|said| said.at);
        let wrap_up = self.form.has(Fill::Current).then(|| self.wrap_up()).flatten();
        let wrap_up = wrap_up.and_then(|item| item.refs.first().copied());
        // What the state quotes at length is not quoted among the turns.
        let is_told = |said: &Said<'_>| [last, wrap_up].contains(&Some(said.at));
        for (said, verdict) in found.turn_ends().into_iter().filter(|(said, _)| !is_told(said)) {
            let mut told = cue::gist_of(&said.text, REPLY);
            if told.is_empty() && found.verdict(said.at).is_some() {
                // A reply that came to nothing is listed, whatever it says.
                told = cue::sentences_of(&said.text).first().copied().unwrap_or_default().to_owned();
            }
            let verdict = verdict.map(Verdict::label).unwrap_or_default();
            let quote = self.short_line(&told, REPLY);
            if !quote.is_empty() {
                let weight = self.span.newness(said.at) + 600;
                let lead = format!("{OUTCOME}{verdict}");
                self.items.push(SummaryItem::quote(Fill::Outcomes, &lead, quote, said.at, weight));
            }
        }
    }

    pub(super) fn current(&mut self) {
        let found = self.found;
        let current = |lead: &str, quote: String, said: &Said<'_>, weight| {
            SummaryItem::quote(Fill::Current, lead, quote, said.at, weight)
        };
        let mut items = Vec::new();
        // If outcomes are listed, the last request already appears among the turns.
        if let Some(asked) = found.users.last().filter(|_| !self.form.has(Fill::Outcomes)) {
            items.push(current("asked last: ", self.short_line(&asked.text, CURRENT), asked, 9_000));
        }
        items.extend(self.wrap_up());
        if let Some(told) = found.replies.last() {
            let lead =
                format!("said last: {}", found.verdict(told.at).map(Verdict::label).unwrap_or_default());
            let gist = cue::gist_of(&told.text, CURRENT);
            let words = if gist.is_empty() { cue::without_code(&told.text) } else { gist.into() };
            items.push(current(&lead, self.short_line(&words, CURRENT), told, 8_000));
        }
        if found.users.is_empty()
            && found.replies.is_empty()
            && let Some(other) = found.others.last()
        {
            items.push(current("was given: ", self.short_line(&other.text, CURRENT / 2), other, 7_000));
        }
        let count = if self.form.has(Fill::Commands) && self.form.has(Fill::FilesModified) { 1 } else { 4 };
        // What only looks at something, or is listed elsewhere, says nothing about the state of the work.
        let has_lists = self.form.has(Fill::Commands) && self.form.has(Fill::FilesModified);
        let says = |step: &&Step| {
            let is_told = has_lists || !self.is_worth_listing(step) && step.kind != Kind::Write;
            let goes_on = step.ended > step.at || self.waits(step.at);
            step.outcome.is_none() && goes_on || !is_told
        };
        let steps = found.steps.iter().rev().filter(says).take(count);
        for (weight, step) in (5_997..=6_000).rev().zip(steps) {
            items.push(SummaryItem::new(Fill::Current, self.step_line(step, 1), step.at, weight));
        }
        if let Some(step) = found.steps.last().filter(|_| items.is_empty()) {
            items.push(SummaryItem::new(Fill::Current, self.step_line(step, 1), step.at, 0));
        }
        self.items.extend(items.into_iter().filter(|item| item.search_text().trim().len() > 2));
    }

    /// Returns the last reply that ended a turn and says something, if the newest turn is still going on. Returns
    /// `None` if the turns already quote the whole reply.
    fn wrap_up(&self) -> Option<SummaryItem> {
        let found = self.found;
        let newest = found.users.last()?.at;
        let last = found.replies.last()?.at;
        let goes_on = newest > last || found.steps.last().is_some_and(|step| step.at >= last);
        let ends = found.turn_ends().into_iter().rev().filter(|(_, verdict)| verdict.is_none());
        let mut ends = ends.map(|(said, _)| said).filter(|said| goes_on && said.at < newest);
        let told = ends.find(|said| !cue::gist_of(&said.text, REPLY).is_empty())?;
        let quote = self.short_line(&cue::gist_of(&told.text, CURRENT), CURRENT);
        Some(SummaryItem::quote(Fill::Current, WRAPPED_UP, quote, told.at, 7_500))
    }
}

/// Returns whether a request says again almost all of what an earlier one said, as a message does that was sent, taken
/// back and sent again.
fn repeats(next: &str, before: &str) -> bool {
    let (next, before) = (distinct_words(next), distinct_words(before));
    before.len() >= 4 && before.intersection(&next).count() * 100 >= before.len() * REPEATED
}
