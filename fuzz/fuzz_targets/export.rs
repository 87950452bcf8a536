//! Treats arbitrary bytes as lines of conversations of exports: each line with content is one record of all its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wunderblock_wire::transcript::{Format, TranscriptReader, conversation_format};

fuzz_target!(|input: &[u8]| {
    let _ = conversation_format(&String::from_utf8_lossy(input));
    for format in [Format::ChatGpt, Format::ClaudeAi] {
        let mut reader = TranscriptReader::new(format, "c1");
        let (mut offset, mut number) = (0, 0);
        for line in input.split(|byte| *byte == b'\n') {
            number += 1;
            let end = offset + line.len() as u64;
            let mut at = offset;
            for record in reader.line(offset, number, line) {
                assert!(at <= record.offset && record.offset + record.len <= end);
                at = record.offset + record.len;
            }
            offset = end + 1;
        }
        let state = reader.checkpoint();
        assert!(state.is_none_or(|point| TranscriptReader::restore(format, "c1", &point.state).is_some()));
    }
});
