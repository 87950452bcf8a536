//! Decodes templates and rows to lines.

use super::keys::KEYS;
use crate::encode::tags::{self, EncodedBlock};
use crate::result::sink::TextSink;

/// Writes the lines of a block, without the last newline.
pub(in crate::encode) fn decode(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut lines = tags::lines_of(code.body)?;
    let keyless = code.args.is_empty();
    let count: usize = if keyless { 1 } else { code.args.parse().ok()? };
    let keys = KEYS.as_bytes().get(..count)?;
    let mut templates = Vec::with_capacity(count);
    for key in keys {
        let line = lines.next()?;
        let text = if keyless { line } else { line.strip_prefix(char::from(*key))?.strip_prefix(' ')? };
        templates.push(RowTemplate::read(text)?);
    }
    for (nth, row) in lines.enumerate() {
        out.push(if nth > 0 { "\n" } else { "" })?;
        if keyless {
            templates.first()?.write(row, out)?;
            continue;
        }
        let bytes = row.as_bytes();
        let key = bytes.first().and_then(|first| keys.iter().position(|key| key == first));
        match (key, bytes.get(1)) {
            (Some(key), None) => templates.get(key)?.write("", out)?,
            (Some(key), Some(b' ')) => templates.get(key)?.write(row.get(2..)?, out)?,
            _ => out.push(row.strip_prefix('\\').unwrap_or(row))?,
        }
    }
    Some(())
}

/// A template: its fixed texts, with a value between each adjacent pair of texts.
struct RowTemplate {
    texts: Vec<String>,
    /// For each value, whether it includes the spaces before it.
    loose: Vec<bool>,
}

impl RowTemplate {
    fn read(text: &str) -> Option<Self> {
        let mut texts = vec![String::new()];
        let mut loose = Vec::new();
        let mut rest = text;
        while let Some((before, inner)) = rest.split_once('{') {
            texts.last_mut()?.push_str(before);
            if let Some(after) = inner.strip_prefix('{') {
                texts.last_mut()?.push('{');
                rest = after;
                continue;
            }
            loose.push(inner.starts_with(' '));
            rest = inner.strip_prefix(' ').unwrap_or(inner).strip_prefix('}')?;
            texts.push(String::new());
        }
        texts.last_mut()?.push_str(rest);
        Some(Self { texts, loose })
    }

    fn write(&self, row: &str, out: &mut TextSink<'_>) -> Option<()> {
        let mut rest = Some(row).filter(|row| !row.is_empty());
        for (text, loose) in self.texts.iter().zip(&self.loose) {
            let (value, after) = rest.map(|row| row.split_at(value_end(row, *loose)))?;
            rest = after.strip_prefix(' ');
            out.push(text)?;
            out.push(value)?;
        }
        out.push(self.texts.last()?)?;
        rest.is_none().then_some(())
    }
}

fn value_end(row: &str, loose: bool) -> usize {
    let spaces = if loose { row.len() - row.trim_start_matches(' ').len() } else { 0 };
    row.get(spaces..).and_then(|value| value.find(' ')).map_or(row.len(), |end| spaces + end)
}
