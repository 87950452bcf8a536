//! Requests over real sessions: use of the limit, text word for word, summaries, and messages that nothing covers.
//!
//! What a request leaves uncovered is computed from the session's messages and from the summaries that the request
//! shows, and not from the reasons that the report gives.

use super::corpus::{FreshLedger, RealSession};
use super::table::{median, part, thousands};
use crate::program::ChoreResult;
use futures_executor::block_on;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;
use wunderblock::core::budget::{BudgetReport, LeftOut, Reason, Treatment};
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::message::{Message, Part};
use wunderblock::core::ports::Bodies;
use wunderblock::core::section::Section;
use wunderblock::core::units::{Bytes, Seq, Tokens};
use wunderblock::tokens::Vocabulary;
use wunderblock::{Built, ContextOptions, Engine, Session};

/// Minimum share of the limit that a request uses, and minimum share of the request that is word for word, in
/// thousandths.
const FLOORS: (u64, u64) = (600, 500);

/// Window in which every session fits.
pub(crate) const WHOLE: Tokens = Tokens(8_000_000);

/// Figures of one request.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RequestRow {
    session: String,
    window: u64,
    /// Number of the snapshot; 0 for the first request of the lane.
    snapshot: usize,
    /// Tokens of a request that shows the whole session.
    conversation: u64,
    limit: u64,
    used: u64,
    /// Tokens of the request's messages that stand word for word.
    verbatim: u64,
    summaries: u64,
    /// Messages that the request neither shows nor covers, and their tokens (o200k).
    uncovered: (u64, u64),
    /// The same tokens by the reason that the report gives; `unlisted` if it gives none.
    reasons: std::collections::BTreeMap<String, u64>,
    /// Why no request was built.
    refused: Option<String>,
    milliseconds: u128,
}

impl RequestRow {
    /// Returns whether the conversation exceeds the limit.
    fn is_larger(&self) -> bool {
        self.conversation > self.limit
    }

    /// Returns the used share of the limit, and the shares of the request and of the limit that are word for word.
    fn shares(&self) -> (u64, u64, u64) {
        let of = |part: u64, whole: u64| part * 1_000 / whole.max(1);
        (of(self.used, self.limit), of(self.verbatim, self.used), of(self.verbatim, self.limit))
    }

    fn meets_floors(&self) -> bool {
        let (used, verbatim, _) = self.shares();
        used >= FLOORS.0 && verbatim >= FLOORS.1
    }
}

/// Builds the requests of a session in a window: one after each snapshot, in a ledger of their own.
pub(crate) fn rows(session: &RealSession, window: u64, policy: &str) -> ChoreResult<Vec<RequestRow>> {
    let ledger = FreshLedger::open()?;
    let mut rows = Vec::new();
    for (nth, snapshot) in session.snapshots.iter().enumerate() {
        let own = ledger.import(session, snapshot)?;
        let mut options = ContextOptions { window: Some(Tokens(window)), ..ContextOptions::default() };
        if let Some(compactor) = &mut options.compactor {
            compactor.policy = wunderblock::policy::Policies::embedded().named(policy)?;
        }
        let conversation = conversation(&own);
        let begun = Instant::now();
        let built = block_on(own.context(options));
        let milliseconds = begun.elapsed().as_millis();
        let row = RequestRow {
            session: session.title().to_owned(),
            window,
            snapshot: nth,
            conversation,
            milliseconds,
            ..RequestRow::default()
        };
        rows.push(match built {
            Ok(built) => measured(row, &ledger.engine, &own, &built)?,
            Err(error) => RequestRow { refused: Some(error.to_string()), ..row },
        });
    }
    Ok(rows)
}

