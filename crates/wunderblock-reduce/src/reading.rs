//! A text as the reader of its kind sees it. Its spans are ranked once, however many targets are tried.

use crate::command::Claim;
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
    /// What its command says of it.
    claim: &'t Claim,
    query: &'t QueryTerms,
    earlier: &'t [EarlierText<'t>],
    /// Lines of the source before the text.
    before: usize,
    seen: Option<ParsedText<'t>>,
}

enum ParsedText<'t> {
    Json(json::JsonReading<'t>),
    Html(Box<html::HtmlReading<'t>>),
    Lines(TextLines<'t>, Vec<LineSpan>),
}

impl<'t> TextReading<'t> {
    /// A text that is not read before its segments are needed.
    pub(crate) fn of(
        text: &'t str,
        kind: Kind,
        claim: &'t Claim,
        (query, earlier): (&'t QueryTerms, &'t [EarlierText<'t>]),
    ) -> Self {
        Self { text, kind, claim, query, earlier, before: 0, seen: None }
    }

    /// The same for a text that follows `lines` others in its source.
    pub(crate) fn after(self, lines: usize) -> Self {
        Self { before: lines, ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Lines of the source before the text.
    pub(crate) fn before(&self) -> usize {
        self.before
    }

    /// The segments of the text at a target.
    pub(crate) fn segments(&mut self, target: SizeTarget) -> Vec<TextSegment> {
        if target == SizeTarget::Exact && self.kind != Kind::Json {
            // What comes after this has need of the room.
            self.seen = None;
            return vec![TextSegment::Keep(0..self.text.len())];
        }
        let room = match target {
            SizeTarget::Bytes(bytes) => KeepLimit::Bytes(bytes),
            SizeTarget::Exact | SizeTarget::Fold => KeepLimit::Fold,
        };
        let (text, query) = (self.text, self.query);
        if let SizeTarget::Bytes(bytes) = target
            && query.is_empty()
            && *self.claim == Claim::Selection
        {
            let lines = TextLines::after(self.before, text);
            if let Some(spans) = readers::selection::spans(&lines, bytes) {
                return select::select(&lines, &spans, room);
            }
        }
        if self.seen.is_none() {
            self.seen = Some(self.parse(target));
        }
        let Some(seen) = &mut self.seen else { return Vec::new() };
        match seen {
            ParsedText::Json(reading) => reading.segments(target, query),
            ParsedText::Html(reading) => reading.segments(room),
            ParsedText::Lines(..) if target == SizeTarget::Exact => vec![TextSegment::Keep(0..text.len())],
            ParsedText::Lines(lines, spans) if target == SizeTarget::Fold => {
                // There is one way to fold, and what comes after this has need of the room.
                select::join_spans(spans);
                let segments = select::select(lines, spans, room);
                self.seen = None;
                segments
            }
            ParsedText::Lines(lines, spans) => select::select(lines, spans, room),
        }
    }

    fn parse(&self, target: SizeTarget) -> ParsedText<'t> {
        let Self { text, kind, query, .. } = *self;
        let json = (kind == Kind::Json).then(|| json::JsonReading::of(text, self.before));
        if let Some(reading) = json.filter(|reading| !reading.is_empty()) {
            return ParsedText::Json(reading);
        }
        // What was said to be JSON and has none is a text like any.
        if kind == Kind::Html {
            return ParsedText::Html(Box::new(html::HtmlReading::of(text, query)));
        }
        let lines = TextLines::after(self.before, text);
        let mut spans = match (kind, target) {
            // A fold leaves code as it is.
            (Kind::Code, _) => code::spans(&lines),
            (kind, SizeTarget::Fold) if query.is_empty() && self.earlier.is_empty() => {
                readers::spans_folded(&lines, kind, self.claim.report())
            }
            (kind, _) => readers::spans(&lines, kind, self.claim.report()),
        };
        if !self.earlier.is_empty() {
            duplicates::demote(&lines, &mut spans, self.earlier);
        }
        query.promote(text, &mut spans);
        if !query.is_empty() && matches!(kind, Kind::Code | Kind::Markdown) {
            select::raise_under_query(&mut spans);
        }
        ParsedText::Lines(lines, spans)
    }
}
