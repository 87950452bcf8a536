//! Decodes templates and rows to lines.

use std::ops::Range;

use super::header::{KEYS, SAME, TemplateField, TemplateHeader};
use super::value_format::ValueFormat;
use crate::encode::tags::{self, EncodedBlock};
use crate::sink::TextSink;

/// The lines of a code, without the last newline.
pub(in crate::encode) fn decode(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut lines = tags::lines_of(code.body)?;
    let (count, shared) = code.args.split_once(' ').unwrap_or((code.args, "0"));
    let shared: usize = shared.parse().ok()?;
    let keyless = count.is_empty();
    let headers: usize = if keyless { 1 } else { count.parse().ok()? };
    let mut records: Vec<Vec<RowTemplate>> = Vec::new();
    let mut slots = 0;
    for _ in 0..headers {
        let line = lines.next()?;
        let text = if keyless { line } else { line.get(1..)?.strip_prefix(' ')? };
        let key = |at: Option<usize>| at.and_then(|at| KEYS.as_bytes().get(at).copied());
        let first = line.bytes().next().filter(|_| !keyless);
        if first.is_none() || key(records.len().checked_sub(1)) != first {
            if !keyless && key(Some(records.len())) != first {
                return None;
            }
            records.push(Vec::new());
        }
        let header = TemplateHeader::read(text)?;
        if header.fields.len() < shared {
            return None;
        }
        let first = slots;
        slots += header.fields.len();
        records.last_mut()?.push(RowTemplate { header, first, shared });
    }
    let keys = KEYS.as_bytes().get(..records.len())?;
    let mut rows = RowReader { out, above: vec![0..0; slots] };
    for (nth, row) in lines.enumerate() {
        rows.out.push(if nth > 0 { "\n" } else { "" })?;
        if keyless {
            rows.write(records.first()?, row)?;
        } else {
            let bytes = row.as_bytes();
            let key = bytes.first().and_then(|first| keys.iter().position(|key| key == first));
            match (key, bytes.get(1)) {
                (Some(key), None) => rows.write(records.get(key)?, "")?,
                (Some(key), Some(b' ')) => rows.write(records.get(key)?, row.get(2..)?)?,
                _ => rows.out.push(row.strip_prefix('\\').unwrap_or(row))?,
            }
        }
    }
    Some(())
}

/// The end of a value that is not the last of its row.
fn value_end(form: ValueFormat, row: &str) -> Option<usize> {
    let spaces = if form == ValueFormat::Loose { row.len() - row.trim_start_matches(' ').len() } else { 0 };
    memchr::memchr(b' ', row.as_bytes().get(spaces..)?).map(|end| spaces + end)
}

struct RowTemplate {
    header: TemplateHeader,
    /// Its first slot.
    first: usize,
    /// The number of fields that have the slots of the first template.
    shared: usize,
}

struct RowReader<'o, 'e> {
    out: &'o mut TextSink<'e>,
    /// The place in `out` of the last value of each slot.
    above: Vec<Range<usize>>,
}

impl RowReader<'_, '_> {
    fn write(&mut self, record: &[RowTemplate], row: &str) -> Option<()> {
        let mut rest = Some(row).filter(|row| !row.is_empty());
        for (at, template) in record.iter().enumerate() {
            self.out.push(if at > 0 { "\n" } else { "" })?;
            self.line(template, &mut rest)?;
        }
        rest.is_none().then_some(())
    }

    /// Writes a line of a record, and takes its values off the row.
    fn line(&mut self, template: &RowTemplate, rest: &mut Option<&str>) -> Option<()> {
        let mut texts = template.header.texts.iter();
        for (at, field) in template.header.fields.iter().enumerate() {
            self.out.push(texts.next()?)?;
            let slot = if at < template.shared { at } else { template.first + at };
            let value = *rest;
            let end = match (field, *rest) {
                (TemplateField::Value(form), Some(row)) => value_end(*form, row),
                (TemplateField::Rest, _) | (_, None) => None,
            };
            *rest = end.and_then(|end| value?.get(end + 1..));
            let value = end.map_or(value, |end| value?.get(..end));
            self.value(*field, slot, value.filter(|value| *value != SAME))?;
        }
        self.out.push(texts.next().map_or("", String::as_str))
    }

    /// Writes a value: the one given, or the one above.
    fn value(&mut self, field: TemplateField, slot: usize, given: Option<&str>) -> Option<()> {
        let above = self.above.get(slot)?.clone();
        let width = given.map_or(above.len(), str::len);
        if let TemplateField::Value(ValueFormat::Right(wide)) = field {
            self.out.spaces(wide.checked_sub(width)?)?;
        }
        let start = self.out.len();
        match (field, given) {
            (_, None) => self.again(above)?,
            (TemplateField::Value(ValueFormat::Fixed(fixed)), Some(given)) if given.len() < fixed => {
                let kept = fixed - given.len();
                if above.len() != fixed {
                    return None;
                }
                self.again(above.start..above.start + kept)?;
                self.out.push(given)?;
            }
            (_, Some(given)) => self.out.push(given)?,
        }
        *self.above.get_mut(slot)? = start..self.out.len();
        if let TemplateField::Value(ValueFormat::Left(wide)) = field {
            self.out.spaces(wide.checked_sub(width)?)?;
        }
        Some(())
    }

    fn again(&mut self, span: Range<usize>) -> Option<()> {
        self.out.repeat(Some(span).filter(|span| !span.is_empty())?)
    }
}
