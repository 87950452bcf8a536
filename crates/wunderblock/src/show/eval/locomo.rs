//! Reads conversations in the shape of LoCoMo: a list of samples with numbered sessions, and questions whose evidence
//! are names of turns.

use super::set::{EvalConversation, EvalQuestion, EvalSession, EvalSet, EvalTurn};
use crate::base::error::Error;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use wunderblock_core::units::Millis;
use wunderblock_index::Day;

/// A sample: its conversation, and the questions about it.
#[derive(Deserialize)]
struct Sample {
    sample_id: Option<Value>,
    conversation: Map<String, Value>,
    #[serde(default)]
    qa: Vec<Question>,
}

#[derive(Deserialize)]
struct Turn {
    #[serde(default)]
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    category: Value,
}

/// Names of LoCoMo's categories, by their numbers.
const CATEGORIES: [&str; 6] = ["", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

impl EvalSet {
    /// Adds the conversations of a file: a JSON list of samples, or one sample. `name` is given to samples without an
    /// id of their own.
    ///
    /// # Errors
    /// Fails if the file is not JSON, or has another shape. The error names the field.
    pub fn add_locomo(&mut self, name: &str, json: &[u8]) -> Result<(), Error> {
        let value: Value = serde_json::from_slice(json).map_err(|error| invalid(name, &error.to_string()))?;
        let samples = if value.is_array() { value } else { Value::Array(vec![value]) };
        let samples: Vec<Sample> =
            serde_json::from_value(samples).map_err(|error| invalid(name, &error.to_string()))?;
        for (at, sample) in samples.into_iter().enumerate() {
            let id = match &sample.sample_id {
                Some(Value::String(id)) => id.clone(),
                Some(Value::Number(id)) => id.to_string(),
                _ => format!("{name}-{at}"),
            };
            let (conversation, unknown) = read_sample(id, sample).map_err(|why| invalid(name, &why))?;
            self.conversations.push(conversation);
            self.unknown_evidence += unknown;
        }
        Ok(())
    }
}

fn invalid(name: &str, why: &str) -> Error {
    Error::Eval(format!(
        "{name} does not have the shape of LoCoMo: {why}; a sample has `conversation` with `session_1`, …, and `qa`"
    ))
}

/// Returns the conversation of a sample, and the number of references to turns that do not exist.
fn read_sample(name: String, sample: Sample) -> Result<(EvalConversation, usize), String> {
    let mut sessions = Vec::new();
    let mut known = HashSet::new();
    for number in 1.. {
        let key = format!("session_{number}");
        // The time of a session may be stated although the session is missing.
        let Some(turns) = sample.conversation.get(&key) else {
            let is_stated = sample.conversation.contains_key(&format!("{key}_date_time"));
            if is_stated { continue } else { break }
        };
        let turns: Vec<Turn> =
            serde_json::from_value(turns.clone()).map_err(|error| format!("`{key}`: {error}"))?;
        known.extend(turns.iter().map(|turn| turn.dia_id.clone()));
        let time = sample.conversation.get(&format!("{key}_date_time")).and_then(Value::as_str);
        let turns = turns.into_iter().map(|turn| EvalTurn {
            id: turn.dia_id,
            speaker: turn.speaker,
            text: turn.text,
        });
        sessions.push(EvalSession { at: time.and_then(read_time), turns: turns.collect() });
    }
    let mut unknown = 0;
    let mut questions = Vec::with_capacity(sample.qa.len());
    for asked in sample.qa {
        let (found, missing): (Vec<String>, Vec<String>) =
            asked.evidence.iter().flat_map(|text| turn_names(text)).partition(|id| known.contains(id));
        unknown += missing.len();
        let mut evidence: Vec<String> = Vec::new();
        found.into_iter().for_each(|id| {
            if !evidence.contains(&id) {
                evidence.push(id)
            }
        });
        let category = match &asked.category {
            Value::Number(number) => {
                let named = number.as_u64().and_then(|number| CATEGORIES.get(usize::try_from(number).ok()?));
                named.map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
            Value::String(name) => name.clone(),
            _ => String::new(),
        };
        questions.push(EvalQuestion { text: asked.question, evidence, category });
    }
    Ok((EvalConversation { name, sessions, questions }, unknown))
}

/// Returns the names of turns in a reference, which may hold several: `D8:6; D9:17`.
fn turn_names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || ",;()[]".contains(c));
    words.filter(|word| word.contains(':')).map(ToOwned::to_owned).collect()
}

/// Reads a time such as `1:56 pm on 8 May, 2031`.
fn read_time(text: &str) -> Option<Millis> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').collect();
    let of_month = |word: &&str| MONTHS.iter().position(|month| word.starts_with(month));
    let month = words.iter().find_map(of_month)?;
    let numbers: Vec<u32> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let year = *numbers.iter().find(|number| **number >= 1_000)?;
    let day = *numbers.iter().find(|number| (1..=31).contains(*number))?;
    let clock = words.iter().find_map(|word| word.split_once(':'));
    let (hour, minute) =
        clock.and_then(|(h, m)| Some((h.parse::<i64>().ok()?, m.parse::<i64>().ok()?))).unwrap_or((12, 0));
    let hour = hour % 12
        + if words.contains(&"pm") || (clock.is_none() || hour >= 12 && !words.contains(&"am")) {
            12
        } else {
            0
        };
    let day = Day::of_date(year, u32::try_from(month).ok()? + 1, day);
    (day != Day::UNKNOWN).then(|| Millis(i64::from(day.0) * 86_400_000 + (hour * 60 + minute) * 60_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let day = |year, month, day| i64::from(Day::of_date(year, month, day).0) * 86_400_000;
        for (text, at) in [
            ("1:56 pm on 8 May, 2031", Some(day(2031, 5, 8) + (13 * 60 + 56) * 60_000)),
            ("12:05 am on 1 January, 2030", Some(day(2030, 1, 1) + 5 * 60_000)),
            ("12:05 pm on 1 January, 2030", Some(day(2030, 1, 1) + (12 * 60 + 5) * 60_000)),
            ("March-15-2024", Some(day(2024, 3, 15) + 12 * 3_600_000)),
            ("1:56 pm on 31 February, 2031", None),
            ("yesterday", None),
        ] {
            assert_eq!(read_time(text), at.map(Millis), "{text}");
        }
    }

    #[test]
    fn malformed_evidence_keeps_what_exists() {
        let json = br#"[{"sample_id": "c", "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2031",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "hello"}, {"speaker": "Bo", "dia_id": "D1:2"}],
            "session_2_date_time": "2:00 pm on 9 May, 2031"},
            "qa": [{"question": "who?", "answer": 3, "evidence": ["D1:1; D1:2", "D", "D7:1", "(D1:1)"], "category": 4}]}]"#;
        let mut set = EvalSet::default();
        set.add_locomo("file", json).unwrap();
        let conversation = set.conversations.first().unwrap();
        let question = conversation.questions.first().unwrap();
        assert_eq!(question.evidence, ["D1:1", "D1:2"]);
        assert_eq!((set.unknown_evidence, &*question.category), (1, "single-hop"));
        assert_eq!((conversation.sessions.len(), &*conversation.name), (1, "c"));
        let error = EvalSet::default().add_locomo("file", b"{\"qa\": []}").unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("conversation"), "{error}");
    }
}
