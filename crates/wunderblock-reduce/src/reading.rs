//! A text as the reader of its kind sees it: what it is worth is found out once, however many goals are tried.

use crate::duplicates::{self, Earlier};
use crate::kind::Kind;
use crate::lines::Lines;
use crate::query::Asked;
use crate::segment::Piece;
use crate::span::{self, Room, Unit};
use crate::target::Goal;
use crate::{code, html, json, readers};

/// A text and what is known of it so far.
pub(crate) struct Reading<'t> {
    text: &'t str,
    kind: Kind,
    asked: &'t Asked,
    earlier: &'t [Earlier<'t>],
    seen: Option<Seen<'t>>,
}

enum Seen<'t> {
    Json(json::Reading<'t>),
    Html(Box<html::Reading<'t>>),
    Lines(Lines<'t>, Vec<Unit>),
}

impl<'t> Reading<'t> {
    /// Nothing is read before it is asked for.
    pub(crate) fn of(text: &'t str, kind: Kind, (asked, earlier): (&'t Asked, &'t [Earlier<'t>])) -> Self {
        Self { text, kind, asked, earlier, seen: None }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The text cut into pieces.
    pub(crate) fn pieces(&mut self, goal: Goal) -> Vec<Piece> {
        if goal == Goal::Exact && self.kind != Kind::Json {
            // What comes after this has need of the room.
            self.seen = None;
            return vec![Piece::Keep(0..self.text.len())];
        }
        let room = match goal {
            Goal::Bytes(bytes) => Room::Bytes(bytes),
            Goal::Exact | Goal::Fold => Room::Fold,
        };
        let (text, kind, asked, earlier) = (self.text, self.kind, self.asked, self.earlier);
        match self.seen.get_or_insert_with(|| see(text, kind, goal, (asked, earlier))) {
            Seen::Json(reading) => reading.pieces(goal, asked),
            Seen::Html(reading) => reading.pieces(room),
            Seen::Lines(..) if goal == Goal::Exact => vec![Piece::Keep(0..text.len())],
            Seen::Lines(lines, units) if goal == Goal::Fold => {
                // There is one way to fold, and what comes after this has need of the room.
                span::join(units);
                let pieces = span::choose(lines, units, room);
                self.seen = None;
                pieces
            }
            Seen::Lines(lines, units) => span::choose(lines, units, room),
        }
    }
}

fn see<'t>(text: &'t str, kind: Kind, goal: Goal, (asked, earlier): (&'t Asked, &[Earlier<'_>])) -> Seen<'t> {
    let json = (kind == Kind::Json).then(|| json::Reading::of(text));
    if let Some(reading) = json.filter(|reading| !reading.is_empty()) {
        return Seen::Json(reading);
    }
    // What was said to be JSON and has none is a text like any.
    match kind {
        Kind::Html => Seen::Html(Box::new(html::Reading::of(text, asked))),
        kind => {
            let lines = Lines::of(text);
            let mut units = match (kind, goal) {
                (Kind::Code, Goal::Bytes(_)) => code::units(&lines),
                (Kind::Code, Goal::Exact | Goal::Fold) => code::folded(&lines),
                (kind, _) => readers::units(&lines, kind),
            };
            if !earlier.is_empty() {
                duplicates::demote(&lines, &mut units, earlier);
            }
            asked.promote(text, &mut units);
            if !asked.is_empty() && matches!(kind, Kind::Code | Kind::Markdown) {
                span::raise_under_asked(&mut units);
            }
            Seen::Lines(lines, units)
        }
    }
}
