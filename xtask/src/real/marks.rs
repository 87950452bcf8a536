//! Places in real sessions that a reader marked, as data without text: positions and byte ranges.
//!
//! A mark holds the checksum of its bytes, so that a session that has changed is noticed.

use super::corpus::cksum;
use crate::program::ChoreResult;
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::message::{Body, Part};
use wunderblock::core::ports::Bodies;
use wunderblock::core::units::Seq;

/// A range of bytes in a text of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Name of the session.
    pub(crate) session: String,
    /// Position of the message or summary.
    pub(crate) seq: Seq,
    /// Index of the part; 0 for a summary.
    pub(crate) part: usize,
    /// First byte of the range, and the first byte after it.
    pub(crate) range: std::ops::Range<usize>,
    /// Checksum of the bytes: see [`cksum`].
    pub(crate) digest: u32,
    /// Further columns.
    pub(crate) labels: Vec<String>,
}

/// Returns the marks of a table: lines of `session position part from to digest label…`, and comments.
pub(crate) fn marks(table: &str) -> ChoreResult<Vec<Mark>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| mark(line).ok_or_else(|| format!("invalid mark: `{line}`").into())).collect()
}

fn mark(line: &str) -> Option<Mark> {
    let mut columns = line.split_whitespace().map(str::to_owned);
    let session = columns.next()?;
    let seq = Seq(columns.next()?.parse().ok()?);
    let part = columns.next()?.parse().ok()?;
    let range = columns.next()?.parse().ok()?..columns.next()?.parse().ok()?;
    let digest = columns.next()?.parse().ok()?;
    Some(Mark { session, seq, part, range, digest, labels: columns.collect() })
}

impl Mark {
    /// Returns a label by its number.
    pub(crate) fn label(&self, nth: usize) -> &str {
        self.labels.get(nth).map_or("", String::as_str)
    }

    /// Returns the marked text; `None` if the session no longer has these bytes there.
    pub(crate) fn text<'t>(&self, events: &'t [Event], bodies: &'t impl Bodies) -> Option<&'t str> {
        let text = text_at(events, bodies, (self.seq, self.part))?;
        text.get(self.range.clone()).filter(|text| cksum(text.as_bytes()) == self.digest)
    }

    /// Returns whether a range in the same text shares at least half of the shorter of the two.
    pub(crate) fn meets(&self, (seq, part): (Seq, usize), range: &std::ops::Range<usize>) -> bool {
        let common = self.range.end.min(range.end).saturating_sub(self.range.start.max(range.start));
        (self.seq, self.part) == (seq, part) && common * 2 >= self.range.len().min(range.len()).max(1)
    }
}

/// Returns a text part of a message, or the text of a summary.
pub(crate) fn text_at<'t>(
    events: &'t [Event],
    bodies: &'t impl Bodies,
    (seq, part): (Seq, usize),
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
        let mark = &marks("a 12 0 10 30 0 rule").unwrap()[0];
        assert!(mark.meets((Seq(12), 0), &(12..40)) && mark.meets((Seq(12), 0), &(0..100)));
        assert!(!mark.meets((Seq(12), 0), &(25..60)) && !mark.meets((Seq(12), 1), &(10..30)));
    }
}
