//! Lines as templates and rows.

use super::header::{KEYS, SAME, TemplateField, TemplateHeader};
use super::line_shape::{self, LineShape, LineShapes};
use super::line_words::{self, MAX_WORDS, ShapeWord};
use super::record_plan::{self, RecordPlan};
use super::value_format::{self, TemplateColumn, ValueFormat};
use std::ops::Range;

use crate::encode::token_estimate;
use crate::lines::NewlineSplit;

/// A template, while lines are written by it.
struct LearntTemplate<'t> {
    columns: Vec<TemplateColumn<'t>>,
    /// The text after the last word.
    tail: &'t str,
    /// Whether more follows after the columns: a rest.
    head: bool,
    /// Whether the rest of every line begins with a space.
    spaced_rest: bool,
}

/// A code for whole lines, without the newline after the last of them. None where it does not pay.
pub(in crate::encode) fn encode(text: &str) -> Option<String> {
    let lines = NewlineSplit::of(text);
    let mut shapes = line_shape::group_lines(&lines, record_plan::MIN_LINES);
    let chosen = record_plan::choose_records(&lines, &mut shapes);
    let (mut templates, records) = learn_templates(&lines, &shapes, &chosen)?;
    let shared = settle_columns(&mut templates);
    let headers: Vec<TemplateHeader> = templates.iter().map(header).collect();
    let starts = &chosen.starts;
    let first = starts.iter().position(Option::is_some)?;
    let last = starts.iter().rposition(Option::is_some)?;
    let last = last + records.get(usize::from((*starts.get(last)?)?))?.len();
    let rows = RowWriter::new(&templates, &records, &headers, shared);
    let mut out = text.get(..lines.start(first))?.to_owned();
    let before = out.len();
    let named = || {
        records.iter().zip(KEYS.chars()).flat_map(|(record, key)| record.iter().map(move |part| (*part, key)))
    };
    // Where all lines are of one template none has to say so.
    let keyless = named().count() == 1 && rows.write(&lines, first..last, None, &mut out)?;
    if !keyless {
        out.truncate(before);
        rows.write(&lines, first..last, Some(starts), &mut out)?;
    }
    let mut head = "⟨=t".to_owned();
    if !keyless {
        head.push_str(&format!(" {}", named().count()));
        if shared > 0 {
            head.push_str(&format!(" {shared}"));
        }
    }
    head.push_str("⟩\n");
    for (part, key) in named() {
        if !keyless {
            head.push(key);
            head.push(' ');
        }
        headers.get(part)?.write(&mut head);
        head.push('\n');
    }
    out.insert_str(before, &head);
    out.push_str(crate::encode::tags::CLOSE);
    let source = text.get(lines.span(first..last))?;
    if !token_estimate::is_worthwhile(
        token_estimate::estimate_tokens(source),
        token_estimate::estimate_tokens(out.get(before..)?),
    ) {
        return None;
    }
    if last < lines.len() {
        out.push('\n');
        out.push_str(text.get(lines.start(last)..)?);
    }
    Some(out)
}

/// The templates of the chosen records, and of each record its templates.
fn learn_templates<'t>(
    lines: &NewlineSplit<'t>,
    shapes: &LineShapes,
    chosen: &RecordPlan,
) -> Option<(Vec<LearntTemplate<'t>>, Vec<Vec<usize>>)> {
    let mut words: Vec<ShapeWord> = Vec::with_capacity(MAX_WORDS);
    let mut templates: Vec<LearntTemplate<'t>> = Vec::new();
    let mut number: Vec<Option<usize>> = vec![None; shapes.shapes.len()];
    let mut records = Vec::with_capacity(chosen.records.len());
    for record in &chosen.records {
        let mut parts = Vec::with_capacity(record.len());
        for shape in record {
            let new = || {
                templates.push(LearntTemplate::new(lines, shapes.shapes.get(*shape)?, &mut words));
                Some(templates.len() - 1)
            };
            let number = number.get_mut(*shape)?;
            *number = number.or_else(new);
            parts.push((*number)?);
        }
        records.push(parts);
    }
    for (line, start) in chosen.starts.iter().enumerate() {
        let record = start.and_then(|start| records.get(usize::from(start)));
        for (text, template) in lines.within(line..lines.len()).zip(record.into_iter().flatten()) {
            templates.get_mut(*template)?.learn(text, &mut words);
        }
    }
    (!templates.is_empty()).then_some((templates, records))
}

impl<'t> LearntTemplate<'t> {
    fn new(lines: &NewlineSplit<'t>, shape: &LineShape, words: &mut Vec<ShapeWord>) -> Self {
        let line = shape.example(lines);
        line_words::split_words(line, words);
        let is_value = |at: usize, word: &ShapeWord| word.value || shape.values >> at & 1 == 1;
        let columns = words.iter().take(shape.shared_words(words)).enumerate();
        let columns = columns.map(|(at, word)| TemplateColumn::new(line, word, is_value(at, word))).collect();
        Self {
            columns,
            tail: line_words::text_after(line, words),
            head: shape.head.is_some(),
            spaced_rest: true,
        }
    }

