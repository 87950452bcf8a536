//! Facts that agents' own summaries state, and whether our summary of the same range states them too.
//!
//! A fact counts as stated if our summary has the literals that carry it. That is a lower bound on what a reader finds
//! (the same fact in other words is not seen) and an upper bound on what it says of it (a literal in a list of names
//! counts). Therefore a stricter figure stands beside it: all literals in one line with at least four other words.

use super::corpus::{FreshLedger, RealSession};
use super::marks::{Mark, marks, text_at};
use super::requests::{WHOLE, events};
use super::table::part;
use crate::program::ChoreResult;
use futures_executor::block_on;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::policy::{Permille, Policy};
use wunderblock::core::units::{Seq, Tokens};
use wunderblock::policy::Policies;
use wunderblock::tokens::Vocabulary;
use wunderblock::{CompactOptions, Compactor, ContextOptions, Session, SummaryEdit};

/// Marked literals: `session position part from to cksum number`; literals with one number are one fact.
const MARKS: &str = include_str!("marks/facts.txt");
/// Maximum size of our summary, in tokens.
const SIZE: Tokens = Tokens(3_000);
/// Model whose tokens are counted with o200k.
const COUNTED: &str = "gpt-4o";
/// Minimum number of words beside the literals in a line that says something about them.
const WORDS: usize = 4;

/// Facts of one summary of an agent.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FactsRow {
    session: String,
    /// Position of the agent's compaction, and the last position it covers.
    at: u64,
    to: u64,
    /// Tokens (o200k) of the agent's summary and of ours.
    theirs: u64,
    ours: u64,
    facts: usize,
    stated: usize,
    /// Facts whose literals stand in one line that says something about them.
    in_a_line: usize,
    /// Numbers of the facts that our summary lacks.
    missing: Vec<u64>,
    /// Marks that do not fit the session.
    broken: usize,
}

/// Compares our summaries of a session with the facts of its agent's own.
pub(crate) fn rows(session: &RealSession, policy: &str) -> ChoreResult<Vec<FactsRow>> {
    let mut at: BTreeMap<Seq, Vec<Mark>> = BTreeMap::new();
    for mark in marks(MARKS)?.into_iter().filter(|mark| mark.session == session.title()) {
        at.entry(mark.place.seq).or_default().push(mark);
    }
    if at.is_empty() {
        return Ok(Vec::new());
    }
    let ledger = FreshLedger::open()?;
    let own = ledger.import_whole(session)?;
    let events = events(&own)?;
    let bodies = block_on(ledger.engine.bodies(&events))?;
    let mut rows = Vec::new();
    for (seq, marks) in at {
        let Some((from, to)) = range(&events, seq) else { continue };
        let ours = summary(&own, from, to, policy)?;
        let theirs = text_at(&events, &bodies, seq, 0).unwrap_or_default();
        let mut facts: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        let mut broken = 0;
        for mark in &marks {
            match mark.text(&events, &bodies) {
                Some(text) => facts.entry(mark.label(0).parse()?).or_default().push(text),
                None => broken += 1,
            }
        }
        let missing: Vec<u64> =
            facts.iter().filter(|(_, literals)| !holds(&ours, literals)).map(|(number, _)| *number).collect();
        rows.push(FactsRow {
            session: session.title().to_owned(),
            at: seq.0,
            to: to.0,
            theirs: u64::from(Vocabulary::O200k.count(theirs)),
            ours: u64::from(Vocabulary::O200k.count(&ours)),
            facts: facts.len(),
            stated: facts.len() - missing.len(),
            in_a_line: facts.values().filter(|literals| says(&ours, literals)).count(),
            missing,
            broken,
        });
    }
    Ok(rows)
}

/// Returns the range of an agent's compaction, from the first message.
fn range(events: &[Event], seq: Seq) -> Option<(Seq, Seq)> {
    let made = events.iter().find(|event| event.seq == seq).and_then(|event| match &event.fact {
        Some(Fact::SessionCompacted(made)) => Some(made),
        _ => None,
    })?;
    let is_message = |event: &&Event| matches!(event.fact, Some(Fact::MessageAppended(_)));
    let mut within = events.iter().filter(|event| event.seq >= made.from_seq && event.seq <= made.to_seq);
    let first = within.clone().find(is_message)?.seq;
    let last = within.rfind(is_message)?.seq;
    Some((first, last))
}

