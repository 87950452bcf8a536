//! Treats arbitrary bytes as a transcript: the first byte chooses the format or leaves it to the content, and the second
//! byte chooses whether the rest is read as lines or as one document. The records keep the promises of every file, and
//! a state can be resumed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wunderblock_wire::transcript::{FileShape, Format, TranscriptReader, conversation_format, detect};

#[path = "../../crates/wunderblock-wire/tests/suite/transcript/held.rs"]
mod held;

fuzz_target!(|input: &[u8]| {
    let [format, shape, text @ ..] = input else { return };
    let chosen = Format::ALL.get(usize::from(*format)).copied();
    let Some(format) = chosen.or_else(|| detect("x", text).ok()) else { return };
    let shape = match shape % 3 {
        0 => format.shape(text),
        1 => FileShape::Lines,
        _ => FileShape::Document,
    };
    let mut reader = TranscriptReader::new(format, "x.jsonl");
    let mut records = held::feed(&mut reader, shape, text);
    let state = reader.checkpoint();
    assert!(state.is_none_or(|point| TranscriptReader::restore(format, "x.jsonl", &point.state).is_some()));
    records.extend(reader.finish());
    held::check_spans(text, &records);
    held::check_order(format, &records);
    let _ = conversation_format(&String::from_utf8_lossy(text));
});
