//! Questions made from one's own sessions: which message holds this literal, and which one these words?
//!
//! | category | question | evidence |
//! |---|---|---|
//! | `literal` | names a literal that at most three messages hold | these messages |
//! | `paraphrase` | names words of a sentence and of the messages around it, not its literals | the message of the sentence |
//! | `no answer` | names a literal that nobody ever wrote, beside words that somebody did | none |
//!
//! The questions are the same for the same sessions and the same seed.

use super::ask::{EvalAsked, answer};
use super::random::Random;
use super::set::EvalQuestion;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::recall::search::{SearchHit, SearchOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq};

/// Maximum number of sessions from which questions are made, latest first.
const SESSIONS: u64 = 400;
/// Maximum number of messages of a session that are read.
const MESSAGES: u64 = 20_000;
/// Maximum number of bytes of a session that are read.
const BYTES: Bytes = Bytes(64 << 20);
/// Maximum number of messages that hold a literal for which a question is asked.
const HOLDERS: usize = 3;
/// Number of hits among which what was said is looked for.
const LOOKED_AT: usize = 200;
/// Length of the words by which a sentence is asked for, in bytes.
const WORD: std::ops::RangeInclusive<usize> = 5..=20;

/// Options of questions that are made from the sessions of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnQuestions {
    /// Number of questions of each category.
    pub each: usize,
    /// Seed of the choice.
    pub seed: u64,
}

impl Default for OwnQuestions {
    fn default() -> Self {
        Self { each: 200, seed: 1 }
    }
}

/// A message that a person typed or a model said.
struct Said {
    place: String,
    text: String,
}

impl OwnQuestions {
    /// Makes questions from the sessions of a ledger, and asks them of all its sessions with the options of a search,
    /// except its size. Calls `progress` with the number of questions asked, and their total number.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read, or if its sessions have too little text for a question.
    pub fn ask<'a>(
        self,
        engine: &'a Engine,
        options: &'a SearchOptions,
        progress: &'a mut (dyn FnMut(u64, u64) + Send),
    ) -> BoxFuture<'a, EvalAsked> {
        Box::pin(async move {
            let sessions = read_sessions(engine).await?;
            let questions = self.questions(&sessions);
            if questions.is_empty() {
                let why = "the sessions have too little text to make questions from; import sessions first";
                return Err(Error::Eval(why.to_owned()));
            }
            let total = questions.len() as u64;
            let mut asked = EvalAsked::default();
            for (question, done) in questions.iter().zip(1..) {
                let began = Instant::now();
                let hits = search(engine, &question.text, options).await?;
                asked.micros.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
                let found = answer(question, &hits, |hit| Some(place(&hit.session, hit.seq)));
                asked.answers.push(found);
                progress(done, total);
            }
            asked.micros.sort_unstable();
            Ok(asked)
        })
    }

    /// Returns the questions about sessions, each given by its messages.
    fn questions(self, sessions: &[Vec<Said>]) -> Vec<EvalQuestion> {
        let mut random = Random(self.seed);
        let mut holders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for said in sessions.iter().flatten() {
            let literals: BTreeSet<&str> = said.text.split_whitespace().filter_map(literal).collect();
            literals.into_iter().for_each(|literal| holders.entry(literal).or_default().push(&said.place));
        }
        holders.retain(|_, places| places.len() <= HOLDERS);
        let mut literals: Vec<(&str, Vec<&str>)> = holders.into_iter().collect();
        random.shuffle(&mut literals);
        let ask = |category: &str, text: String, evidence: Vec<String>| EvalQuestion {
            text,
            evidence,
            category: category.to_owned(),
        };
        let mut questions: Vec<EvalQuestion> = literals
            .iter()
            .take(self.each)
            .map(|(literal, places)| {
                let evidence = places.iter().map(|place| (*place).to_owned()).collect();
                ask("literal", format!("What did we say about {literal}?"), evidence)
            })
            .collect();
        let mut rest: Vec<(usize, usize)> = Vec::new();
        for (at, session) in sessions.iter().enumerate() {
            rest.extend((0..session.len()).map(|message| (at, message)));
        }
        random.shuffle(&mut rest);
        let mut made = 0;
        for (at, message) in rest {
            let said = sessions.get(at).and_then(|session| Some((session, &session.get(message)?.place)));
            let Some((session, place)) = said.filter(|_| made < self.each) else { continue };
            let Some(words) = paraphrase(session, message, &mut random) else { continue };
            let unknown = format!("zq{:06x}", random.next() & 0xff_ffff);
            let nothing = format!(
                "What did we decide about {unknown}, for {}?",
                words.first().map_or("it", |word| word)
            );
            let text = match words.as_slice() {
                [a, b, c, more @ ..] => {
                    let more = more.first().map(|word| format!(", and {word}")).unwrap_or_default();
                    format!("When we spoke of {c}{more}: what was it about {a} and {b}?")
                }
                _ => continue,
            };
            made += 1;
            questions.push(ask("paraphrase", text, vec![place.clone()]));
            questions.push(ask("no answer", nothing, Vec::new()));
        }
        questions
    }
}

