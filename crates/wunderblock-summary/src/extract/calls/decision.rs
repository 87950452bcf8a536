//! Decisions, each consisting of a question and its answer. An answer alone ("yes, the second") says nothing, and a
//! question alone decides nothing.

use super::act::plain_name;
use crate::extract::language::cue::{bare, sentences_of};
use crate::extract::language::plain::{cut, cut_after, head};
use serde_json::Value;
use wunderblock_core::units::Seq;

/// A question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) asked: Seq,
    pub(crate) question: String,
    pub(crate) said: Seq,
    pub(crate) answer: String,
}

/// Judgement on a reply, made by the user or by the program that carries the reply out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The user took the work back, or asked for it to be taken back.
    TakenBack,
    /// The user called the reply wrong.
    Rejected,
    /// The user or an error broke the reply off.
    BrokenOff,
    /// The program that makes the edits refused or skipped them.
    NotApplied,
}

impl Verdict {
    /// Returns whether the changes made by a reply are still in place, even if the user disagrees with the reply.
    pub(in crate::extract) fn stands(self) -> bool {
        !matches!(self, Self::TakenBack | Self::NotApplied)
    }

    /// Returns the label of the judgement in a summary.
    pub(in crate::extract) const fn label(self) -> &'static str {
        match self {
            Self::TakenBack => "taken back: ",
            Self::Rejected => "rejected: ",
            Self::BrokenOff => "broken off: ",
            Self::NotApplied => "not applied: ",
        }
    }
}

/// Maximum number of bytes at the end of a reply that are searched for its question.
const END: usize = 1_200;
/// Maximum number of bytes kept of a question.
const QUESTION_MAX: usize = 200;
/// Maximum number of bytes kept of an answer.
pub(in crate::extract) const ANSWER_MAX: usize = 240;
/// Maximum number of bytes in a turn that can be an answer. A longer turn is a new request, whatever the reply asked.
const TURN_MAX: usize = 1_500;
/// Beginnings of sentences that ask something without a question mark.
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

/// Returns the question that a reply ends with.
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

/// Number of sentences at the end of a reply that may contain its question. Options may follow the question.
const LAST: usize = 3;

/// Words near the beginning of a turn with which a user takes the work back.
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
/// Beginnings of turns in which a user calls the reply wrong.
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
/// Turns that only ask the assistant to go on.
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

/// Returns whether a turn asks for nothing except that the work goes on.
pub(in crate::extract) fn goes_on(turn: &str) -> bool {
    let plain = turn.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    GOES_ON.contains(&plain.as_str())
}

/// Maximum number of bytes at the beginning of a turn that are searched for a judgement.
const VERDICT: usize = 80;

/// Returns the judgement that a user turn passes on the previous reply.
pub(in crate::extract) fn verdict(turn: &str) -> Option<Verdict> {
    let turn = turn.trim_start();
    let begin = turn.get(..cut(turn, VERDICT)).unwrap_or_default().to_lowercase().replace('’', "'");
    if REJECTS.iter().any(|words| begin.starts_with(words)) {
        return Some(Verdict::Rejected);
    }
    // A question such as "How do I undo that?" takes nothing back.
    let first = sentences_of(&begin).first().is_some_and(|first| !first.ends_with(['?', '？']));
    (first && UNDOES.iter().any(|words| begin.contains(words))).then_some(Verdict::TakenBack)
}

/// Returns the answer that a user turn gives to the previous reply, or `None` if the turn is a question or a new
/// request.
pub(in crate::extract) fn answered(asked: Seq, reply: &str, said: Seq, turn: &str) -> Option<Answer> {
    let turn = turn.trim();
    // "Which formats are there? A table, please." is a question, although it ends with a request.
    let asks = sentences_of(turn).first().is_some_and(|first| first.ends_with(['?', '？']));
    // A turn that begins with `/` is a command to the harness.
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

/// Returns the question that a tool asks a person.
pub(in crate::extract) fn asked_by(name: &str, input: &str) -> Option<String> {
    let plain = plain_name(name);
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

/// Returns the questions of a tool with a person's answers, from the result of the call: pairs of the form
/// `"question"="answer"`, or the whole result as the answer to the question of the call. A question that the person
/// wants to discuss first has no answer.
pub(in crate::extract) fn answers_of(question: &str, result: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = result;
    while let Some((before, after)) = rest.split_once("\"=\"") {
        let asked = before.rsplit(['"']).next().unwrap_or_default();
        let end = ["\", \"", "\". ", "\" user notes"].iter().filter_map(|end| after.find(end)).min();
        let end = end.unwrap_or_else(|| after.trim_end().trim_end_matches('.').trim_end_matches('"').len());
        let answer = after.get(..end).unwrap_or_default();
        pairs.push((head(asked, QUESTION_MAX).into_owned(), head(answer.trim(), ANSWER_MAX).into_owned()));
        rest = after.get(end..).unwrap_or_default();
    }
    if pairs.is_empty() && !result.contains("No answer provided") {
        let kept = result.get(..cut(result, 2 * ANSWER_MAX)).unwrap_or_default();
        pairs.push((question.to_owned(), head(kept.trim(), ANSWER_MAX).into_owned()));
    }
    pairs
}
