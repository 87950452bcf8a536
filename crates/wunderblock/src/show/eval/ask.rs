//! Fills a ledger with the conversations of a set, and asks its questions.

use super::measures::{EVAL_TOKENS, EvalAnswer, EvalMeasures};
use super::set::{EvalConversation, EvalQuestion, EvalSet, EvalTurn};
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::recall::search::{SearchHit, SearchOptions};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent, SessionOpened};
use wunderblock_core::id::{EventId, Scope, StreamId};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_store::StreamFilter;

/// Maximum number of hits of a question: more than the largest number of tokens has room for.
const HITS: usize = 400;
/// Number of characters that count as one token of a hit's text.
const TOKEN_CHARS: u64 = 4;

/// Answers to the questions of a set.
#[derive(Clone, Debug, Default)]
pub struct EvalAsked {
    /// Answer to each question, in order.
    pub answers: Vec<EvalAnswer>,
    /// Time that each question took, in microseconds, ascending.
    pub micros: Vec<u64>,
}

/// What an evaluation has measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvalReport {
    /// Measures over all questions with evidence, except those of the categories in `apart`.
    #[serde(flatten)]
    pub all: EvalMeasures,
    /// Measures by category.
    pub categories: BTreeMap<String, EvalMeasures>,
    /// Categories that are not part of `all`.
    pub apart: Vec<String>,
    /// Median time of a question, in microseconds.
    pub micros_p50: u64,
    /// Time within which 95 % of the questions were answered, in microseconds.
    pub micros_p95: u64,
}

impl EvalAsked {
    /// Returns the report of the answers. `apart` names the categories that are measured by themselves only.
    #[must_use]
    pub fn report(&self, apart: &[&str]) -> EvalReport {
        let mut by_category: BTreeMap<String, Vec<&EvalAnswer>> = BTreeMap::new();
        for answer in &self.answers {
            by_category.entry(answer.category.clone()).or_default().push(answer);
        }
        let is_apart = |answer: &&EvalAnswer| apart.contains(&answer.category.as_str());
        let categories: BTreeMap<String, EvalMeasures> = by_category
            .into_iter()
            .map(|(name, answers)| (name, EvalMeasures::of(answers)))
            .filter(|(_, measures)| measures.questions > 0)
            .collect();
        let at = |part: usize| self.micros.get(self.micros.len() * part / 100).copied().unwrap_or(0);
        EvalReport {
            all: EvalMeasures::of(self.answers.iter().filter(|answer| !is_apart(answer))),
            apart: categories.keys().filter(|name| apart.contains(&name.as_str())).cloned().collect(),
            categories,
            micros_p50: at(50),
            micros_p95: at(95),
        }
    }
}

/// Place of each turn in the ledger.
type Places = HashMap<(StreamId, Seq), String>;

impl EvalSet {
    /// Records the conversations of the set in a ledger, which should be empty, and asks the questions with the options of
    /// a search, except scope and size. Calls `progress` with the number of questions asked, and their total number.
    ///
    /// # Errors
    /// Fails if the ledger cannot be used, or if the set has no questions.
    pub fn ask<'a>(
        &'a self,
        engine: &'a Engine,
        options: &'a SearchOptions,
        progress: &'a mut (dyn FnMut(u64, u64) + Send),
    ) -> BoxFuture<'a, EvalAsked> {
        Box::pin(async move {
            let total = self.conversations.iter().map(|one| one.questions.len() as u64).sum();
            if total == 0 {
                return Err(Error::Eval("the set has no questions".to_owned()));
            }
            let mut places = Vec::with_capacity(self.conversations.len());
            for (number, conversation) in self.conversations.iter().enumerate() {
                places.push(fill(engine, number, conversation).await?);
            }
            engine.maintenance().catch_up(&mut |_| {}).await?;
            let (mut asked, mut done) = (EvalAsked::default(), 0);
            for (conversation, places) in self.conversations.iter().zip(&places) {
                let sessions =
                    StreamFilter { projects: vec![conversation.name.clone()], ..StreamFilter::default() };
                let options = SearchOptions { sessions, ..options.clone() };
                for question in &conversation.questions {
                    ask(engine, question, &options, places, &mut asked).await?;
                    done += 1;
                    progress(done, total);
                }
            }
            asked.micros.sort_unstable();
            Ok(asked)
        })
    }
}

