//! One measured number, what it is held against, and how it is shown.

use serde_json::json;
use std::fmt::Write as _;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FigureUnit {
    /// A ratio: the same on a faster machine.
    Times,
    /// A number of things: the same on any machine.
    Count,
    /// Milliseconds.
    Millis,
    /// Events a second.
    EventsPerSecond,
    /// 10⁶ bytes a second.
    MegabytesPerSecond,
    /// 10⁶ bytes.
    Megabytes,
    /// Microseconds of processor time for each event, all threads together.
    CpuMicros,
}

impl FigureUnit {
    const fn name(self) -> &'static str {
        match self {
            Self::Times => "×",
            Self::Count => "",
            Self::Millis => "ms",
            Self::EventsPerSecond => "events/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Megabytes => "MB",
            Self::CpuMicros => "µs CPU/event",
        }
    }

    const fn is_machine_independent(self) -> bool {
        matches!(self, Self::Times | Self::Count)
    }
}

/// What a number should be: not more than a limit, or not less.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtMost,
    AtLeast,
}

/// A measured number.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// How long the session was.
    pub(super) events: usize,
    /// What was measured.
    pub(super) what: String,
    /// The number.
    pub(super) value: f64,
    unit: FigureUnit,
    target: Option<(Bound, f64)>,
    floor: Option<&'static str>,
}

impl Figure {
    pub(super) fn new(events: usize, what: &str, value: f64, unit: FigureUnit) -> Self {
        Self { events, what: what.to_owned(), value, unit, target: None, floor: None }
    }

    pub(super) fn millis(events: usize, what: &str, value: f64) -> Self {
        Self::new(events, what, value, FigureUnit::Millis)
    }

    pub(super) fn at_most(self, limit: f64) -> Self {
        Self { target: Some((Bound::AtMost, limit)), ..self }
    }

    pub(super) fn at_least(self, limit: f64) -> Self {
        Self { target: Some((Bound::AtLeast, limit)), ..self }
    }

    /// Puts it in the rows of a session of this length.
    pub(super) fn of(self, events: usize) -> Self {
        Self { events, ..self }
    }

    /// What the best of the others reach, in words (DESIGN §7).
    pub(super) fn floor(self, floor: &'static str) -> Self {
        Self { floor: Some(floor), ..self }
    }

    /// How many times better than the target; below 1 it is missed.
    fn ratio(&self) -> Option<f64> {
        self.target.map(|target| match target {
            (Bound::AtMost, most) => most / self.value.max(f64::EPSILON),
            (Bound::AtLeast, least) => self.value / least,
        })
    }

    fn cells(&self) -> [String; 7] {
        let unit = self.unit.name();
        let target = match self.target {
            Some((Bound::AtMost, most)) => format!("≤ {}", number(most)),
            Some((Bound::AtLeast, least)) => format!("≥ {}", number(least)),
            None => String::new(),
        };
        let verdict = self.ratio().map_or("", |ratio| if ratio >= 1.0 { "✓" } else { "✗" });
        [
            verdict.to_owned(),
            self.what.clone(),
            self.events.to_string(),
            format!("{} {unit}", number(self.value)).trim_end().to_owned(),
            target,
            self.ratio().map(|ratio| format!("{}×", number(ratio))).unwrap_or_default(),
            self.floor.unwrap_or_default().to_owned(),
        ]
    }
}

/// A number with three digits that mean something.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Markdown: first what does not depend on the machine, then what does.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut out = String::new();
    for (title, independent) in [("Ratios, the same on any machine", true), ("On this machine", false)] {
        let chosen = figures.iter().filter(|figure| figure.unit.is_machine_independent() == independent);
        let mut rows =
            vec![["", "what", "events", "measured", "target", "target met", "others"].map(str::to_owned)];
        rows.extend(chosen.map(Figure::cells));
        let _ = writeln!(out, "\n### {title}\n");
        lay_out(&mut out, &rows);
    }
    out
}

fn lay_out(out: &mut String, rows: &[[String; 7]]) {
    let wide = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(wide);
    for (line, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(out, "| {cell}{} ", " ".repeat(width - cell.chars().count()));
        }
        out.push_str("|\n");
        if line == 0 {
            for width in widths {
                let _ = write!(out, "|{}", "-".repeat(width + 2));
            }
            out.push_str("|\n");
        }
    }
}

/// All figures as one JSON array.
pub(super) fn json(figures: &[Figure]) -> String {
    let figures: Vec<_> = figures
        .iter()
        .map(|figure| {
            let kind = figure.target.map(|(bound, _)| if bound == Bound::AtMost { "at_most" } else { "at_least" });
            let target = figure.target.map(|(_, limit)| limit);
            json!({
                "what": figure.what, "events": figure.events, "value": figure.value, "unit": figure.unit.name(),
                "target_kind": kind, "target": target, "ratio": figure.ratio(), "floor": figure.floor,
                "met": figure.ratio().map(|ratio| ratio >= 1.0),
            })
        })
        .collect();
    serde_json::Value::Array(figures).to_string()
}
