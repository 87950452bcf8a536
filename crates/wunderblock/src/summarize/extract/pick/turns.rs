//! Items about requests, their outcomes, and the work at the end of the range.

use super::{FIRST_REQUEST, NAMED, NAMED_MAX, Pick, opens_something};
use crate::summarize::extract::act::Kind;
use crate::summarize::extract::cue;
use crate::summarize::extract::decision::Verdict;
use crate::summarize::extract::glean::Said;
use crate::summarize::extract::item::{OUTCOME, SummaryItem, THEN, WRAPPED_UP};
use crate::summarize::standing::typed;
use wunderblock_core::literal;
use wunderblock_core::policy::Fill;

/// Weight of the last request, in addition to the weight of its names.
const LAST_REQUEST: i64 = 6_000;
/// Maximum number of bytes quoted from a reply that ends a turn.
const REPLY: usize = 320;
/// Maximum number of bytes quoted from the current work, and from the last reply that ended a turn.
const CURRENT: usize = 1_000;

impl Pick<'_> {
    pub(super) fn intent(&mut self) {
        let found = self.found;
        let first = found.users.iter().position(|said| opens_something(&said.text)).unwrap_or(0);
        for (place, said) in found.users.iter().enumerate() {
            if place == first {
                let quote = self.short_line(&said.text, FIRST_REQUEST);
                self.items.push(SummaryItem::quote(Fill::Intent, "", quote, said.at, 9_000));
            } else if opens_something(&said.text) {
                // Names and numbers in a request cannot be guessed from its outcome.
                let named = typed(&said.text).flat_map(literal::literals).take(NAMED_MAX).count();
                let newest = if place + 1 == found.users.len() { LAST_REQUEST } else { 0 };
                let weight = self.span.newness(said.at) + NAMED * i64::try_from(named).unwrap_or(0) + newest;
                self.quote(Fill::Intent, THEN, &said.text, (said.at, weight));
            }
        }
    }

    /// Adds the beginning of the reply that ended each turn, as the outcome of the request.
    pub(super) fn outcomes(&mut self) {
        let found = self.found;
        // The last reply is quoted at length as current work.
        let last = found.replies.last().filter(|_| self.form.has(Fill::Current)).map(|said| said.at);
        for (said, verdict) in found.turn_ends().into_iter().filter(|(said, _)| Some(said.at) != last) {
            let mut told = outcome(&said.text);
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
            let quote = self.short_line(&cue::without_code(&told.text), CURRENT);
            items.push(current(&lead, quote, told, 8_000));
        }
        if found.users.is_empty()
            && found.replies.is_empty()
            && let Some(other) = found.others.last()
        {
            items.push(current("was given: ", self.short_line(&other.text, CURRENT / 2), other, 7_000));
        }
        // One step is enough if the lists of commands and files contain the other steps.
        let count = if self.form.has(Fill::Commands) && self.form.has(Fill::FilesModified) { 1 } else { 4 };
        let steps = found.steps.iter().rev().filter(|step| step.kind != Kind::Plan).take(count);
        for (weight, step) in (5_997..=6_000).rev().zip(steps) {
            let (lead, quote) = self.step_line(step, 1);
            items.push(SummaryItem::quote(Fill::Current, &lead, quote, step.at, weight));
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
        let told = ends.find(|said| !outcome(&said.text).is_empty())?;
        let prose = cue::without_code(&told.text);
        let among_turns = if self.form.has(Fill::Outcomes) { REPLY } else { 0 };
        let quote = (prose.len() > among_turns).then(|| self.short_line(&prose, CURRENT))?;
        Some(SummaryItem::quote(Fill::Current, WRAPPED_UP, quote, told.at, 7_500))
    }
}

/// Returns a reply without its code, from the first sentence that says something to the last.
fn outcome(reply: &str) -> String {
    let prose = cue::without_code(reply);
    let sentences = cue::sentences_of(&prose);
    let mut telling = sentences.iter().filter(|sentence| cue::says_something(sentence));
    let Some(first) = telling.next() else { return String::new() };
    let last = telling.next_back().unwrap_or(first);
    let (begin, end) = (prose.find(first), prose.rfind(last).map(|at| at + last.len()));
    let told = begin.zip(end).and_then(|(begin, end)| prose.get(begin..end));
    told.unwrap_or_default().to_owned()
}
