//! Standing rules that requests quote, against a list of marked places.

use super::corpus::{FreshLedger, RealSession, cksum};
use super::marks::{Mark, marks, text_at};
use super::requests::events;
use super::table::part;
use crate::program::ChoreResult;
use futures_executor::block_on;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use wunderblock::core::budget::Treatment;
use wunderblock::core::decision::Quote;
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::units::{Seq, Tokens};
use wunderblock::{Built, ContextOptions};

/// Marked places: `session position part from to digest rule|not|doubt person|pasted|tool|teammate|harness [position of the later
/// rule that replaces it]`.
const MARKS: &str = include_str!("marks/rules.txt");

/// A quote, or a marked rule that is not quoted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RuleRow {
    session: String,
    window: u64,
    seq: u64,
    part: usize,
    from: usize,
    to: usize,
    digest: u32,
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
    let row = |(seq, part): (Seq, usize), range: std::ops::Range<usize>| RuleRow {
        session: session.title().to_owned(),
        window,
        seq: seq.0,
        part,
        from: range.start,
        to: range.end,
        digest: 0,
        found: RuleFound::Unmarked,
        author: String::new(),
    };
    let mut rows = Vec::new();
    let mut met = BTreeSet::new();
    for quote in quotes(&events) {
        let range = usize::try_from(quote.from.0)?..usize::try_from(quote.to.0)?;
        let words =
            text_at(&events, &bodies, quote.at).and_then(|text| text.get(range.clone())).unwrap_or_default();
        let own = RuleRow { digest: cksum(words.as_bytes()), ..row(quote.at, range.clone()) };
        let mark = marks.iter().enumerate().find(|(_, mark)| mark.meets(quote.at, &range));
        let Some((nth, mark)) = mark else {
            let (title, (seq, part)) = (session.title(), quote.at);
            say(&format!(
                "{title} {} {part} {} {} {} {words:?}\n",
                seq.0, range.start, range.end, own.digest
            ));
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
            _ if mark.label(2).parse().is_ok_and(|later: u64| later > 0) => RuleFound::Replaced,
            _ if shown.contains(&mark.seq) => RuleFound::Shown,
            _ => RuleFound::Missed,
        };
        let own = row((mark.seq, mark.part), mark.range.clone());
        rows.push(RuleRow { found, author: mark.label(1).to_owned(), digest: mark.digest, ..own });
    }
    Ok(rows)
}

/// Returns the quotes of the lane's latest step.
fn quotes(events: &[Event]) -> Vec<Quote> {
    let mut trims = events.iter().rev().filter_map(|event| match &event.fact {
        Some(Fact::ViewTrimmed(step)) => Some(step.trim.rules.quotes.clone()),
        _ => None,
    });
    trims.next().unwrap_or_default()
}

/// Returns the positions that the request shows word for word.
fn shown(built: &Built) -> BTreeSet<Seq> {
    let lines = built.draft.report.entries.iter().filter(|line| line.treatment == Treatment::Verbatim);
    lines.filter_map(|line| line.seq).collect()
}

/// Returns the totals as Markdown.
pub(crate) fn totals(rows: &[RuleRow]) -> ChoreResult<String> {
    let mut out = String::from(
        "| window | quotes | marked | rules | of other authors than the person | unmarked | precision | rules to find | quoted | shown | replaced | missed | recall | broken marks |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let windows: BTreeSet<u64> = rows.iter().map(|row| row.window).collect();
    for window in windows {
        let of =
            |found: RuleFound| rows.iter().filter(|row| row.window == window && row.found == found).count();
        let (rule, wrong, unmarked) = (of(RuleFound::Rule), of(RuleFound::Wrong), of(RuleFound::Unmarked));
        let (shown, missed) = (of(RuleFound::Shown), of(RuleFound::Missed));
        let quoted = |row: &&RuleRow| matches!(row.found, RuleFound::Rule | RuleFound::Wrong);
        let others = rows.iter().filter(|row| row.window == window).filter(quoted);
        let others = others.filter(|row| row.author != "person").count();
        let share = |part_of: usize, whole: usize| part((part_of * 1_000 / whole.max(1)) as u64);
        writeln!(
            out,
            "| {window} | {} | {} | {rule} | {others} | {unmarked} | {} | {} | {rule} | {shown} | {} | {missed} | {} | {} |",
            rule + wrong + of(RuleFound::Doubtful) + unmarked,
            rule + wrong,
            share(rule, rule + wrong),
            rule + shown + missed,
            of(RuleFound::Replaced),
            share(rule + shown, rule + shown + missed),
            of(RuleFound::Broken),
        )?;
    }
    Ok(out)
}
