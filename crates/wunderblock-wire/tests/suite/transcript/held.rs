//! Promises that the records of every file keep, for the tests and for the fuzzer.

use wunderblock_wire::transcript::{FileShape, Format, TranscriptReader, TranscriptRecord};

/// Returns the records of a text, without those that a reader returns at the end of a file.
pub(super) fn feed(reader: &mut TranscriptReader, shape: FileShape, text: &[u8]) -> Vec<TranscriptRecord> {
    if shape == FileShape::Document {
        return reader.document(text);
    }
    let mut records = Vec::new();
    let mut offset = 0;
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        records.extend(reader.line(offset, index as u64 + 1, bytes));
        offset += line.len() as u64;
    }
    records
}

/// Asserts that the records are in the order of the file. Only logs of requests have another order: clients write the
/// system text after the messages.
pub(super) fn check_order(format: Format, records: &[TranscriptRecord]) {
    let is_log = matches!(format, Format::Anthropic | Format::OpenaiResponses | Format::Gemini);
    assert!(is_log || records.is_sorted_by_key(|record| record.offset), "{format:?}: {records:?}");
}

/// Asserts that every byte with content is in exactly one record.
pub(super) fn check_spans(text: &[u8], records: &[TranscriptRecord]) {
    let mut end = 0;
    let mut records: Vec<&TranscriptRecord> = records.iter().collect();
    records.sort_by_key(|record| record.offset);
    for record in records {
        let (from, to) = (record.offset as usize, (record.offset + record.len) as usize);
        assert!(from >= end, "record at {from} overlaps the one before it, which ends at {end}");
        assert!(to <= text.len() && from < to, "record {from}..{to} of {} bytes", text.len());
        assert_blank(text, end, from);
        let lines = text[..from].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        assert_eq!(record.line, lines, "line of the record at {from}");
        end = to;
    }
    assert_blank(text, end, text.len());
}

fn assert_blank(text: &[u8], from: usize, to: usize) {
    let gap = text[from..to].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text[from..to]);
    let blank = gap.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b',');
    assert!(blank, "{from}..{to} is in no record: {:?}", String::from_utf8_lossy(gap));
}
