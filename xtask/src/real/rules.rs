//! Standing rules that requests quote, against a list of marked places.
//!
//! A request quotes rules twice: in a message of its own, and in the lines `rule: "…"` of its summaries. Both are held
//! against the marks; a place that is quoted twice counts once.

use super::corpus::{FreshLedger, RealSession, cksum};
use super::marks::{Mark, Place, marks};
use super::requests::events;
use super::table::part;
use crate::program::ChoreResult;
use futures_executor::block_on;
use regex::Regex;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use wunderblock::core::budget::{BudgetReport, Treatment};
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::message::Part;
use wunderblock::core::ports::Bodies;
use wunderblock::core::section::Section;
use wunderblock::core::units::{Seq, Tokens};
use wunderblock::{Built, ContextOptions};

/// Marked places: `session position part from to cksum rule|not|doubt person|pasted|tool|teammate|harness [position]`.
/// The last position is that of the later rule that replaces this one.
const MARKS: &str = include_str!("marks/rules.txt");

/// A place that is quoted as a rule, or a marked rule that is not.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RuleRow {
    session: String,
    window: u64,
    #[serde(flatten)]
    place: Place,
    cksum: u32,
    /// Whether the message of rules quotes it, and not only a summary.
    in_message: bool,
    found: RuleFound,
    /// Author of the words as marked; empty if unmarked.
    author: String,
}

/// What became of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum RuleFound {
    /// Quoted, and a rule.
    Rule,
    /// Quoted, and not a rule.
    Wrong,
    /// Quoted, and marked as one about which readers may differ; counted for neither side.
    Doubtful,
    /// Quoted, and not marked.
    Unmarked,
    /// A rule whose turn stands in the request word for word, so that it needs no quote.
    Shown,
    /// A rule that a later one replaced.
    Replaced,
    /// A rule that the request lacks.
    Missed,
    /// A mark that does not fit the session.
    Broken,
}

/// Compares the quotes of a session's request with the marks. `say` receives quotes without a mark, with their text.
pub(crate) fn rows(session: &RealSession, window: u64, say: &dyn Fn(&str)) -> ChoreResult<Vec<RuleRow>> {
    let ledger = FreshLedger::open()?;
    let own = ledger.import_whole(session)?;
    let options = ContextOptions { window: Some(Tokens(window)), ..ContextOptions::default() };
    let Ok(built) = block_on(own.context(options)) else { return Ok(Vec::new()) };
    let events = events(&own)?;
    let bodies = block_on(ledger.engine.bodies(&events))?;
    let marks: Vec<Mark> = marks(MARKS)?.into_iter().filter(|mark| mark.session == session.title()).collect();
    let row = |place: &Place, cksum, found| RuleRow {
        session: session.title().to_owned(),
        window,
        place: place.clone(),
        cksum,
        in_message: false,
        found,
        author: String::new(),
    };
    let mut rows = Vec::new();
    let mut met = BTreeSet::new();
    for (place, in_message) in quoted(&events, &bodies, &built.draft.report)? {
        let words = place.text(&events, &bodies).unwrap_or_default();
        let own = RuleRow { in_message, ..row(&place, cksum(words.as_bytes()), RuleFound::Unmarked) };
        // The mark of a sentence precedes that of the pasted text around it.
        let meets = marks.iter().enumerate().filter(|(_, mark)| mark.place.meets(&place));
        let Some((nth, mark)) = meets.min_by_key(|(_, mark)| mark.place.to - mark.place.from) else {
            let Place { seq, part, from, to } = place;
            say(&format!("{} {seq} {part} {from} {to} {} {words:?}\n", session.title(), own.cksum));
            rows.push(own);
            continue;
        };
        met.insert(nth);
        let found = match mark.label(0) {
            "rule" => RuleFound::Rule,
            "doubt" => RuleFound::Doubtful,
            _ => RuleFound::Wrong,
        };
        rows.push(RuleRow { found, author: mark.label(1).to_owned(), ..own });
    }
    let shown = shown(&built);
    for (_, mark) in marks.iter().enumerate().filter(|(nth, _)| !met.contains(nth)) {
        let found = match mark {
            _ if mark.text(&events, &bodies).is_none() => RuleFound::Broken,
            _ if mark.label(0) != "rule" => continue,
            _ if !mark.label(2).is_empty() => RuleFound::Replaced,
            _ if shown.contains(&mark.place.seq) => RuleFound::Shown,
            _ => RuleFound::Missed,
        };
        rows.push(RuleRow { author: mark.label(1).to_owned(), ..row(&mark.place, mark.cksum, found) });
    }
    Ok(rows)
}