/// Returns words that ask for a message: two of one of its sentences, and one of each message around it. `None` if the
/// message has no sentence with enough words.
fn paraphrase<'s>(session: &'s [Said], at: usize, random: &mut Random) -> Option<Vec<&'s str>> {
    let said = session.get(at)?;
    let sentences = said.text.split(['.', '\n', '?', '!', '。', '？', '！']);
    let mut sentences: Vec<Vec<&str>> =
        sentences.map(|text| plain_words(text)).filter(|words| words.len() >= 4).collect();
    random.shuffle(&mut sentences);
    let mut words = sentences.into_iter().next()?;
    random.shuffle(&mut words);
    words.truncate(2);
    let around = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| session.get(at));
    for other in around {
        let mut near = plain_words(&other.text);
        random.shuffle(&mut near);
        words.extend(near.into_iter().find(|word| !words.contains(word)));
    }
    Some(words)
}

/// Returns the words of a text that are neither short nor literals.
fn plain_words(text: &str) -> Vec<&str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut seen = BTreeSet::new();
    words
        .filter(|word| WORD.contains(&word.len()) && word.chars().all(char::is_alphabetic))
        .filter(|word| !word.chars().skip(1).any(char::is_uppercase))
        .filter(|word| seen.insert(word.to_lowercase()))
        .collect()
}

/// Returns the literal that a word is: a path, an identifier, or a number that is not a mere count.
fn literal(word: &str) -> Option<&str> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"_/".contains(c));
    let inner = |c: char| bare.get(1..bare.len().saturating_sub(1)).is_some_and(|inside| inside.contains(c));
    let has_digit = bare.contains(|c: char| c.is_ascii_digit());
    let is_camel = bare.chars().zip(bare.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_literal = inner('_')
        || inner('/')
        || inner('.')
        || bare.contains("::")
        || is_camel
        || has_digit && bare.len() >= 6;
    (is_literal && (5..=60).contains(&bare.len()) && bare.is_ascii()).then_some(bare)
}

fn place(session: &StreamId, seq: Seq) -> String {
    format!("{session}#{seq}")
}

async fn search(engine: &Engine, question: &str, options: &SearchOptions) -> Result<Vec<SearchHit>, Error> {
    let options = SearchOptions { limit: LOOKED_AT, free_text: true, messages_only: true, ..options.clone() };
    match engine.recall().search(question, &options).await {
        Ok(mut found) => {
            // A tool's output may hold the words, too, but nobody said them there.
            found.hits.retain(|hit| matches!(hit.role, Role::User | Role::Assistant));
            Ok(found.hits)
        }
        Err(Error::Query(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns what was typed and said in the latest sessions of a ledger.
async fn read_sessions(engine: &Engine) -> Result<Vec<Vec<Said>>, Error> {
    let mut sessions = Vec::new();
    for info in engine.streams("", SESSIONS).await? {
        let session = engine.session_by_id(info.id.clone());
        let events = session.events(info.base().next(), info.head, MESSAGES, BYTES).await?;
        let bodies = engine.bodies(&events).await?;
        let mut all = Vec::new();
        for event in &events {
            let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
            let said = &said.message;
            let speaks = match said.role {
                Role::User => said.is_persons(),
                Role::Assistant => true,
                Role::System | Role::Tool => false,
            };
            let parts = said.parts.iter().enumerate().filter(|_| speaks);
            let texts = parts.filter_map(|(index, part)| match part {
                Part::Text { text, .. } => Some((index, bodies.of(text)?)),
                _ => None,
            });
            let text: String = texts
                .flat_map(|(index, text)| said.own_pieces(index, text))
                .flat_map(|(_, piece)| [piece, "\n"])
                .collect();
            if !text.trim().is_empty() {
                all.push(Said { place: place(&info.id, event.seq), text });
            }
        }
        sessions.push(all);
    }
    Ok(sessions)
}
