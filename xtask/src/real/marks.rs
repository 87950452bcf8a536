//! Places in real sessions that a reader marked, as data without text: positions and byte ranges.
//!
//! A mark holds the checksum of its bytes, so that a session that has changed is noticed.

use super::corpus::cksum;
use crate::program::ChoreResult;
use serde::Serialize;
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::message::{Body, Part};
use wunderblock::core::ports::Bodies;
use wunderblock::core::units::Seq;

/// A range of bytes in a text of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Place {
    /// Position of the message or of the summary.
    pub(crate) seq: Seq,
    /// Index of the part; 0 for a summary.
    pub(crate) part: usize,
    /// First byte of the range.
    pub(crate) from: usize,
    /// First byte after the range.
    pub(crate) to: usize,
}

/// A marked place with its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Name of the session.
    pub(crate) session: String,
    pub(crate) place: Place,
    /// Checksum of the bytes: see [`cksum`].
    pub(crate) cksum: u32,
    labels: Vec<String>,
}

/// Returns the marks of a table: lines of `session position part from to cksum label…`, and comments.
pub(crate) fn marks(table: &str) -> ChoreResult<Vec<Mark>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| mark(line).ok_or_else(|| format!("invalid mark: `{line}`").into())).collect()
}

fn mark(line: &str) -> Option<Mark> {
    let mut columns = line.split_whitespace().map(str::to_owned);
    let session = columns.next()?;
    let seq = Seq(columns.next()?.parse().ok()?);
    let mut number = || columns.next()?.parse::<usize>().ok();
    let place = Place { seq, part: number()?, from: number()?, to: number()? };
    let cksum = columns.next()?.parse().ok()?;
    Some(Mark { session, place, cksum, labels: columns.collect() })
}

impl Mark {
    /// Returns a label by its number; empty without one.
    pub(crate) fn label(&self, nth: usize) -> &str {
        self.labels.get(nth).map_or("", String::as_str)
    }

    /// Returns the marked text; `None` if the session no longer has these bytes there.
    pub(crate) fn text<'t>(&self, events: &'t [Event], bodies: &'t impl Bodies) -> Option<&'t str> {
        self.place.text(events, bodies).filter(|text| cksum(text.as_bytes()) == self.cksum)
    }
}

impl Place {
    /// Returns whether a range in the same text shares at least half of the shorter of the two.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let common = self.to.min(other.to).saturating_sub(self.from.max(other.from));
        let shorter = (self.to - self.from).min(other.to - other.from);
        (self.seq, self.part) == (other.seq, other.part) && common * 2 >= shorter.max(1)
    }

    /// Returns the text there.
    pub(crate) fn text<'t>(&self, events: &'t [Event], bodies: &'t impl Bodies) -> Option<&'t str> {
        text_at(events, bodies, self.seq, self.part)?.get(self.from..self.to)
    }
}

/// Returns a text part of a message, or the text of a summary.
pub(crate) fn text_at<'t>(
    events: &'t [Event],
    bodies: &'t impl Bodies,
    seq: Seq,
    part: usize,
) -> Option<&'t str> {
    let event = events.iter().find(|event| event.seq == seq)?;
    let body: &Body = match event.fact.as_ref()? {
        Fact::MessageAppended(said) => match said.message.parts.get(part)? {
            Part::Text { text, .. } => text,
            _ => return None,
        },
        Fact::SessionCompacted(made) => made.summary.as_ref()?,
        _ => return None,
    };
    bodies.of(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_line_of_places_and_labels() {
        let found = marks("# a comment\na__b__1 12 0 5 25 4711 rule person\n").unwrap();
        assert_eq!(
            (found.len(), found[0].label(0), found[0].label(1), found[0].label(2)),
            (1, "rule", "person", "")
        );
        assert!(marks("a__b__1 12 0 5").is_err());
    }

    #[test]
    fn ranges_meet_if_they_share_half_of_the_shorter() {
        let place = |seq, part, from, to| Place { seq: Seq(seq), part, from, to };
        let mark = place(12, 0, 10, 30);
        assert!(mark.meets(&place(12, 0, 12, 40)) && mark.meets(&place(12, 0, 0, 100)));
        assert!(!mark.meets(&place(12, 0, 25, 60)) && !mark.meets(&place(12, 1, 10, 30)));
    }
}
