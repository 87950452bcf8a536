//! Questions of a person over real sessions, each with the place of its answer, found by hand.

use super::prompts::imported;
use crate::program::ChoreResult;
use futures_executor::block_on;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;
use wunderblock::{Engine, SearchHit, SearchOptions};
use wunderblock_core::event::Fact;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::Bytes;

/// Number of hits that a person reads.
const READ: usize = 10;
/// Minimum number of questions that are answered within [`READ`] hits: what was reached when the questions were written.
const MIN_ANSWERED: usize = 30;

#[derive(Deserialize)]
struct Questions {
    question: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    ask: String,
    /// A part of the session's id.
    session: String,
    /// Characters that the answering message holds.
    holds: String,
}

/// Returns a Markdown table with the place of each answer among the hits of a search in all sessions of a folder.
///
/// # Errors
/// Fails if fewer questions than before are answered.
pub(super) fn table(questions: &Path, sessions: &Path) -> ChoreResult<String> {
    let Questions { question: questions } = toml::from_str(&std::fs::read_to_string(questions)?)?;
    let folder = tempfile::tempdir()?;
    let engine = block_on(Engine::open(folder.path().join("ledger.db")))?;
    imported(&engine, sessions)?;
    let mut out = "| question | place |\n|---|--:|\n".to_owned();
    let (mut answered, mut sum) = ([0; 3], 0.0);
    for question in &questions {
        let options = SearchOptions { limit: READ, ..SearchOptions::default() };
        let hits = block_on(engine.recall().search(&question.ask, &options))?.hits;
        let mut place = None;
        for (at, hit) in hits.iter().enumerate() {
            if place.is_none() && answers(&engine, hit, question)? {
                place = Some(at + 1);
            }
        }
        for (count, most) in answered.iter_mut().zip([1, 5, READ]) {
            *count += usize::from(place.is_some_and(|place| place <= most));
        }
        sum += place.map_or(0.0, |place| 1.0 / place as f64);
        let place = place.map_or("–".to_owned(), |place| place.to_string());
        let _ = writeln!(out, "| {} | {place} |", question.ask);
    }
    let [first, five, read] = answered;
    let count = questions.len();
    let mrr = sum / count.max(1) as f64;
    let _ = writeln!(
        out,
        "\n{count} questions: {first} first, {five} within 5, {read} within {READ}; MRR {mrr:.3}"
    );
    if read < MIN_ANSWERED {
        return Err(format!("{out}\nat least {MIN_ANSWERED} were answered before").into());
    }
    Ok(out)
}

fn answers(engine: &Engine, hit: &SearchHit, question: &Question) -> ChoreResult<bool> {
    if !hit.session.as_str().contains(&question.session) {
        return Ok(false);
    }
    let session = engine.session_by_id(hit.session.clone());
    let events = block_on(session.events(hit.seq, hit.seq, 1, Bytes(1 << 26)))?;
    let bodies = block_on(engine.bodies(&events))?;
    let facts = events.iter().filter_map(|event| event.fact.as_ref());
    let mut texts = facts.filter(|fact| matches!(fact, Fact::MessageAppended(_))).flat_map(Fact::bodies);
    Ok(texts.any(|body| bodies.of(body).is_some_and(|text| text.contains(&question.holds))))
}
