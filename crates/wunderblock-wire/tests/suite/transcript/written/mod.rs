//! Sessions written in agents' formats: what their readers read back is what was written.
//!
//! [`check_written`] runs for the fixtures of every reader, because the helpers that read fixtures call it.

mod generated;
mod sessions;

use super::feed;
use std::collections::{BTreeMap, VecDeque};
use wunderblock_core::event::{
    Event, EventSource, Fact, MessageAppended, SessionCompacted, SessionOpened, UsageMeasured,
};
use wunderblock_core::id::{EventId, StreamId, TenantId};
use wunderblock_core::message::{Body, Dialect, Message, Part, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_wire::tool_name;
use wunderblock_wire::transcript::{
    AgentFormat, RecordItem, RecordStatus, SessionOutline, TranscriptReader, TranscriptRecord,
    TranscriptWriter, WrittenTranscript, detect, write_transcript,
};

/// Returns facts as the events of a session.
fn events(facts: Vec<Fact>) -> Vec<Event> {
    let event = |(index, fact): (usize, Fact)| Event {
        tenant: TenantId::new("local").unwrap(),
        stream: StreamId::new("s").unwrap(),
        seq: Seq(index as u64 + 1),
        id: EventId::new(format!("e{index}")).unwrap(),
        at: Millis(1_700_000_000_000 + index as i64 * 1001),
        source: EventSource::Live,
        fact: Some(fact),
        erased: None,
    };
    facts.into_iter().enumerate().map(event).collect()
}

/// Returns the facts of the first session in a file, as an importer makes them, without branches.
fn facts(records: &[TranscriptRecord]) -> Vec<Fact> {
    let mut facts = vec![Fact::SessionOpened(SessionOpened::default())];
    let mut places: BTreeMap<&str, Seq> = BTreeMap::new();
    let mut compacted = Seq::START;
    for record in records.iter().filter(|record| record.session.is_none()) {
        let first = Seq(facts.len() as u64 + 1);
        for item in &record.items {
            let fact = match item {
                RecordItem::Opened(opened) => {
                    facts[0] = Fact::SessionOpened(opened.clone());
                    continue;
                }
                RecordItem::Message(message) => {
                    Fact::MessageAppended(MessageAppended { message: message.clone() })
                }
                RecordItem::Usage(usage) => Fact::UsageMeasured(usage.clone()),
                RecordItem::Turn(turn) => Fact::TurnCompleted(turn.clone()),
                RecordItem::Fact(fact) => (**fact).clone(),
                RecordItem::Compacted { before, summary, .. } => {
                    let kept = before.as_deref().and_then(|id| places.get(id).copied());
                    let to = kept.map_or(Seq(facts.len() as u64), Seq::prev).max(Seq(1));
                    let from = compacted.next().min(to);
                    compacted = compacted.max(to);
                    let summary = summary.clone().map(Body::from);
                    Fact::SessionCompacted(Box::new(SessionCompacted {
                        summary,
                        ..SessionCompacted::new(from, to, "agent")
                    }))
                }
                RecordItem::Spawned(_) | RecordItem::Returned(_) | RecordItem::About { .. } => continue,
            };
            facts.push(fact);
        }
        if let Some(id) = &record.id {
            places.insert(id, first);
        }
    }
    facts
}

/// What a model may see of a session: one line per text, call, result and summary.
fn seen(events: &[Event], format: AgentFormat) -> Vec<String> {
    let mut summaries: Vec<(Seq, &str)> = Vec::new();
    for event in events {
        let Some(Fact::SessionCompacted(made)) = &event.fact else { continue };
        if made.lane.is_none() {
            summaries.retain(|(to, _)| *to <= made.to_seq);
            let text = made.summary.as_ref().map(|text| text.inline().unwrap());
            let text = text.filter(|text| !text.trim().is_empty());
            summaries.extend(text.map(|text| (made.to_seq, text)));
        }
    }
    let mut summaries = summaries.into_iter().peekable();
    let mut seen = Vec::new();
    let mut calls: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    let mut number = 0;
    for event in events {
        while let Some((_, text)) = summaries.next_if(|(to, _)| *to < event.seq) {
            seen.push(format!("summary {text:?}"));
            calls.clear();
        }
        let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
        let message = &said.message;
        let unheard = message.role == Role::System && format != AgentFormat::Codex;
        if !message.standing.is_sendable() || unheard {
            continue;
        }
        // Codex keeps the order of parts; the others put results first, as their providers do.
        let is_result =
            |part: &&Part| format != AgentFormat::Codex && matches!(part, Part::ToolResult { .. });
        let (results, own): (Vec<&Part>, Vec<&Part>) = message.parts.iter().partition(is_result);
        for part in results.into_iter().chain(own) {
            match part {
                Part::ToolCall { call, name, input, .. } if message.role == Role::Assistant => {
                    number += 1;
                    calls.entry(call.as_str()).or_default().push_back(number);
                    let name = match format {
                        AgentFormat::ClaudeCode => tool_name(Dialect::Anthropic, name),
                        AgentFormat::Codex => tool_name(Dialect::OpenaiResponses, name),
                        AgentFormat::Pi => name.as_ref().into(),
                    };
                    seen.push(format!("call {number} {name} {}", input.inline().unwrap().trim()));
                }
                Part::ToolResult { call, content, failed, .. } => {
                    let Some(number) = calls.get_mut(call.as_str()).and_then(VecDeque::pop_front) else {
                        continue;
                    };
                    let texts: Vec<&str> = content.iter().filter_map(text).collect();
                    let failed = *failed && format != AgentFormat::Codex;
                    seen.push(format!("result {number} {failed} {texts:?}"));
                }
                part => {
                    let role = if message.role == Role::Tool { Role::User } else { message.role };
                    let spoken = text(part).filter(|text| !text.trim().is_empty());
                    seen.extend(spoken.map(|text| format!("{role:?} {text:?}")));
                }
            }
        }
    }
    seen.extend(summaries.map(|(_, text)| format!("summary {text:?}")));
    seen
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text, .. } => text.inline().filter(|text| !text.is_empty()),
        _ => None,
    }
}