fn measured(row: RequestRow, engine: &Engine, session: &Session, built: &Built) -> ChoreResult<RequestRow> {
    let report = &built.draft.report;
    let events = events(session)?;
    let bodies = block_on(engine.bodies(&events))?;
    let left = uncovered(report, &events, &bodies);
    let mut reasons = std::collections::BTreeMap::new();
    for (_, tokens, reason) in &left {
        let name = reason.map_or("unlisted", Reason::label);
        *reasons.entry(name.to_owned()).or_default() += tokens;
    }
    let summaries = report.sections.iter().filter(|line| line.name == Section::Summaries);
    Ok(RequestRow {
        limit: report.limit.0,
        used: report.total_tokens.0,
        verbatim: verbatim(report).0,
        summaries: summaries.map(|line| line.tokens.0).sum(),
        uncovered: (left.len() as u64, left.iter().map(|(_, tokens, _)| tokens).sum()),
        reasons,
        ..row
    })
}

/// Returns all events of a session.
pub(crate) fn events(session: &Session) -> ChoreResult<Vec<Event>> {
    Ok(block_on(session.events(Seq(1), Seq(i64::MAX.unsigned_abs()), 1_000_000, Bytes(1 << 40)))?)
}

/// Returns the tokens of entries that stand word for word. Only sections that hold messages count.
fn verbatim(report: &BudgetReport) -> Tokens {
    let said = [Section::System, Section::Transcript, Section::Prompt];
    let lines = report
        .entries
        .iter()
        .filter(|line| line.treatment == Treatment::Verbatim && said.contains(&line.section));
    lines.map(|line| line.tokens).sum()
}

/// Returns the messages that the request does not show and that no summary in it covers, with their tokens and the
/// reason that the report gives. Thinking, and what a person hid or erased, does not count.
fn uncovered(
    report: &BudgetReport,
    events: &[Event],
    bodies: &impl Bodies,
) -> Vec<(Seq, u64, Option<Reason>)> {
    let in_summaries = |section: Section| section == Section::Summaries;
    let shown: BTreeSet<Seq> = report
        .entries
        .iter()
        .filter(|line| !in_summaries(line.section))
        .filter_map(|line| line.seq)
        .collect();
    let nodes: BTreeSet<Seq> =
        report.entries.iter().filter(|line| in_summaries(line.section)).filter_map(|line| line.seq).collect();
    let covered: Vec<(Seq, Seq)> = events
        .iter()
        .filter(|event| nodes.contains(&event.seq))
        .filter_map(|event| match &event.fact {
            Some(Fact::SessionCompacted(made)) => Some((made.from_seq, made.to_seq)),
            _ => None,
        })
        .collect();
    let run_of = |seq: Seq| report.left_out.iter().find(|run| run.from_seq <= seq && seq <= run.to_seq);
    let mut left = Vec::new();
    for (seq, message) in messages(events) {
        let is_covered = covered.iter().any(|(from, to)| *from <= seq && seq <= *to);
        let run = run_of(seq);
        if shown.contains(&seq) || is_covered || run.is_some_and(is_excused) {
            continue;
        }
        let tokens = tokens(message, bodies);
        if tokens > 0 {
            left.push((seq, tokens, run.map(|run| run.reason)));
        }
    }
    left
}

/// Returns whether a run is missing for a reason that has nothing to do with room.
fn is_excused(run: &LeftOut) -> bool {
    !matches!(run.reason, Reason::Budget | Reason::Stepped | Reason::Summarised | Reason::OrphanResult)
}

/// Returns the messages that a model may see, with their positions.
fn messages(events: &[Event]) -> impl Iterator<Item = (Seq, &Message)> {
    events.iter().filter_map(|event| match &event.fact {
        Some(Fact::MessageAppended(said)) if said.message.standing.is_sendable() => {
            Some((event.seq, &said.message))
        }
        _ => None,
    })
}

/// Returns the tokens (o200k) of a message's texts, without thinking and data of media.
fn tokens(message: &Message, bodies: &impl Bodies) -> u64 {
    let parts = message.parts.iter().filter(|part| !part.is_thinking());
    let leaves = parts.flat_map(Part::leaves).filter(|(part, _)| !part.is_data());
    let texts = leaves.filter_map(|(_, body)| bodies.of(body));
    texts.map(|text| u64::from(Vocabulary::O200k.count(text))).sum()
}