/// Returns the quoted places, each with whether the message of rules has it.
fn quoted(events: &[Event], bodies: &impl Bodies, report: &BudgetReport) -> ChoreResult<Vec<(Place, bool)>> {
    let mut trims = events.iter().rev().filter_map(|event| match &event.fact {
        Some(Fact::ViewTrimmed(step)) => Some(&step.trim.rules.quotes),
        _ => None,
    });
    let mut found = BTreeMap::new();
    for quote in trims.next().into_iter().flatten() {
        let ((seq, part), from, to) = (quote.at, quote.from.0.try_into()?, quote.to.0.try_into()?);
        found.insert(Place { seq, part, from, to }, true);
    }
    let line = Regex::new("^- (?:then: )?rule: [\"“](.*?)…?[\"”]?(?: #(\\d+))+$")?;
    let nodes = report.entries.iter().filter(|line| line.section == Section::Summaries);
    let nodes: BTreeSet<Seq> = nodes.filter_map(|line| line.seq).collect();
    for event in events.iter().filter(|event| nodes.contains(&event.seq)) {
        let Some(Fact::SessionCompacted(made)) = &event.fact else { continue };
        let text = made.summary.as_ref().and_then(|body| bodies.of(body)).unwrap_or_default();
        for rule in text.lines().filter_map(|text| line.captures(text)) {
            let (words, at) = (rule.get(1).map_or("", |words| words.as_str()), rule.get(2));
            let Some(seq) = at.and_then(|at| at.as_str().parse().ok()).map(Seq) else { continue };
            let Some(place) = place_of(events, bodies, seq, words) else { continue };
            if !found.keys().any(|known: &Place| known.meets(&place)) {
                found.insert(place, false);
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns the place of words that a summary quotes from a message. Quotation marks and blanks may differ.
fn place_of(events: &[Event], bodies: &impl Bodies, seq: Seq, words: &str) -> Option<Place> {
    let said = events.iter().find(|event| event.seq == seq).and_then(|event| match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(&said.message),
        _ => None,
    })?;
    let words: Vec<String> = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(regex::escape)
        .collect();
    let pattern = Regex::new(&words.join(r"[^\p{Alphabetic}\p{N}]+")).ok().filter(|_| !words.is_empty())?;
    said.parts.iter().enumerate().find_map(|(part, piece)| {
        let Part::Text { text, .. } = piece else { return None };
        let found = pattern.find(bodies.of(text)?)?;
        Some(Place { seq, part, from: found.start(), to: found.end() })
    })
}

/// Returns the positions that the request shows word for word.
fn shown(built: &Built) -> BTreeSet<Seq> {
    let lines = built.draft.report.entries.iter().filter(|line| line.treatment == Treatment::Verbatim);
    lines.filter_map(|line| line.seq).collect()
}

/// Returns the totals as Markdown: a row for all quotes of a window, and one for the message of rules alone.
pub(crate) fn totals(rows: &[RuleRow]) -> ChoreResult<String> {
    let mut out = String::from(
        "| window | quotes in | quotes | rules | not | doubtful | unmarked | precision | not the person's | rules to find | quoted or shown | replaced | missed | recall | broken marks |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let windows: BTreeSet<u64> = rows.iter().map(|row| row.window).collect();
    for (window, only) in windows.iter().flat_map(|window| [(*window, false), (*window, true)]) {
        let of = |found: RuleFound| {
            rows.iter()
                .filter(|row| row.window == window && row.found == found && (row.in_message || !only))
                .count()
        };
        let (rule, wrong, unmarked) = (of(RuleFound::Rule), of(RuleFound::Wrong), of(RuleFound::Unmarked));
        let doubtful = of(RuleFound::Doubtful);
        let is_others = |row: &&RuleRow| {
            let is_quoted = matches!(row.found, RuleFound::Rule | RuleFound::Wrong | RuleFound::Doubtful);
            row.window == window && is_quoted && row.author != "person" && (row.in_message || !only)
        };
        let others = rows.iter().filter(is_others).count();
        let share = |part_of: usize, whole: usize| part((part_of * 1_000 / whole.max(1)) as u64);
        write!(
            out,
            "| {window} | {} | {} | {rule} | {wrong} | {doubtful} | {unmarked} | {} | {others} |",
            if only { "the message" } else { "all" },
            rule + wrong + doubtful + unmarked,
            share(rule, rule + wrong),
        )?;
        // Marks that are not quoted belong to neither kind of quote.
        if only {
            out.push_str(" | | | | | |\n");
            continue;
        }
        let (kept, missed) = (rule + of(RuleFound::Shown), of(RuleFound::Missed));
        let (replaced, broken) = (of(RuleFound::Replaced), of(RuleFound::Broken));
        let (all, recall) = (kept + missed, share(kept, kept + missed));
        writeln!(out, " {all} | {kept} | {replaced} | {missed} | {recall} | {broken} |")?;
    }
    Ok(out)
}