    fn learn(&mut self, line: &'t str, words: &mut Vec<ShapeWord>) {
        line_words::split_words(line, words);
        let columns = self.columns.len();
        for (at, (column, word)) in self.columns.iter_mut().zip(words.iter()).enumerate() {
            let after = words.get(at + 1).filter(|_| at + 1 < columns).map(|word| word.before(line));
            column.learn(word.before(line), word.of(line), after);
        }
        if self.head {
            self.spaced_rest &= rest_after(line, words, columns).starts_with(' ');
        }
    }
}

/// The text after the first columns.
fn rest_after<'t>(line: &'t str, words: &[ShapeWord], columns: usize) -> &'t str {
    let end = columns.checked_sub(1).and_then(|last| words.get(last)).map_or(0, |word| word.end);
    line.get(end..).unwrap_or("")
}

/// Decides how each column is written. Columns with which the lines of all templates begin share the value above; their
/// number of fields is returned.
fn settle_columns(templates: &mut [LearntTemplate<'_>]) -> usize {
    let mut common: Vec<TemplateColumn<'_>> = Vec::new();
    if let Some((first, others)) = templates.split_first().filter(|(_, others)| !others.is_empty()) {
        for (at, column) in first.columns.iter().enumerate() {
            let joined =
                others.iter().try_fold(column.clone(), |joined, other| other.columns.get(at)?.join(&joined));
            let Some(mut joined) = joined else { break };
            joined.choose_format(None);
            if joined.value && !joined.is_even() {
                break;
            }
            common.push(joined);
        }
    }
    for template in templates {
        for at in 0..template.columns.len() {
            let (left, right) = template.columns.split_at_mut(at);
            let Some(column) = right.first_mut() else { break };
            match common.get(at) {
                Some(common) => *column = common.clone(),
                None => column.choose_format(left.last_mut().filter(|_| at > common.len())),
            }
        }
    }
    common.iter().filter(|column| column.form != ValueFormat::Said).count()
}

/// A template as it is shown.
fn header(template: &LearntTemplate<'_>) -> TemplateHeader {
    let mut header = TemplateHeader::default();
    let mut padded = false;
    for column in &template.columns {
        match (column.form, column.gap()) {
            (ValueFormat::Right(_), _) => {}
            (_, Some(_)) if padded => {}
            (ValueFormat::Loose, _) => header.push_text(" "),
            (_, Some(gap)) => header.push_text(&" ".repeat(gap)),
            (_, None) => header.push_text(column.sep),
        }
        padded = matches!(column.form, ValueFormat::Left(_));
        match column.form {
            ValueFormat::Said => header.push_text(column.first),
            ValueFormat::Plain | ValueFormat::Fixed(_) => {
                header.push_text(column.first.get(..column.prefix).unwrap_or(""));
                header.push_field(TemplateField::Value(column.form));
                header.push_text(column.first.get(column.first.len() - column.suffix..).unwrap_or(""));
            }
            ValueFormat::Right(_) | ValueFormat::Left(_) | ValueFormat::Loose => {
                header.push_field(TemplateField::Value(column.form))
            }
        }
    }
    if template.head {
        header.push_text(if template.spaced_rest { " " } else { "" });
        header.push_field(TemplateField::Rest);
    } else {
        header.push_text(template.tail);
    }
    header
}

/// A line of a record, and where the values above are kept for its fields.
type RecordLine<'a, 't> = (&'a LearntTemplate<'t>, Vec<usize>);

/// Writes rows: it has the key of each record, and the templates of its lines, each with the slots of its fields for
/// the values above.
struct RowWriter<'a, 't> {
    records: Vec<(u8, Vec<RecordLine<'a, 't>>)>,
    slots: usize,
}

impl<'a, 't> RowWriter<'a, 't> {
    fn new(
        templates: &'a [LearntTemplate<'t>],
        records: &[Vec<usize>],
        headers: &[TemplateHeader],
        shared: usize,
    ) -> Self {
        let mut slots = 0;
        let part = |part: &usize| {
            let first = slots;
            let fields = headers.get(*part)?.fields.len();
            slots += fields;
            let own = (0..fields).map(|field| if field < shared { field } else { first + field }).collect();
            Some((templates.get(*part)?, own))
        };
        let mut part = part;
        let records = records
            .iter()
            .zip(KEYS.bytes())
            .map(|(record, key)| (key, record.iter().filter_map(&mut part).collect()));
        let records = records.collect();
        Self { records, slots }
    }

    /// Writes the rows, each with a newline: of the records that begin in `starts`, or of the first record alone,
    /// without its key, until a line is not a row. Says whether all lines were rows. None where they become longer than
    /// what they stand for.
    fn write(
        &self,
        lines: &NewlineSplit<'t>,
        span: Range<usize>,
        starts: Option<&[Option<u8>]>,
        out: &mut String,
    ) -> Option<bool> {
        let mut above: Vec<&str> = vec![""; self.slots];
        let mut all = true;
        let mut words = Vec::with_capacity(MAX_WORDS);
        let mut values: Vec<(&'t str, bool, usize)> = Vec::with_capacity(MAX_WORDS);
        let mut at = span.start;
        while let Some(line) = lines.get(at).filter(|_| at < span.end) {
            if out.len() > lines.start(span.end) {
                return None;
            }
            values.clear();
            let start = starts.map_or(Some(0), |starts| starts.get(at).copied().flatten());
            let record = start.and_then(|start| self.records.get(usize::from(start)));
            let record = record.filter(|(_, parts)| {
                let mut lines = lines.within(at..span.end);
                parts.iter().all(|(template, slots)| {
                    lines.next().is_some_and(|line| template.values(line, &mut words, &mut values, slots))
                })
            });
            let Some((key, parts)) = record else {
                if starts.is_none() {
                    return Some(false);
                }
                self.raw(line, out);
                all = false;
                at += 1;
                continue;
            };
            at += parts.len();
            if starts.is_some() {
                out.push(char::from(*key));
            }
            let mut end = out.len();
            for (nth, (value, fixed, slot)) in values.iter().enumerate() {
                let above = above.get_mut(*slot)?;
                if nth > 0 || starts.is_some() {
                    out.push(' ');
                }
                if above == value {
                    out.push_str(SAME);
                } else {
                    out.push_str(if *fixed { value_format::shorten(value, above) } else { value });
                    *above = value;
                    end = out.len();
                }
            }
            out.truncate(end);
            out.push('\n');
        }
        Some(all)
    }

    /// Writes a line that does not become a row.
    fn raw(&self, line: &str, out: &mut String) {
        let mut bytes = line.bytes();
        let like_a_row = bytes.next().is_some_and(|first| self.records.iter().any(|(key, _)| *key == first))
            && matches!(bytes.next(), None | Some(b' '));
        if like_a_row || line.starts_with('\\') {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
}

impl<'t> LearntTemplate<'t> {
    /// The values of a line, each with whether it may be written shorter. False where the line is not of this template
    /// after all: a word too long for its column, a separator of another width.
    fn values(
        &self,
        line: &'t str,
        words: &mut Vec<ShapeWord>,
        values: &mut Vec<(&'t str, bool, usize)>,
        slots: &[usize],
    ) -> bool {
        let mut slots = slots.iter().copied();
        let mut give = |value: &'t str, fixed: bool| values.push((value, fixed, slots.next().unwrap_or(0)));
        let whole = line_words::split_words(line, words);
        if (!whole && !self.head)
            || words.len() < self.columns.len()
            || (!self.head && words.len() > self.columns.len())
        {
            return false;
        }
        let mut filled = None;
        for (column, word) in self.columns.iter().zip(words.iter()) {
            let (sep, said) = (word.before(line), word.of(line));
            let spaces = || sep.bytes().all(|byte| byte == b' ');
            let apart = match (column.form, filled.take(), column.gap()) {
                (_, Some(width), _) => !sep.is_empty() && spaces() && width == sep.len(),
                (ValueFormat::Loose, None, _) => sep.starts_with(' ') && spaces(),
                (ValueFormat::Right(width), None, _) => {
                    spaces() && !sep.is_empty() && sep.len() + said.len() == width
                }
                (_, None, Some(gap)) => spaces() && sep.len() == gap,
                (_, None, None) => sep == column.sep,
            };
            let first = column.first;
            let fits = match column.form {
                ValueFormat::Said => said == first,
                ValueFormat::Plain | ValueFormat::Fixed(_) => match column.cut(said) {
                    Some(value) => {
                        let fixed = matches!(column.form, ValueFormat::Fixed(width) if value.len() == width);
                        give(value, fixed);
                        fixed || column.form == ValueFormat::Plain
                    }
                    None => false,
                },
                ValueFormat::Right(_) => {
                    give(said, false);
                    true
                }
                ValueFormat::Loose => match line.get(word.sep + 1..word.end) {
                    Some(value) => {
                        give(value, false);
                        true
                    }
                    None => false,
                },
                ValueFormat::Left(width) => {
                    give(said, false);
                    filled = width.checked_sub(said.len());
                    filled.is_some()
                }
            };
            if !apart || !fits {
                return false;
            }
        }
        if self.head {
            let rest = rest_after(line, words, self.columns.len());
            let rest = if self.spaced_rest { rest.strip_prefix(' ').unwrap_or("") } else { rest };
            give(rest, false);
            return !rest.is_empty() && rest != SAME && !line_words::holds_mark(line);
        }
        line_words::text_after(line, words) == self.tail
    }
}

impl TemplateColumn<'_> {
    /// The part of a word between the common start and the common end of all words of the column.
    fn cut<'v>(&self, said: &'v str) -> Option<&'v str> {
        let (head, tail) =
            (self.first.get(..self.prefix)?, self.first.get(self.first.len() - self.suffix..)?);
        said.strip_prefix(head)?.strip_suffix(tail).filter(|value| !value.is_empty())
    }
}
