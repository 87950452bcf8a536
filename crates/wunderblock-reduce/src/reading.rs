//! A text as the reader of its kind sees it. The spans of the text are ranked once, however many targets are tried.

use crate::command::Claim;
use crate::kind::Kind;
use crate::result::segment::TextSegment;
use crate::spans::duplicates::{self, EarlierText};
use crate::spans::query::QueryTerms;
use crate::spans::select::{self, KeepLimit};
use crate::spans::span::LineSpan;
use crate::target::SizeTarget;
use crate::text::lines::TextLines;
use crate::{code, html, json, readers};

/// A text, and facts about it.
pub(crate) struct TextReading<'t> {
    text: &'t str,
    kind: Kind,
    /// Claim of the command that printed the text.
    claim: &'t Claim,
    query: &'t QueryTerms,
    earlier: &'t [EarlierText<'t>],
    /// Number of source lines before the text.
    before: usize,
    seen: Option<ParsedText<'t>>,
}

enum ParsedText<'t> {
    Json(json::JsonReading<'t>),
    Html(Box<html::HtmlReading<'t>>),
    Lines(TextLines<'t>, Vec<LineSpan>),
}

impl<'t> TextReading<'t> {
    /// Returns a reading of a text. The text is not parsed until its segments are needed.
    pub(crate) fn of(
        text: &'t str,
        kind: Kind,
        claim: &'t Claim,
        query: &'t QueryTerms,
        earlier: &'t [EarlierText<'t>],
    ) -> Self {
        Self { text, kind, claim, query, earlier, before: 0, seen: None }
    }

    /// Returns the reading of a text that follows `lines` other lines in its source.
    pub(crate) fn after(self, lines: usize) -> Self {
        Self { before: lines, ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the number of source lines before the text.
    pub(crate) fn before(&self) -> usize {
        self.before
    }

    /// Returns the segments of the text for a target.
    pub(crate) fn segments(&mut self, target: SizeTarget) -> Vec<TextSegment> {
        if target == SizeTarget::Exact && self.kind != Kind::Json {
            // Only JSON has its own exact encoding. Other texts are kept whole, and their spans are freed because
            // later stages need the memory.
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
                // There is only one way to fold, so the spans are freed afterwards: later stages need the memory.
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
        // A text without a document is read as prose, even if the caller calls it JSON.
        if kind == Kind::Html {
            return ParsedText::Html(Box::new(html::HtmlReading::of(text, query)));
        }
        let lines = TextLines::after(self.before, text);
        let mut spans = match (kind, target) {
            // A fold leaves code as it is, so spans of code are never joined.
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
