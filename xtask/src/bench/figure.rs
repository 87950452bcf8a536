//! A measured number, its target, and how it is shown.

use serde_json::json;
use std::fmt::Write as _;

/// Unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FigureUnit {
    /// A ratio, which is the same on any machine.
    Times,
    /// A count of things, which is the same on any machine.
    Count,
    /// Nanoseconds.
    Nanos,
    /// Milliseconds.
    Millis,
    /// Events per second.
    EventsPerSecond,
    /// 10⁶ bytes per second.
    MegabytesPerSecond,
    /// 10⁶ bytes.
    Megabytes,
    /// Microseconds of processor time per event, over all threads.
    CpuMicros,
}

impl FigureUnit {
    const fn name(self) -> &'static str {
        match self {
            Self::Times => "×",
            Self::Count => "",
            Self::Nanos => "ns",
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

/// Direction of a target: a maximum or a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtMost,
    AtLeast,
}

/// A measured number.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Length of the session in events.
    pub(super) events: usize,
    /// Description of the measurement.
    pub(super) what: String,
    /// The measured value, in the figure's unit.
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

    /// Moves the figure to the rows for sessions of this length.
    pub(super) fn of(self, events: usize) -> Self {
        Self { events, ..self }
    }

    /// Adds the best result that others have reached, in words.
    pub(super) fn floor(self, floor: &'static str) -> Self {
        Self { floor: Some(floor), ..self }
    }

    /// Returns the factor by which the value is better than the target. Below 1, the target is missed.
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

/// Formats a number with about three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Returns Markdown tables: machine-independent figures first, then the others.
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

/// Returns all figures as one JSON array.
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
