//! Tests of the transcript readers' guarantees.
// Clippy's allowances for tests cover only functions marked as tests, not the helpers beside them, so `main.rs`
// allows these lints for the whole suite.
mod agents;
mod checkpoint;
mod detect;
mod held;
mod logs;
mod promises;
mod written;

use held::{check_order, check_spans, feed};
use wunderblock_core::event::Fact;
use wunderblock_core::message::{Message, MessageOrigin, Part};
use wunderblock_wire::transcript::{
    FileShape, Format, RecordItem, RecordPlace, RecordStatus, TranscriptReader, TranscriptRecord, detect,
};

/// Reads a text in a given format.
fn read_as(format: Format, name: &str, text: &[u8]) -> Vec<TranscriptRecord> {
    let mut reader = TranscriptReader::new(format, name);
    let mut records = feed(&mut reader, format.shape(text), text);
    records.extend(reader.finish());
    if format.shape(text) == FileShape::Lines {
        checkpoint::check_splits(format, name, text);
    }
    written::check_written(&records);
    records
}

/// Reads a text in its detected format, and checks the rules for every file.
fn read(name: &str, text: &str) -> Vec<TranscriptRecord> {
    let format = detect(name, text.as_bytes()).unwrap();
    let records = read_as(format, name, text.as_bytes());
    check_spans(text.as_bytes(), &records);
    check_order(format, &records);
    records
}

/// Returns the share of bytes in records that were not understood.
fn opaque_share(records: &[TranscriptRecord]) -> f64 {
    let total: u64 = records.iter().map(|record| record.len).sum();
    let unknown = records
        .iter()
        .filter(|record| matches!(record.kept, RecordStatus::Opaque { .. } | RecordStatus::Broken { .. }));
    unknown.map(|record| record.len).sum::<u64>() as f64 / total.max(1) as f64
}

/// Describes all records, one line each.
fn tell(records: &[TranscriptRecord]) -> String {
    let mut out = String::new();
    for record in records {
        let session = record.session.as_deref().map(|name| format!("[{name}] ")).unwrap_or_default();
        let place = match &record.place {
            RecordPlace::Next => String::new(),
            RecordPlace::After(id) => format!("after {id}: "),
            RecordPlace::Root => "root: ".to_owned(),
            RecordPlace::RolledBack { turns } => format!("back {turns}: "),
        };
        let kept = match &record.kept {
            RecordStatus::Understood => "",
            RecordStatus::Bookkeeping => "-",
            RecordStatus::Opaque { .. } => "?",
            RecordStatus::Broken { .. } => "!",
        };
        out.push_str(&format!("{}{kept} {session}{place}", record.kind));
        out.push_str(&record.items.iter().map(tell_item).collect::<Vec<_>>().join(" + "));
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn tell_item(item: &RecordItem) -> String {
    match item {
        RecordItem::Opened(opened) => format!("opened({})", opened.cwd.as_deref().unwrap_or("")),
        RecordItem::Message(message) => tell_message(message),
        RecordItem::Usage(usage) => format!(
            "usage({} {}/{}/{}/{})",
            usage.api_id.as_deref().unwrap_or("-"),
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output
        ),
        RecordItem::Turn(turn) => {
            format!("turn({} {})", turn.stop_reason, turn.error_code.as_deref().unwrap_or("-"))
        }
        RecordItem::Compacted { before, summary, trigger, tokens_before, .. } => format!(
            "compacted(before {} {:?} {} {})",
            before.as_deref().unwrap_or("-"),
            summary.as_deref().unwrap_or(""),
            trigger.as_deref().unwrap_or("-"),
            tokens_before.unwrap_or_default()
        ),
        RecordItem::Spawned(spawned) => {
            let call = spawned.call.as_ref().map(|call| &*call.0);
            let known = [call, spawned.agent.as_deref(), spawned.model.as_deref()];
            format!(
                "spawned({}{})",
                spawned.session,
                known.map(|it| it.map(|it| format!(" {it}")).unwrap_or_default()).concat()
            )
        }
        RecordItem::Returned(returned) => format!(
            "returned({} {} {:?} {} {:?} {:?})",
            returned.session,
            returned.call.as_ref().map_or("-", |call| &*call.0),
            returned.outcome,
            returned.model.as_deref().unwrap_or("-"),
            returned.tokens.map(|tokens| tokens.0),
            returned.millis,
        ),
        RecordItem::About { record, fact } => match fact.as_ref() {
            Fact::ContentPinned(pin) => format!("pinned({record} {})", pin.pinned),
            Fact::ContentHidden(hide) => format!("hidden({record} {})", hide.hidden),
            other => format!("{}({record})", other.kind()),
        },
        RecordItem::Fact(fact) => format!("fact({})", fact.kind()),
    }
}

fn tell_message(message: &Message) -> String {
    let standing = match &message.standing {
        MessageOrigin::Said => String::new(),
        MessageOrigin::Injected(what) => format!(" injected={what}"),
        MessageOrigin::Failed(why) => format!(" failed={why}"),
        MessageOrigin::Aside(why) => format!(" aside={why}"),
    };
    let parts: Vec<String> = message.parts.iter().map(tell_part).collect();
    format!("{:?}{standing}({})", message.role, parts.join(" | "))
}

fn tell_part(part: &Part) -> String {
    let inline = |body: &wunderblock_core::message::Body| body.inline().unwrap_or("").replace('\n', "/");
    match part {
        Part::Text { text, .. } => inline(text),
        Part::Thinking { text, signature, .. } => {
            format!(
                "thinks {}{}",
                inline(text),
                signature.as_ref().map(|s| format!(" ~{s}")).unwrap_or_default()
            )
        }
        Part::ToolCall { call, name, input, .. } => {
            format!("call {} {name} {}", call.as_str(), inline(input))
        }
        Part::ToolResult { call, content, failed, .. } => {
            let content: Vec<String> = content.iter().map(tell_part).collect();
            format!("result {}{} {}", call.as_str(), if *failed { " failed" } else { "" }, content.join(" "))
        }
        Part::Media { mime, form, body, .. } => format!("media {mime} {form:?} {}", inline(body)),
        Part::Opaque { raw, .. } => format!("opaque {}", inline(raw)),
    }
}

/// Compares whole outputs. Indentation and blank lines of the expectation do not count.
fn check(records: &[TranscriptRecord], expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let told = tell(records);
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told, expected, "\n{}", told.join("\n"));
}