fn title(events: &[Event]) -> Option<&str> {
    let mut titles = events.iter().filter_map(|event| match &event.fact {
        Some(Fact::SessionDescribed(described)) => described.title.as_deref(),
        _ => None,
    });
    titles.next_back().filter(|title| !title.is_empty())
}

/// Reads a written transcript. Its reader must know every record.
fn read_back(format: AgentFormat, written: &WrittenTranscript) -> Vec<Event> {
    let mut reader = TranscriptReader::new(format.format(), "x.jsonl");
    let text = written.text.as_bytes();
    let mut records = feed(&mut reader, format.format().shape(text), text);
    records.extend(reader.finish());
    for record in &records {
        let known = matches!(record.kept, RecordStatus::Understood | RecordStatus::Bookkeeping);
        assert!(known, "{format:?}: {record:?}");
        assert!(record.session.is_none(), "{format:?}: one session: {record:?}");
    }
    let session = reader.session().map(str::to_owned);
    assert!(session.is_none_or(|session| session == written.session), "{format:?}");
    events(facts(&records))
}

/// Writes a session part by part, a number of events at a time.
fn written_in_parts(format: AgentFormat, events: &[Event], size: usize) -> WrittenTranscript {
    let mut outline = SessionOutline::default();
    events.chunks(size).for_each(|events| outline.read(events));
    if outline.hides() {
        events.chunks(size).for_each(|events| outline.read_hidden(events));
    }
    let mut writer = TranscriptWriter::new(format, outline);
    let parts: Vec<String> = events.chunks(size).map(|events| writer.write(events).unwrap()).collect();
    let last = writer.finish().unwrap();
    WrittenTranscript { text: parts.concat() + &last.text, ..last }
}

/// Asserts that a session is read back from every format as it was written.
fn check_events(events: &[Event]) {
    for format in AgentFormat::ALL {
        let Ok(written) = write_transcript(format, events) else { continue };
        for size in [1, 2, 5, usize::MAX] {
            assert_eq!(
                written_in_parts(format, events, size),
                written,
                "{format:?}: {size} events at a time"
            );
        }
        let again = read_back(format, &written);
        let (expected, found) = (seen(events, format), seen(&again, format));
        assert_eq!(expected, found, "{format:?}\n{}", written.text);
        // A session of Claude Code begins with its first message.
        if !found.is_empty() {
            assert_eq!(title(events), title(&again), "{format:?}");
            assert_eq!(detect("x.jsonl", written.text.as_bytes()), Ok(format.format()), "{}", written.text);
        }
    }
}

/// Asserts that the session of a file is read back from every format as it was written.
pub(super) fn check_written(records: &[TranscriptRecord]) {
    check_events(&events(facts(records)));
}

fn said(message: Message) -> Fact {
    Fact::MessageAppended(MessageAppended { message })
}

fn compacted(from: u64, to: u64, summary: &str) -> Fact {
    let made = SessionCompacted::new(Seq(from), Seq(to), "agent");
    Fact::SessionCompacted(Box::new(SessionCompacted { summary: Some(summary.into()), ..made }))
}

fn usage(input: u64, output: u64) -> UsageMeasured {
    UsageMeasured::of(&Message::assistant(""), [input, 2, 3, output])
}