/// Asks a question, and adds the answer.
async fn ask(
    engine: &Engine,
    question: &EvalQuestion,
    options: &SearchOptions,
    places: &Places,
    asked: &mut EvalAsked,
) -> Result<(), Error> {
    let tokens = EVAL_TOKENS.into_iter().max().map(|tokens| Tokens(2 * tokens));
    let options = SearchOptions { limit: HITS, tokens, free_text: true, ..options.clone() };
    let began = Instant::now();
    let hits = match engine.recall().search(&question.text, &options).await {
        Ok(found) => found.hits,
        Err(Error::Query(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    asked.micros.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    asked.answers.push(answer(question, &hits, |hit| places.get(&(hit.session.clone(), hit.seq)).cloned()));
    Ok(())
}

/// Compares hits with the evidence of a question. `name` returns the name of the turn that a hit is.
pub(super) fn answer(
    question: &EvalQuestion,
    hits: &[SearchHit],
    name: impl Fn(&SearchHit) -> Option<String>,
) -> EvalAnswer {
    let (mut ranks, mut tokens, mut shown) = (Vec::new(), Vec::new(), 0);
    for (rank, hit) in hits.iter().enumerate() {
        shown += (hit.snippet.chars().count() as u64).div_ceil(TOKEN_CHARS);
        if name(hit).is_some_and(|turn| question.evidence.contains(&turn)) {
            ranks.push(rank);
            tokens.push(shown);
        }
    }
    EvalAnswer { category: question.category.clone(), evidence: question.evidence.len(), ranks, tokens }
}

/// Records a conversation, a session each, as a project of its own. Returns the places of its turns.
async fn fill(engine: &Engine, number: usize, conversation: &EvalConversation) -> Result<Places, Error> {
    let mut places = Places::new();
    for (at, session) in conversation.sessions.iter().enumerate() {
        let id =
            StreamId::new(format!("eval-{number}-{at}")).map_err(|error| Error::Eval(error.to_string()))?;
        let time = session.at.unwrap_or(Millis(0));
        let scope = Scope { project: Some(conversation.name.clone()), ..Scope::default() };
        let opened = Fact::SessionOpened(SessionOpened { scope, ..SessionOpened::default() });
        let mut events = vec![event("open", time, opened)?];
        for (turn, offset) in session.turns.iter().zip(1..) {
            // A turn a minute: the order of the turns is that of their times.
            let time = Millis(time.0.saturating_add(offset * 60_000));
            let message = message_of(turn);
            events.push(event(&turn.id, time, Fact::MessageAppended(MessageAppended { message }))?);
        }
        let written = engine.session_by_id(id.clone()).append(events).await?;
        let turns = written.iter().skip(1).zip(&session.turns);
        places.extend(turns.map(|(written, turn)| ((id.clone(), written.seq), turn.id.clone())));
    }
    Ok(places)
}

fn event(id: &str, at: Millis, fact: Fact) -> Result<NewEvent, Error> {
    let id = EventId::new(id).map_err(|error| Error::Eval(error.to_string()))?;
    Ok(NewEvent { id, at, source: EventSource::Live, fact })
}

/// Returns a turn as a message: a name that is not a role is the name of the speaker.
fn message_of(turn: &EvalTurn) -> Message {
    let role = if turn.speaker.eq_ignore_ascii_case("assistant") { Role::Assistant } else { Role::User };
    let mut message = Message::new(role, vec![Part::text(turn.text.as_str())]);
    let is_role = ["user", "assistant"].iter().any(|role| turn.speaker.eq_ignore_ascii_case(role));
    if !is_role && !turn.speaker.is_empty() {
        message.extra =
            serde_json::to_string(&serde_json::json!({ "name": turn.speaker })).ok().map(Into::into);
    }
    message
}
