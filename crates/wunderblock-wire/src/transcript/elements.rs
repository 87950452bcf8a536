//! JSON that holds its messages in an array: where that is, and a record for every byte around it.

use super::object::{Object, array, position};
use super::record::{ByteSpan, TranscriptRecord};
use serde_json::value::RawValue;

/// How deep the array of messages is searched for. Each level costs one scan of what it holds.
const MAX_LEVELS: usize = 6;

/// Messages found beside each other.
#[derive(Debug)]
pub(crate) struct MessageList<'a> {
    /// The keys that lead there, array elements as `[]`, from the outside in.
    pub(crate) path: String,
    /// The elements, among them ones that are no messages.
    pub(crate) elements: Vec<&'a RawValue>,
    /// How many are messages.
    pub(crate) messages: usize,
}

/// All arrays (and objects used as maps) of which at least half the elements are messages.
pub(crate) fn lists<'a>(
    value: &'a RawValue,
    is_message: &dyn Fn(&Object<'_>) -> bool,
) -> Vec<MessageList<'a>> {
    let mut found = Vec::new();
    walk(value, "", (0, is_message), &mut found);
    found
}

fn walk<'a>(
    value: &'a RawValue,
    path: &str,
    (level, is_message): (usize, &dyn Fn(&Object<'_>) -> bool),
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
        walk(element, &format!("{path}.{key}"), (level + 1, is_message), found);
    }
}

/// The list with the most messages, of several the outermost and first.
pub(crate) fn longest<'l, 'a>(lists: &'l [MessageList<'a>]) -> Option<&'l MessageList<'a>> {
    let depth = |list: &MessageList<'_>| list.path.matches('.').count();
    lists.iter().rev().max_by_key(|list| (list.messages, std::cmp::Reverse(depth(list))))
}

/// Where a part of a text stands in its file.
pub(crate) fn span_of(part: &str, whole: &str, base: ByteSpan) -> ByteSpan {
    SpanCounter::new(whole, base).span(part)
}

/// Tells where parts of a text stand that come in order, without counting the lines before each again.
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

/// The spans of parts that stand in order.
pub(crate) fn spans<'a>(parts: &[&'a str], whole: &'a str, base: ByteSpan) -> Vec<ByteSpan> {
    let mut counter = SpanCounter::new(whole, base);
    parts.iter().map(|part| counter.span(part)).collect()
}

/// Records for what stands between the given ones and around them, put in their places. White space and the commas
/// between elements say nothing and belong to no record.
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
