//! Lines as templates and rows.

use super::form::{self, Column, Form};
use super::legend::{Field, Legend};
use super::shape::{self, Shapes};
use super::words::{self, MAX_WORDS, Word};
use crate::pack::weigh;

/// What names the templates. A row begins with such a letter.
pub(super) const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// So many templates at most are of lines alike in full; the other keys are for heads in common.
const WHOLE: usize = 40;
/// What a template without values must save of each line, in tokens.
const BARE: usize = 5;
/// What stands for the value above.
pub(super) const SAME: &str = "\"";

/// A template, while lines are written by it.
struct Template<'t> {
    columns: Vec<Column<'t>>,
    /// What stands after the last word.
    tail: &'t str,
    /// Whether more follows after the columns: a rest.
    head: bool,
    /// Whether the rest of every line begins with a space.
    spaced_rest: bool,
    /// Where the values above are kept, for each field.
    slots: Vec<usize>,
}

/// A code for whole lines, without the newline after the last of them. None where it does not pay.
pub(in crate::pack) fn pack(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut shapes = shape::sort(&lines);
    choose(&lines, &mut shapes);
    let (mut templates, of) = learn(&lines, &shapes)?;
    let shared = settle(&mut templates);
    let legends = legends(&mut templates, shared);
    let first = of.iter().position(Option::is_some)?;
    let last = of.iter().rposition(Option::is_some)? + 1;
    let body = rows(lines.get(first..last)?, of.get(first..last)?, &templates)?;
    let mut out = String::with_capacity(text.len() / 2);
    for line in lines.get(..first)? {
        out.push_str(line);
        out.push('\n');
    }
    let before = out.len();
    let keyless = templates.len() == 1 && body.raw == 0;
    out.push_str("⟨=t");
    if !keyless {
        out.push_str(&format!(" {}", templates.len()));
        if shared > 0 {
            out.push_str(&format!(" {shared}"));
        }
    }
    out.push_str("⟩\n");
    for (legend, key) in legends.iter().zip(KEYS.chars()) {
        if !keyless {
            out.push(key);
            out.push(' ');
        }
        legend.write(&mut out);
        out.push('\n');
    }
    if keyless {
        for row in body.text.split_inclusive('\n') {
            out.push_str(row.get(1..)?.strip_prefix(' ').unwrap_or(row.get(1..)?));
        }
    } else {
        out.push_str(&body.text);
    }
    out.push_str(crate::pack::code::CLOSE);
    let source_before: usize = lines.get(..first)?.iter().map(|line| line.len() + 1).sum();
    let source_after: usize = lines.get(last..)?.iter().map(|line| line.len() + 1).sum();
    let source = text.get(source_before..text.len().checked_sub(source_after)?)?;
    if !weigh::pays(weigh::tokens(source), weigh::tokens(out.get(before..)?)) {
        return None;
    }
    for line in lines.get(last..)? {
        out.push('\n');
        out.push_str(line);
    }
    Some(out)
}

/// Keeps the shapes that pay for their template; the lines of the others go to heads in common, the best of which stay.
fn choose(lines: &[&str], shapes: &mut Shapes) {
    let mut kept = best(lines, shapes, 0, WHOLE);
    let whole = kept.len();
    shape::by_head(lines, shapes, &kept);
    kept.extend(best(lines, shapes, whole, KEYS.len() - kept.iter().filter(|kept| **kept).count()));
    for of in &mut shapes.of {
        *of = of.filter(|shape| kept.get(*shape as usize).copied().unwrap_or(false));
    }
}

/// Which of the shapes from `from` on are the `most` that save most.
fn best(lines: &[&str], shapes: &Shapes, from: usize, most: usize) -> Vec<bool> {
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut last_words = Vec::with_capacity(MAX_WORDS);
    let new = shapes.shapes.get(from..).unwrap_or_default();
    let mut gains: Vec<(usize, usize)> = Vec::new();
    for (index, shape) in new.iter().enumerate().filter(|(_, shape)| shape.lines >= 3) {
        let line = lines.get(shape.example).copied().unwrap_or("");
        words::cut(line, &mut words);
        let head = shape.head.unwrap_or(words.len());
        let said = line.get(..words.get(head).map_or(line.len(), |word| word.start)).unwrap_or("");
        let own = weigh::tokens(said);
        let last = lines.get(shape.last).copied().unwrap_or("");
        words::cut(last, &mut last_words);
        let values = words.iter().zip(&last_words).enumerate().take(head);
        let values = values.filter(|(at, (word, _))| word.value || shape.values >> at & 1 == 1);
        let values: usize = values.map(|(_, (word, other))| differs(word.of(line), other.of(last))).sum();
        // A line that is no more than a letter afterwards, or a head of a word or two, is easier to read as it was.
        let bare = values == 0 || shape.head.is_some_and(|head| head < 3);
        let each = own.saturating_sub(values + 1);
        if each < if bare { BARE } else { 1 } {
            continue;
        }
        let saved = each * (shape.lines as usize - 1);
        if let Some(gain) = saved.checked_sub(own + 4).filter(|gain| *gain > 0) {
            gains.push((gain, index));
        }
    }
    gains.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept = vec![false; new.len()];
    for (_, index) in gains.into_iter().take(most) {
        if let Some(kept) = kept.get_mut(index) {
            *kept = true;
        }
    }
    kept
}