/// Returns the size of the request that would show the whole session, for its model; 0 without one.
fn conversation(session: &Session) -> u64 {
    let options = ContextOptions { window: Some(WHOLE), ..ContextOptions::uncompacted() };
    block_on(session.explain(options)).map_or(0, |built| built.draft.report.total_tokens.0)
}

/// Writes a row of the table of requests.
pub(crate) fn line(row: &RequestRow) -> String {
    let name =
        if row.snapshot == 0 { row.session.clone() } else { format!("{}/{:02}", row.session, row.snapshot) };
    if let Some(why) = &row.refused {
        let why = why.lines().next().unwrap_or_default();
        return format!("| {name} | {} | refused | | | | | | | {why} |", row.window);
    }
    let (used, of_request, of_limit) = row.shares();
    let reasons: Vec<String> = row.reasons.iter().map(|(why, tokens)| format!("{why} {tokens}")).collect();
    format!(
        "| {name} | {} | {} / {} | {} | {} | {} | {} | {} ({}) | {} | {} |",
        row.window,
        row.used,
        row.limit,
        part(used),
        part(of_request),
        part(of_limit),
        row.summaries,
        row.uncovered.1,
        row.uncovered.0,
        row.milliseconds,
        reasons.join(", ")
    )
}

/// Head of the table of requests.
pub(crate) const HEAD: &str = "| session | window | tokens / limit | used | word for word | of the limit | summaries | uncovered tokens (messages) | ms | reasons |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n";

/// Returns the table of totals, a row per window.
pub(crate) fn totals(all: &[RequestRow]) -> ChoreResult<String> {
    let mut out = String::from(
        "| window | requests | refused | larger than the limit | used: median | min | word for word: median | of the limit | summaries: median share | ≥ 60 % used | ≥ half word for word | both | uncovered tokens | requests with > 1,000 | ms: median |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let windows: BTreeSet<u64> = all.iter().map(|row| row.window).collect();
    for window in windows {
        let rows: Vec<&RequestRow> = all.iter().filter(|row| row.window == window).collect();
        let built: Vec<&RequestRow> = rows.iter().filter(|row| row.refused.is_none()).copied().collect();
        let larger: Vec<&RequestRow> =
            built.iter().filter(|row| row.snapshot == 0 && row.is_larger()).copied().collect();
        let of =
            |value: fn(&RequestRow) -> u64| -> Vec<u64> { larger.iter().map(|row| value(row)).collect() };
        let share = |meets: fn(&RequestRow) -> bool| {
            let count = larger.iter().filter(|row| meets(row)).count();
            part((count * 1_000 / larger.len().max(1)) as u64)
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            thousands(window),
            rows.len(),
            rows.len() - built.len(),
            larger.len(),
            part(median(of(|row| row.shares().0))),
            part(of(|row| row.shares().0).into_iter().min().unwrap_or_default()),
            part(median(of(|row| row.shares().1))),
            part(median(of(|row| row.shares().2))),
            part(median(of(|row| row.summaries * 1_000 / row.used.max(1)))),
            share(|row| row.shares().0 >= FLOORS.0),
            share(|row| row.shares().1 >= FLOORS.1),
            share(RequestRow::meets_floors),
            thousands(built.iter().map(|row| row.uncovered.1).sum()),
            built.iter().filter(|row| row.uncovered.1 > 1_000).count(),
            median(built.iter().map(|row| u64::try_from(row.milliseconds).unwrap_or(u64::MAX)).collect()),
        )?;
    }
    writeln!(out, "\nuncovered tokens: {}", all.iter().map(|row| row.uncovered.1).sum::<u64>())?;
    Ok(out)
}