/// Returns our summary of a range, of at most [`SIZE`], without recording it.
fn summary(session: &Session, from: Seq, to: Seq, policy: &str) -> ChoreResult<String> {
    let mut policy = Policy::clone(&*Policies::embedded().named(policy)?);
    let summary = &mut policy.summary;
    (summary.target, summary.condensed, summary.by_model) = (SIZE, SIZE, SIZE);
    summary.at_least = summary.at_least.min(SIZE);
    (summary.share, summary.room, summary.overage) = (Permille(1_000), Permille(1_000), Permille(1_000));
    // The counts of this model are exact, so that the size means the same as the sizes in the table.
    let model = Some(COUNTED.to_owned());
    let context = ContextOptions { window: Some(WHOLE), model, ..ContextOptions::uncompacted() };
    let options = CompactOptions {
        edit: Some(SummaryEdit::Range(from, to)),
        dry_run: true,
        ..CompactOptions::new(context, Compactor::new(policy.into()))
    };
    let done = block_on(session.compact(&options))?;
    let texts: Vec<String> = done.nodes.into_iter().filter(|node| node.shown).map(|node| node.text).collect();
    Ok(texts.join("\n"))
}

/// Returns whether a text has all literals, in any case of letters.
fn holds(text: &str, literals: &[&str]) -> bool {
    let text = text.to_lowercase();
    literals.iter().all(|literal| text.contains(&literal.to_lowercase()))
}

/// Returns whether one line of a text has all literals and says something about them.
fn says(text: &str, literals: &[&str]) -> bool {
    let words = |line: &str| {
        let rest = literals
            .iter()
            .fold(line.to_lowercase(), |line, literal| line.replace(&literal.to_lowercase(), " "));
        let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        rest.split(|c: char| !c.is_alphanumeric()).filter(is_word).count()
    };
    text.lines().any(|line| holds(line, literals) && words(line) >= WORDS)
}

/// Returns the table as Markdown.
pub(crate) fn totals(rows: &[FactsRow]) -> ChoreResult<String> {
    let mut out = String::from(
        "| session | range | their tokens | our tokens | facts | stated | in a line that says something | missing |\n|---|---|--:|--:|--:|--:|--:|---|\n",
    );
    for row in rows {
        let missing: Vec<String> = row.missing.iter().map(u64::to_string).collect();
        writeln!(
            out,
            "| {} | –{} | {} | {} | {} | {} | {} | {} |",
            row.session,
            row.to,
            row.theirs,
            row.ours,
            row.facts,
            row.stated,
            row.in_a_line,
            missing.join(" ")
        )?;
    }
    let sum = |of: fn(&FactsRow) -> usize| rows.iter().map(of).sum::<usize>();
    let of_twenty = |count: usize| part((count * 20_000 / sum(|row| row.facts).max(1)) as u64);
    writeln!(
        out,
        "\n{} of {} facts stated: {} of 20 on average over {} summaries; {} of 20 in a line that says something. {} marks do not fit.",
        sum(|row| row.stated),
        sum(|row| row.facts),
        of_twenty(sum(|row| row.stated)),
        rows.len(),
        of_twenty(sum(|row| row.in_a_line)),
        sum(|row| row.broken),
    )?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_in_a_list_of_names_is_stated_but_nothing_is_said_of_it() {
        let summary = "- `retry_limit ×4 · parser.rs ×2`\n- raised the limit of attempts in Parser.rs because uploads timed out";
        assert!(holds(summary, &["retry_limit", "parser.rs"]) && !holds(summary, &["lexer.rs"]));
        assert!(says(summary, &["parser.rs"]) && !says(summary, &["retry_limit"]));
        assert!(!says(summary, &["retry_limit", "parser.rs"]));
    }
}