/// About what a value costs in a row, given another of the same column.
fn differs(value: &str, other: &str) -> usize {
    if value == other {
        return 0;
    }
    1 + weigh::tokens(form::shortened(value, other))
}

/// The templates of the chosen shapes, in the order of their first lines, and of each line its template.
fn learn<'t>(lines: &[&'t str], shapes: &Shapes) -> Option<(Vec<Template<'t>>, Vec<Option<u8>>)> {
    let mut words: Vec<Word> = Vec::with_capacity(MAX_WORDS);
    let mut templates: Vec<Template<'t>> = Vec::new();
    let mut number: Vec<Option<u8>> = vec![None; shapes.shapes.len()];
    let mut of = Vec::with_capacity(lines.len());
    for (line, shape_of) in lines.iter().zip(&shapes.of) {
        let shape = shape_of.and_then(|index| shapes.shapes.get(index as usize).map(|shape| (index, shape)));
        let Some((index, shape)) = shape else {
            of.push(None);
            continue;
        };
        words::cut(line, &mut words);
        let number = number.get_mut(index as usize)?;
        let chosen = *number.get_or_insert_with(|| {
            let head = shape.head.unwrap_or(words.len());
            let is_value = |at: usize, word: &Word| word.value || shape.values >> at & 1 == 1;
            let columns = words.iter().take(head).enumerate();
            let columns = columns.map(|(at, word)| Column::new(line, word, is_value(at, word))).collect();
            let (head, tail) = (shape.head.is_some(), words::tail(line, &words));
            templates.push(Template { columns, tail, head, spaced_rest: true, slots: Vec::new() });
            u8::try_from(templates.len() - 1).unwrap_or(u8::MAX)
        });
        of.push(Some(chosen));
        let template = templates.get_mut(usize::from(chosen))?;
        let columns = template.columns.len();
        for (at, (column, word)) in template.columns.iter_mut().zip(&words).enumerate() {
            let after = words.get(at + 1).filter(|_| at + 1 < columns).map(|word| word.before(line));
            column.learn(word.before(line), word.of(line), after);
        }
        if template.head {
            template.spaced_rest &= rest(line, &words, columns).starts_with(' ');
        }
    }
    (!templates.is_empty()).then_some((templates, of))
}

/// What follows after so many words.
fn rest<'t>(line: &'t str, words: &[Word], columns: usize) -> &'t str {
    let end = columns.checked_sub(1).and_then(|last| words.get(last)).map_or(0, |word| word.end);
    line.get(end..).unwrap_or("")
}

/// Decides how each column is written. Columns with which the lines of all templates begin share the value above; their
/// number of fields is returned.
fn settle(templates: &mut [Template<'_>]) -> usize {
    let mut common: Vec<Column<'_>> = Vec::new();
    if let Some((first, others)) = templates.split_first().filter(|(_, others)| !others.is_empty()) {
        for (at, column) in first.columns.iter().enumerate() {
            let joined =
                others.iter().try_fold(column.clone(), |joined, other| other.columns.get(at)?.join(&joined));
            let Some(mut joined) = joined else { break };
            joined.settle(None);
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
                None => column.settle(left.last_mut().filter(|_| at > common.len())),
            }
        }
    }
    common.iter().filter(|column| column.form != Form::Said).count()
}

