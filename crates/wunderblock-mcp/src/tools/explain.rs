//! `explain`: reports on the next request of a session.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure};
use crate::ledger::{LedgerUse, SharedLedger};
use serde_json::{Value, json};
use std::fmt::Write;
use wunderblock::redact::Redactor;
use wunderblock::report::{FoundReport, PlacementReport};
use wunderblock::{Built, Draft, Found, Session};
use wunderblock_core::budget::BudgetReport;
use wunderblock_core::event::Fact;
use wunderblock_core::fence;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Seq};

/// Maximum number of entries and of omissions that a report lists, the latest ones.
const LISTED: usize = 20;
/// Maximum number of bytes of an entry in which secrets are looked for.
const ENTRY: Bytes = Bytes(8 << 20);
/// Maximum number of places of a text that are listed.
const PLACES: usize = 8;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let session = call.ledger.session(&engine, call.arguments.text("session")).await?;
    let Some(sought) = call.arguments.text("find") else {
        let (text, built) = report(call.ledger, &session).await?;
        return Ok(ToolAnswer::new(text, facts(&session, &built)));
    };
    let options = call.ledger.options(&session).await?;
    let built = session.explain(&options).await?;
    let found = Found::of(&session, &options, &built.draft, sought, &call.deadline).await?;
    let mut found = FoundReport::new(sought, &found);
    for place in found.places.iter_mut().take(PLACES) {
        mask(&session, place, &call.ledger.served.config.redactor).await?;
    }
    let mut answer = ToolAnswer::new(places(&session, &found), facts(&session, &built));
    answer.facts.insert("places".to_owned(), found.count.into());
    answer.facts.insert("in_request".to_owned(), found.in_request.into());
    Ok(answer)
}

/// Reports on the next request of a session, in a fence.
pub(crate) async fn report(ledger: &SharedLedger, session: &Session) -> Result<(String, Built), ToolFailure> {
    let options = ledger.options(session).await?;
    let built = session.explain(&options).await?;
    let report = &built.draft.report;
    let mut out = format!(
        "{} of {} tokens, in a window of {} with {} reserved for the answer; model {}, lane {}, policy {}\n",
        grouped(report.total_tokens.0),
        grouped(report.limit.0),
        grouped(report.window.0),
        grouped(report.reserve.0),
        built.draft.model,
        built.draft.lane(),
        built.draft.policy,
    );
    sections(report, &mut out);
    if let Some(due) = &built.due {
        let _ = writeln!(out, "a compaction is due: {}", due.why);
    }
    omissions(report, &mut out);
    entries(&built.draft, &ledger.served.config.redactor, &mut out);
    Ok((fence::data(&label(session, "report on the next request"), &out), built))
}

fn label(session: &Session, what: &str) -> String {
    format!("{what} of session {}", session.id())
}

fn facts(session: &Session, built: &Built) -> Value {
    let report = &built.draft.report;
    json!({
        "session": fence::plain(session.id().as_str()),
        "model": fence::plain(&built.draft.model),
        "tokens": report.total_tokens,
        "limit": report.limit,
        "shown": report.entries.iter().filter(|entry| entry.seq.is_some()).count(),
        "left_out": report.left_out.iter().map(|run| run.count).sum::<u64>(),
    })
}

fn sections(report: &BudgetReport, out: &mut String) {
    for line in &report.sections {
        let _ = writeln!(out, "  {}: {} tokens", line.name.name(), grouped(line.tokens.0));
    }
}

fn omissions(report: &BudgetReport, out: &mut String) {
    if report.left_out.is_empty() {
        out.push_str("nothing is left out\n");
        return;
    }
    out.push_str("left out:\n");
    let skipped = report.left_out.len().saturating_sub(LISTED);
    for run in report.left_out.iter().skip(skipped) {
        let (from, to, count) = (run.from_seq, run.to_seq, run.count);
        let _ = writeln!(
            out,
            "  #{from}-{to}: {} entries, {} tokens: {}",
            grouped(count),
            grouped(run.tokens.0),
            run.reason.label()
        );
    }
    if skipped > 0 {
        let _ = writeln!(out, "  and {skipped} earlier runs");
    }
    for one in report.uncovered() {
        let (count, tokens) = (grouped(one.count), grouped(one.tokens.0));
        let _ = writeln!(out, "  in no summary: {count} messages, {tokens} tokens: {}", one.reason.label());
    }
}

fn entries(draft: &Draft, redactor: &Redactor, out: &mut String) {
    let report = &draft.report;
    let skipped = report.entries.len().saturating_sub(LISTED);
    let _ = writeln!(out, "in the request, the last {} entries:", report.entries.len() - skipped);
    for entry in report.entries.iter().skip(skipped) {
        let place = entry.seq.map(|seq| format!("#{seq} ")).unwrap_or_default();
        let words = entry.seq.and_then(|seq| draft.words_of(seq, redactor));
        let what = words.as_ref().unwrap_or(&entry.what);
        let _ = writeln!(out, "  {place}{} tokens: {what}", grouped(entry.tokens.0));
    }
}

/// Masks secrets in the line of a place. The line alone may lack the words that tell a secret.
async fn mask(
    session: &Session,
    place: &mut PlacementReport,
    redactor: &Redactor,
) -> Result<(), ToolFailure> {
    let Some(seq) = place.seq.map(Seq) else { return Ok(()) };
    let events = session.events(seq, seq, 1, ENTRY).await?;
    let bodies = session.engine().bodies(&events).await?;
    let part = place.text.trim_matches('…');
    let texts = events.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::readable_bodies);
    let masked = texts.filter_map(|body| redactor.mask_part(bodies.of(body)?, part)).next();
    if let Some(masked) = masked {
        place.text = place.text.replace(part, &masked);
    }
    Ok(())
}

/// Describes where a text is in a request, or why it is not.
fn places(session: &Session, found: &FoundReport) -> String {
    let unsearched = "\nEarlier messages were not searched; `search` with `exact`, `session` and a longer text finds more.";
    let unsearched = if found.more { unsearched } else { "" };
    if found.places.is_empty() {
        let sources = "The text is neither in this session nor in its sources; `search` with `exact` looks in all sessions.";
        let given_up = "The search was given up before it found the text.";
        return if found.more { format!("{given_up}{unsearched}") } else { sources.to_owned() };
    }
    let mut out = String::new();
    for place in found.places.iter().take(PLACES) {
        let seq = place.seq.map(|seq| format!("#{seq}")).unwrap_or_default();
        let _ = writeln!(out, "{seq} {}: {}", place.treatment, place.reason);
        let _ = writeln!(out, "  {}", place.text.trim());
        if let Some(gives) = &place.gives {
            let _ = writeln!(out, "  {gives}");
        }
    }
    let mut text = fence::data(&label(session, "places of a text in the next request"), &out);
    let more = found.count.saturating_sub(PLACES);
    if more > 0 {
        let _ = write!(text, "\nFurther places that are not listed: {more}.");
    }
    text.push_str(unsearched);
    text
}
