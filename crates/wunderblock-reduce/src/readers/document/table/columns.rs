//! The columns of a table, and the rows that stand out in them.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::readers::line::fingerprint;
use crate::text::numbers::Numbers;

/// Maximum number of different values of a column that are counted one by one.
const MAX_VALUES: usize = 64;
/// Maximum number of different values in a column that classifies rows. A column with more values identifies rows.
const MAX_CLASSES: usize = 12;
/// Maximum number of rows with the same rare value that stay.
const MAX_RARE: u32 = 3;
/// Maximum number of rows that count as the lowest numbers of a column, and also as its highest.
const MAX_EXTREMES: u32 = 3;
/// Maximum number of columns that a mark describes.
const MAX_DESCRIBED: usize = 3;

/// The reason why a row stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotableRow {
    /// A value that few rows have, in a column with few different values.
    Rare,
    /// A number more than two standard deviations from the mean.
    Extreme,
    /// The first row after the value has changed.
    Change,
}

#[derive(Debug)]
pub(super) struct TableColumns {
    columns: Vec<TableColumn>,
}

#[derive(Debug, Default)]
struct TableColumn {
    name: Box<str>,
    filled: u64,
    sentences: u64,
    numbers: Numbers,
    /// Number of times that a number followed the previous one at the same distance. If all numbers follow at the
    /// same distance, the column is a counter.
    steps: u32,
    before: f64,
    step: f64,
    values: HashMap<u64, ValueCount>,
    /// Whether the column has more different values than are counted.
    many: bool,
    changes: u64,
    last: u64,
    is_number: bool,
    is_class: bool,
    has_runs: bool,
    low: f64,
    high: f64,
    lows: u32,
    highs: u32,
}

#[derive(Debug)]
struct ValueCount {
    text: Box<str>,
    count: u32,
    shown: u32,
}

/// Parses a number as tables write it: `1,234.5`, `12%`, `$3`.
fn parse_number(field: &str) -> Option<f64> {
    let field = field.trim();
    if !field.bytes().any(|byte| byte.is_ascii_digit()) || field.len() > 32 {
        return None;
    }
    let plain = field.trim_start_matches('$').trim_end_matches('%');
    let number =
        if plain.contains(',') { plain.replace(',', "").parse::<f64>() } else { plain.parse::<f64>() };
    number.ok().filter(|number| number.is_finite())
}

