//! A text as the reader of its kind sees it: what it is worth is found out once, however many goals are tried.

use crate::duplicates::{self, EarlierText};
use crate::kind::Kind;
use crate::lines::TextLines;
use crate::query::QueryTerms;
use crate::segment::TextSegment;
use crate::select::{self, KeepLimit};
use crate::span::LineSpan;
use crate::target::SizeTarget;
use crate::{code, html, json, readers};

/// A text and what is known of it so far.
pub(crate) struct TextReading<'t> {
    text: &'t str,
    kind: Kind,
    asked: &'t QueryTerms,
    earlier: &'t [EarlierText<'t>],
    seen: Option<ParsedText<'t>>,
}

enum ParsedText<'t> {
    Json(json::JsonReading<'t>),
    Html(Box<html::HtmlReading<'t>>),
    Lines(TextLines<'t>, Vec<LineSpan>),
}

impl<'t> TextReading<'t> {
    /// Nothing is read before it is asked for.
    pub(crate) fn of(
        text: &'t str,
        kind: Kind,
        asked: &'t QueryTerms,
        earlier: &'t [EarlierText<'t>],
    ) -> Self {
        Self { text, kind, asked, earlier, seen: None }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The text cut into pieces.
    pub(crate) fn pieces(&mut self, goal: SizeTarget) -> Vec<TextSegment> {
        if goal == SizeTarget::Exact && self.kind != Kind::Json {
            // What comes after this has need of the room.
            self.seen = None;
            return vec![TextSegment::Keep(0..self.text.len())];
        }
        let room = match goal {
            SizeTarget::Bytes(bytes) => KeepLimit::Bytes(bytes),
            SizeTarget::Exact | SizeTarget::Fold => KeepLimit::Fold,
        };
        let (text, kind, asked, earlier) = (self.text, self.kind, self.asked, self.earlier);
        match self.seen.get_or_insert_with(|| parse(text, kind, goal, asked, earlier)) {
            ParsedText::Json(reading) => reading.pieces(goal, asked),
            ParsedText::Html(reading) => reading.pieces(room),
            ParsedText::Lines(..) if goal == SizeTarget::Exact => vec![TextSegment::Keep(0..text.len())],
            ParsedText::Lines(lines, units) if goal == SizeTarget::Fold => {
                // There is one way to fold, and what comes after this has need of the room.
                select::join_spans(units);
                let pieces = select::select(lines, units, room);
                self.seen = None;
                pieces
            }
            ParsedText::Lines(lines, units) => select::select(lines, units, room),
        }
    }
}

fn parse<'t>(
    text: &'t str,
    kind: Kind,
    goal: SizeTarget,
    asked: &'t QueryTerms,
    earlier: &[EarlierText<'_>],
) -> ParsedText<'t> {
    let json = (kind == Kind::Json).then(|| json::JsonReading::of(text));
    if let Some(reading) = json.filter(|reading| !reading.is_empty()) {
        return ParsedText::Json(reading);
    }
    // What was said to be JSON and has none is a text like any.
    match kind {
        Kind::Html => ParsedText::Html(Box::new(html::HtmlReading::of(text, asked))),
        kind => {
            let lines = TextLines::of(text);
            let mut units = match (kind, goal) {
                (Kind::Code, SizeTarget::Bytes(_)) => code::units(&lines),
                (Kind::Code, SizeTarget::Exact | SizeTarget::Fold) => code::spans_folded(&lines),
                (kind, _) => readers::spans(&lines, kind),
            };
            if !earlier.is_empty() {
                duplicates::demote(&lines, &mut units, earlier);
            }
            asked.promote(text, &mut units);
            if !asked.is_empty() && matches!(kind, Kind::Code | Kind::Markdown) {
                select::raise_under_asked(&mut units);
            }
            ParsedText::Lines(lines, units)
        }
    }
}
