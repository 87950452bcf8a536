//! JSON with an array of messages: finds the array, and assigns every byte around it to a record.

use super::object::{Object, array, position};
use crate::transcript::record::{ByteSpan, TranscriptRecord};
use serde_json::value::RawValue;

/// Maximum nesting depth at which an array of messages is found. Each level costs one scan of its content.
const MAX_LEVELS: usize = 6;

/// Messages found in one array or object.
#[derive(Debug)]
pub(crate) struct MessageList<'a> {
    /// Keys that lead to the list, from the outside in. An array element has the key `[]`.
    pub(crate) path: String,
    /// Elements of the list, some of which may not be messages.
    pub(crate) elements: Vec<&'a RawValue>,
    /// Number of elements that are messages.
    pub(crate) messages: usize,
}

/// Returns all arrays, and objects used as maps, in which at least half of the elements are messages.
pub(crate) fn lists<'a>(
    value: &'a RawValue,
    is_message: &dyn Fn(&Object<'_>) -> bool,
) -> Vec<MessageList<'a>> {
    let mut found = Vec::new();
    walk(value, "", 0, is_message, &mut found);
    found
}

fn walk<'a>(
    value: &'a RawValue,
    path: &str,
    level: usize,
    is_message: &dyn Fn(&Object<'_>) -> bool,
    found: &mut Vec<MessageList<'a>>,
) {
    let (elements, keys, min): (Vec<&RawValue>, Vec<String>, usize) = if let Some(elements) = array(value) {
        (elements, Vec::new(), 1)
    } else if let Some(object) = Object::of(value) {
        let (keys, values) = object.iter().map(|(key, value)| (key.to_owned(), value)).unzip();
        (values, keys, 2)
    } else {
        return;
    };
    let is_one = |element: &&&RawValue| Object::of(element).is_some_and(|object| is_message(&object));
    let messages = elements.iter().filter(is_one).count();
    if messages >= min && messages * 2 >= elements.len() {
        found.push(MessageList { path: path.to_owned(), elements, messages });
        return;
    }
    if level >= MAX_LEVELS {
        return;
    }
    for (index, element) in elements.into_iter().enumerate() {
        let key = keys.get(index).map_or("[]", String::as_str);
        walk(element, &format!("{path}.{key}"), level + 1, is_message, found);
    }
}

/// Returns the list with the most messages. If several lists have the same number of messages, the outermost list
/// counts, and among equally nested lists the first.
pub(crate) fn longest<'l, 'a>(lists: &'l [MessageList<'a>]) -> Option<&'l MessageList<'a>> {
    let depth = |list: &MessageList<'_>| list.path.matches('.').count();
    lists.iter().rev().max_by_key(|list| (list.messages, std::cmp::Reverse(depth(list))))
}

/// Returns the span of a part of a text in its file.
pub(crate) fn span_of(part: &str, whole: &str, base: ByteSpan) -> ByteSpan {
    SpanCounter::new(whole, base).span(part)
}

/// Computes the spans of parts that are given in order, without counting the earlier lines again for each part.
struct SpanCounter<'a> {
    whole: &'a str,
    base: ByteSpan,
    counted: usize,
}

impl<'a> SpanCounter<'a> {
    fn new(whole: &'a str, base: ByteSpan) -> Self {
        Self { whole, base, counted: 0 }
    }

    fn span(&mut self, part: &str) -> ByteSpan {
        let at = position(part, self.whole).max(self.counted);
        let between = self.whole.as_bytes().get(self.counted..at).unwrap_or_default();
        self.base.line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.counted = at;
        let offset = self.base.offset + at as u64;
        ByteSpan { offset, len: part.len() as u64, line: self.base.line }
    }
}

/// Returns the spans of parts that are given in order.
pub(crate) fn spans<'a>(parts: &[&'a str], whole: &'a str, base: ByteSpan) -> Vec<ByteSpan> {
    let mut counter = SpanCounter::new(whole, base);
    parts.iter().map(|part| counter.span(part)).collect()
}

/// Inserts records for the content between and around the given records. White space and commas between elements have
/// no content and belong to no record.
pub(crate) fn with_rest(
    mut records: Vec<TranscriptRecord>,
    whole: &str,
    base: ByteSpan,
) -> Vec<TranscriptRecord> {
    records.sort_by_key(|record| record.offset);
    let mut all = Vec::with_capacity(records.len() * 2 + 1);
    let (mut at, mut counter) = (0_usize, SpanCounter::new(whole, base));
    let mut rest = |from: usize, to: usize, all: &mut Vec<TranscriptRecord>| {
        let gap = whole.get(from..to).unwrap_or_default();
        let part = gap.trim_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        if !part.is_empty() {
            all.push(TranscriptRecord::bookkeeping(counter.span(part), "document"));
        }
    };
    for record in records {
        let start = usize::try_from(record.offset - base.offset).unwrap_or(at);
        let end = start + usize::try_from(record.len).unwrap_or(0);
        rest(at, start, &mut all);
        at = end;
        all.push(record);
    }
    rest(at, whole.len(), &mut all);
    all
}
