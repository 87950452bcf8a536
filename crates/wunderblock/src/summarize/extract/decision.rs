//! Decisions: a question with its answer. An answer alone ("yes, the second") says nothing, and a question alone decides
//! nothing.

use super::cue::{bare, sentences_of};
use super::plain::{cut, cut_after, head};
use serde_json::Value;
use wunderblock_core::units::Seq;

/// A question, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Answer {
    pub(in super::super) asked: Seq,
    pub(in super::super) question: String,
    pub(in super::super) said: Seq,
    pub(in super::super) answer: String,
}

/// What a user said of the reply before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Verdict {
    /// Its work was undone, or is to be.
    TakenBack,
    /// It is wrong.
    Rejected,
    /// It was broken off, by the user or by an error.
    BrokenOff,
    /// Its edits were refused or skipped by the program that makes them.
    NotApplied,
}

impl Verdict {
    /// Whether what a reply changed stands, whatever its user says of it.
    pub(super) fn stands(self) -> bool {
        !matches!(self, Self::TakenBack | Self::NotApplied)
    }

    /// How a summary says it.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::TakenBack => "taken back: ",
            Self::Rejected => "rejected: ",
            Self::BrokenOff => "broken off: ",
            Self::NotApplied => "not applied: ",
        }
    }
}

/// Maximum bytes from the end of a reply in which its question is looked for.
const END: usize = 1_200;
/// Maximum bytes kept of a question, and of an answer.
const QUESTION_MAX: usize = 200;
const ANSWER_MAX: usize = 240;
/// A longer turn is a new request, in bytes, whatever was asked before it.
const TURN_MAX: usize = 1_500;
/// Words that begin a sentence which asks without a question mark.
const ASKS: [&str; 8] = [
    "please confirm",
    "please let me know",
    "let me know",
    "please provide",
    "please choose",
    "请确认",
    "请告诉",
    "请选择",
];

/// The question a reply ends with.
fn question(reply: &str) -> Option<String> {
    let from = if reply.len() > END { cut_after(reply, reply.len() - END) } else { 0 };
    let end = reply.get(from..)?;
    let asks = |sentence: &&str| {
        let plain = sentence.to_lowercase();
        plain.trim_end_matches(['*', ' ', ')']).ends_with(['?', '？'])
            || ASKS.iter().any(|words| plain.starts_with(words))
    };
    sentences_of(end)
        .into_iter()
        .rev()
        .take(LAST)
        .find(asks)
        .map(|found| head(found, QUESTION_MAX).into_owned())
}

/// A question is one of the last sentences of a reply; options may stand behind it.
const LAST: usize = 3;

/// Words near the beginning of a turn by which a user takes back what was done.
const UNDOES: [&str; 11] = [
    "undo that",
    "undo this",
    "undo it",
    "i undid",
    "revert that",
    "revert this",
    "i reverted",
    "roll that back",
    "撤销",
    "回退",
    "改回去",
];
/// Words that begin a turn which says that the reply is wrong.
const REJECTS: [&str; 12] = [
    "no, that's not",
    "no that's not",
    "no, that is not",
    "that's not it",
    "that is not it",
    "that's not the",
    "that is not the",
    "that's wrong",
    "that is wrong",
    "不对",
    "不是这个",
    "错了",
];
/// Turns by which the one before them goes on.
const GOES_ON: [&str; 9] = [
    "continue",
    "please continue",
    "go on",
    "carry on",
    "keep going",
    "proceed",
    "go ahead",
    "继续",
    "请继续",
];

/// Whether a turn asks only that the work goes on.
pub(super) fn goes_on(turn: &str) -> bool {
    let plain = turn.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    GOES_ON.contains(&plain.as_str())
}

/// Maximum bytes of a turn in which words that undo are looked for.
const VERDICT: usize = 80;

/// What a user's turn says of the reply before it.
pub(super) fn verdict(turn: &str) -> Option<Verdict> {
    let turn = turn.trim_start();
    let begin = turn.get(..cut(turn, VERDICT)).unwrap_or_default().to_lowercase().replace('’', "'");
    if REJECTS.iter().any(|words| begin.starts_with(words)) {
        return Some(Verdict::Rejected);
    }
    // "How do I undo that?" takes nothing back.
    let first = sentences_of(&begin).first().is_some_and(|first| !first.ends_with(['?', '？']));
    (first && UNDOES.iter().any(|words| begin.contains(words))).then_some(Verdict::TakenBack)
}

/// What a user's turn answers to the reply before it; nothing where it asks itself, or is a request of its own.
pub(super) fn answered((asked, reply): (Seq, &str), (said, turn): (Seq, &str)) -> Option<Answer> {
    let turn = turn.trim();
    // "Which formats are there? A table, please." asks something of its own.
    let asks = sentences_of(turn).first().is_some_and(|first| first.ends_with(['?', '？']));
    if turn.is_empty()
        || turn.len() > TURN_MAX
        || asks
        || turn.ends_with(['?', '？'])
        || turn.starts_with('/')
    {
        return None;
    }
    let question = question(reply)?;
    Some(Answer { asked, question, said, answer: head(bare(turn), ANSWER_MAX).into_owned() })
}

/// The question that a tool puts to a person.
pub(super) fn asked_by(name: &str, input: &str) -> Option<String> {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let asks =
        ["askuser", "askfollowup", "askhuman", "requestuserinput"].iter().any(|tool| plain.contains(tool));
    let value: Value = asks.then(|| serde_json::from_str(input).ok())??;
    first_question(&value).map(|question| head(question.trim(), QUESTION_MAX).into_owned())
}

fn first_question(value: &Value) -> Option<&str> {
    match value {
        Value::Object(fields) => {
            let own = ["question", "prompt", "message"].iter().find_map(|name| fields.get(*name)?.as_str());
            own.or_else(|| fields.values().find_map(first_question))
        }
        Value::Array(items) => items.iter().find_map(first_question),
        _ => None,
    }
}

/// What a person answered to a tool's question.
pub(super) fn answer_of(text: &str) -> String {
    let kept = text.get(..cut(text, 2 * ANSWER_MAX)).unwrap_or_default();
    head(kept.trim(), ANSWER_MAX).into_owned()
}
