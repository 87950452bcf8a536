//! Line numbers of a policy file: of byte offsets, and of keys.

use std::ops::Range;
use toml::de::DeTable;

/// Byte offsets of the line breaks of a text.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    pub(super) fn at(&self, span: &Range<usize>) -> usize {
        self.0.partition_point(|newline| *newline < span.start) + 1
    }

    /// Returns the line of a key such as `step.2.to`, or of the table that would contain it; `None` if the file has
    /// neither.
    pub(super) fn of_key(&self, document: &DeTable<'_>, key: &str) -> Option<usize> {
        let (mut line, mut table) = (None, document);
        let mut parts = key.split('.');
        while let Some(part) = parts.next() {
            let Some((name, value)) = table.get_key_value(part) else {
                return line;
            };
            line = Some(self.at(&name.span()));
            let mut value = value.get_ref();
            if let Some(array) = value.as_array() {
                let number = parts.next().and_then(|number| number.parse::<usize>().ok());
                let Some(element) = number.and_then(|number| array.get(number.checked_sub(1)?)) else {
                    return line;
                };
                line = Some(self.at(&element.span()));
                value = element.get_ref();
            }
            let Some(inner) = value.as_table() else {
                return line;
            };
            table = inner;
        }
        line
    }
}

/// Returns the line of a key in a text that is known to parse.
pub(super) fn line_of_key(text: &str, key: &str) -> Option<usize> {
    Lines::of(text).of_key(DeTable::parse(text).ok()?.get_ref(), key)
}