/// The templates as they are shown; each field is given its slot.
fn legends(templates: &mut [Template<'_>], shared: usize) -> Vec<Legend> {
    let mut slots = shared;
    let mut legends = Vec::with_capacity(templates.len());
    for template in templates {
        let mut legend = Legend::default();
        let mut padded = false;
        for column in &template.columns {
            match (column.form, column.gap()) {
                (Form::Right(_), _) => {}
                (_, Some(_)) if padded => {}
                (Form::Loose, _) => legend.say(" "),
                (_, Some(gap)) => legend.say(&" ".repeat(gap)),
                (_, None) => legend.say(column.sep),
            }
            padded = matches!(column.form, Form::Left(_));
            match column.form {
                Form::Said => legend.say(column.first),
                Form::Plain | Form::Fixed(_) => {
                    legend.say(column.first.get(..column.prefix).unwrap_or(""));
                    legend.field(Field::Value(column.form));
                    legend.say(column.first.get(column.first.len() - column.suffix..).unwrap_or(""));
                }
                Form::Right(_) | Form::Left(_) | Form::Loose => legend.field(Field::Value(column.form)),
            }
        }
        if template.head {
            legend.say(if template.spaced_rest { " " } else { "" });
            legend.field(Field::Rest);
        } else {
            legend.say(template.tail);
        }
        template.slots = (0..legend.fields.len())
            .map(|field| if field < shared { field } else { slots + field })
            .collect();
        slots += legend.fields.len();
        legends.push(legend);
    }
    legends
}

struct Body {
    text: String,
    /// Lines that stand in it as they are.
    raw: usize,
}

/// The rows. Each ends with a newline.
fn rows<'t>(lines: &[&'t str], of: &[Option<u8>], templates: &[Template<'t>]) -> Option<Body> {
    let slots = templates.iter().flat_map(|template| &template.slots).max().map_or(0, |slot| slot + 1);
    let mut above: Vec<&str> = vec![""; slots];
    let mut body = Body { text: String::new(), raw: 0 };
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut values: Vec<(&'t str, bool)> = Vec::with_capacity(MAX_WORDS);
    let keys = KEYS.get(..templates.len())?.as_bytes();
    for (line, of) in lines.iter().zip(of) {
        let template = of.and_then(|of| Some((*keys.get(usize::from(of))?, templates.get(usize::from(of))?)));
        let Some((key, template)) =
            template.filter(|(_, template)| template.values(line, &mut words, &mut values))
        else {
            body.raw += 1;
            let bytes = line.as_bytes();
            let like_a_row = bytes.first().is_some_and(|first| keys.contains(first))
                && matches!(bytes.get(1), None | Some(b' '));
            if like_a_row || line.starts_with('\\') {
                body.text.push('\\');
            }
            body.text.push_str(line);
            body.text.push('\n');
            continue;
        };
        body.text.push(char::from(key));
        let mut end = body.text.len();
        for ((value, fixed), slot) in values.iter().zip(&template.slots) {
            let above = above.get_mut(*slot)?;
            body.text.push(' ');
            if above == value {
                body.text.push_str(SAME);
            } else {
                body.text.push_str(if *fixed { form::shortened(value, above) } else { value });
                *above = value;
                end = body.text.len();
            }
        }
        body.text.truncate(end);
        body.text.push('\n');
    }
    Some(body)
}

impl<'t> Template<'t> {
    /// The values of a line, each with whether it may be written shorter. False where the line is not of this template
    /// after all: a word too long for its column, a separator of another width.
    fn values(&self, line: &'t str, words: &mut Vec<Word>, values: &mut Vec<(&'t str, bool)>) -> bool {
        values.clear();
        let whole = words::cut(line, words);
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
                (Form::Loose, None, _) => sep.starts_with(' ') && spaces(),
                (Form::Right(width), None, _) => {
                    spaces() && !sep.is_empty() && sep.len() + said.len() == width
                }
                (_, None, Some(gap)) => spaces() && sep.len() == gap,
                (_, None, None) => sep == column.sep,
            };
            let first = column.first;
            let fits = match column.form {
                Form::Said => said == first,
                Form::Plain | Form::Fixed(_) => match column.cut(said) {
                    Some(value) => {
                        let fixed = matches!(column.form, Form::Fixed(width) if value.len() == width);
                        values.push((value, fixed));
                        fixed || column.form == Form::Plain
                    }
                    None => false,
                },
                Form::Right(_) => {
                    values.push((said, false));
                    true
                }
                Form::Loose => match line.get(word.sep + 1..word.end) {
                    Some(value) => {
                        values.push((value, false));
                        true
                    }
                    None => false,
                },
                Form::Left(width) => {
                    values.push((said, false));
                    filled = width.checked_sub(said.len());
                    filled.is_some()
                }
            };
            if !apart || !fits {
                return false;
            }
        }
        if self.head {
            let rest = rest(line, words, self.columns.len());
            let rest = if self.spaced_rest { rest.strip_prefix(' ').unwrap_or("") } else { rest };
            values.push((rest, false));
            return !rest.is_empty() && rest != SAME && !words::is_closed(line);
        }
        words::tail(line, words) == self.tail
    }
}

impl Column<'_> {
    /// What is left of a word without what all words of the column begin and end with.
    fn cut<'v>(&self, said: &'v str) -> Option<&'v str> {
        let (head, tail) =
            (self.first.get(..self.prefix)?, self.first.get(self.first.len() - self.suffix..)?);
        said.strip_prefix(head)?.strip_suffix(tail).filter(|value| !value.is_empty())
    }
}