/// Formats a number with at most three digits after the decimal point.
fn format_number(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl TableColumns {
    pub(super) fn new(header: &[Cow<'_, str>]) -> Self {
        Self {
            columns: header
                .iter()
                .map(|name| TableColumn {
                    name: fingerprint::truncate(name.trim(), 24).into(),
                    ..TableColumn::default()
                })
                .collect(),
        }
    }

    /// Counts the fields of a row.
    pub(super) fn count(&mut self, fields: &[Cow<'_, str>]) {
        while self.columns.len() < fields.len() {
            let name = format!("column {}", self.columns.len() + 1).into();
            self.columns.push(TableColumn { name, ..TableColumn::default() });
        }
        for (column, field) in self.columns.iter_mut().zip(fields) {
            column.count(field);
        }
    }

    /// Decides the class of each column. Call this function after all rows have been counted.
    pub(super) fn classify(&mut self, rows: usize) {
        for column in &mut self.columns {
            let distinct = column.values.len();
            let numbers = column.numbers.count;
            column.is_number = u64::from(numbers) * 10 >= column.filled.max(1) * 9 && numbers > 2;
            let counter = column.is_number && column.steps + 2 >= numbers;
            let bounds = column.numbers.bounds().filter(|_| !counter);
            (column.low, column.high) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            column.is_class = !column.many
                && distinct >= 2
                && distinct <= MAX_CLASSES.max(rows / 50)
                && distinct * 3 <= rows
                && !counter;
            column.has_runs = column.is_class && column.changes * 20 <= rows as u64;
        }
    }

    /// Returns the reason why a row stands out, if it does, and a hash of the combination of its classes.
    pub(super) fn rank(&mut self, fields: &[Cow<'_, str>]) -> (Option<NotableRow>, u64) {
        let mut notable = None;
        let mut combination = 0u64;
        for (column, field) in self.columns.iter_mut().zip(fields) {
            let (found, class) = column.rank(field);
            combination = combination.rotate_left(7) ^ class;
            let better = matches!(
                (found, notable),
                (Some(NotableRow::Rare), _)
                    | (_, None)
                    | (Some(NotableRow::Extreme), Some(NotableRow::Change))
            );
            if better {
                notable = found;
            }
        }
        (notable, combination)
    }

    /// Returns whether most fields of some column are different sentences.
    pub(super) fn has_sentences(&self) -> bool {
        self.columns.iter().any(|column| column.many && column.sentences * 2 > column.filled)
    }

    /// Returns short descriptions of the columns: first of columns with few values, then of columns with numbers.
    pub(super) fn descriptions(&self) -> Vec<String> {
        let classes = self.columns.iter().filter(|column| column.is_class).map(TableColumn::describe_values);
        let numbers = self.columns.iter().filter(|column| column.is_number && !column.is_class);
        let numbers = numbers.filter(|column| column.high.is_finite());
        let numbers = numbers.filter_map(|column| {
            let (min, max) = column.numbers.range()?;
            Some(format!("{} {} … {}", column.name, format_number(min), format_number(max)))
        });
        classes.take(MAX_DESCRIBED - 1).chain(numbers).take(MAX_DESCRIBED).collect()
    }
}

impl TableColumn {
    fn count(&mut self, field: &str) {
        let field = field.trim();
        self.filled += u64::from(!field.is_empty());
        self.sentences += u64::from(field.len() > 12 && field.split(' ').nth(3).is_some());
        if let Some(number) = parse_number(field) {
            self.numbers.add(number, 0);
            if self.numbers.count > 1 {
                let step = number - self.before;
                self.steps += u32::from(step == self.step);
                self.step = step;
            }
            self.before = number;
        }
        if self.many {
            return;
        }
        let hash = fingerprint::exact_hash(field);
        self.changes += u64::from(hash != self.last);
        self.last = hash;
        if let Some(value) = self.values.get_mut(&hash) {
            value.count += 1;
        } else if self.values.len() < MAX_VALUES {
            self.values.insert(
                hash,
                ValueCount { text: fingerprint::truncate(field, 16).into(), count: 1, shown: 0 },
            );
        } else {
            self.many = true;
            self.values = HashMap::new();
        }
    }

    fn rank(&mut self, field: &str) -> (Option<NotableRow>, u64) {
        let field = field.trim();
        let hash = if self.is_class { fingerprint::exact_hash(field) } else { 0 };
        if self.is_class {
            let changed = self.has_runs && hash != self.last;
            self.last = hash;
            if let Some(value) = self.values.get_mut(&hash) {
                value.shown += 1;
                // A value is rare if at most 2 % of the rows have it.
                let rare = u64::from(value.count) * 50 <= self.filled.max(50) && value.shown <= MAX_RARE;
                if rare {
                    return (Some(NotableRow::Rare), hash);
                }
            }
            if changed {
                return (Some(NotableRow::Change), hash);
            }
        }
        if self.is_number
            && let Some(number) = parse_number(field)
        {
            if number < self.low
                && (self.numbers.range().is_some_and(|(min, _)| number == min) || self.lows < MAX_EXTREMES)
            {
                self.lows += 1;
                return (Some(NotableRow::Extreme), hash);
            }
            if number > self.high
                && (self.numbers.range().is_some_and(|(_, max)| number == max) || self.highs < MAX_EXTREMES)
            {
                self.highs += 1;
                return (Some(NotableRow::Extreme), hash);
            }
        }
        (None, hash)
    }

    fn describe_values(&self) -> String {
        let mut values: Vec<(&str, u32)> =
            self.values.values().map(|value| (&*value.text, value.count)).collect();
        values.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), *text));
        let shown: Vec<String> = values
            .iter()
            .take(4)
            .map(|(text, count)| format!("{count} {}", if text.is_empty() { "empty" } else { text }))
            .collect();
        let more = if values.len() > 4 { " …" } else { "" };
        format!("{}: {}{more}", self.name, shown.join(" / "))
    }
}
