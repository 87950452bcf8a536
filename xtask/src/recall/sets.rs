//! Records with questions whose evidence is known, in the shapes of public sets.

use crate::program::ChoreResult;
use clap::ValueEnum;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use wunderblock_index::Day;

/// Half of the files of each folder, in the order of their names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Half {
    /// The first, the third, …
    Odd,
    /// The second, the fourth, …
    Even,
}

/// A message of a record.
pub(super) struct Turn {
    pub(super) session: u32,
    pub(super) day: Day,
    pub(super) speaker: String,
    pub(super) text: String,
}

/// A question, and the turns that answer it.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) kind: String,
    pub(super) evidence: Vec<usize>,
}

/// A record, which is searched alone.
pub(super) struct Record {
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Asked>,
}

/// Reads the records of files, and of all files of folders.
pub(super) fn read(paths: &[PathBuf], half: Option<Half>) -> ChoreResult<Vec<Record>> {
    let mut records = Vec::new();
    for path in paths {
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<ChoreResult<_>>()?;
            files.retain(|file| file.extension().is_some_and(|end| end == "json"));
            files.sort();
            let keeps = |at: usize| half.is_none_or(|half| (at.is_multiple_of(2)) == (half == Half::Odd));
            files =
                files.into_iter().enumerate().filter(|(at, _)| keeps(*at)).map(|(_, file)| file).collect();
        }
        for file in files {
            records.append(&mut read_file(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    Ok(records)
}

fn read_file(file: &Path) -> ChoreResult<Vec<Record>> {
    let text = std::fs::read_to_string(file)?;
    if file.extension().is_some_and(|end| end == "jsonl") {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        return lines.map(|line| Ok(meeting(&serde_json::from_str(line)?))).collect();
    }
    match serde_json::from_str(&text)? {
        Value::Array(samples) => samples.iter().map(conversation).collect(),
        Value::Object(fields) if fields.contains_key("data") => Ok(vec![paragraphs(&Value::Object(fields))]),
        sample => Ok(vec![conversation(&sample)?]),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a conversation of LoCoMo.
fn conversation(sample: &Value) -> ChoreResult<Record> {
    let fields = sample["conversation"].as_object().ok_or("a sample without a conversation")?;
    let mut sessions = BTreeMap::new();
    for (name, turns) in fields {
        let number = name.strip_prefix("session_").and_then(|number| number.parse::<u32>().ok());
        if let (Some(number), Some(turns)) = (number, turns.as_array()) {
            let time = fields.get(&format!("{name}_date_time")).map(text).unwrap_or_default();
            sessions.insert(number, (day(&time).ok_or(format!("{name} has the time `{time}`"))?, turns));
        }
    }
    let (mut turns, mut places) = (Vec::new(), HashMap::new());
    for (session, (day, said)) in sessions {
        for turn in said {
            places.insert(text(&turn["dia_id"]), turns.len());
            let caption = turn.get("blip_caption").map(|caption| format!(" [shares {}]", text(caption)));
            let text = text(&turn["text"]) + &caption.unwrap_or_default();
            turns.push(Turn { session, day, speaker: self::text(&turn["speaker"]), text });
        }
    }
    let asked = |qa: &Value| {
        let named: String = list(&qa["evidence"]).iter().map(|id| text(id) + " ").collect();
        let ids = named.split(|c: char| !c.is_alphanumeric() && c != ':').filter(|id| !id.is_empty());
        let mut evidence: Vec<usize> = ids.filter_map(|id| places.get(id).copied()).collect();
        evidence.sort_unstable();
        evidence.dedup();
        let kind = qa.get("ability").unwrap_or(&qa["category"]);
        Asked { text: text(&qa["question"]), kind: text(kind), evidence }
    };
    let questions = list(&sample["qa"]).iter().map(asked).filter(|asked| !asked.evidence.is_empty());
    Ok(Record { questions: questions.collect(), turns })
}

/// Returns the day of a time such as `1:56 pm on 8 May, 2031`.
fn day(time: &str) -> Option<Day> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let date = time.split(" on ").last()?.to_lowercase();
    let mut words = date.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let month = (1..).zip(MONTHS).find(|(_, name)| month.starts_with(name))?.0;
    Some(Day::of_date(year.parse().ok()?, month, day.parse().ok()?))
}

/// Returns a meeting of QMSum.
fn meeting(line: &Value) -> Record {
    let turn = |turn: &Value| Turn {
        session: 1,
        day: Day::UNKNOWN,
        speaker: text(&turn["speaker"]),
        text: text(&turn["content"]),
    };
    let asked = |query: &Value| {
        let number = |value: &Value| text(value).parse::<usize>().ok();
        let spans = list(&query["relevant_text_span"]).iter();
        let spans = spans.filter_map(|span| Some(number(&span[0])?..=number(&span[1])?));
        Asked { text: text(&query["query"]), kind: "meeting".into(), evidence: spans.flatten().collect() }
    };
    let turns = list(&line["meeting_transcripts"]).iter().map(turn).collect();
    Record { turns, questions: list(&line["specific_query_list"]).iter().map(asked).collect() }
}

/// Returns the paragraphs of XQuAD, each as a message of a session of its article.
fn paragraphs(set: &Value) -> Record {
    let mut record = Record { turns: Vec::new(), questions: Vec::new() };
    for (session, article) in (1..).zip(list(&set["data"])) {
        for paragraph in list(&article["paragraphs"]) {
            let evidence = vec![record.turns.len()];
            let (day, speaker) = (Day::UNKNOWN, "document".to_owned());
            record.turns.push(Turn { session, day, speaker, text: text(&paragraph["context"]) });
            record.questions.extend(list(&paragraph["qas"]).iter().map(|qa| Asked {
                text: text(&qa["question"]),
                kind: "paragraph".into(),
                evidence: evidence.clone(),
            }));
        }
    }
    record
}
