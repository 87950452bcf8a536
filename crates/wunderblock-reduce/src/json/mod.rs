//! JSON: a document, one document per line, or documents within another text.

mod cuts;
mod fold;
mod layout;
mod locate;
mod path;
mod table;
mod tree;
mod worth;

#[cfg(test)]
mod tests;

pub(crate) use table::decoder::decode_block;

use crate::part::PartOfText;
use std::ops::Range;

use crate::result::mark::{self, Gap, GapUnit};
use crate::result::segment::TextSegment;
use crate::result::sink::TextSink;
use crate::spans::query::QueryTerms;
use crate::target::SizeTarget;
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use cuts::JsonCuts;
use fold::{DocumentFacts, FoldWidth};
use layout::JsonLayout;
pub use path::{JsonPlace, find_json};
use table::writer::TableChoices;
use tree::JsonTree;

/// Returns whether a text is one document, or one document per line.
pub(crate) fn is_document(text: &str) -> bool {
    locate::find_document(text).is_some()
}

/// Returns how certain it is that a text consists mostly of JSON.
pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    locate::vote(sample)
}

/// The documents of a text, and facts about them, which are kept because several sizes are tried for one budget.
pub(crate) struct JsonReading<'t> {
    text: &'t str,
    /// Number of source lines before the text.
    before: usize,
    documents: Vec<JsonDocument<'t>>,
}

struct JsonDocument<'t> {
    tree: JsonTree<'t>,
    layout: Option<JsonLayout>,
    tables: TableChoices,
    /// Whether the text contains nothing but this document.
    is_whole: bool,
    known: Option<DocumentFacts<'t>>,
    /// Size of the whole document when written, in bytes, if known.
    full: Option<usize>,
}

impl<'t> JsonDocument<'t> {
    fn of(tree: JsonTree<'t>, is_whole: bool) -> Self {
        let (layout, tables) = (JsonLayout::of(&tree), TableChoices::of(&tree));
        Self { tree, is_whole, layout, tables, known: None, full: None }
    }
}

impl<'t> JsonReading<'t> {
    pub(crate) fn of(text: &'t str, before: usize) -> Self {
        let document = locate::find_document(text);
        let is_whole = document.is_some();
        let found = match document {
            Some(tree) => vec![tree],
            // Text that this crate has already encoded stays as it is.
            None if text.contains("⟨=json") => Vec::new(),
            None => locate::find_documents(text),
        };
        let documents = found.into_iter().map(|tree| JsonDocument::of(tree, is_whole)).collect();
        Self { text, before, documents }
    }

    /// Returns whether the text contains no document.
    pub(crate) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    pub(crate) fn segments(&mut self, target: SizeTarget, query: &QueryTerms) -> Vec<TextSegment> {
        let (text, mut segments, mut at) = (self.text, Vec::new(), 0);
        let all: usize = self.documents.iter().map(|document| document.tree.span(0).len()).sum();
        for document in &mut self.documents {
            let span = document.tree.span(0);
            if at < span.start {
                segments.push(TextSegment::Keep(at..span.start));
            }
            let target = match target {
                SizeTarget::Bytes(bytes) => {
                    let bytes = bytes.saturating_sub(text.len() - all) as u128;
                    let share = bytes * span.len() as u128 / all.max(1) as u128;
                    SizeTarget::Bytes(usize::try_from(share).unwrap_or(usize::MAX))
                }
                target => target,
            };
            segments.extend(document.segments(target, query));
            at = span.end;
        }
        if at < text.len() {
            segments.push(TextSegment::Keep(at..text.len()));
        }
        let is_one = self.documents.first().is_some_and(|first| !first.tree.lines && first.is_whole);
        if !is_one || self.before > 0 {
            place_in_text(&TextLines::after(self.before, text), &mut segments);
        }
        segments
    }
}

/// Names gaps by lines of the text if they consist of whole lines, and by bytes otherwise, because a path is valid
/// only within one document.
fn place_in_text(lines: &TextLines<'_>, segments: &mut [TextSegment]) {
    let text = lines.text();
    for segment in segments {
        let TextSegment::Gap { gap, .. } = segment else { continue };
        gap.within = None;
        let Range { start, end } = gap.span;
        let (first, last) = (lines.at(start), lines.at(end.saturating_sub(1).max(start)));
        let begins = text.get(lines.span(first).start..start).is_some_and(|before| before.trim().is_empty());
        let ends = text.get(end..lines.span(last).end).is_some_and(|after| after.trim().is_empty());
        (gap.measure, gap.first, gap.last) = if begins && ends && start < end {
            (GapUnit::Lines, lines.number(first) as u64, lines.number(last) as u64)
        } else {
            (GapUnit::Bytes, start as u64 + 1, end as u64)
        };
    }
}

impl<'t> JsonDocument<'t> {
    fn segments(&mut self, target: SizeTarget, query: &QueryTerms) -> Vec<TextSegment> {
        let written = match target {
            SizeTarget::Exact => self.layout.is_some().then(|| self.encoded(&JsonCuts::default())).flatten(),
            SizeTarget::Fold => self.at(FoldWidth::STEPS[0], query),
            SizeTarget::Bytes(bytes) => self.within(bytes, query),
        };
        written.unwrap_or_else(|| vec![TextSegment::Keep(self.tree.span(0))])
    }

    fn at(&mut self, width: FoldWidth, query: &QueryTerms) -> Option<Vec<TextSegment>> {
        let known = self.known.get_or_insert_with(|| DocumentFacts::of(&self.tree, query));
        let cuts = fold::choose_cuts(&self.tree, width, known);
        self.encoded(&cuts)
    }

    fn encoded(&mut self, cuts: &JsonCuts) -> Option<Vec<TextSegment>> {
        encode_document(&self.tree, cuts, self.layout.as_ref(), &mut self.tables)
    }

    /// Returns the widest choice that fits.
    fn within(&mut self, room: usize, query: &QueryTerms) -> Option<Vec<TextSegment>> {
        if self.full.is_none_or(|full| full <= room) {
            let whole = self.encoded(&JsonCuts::default());
            let full = whole.as_ref().map_or(self.tree.span(0).len(), |segments| written_size(segments));
            self.full = Some(full);
            if full <= room {
                return whole;
            }
        }
        for step in FoldWidth::STEPS {
            let Some(best) = self.at(step, query) else { continue };
            if written_size(&best) <= room {
                return Some(self.filled(step, best, room, query));
            }
        }
        Some(cut_off(&self.tree, room))
    }

    /// Distributes the remaining room among the parts that would be left out, giving each part the same share.
    fn filled(
        &mut self,
        step: FoldWidth,
        mut best: Vec<TextSegment>,
        room: usize,
        query: &QueryTerms,
    ) -> Vec<TextSegment> {
        let (mut low, mut high, mut at_low, mut at_high) =
            (0, 1_000, written_size(&best), self.full.unwrap_or(0));
        for turn in 0..6 {
            if at_low * 100 >= room * 96 || high <= low + 1 {
                break;
            }
            let even = room.saturating_sub(at_low) * (high - low) / at_high.saturating_sub(at_low).max(1);
            // Sizes do not grow evenly with the share, so every second guess is moved towards the middle.
            let share = if turn % 2 == 0 { even } else { even.midpoint((high - low) / 2) };
            let more = low + share.clamp(1, high - low - 1);
            let Some(tried) = self.at(step.with(more), query) else { break };
            let tried_size = written_size(&tried);
            if tried_size <= room {
                (low, at_low, best) = (more, tried_size, tried);
            } else {
                (high, at_high) = (more, tried_size);
            }
        }
        best
    }
}

/// Returns the document in fewer words, or `None` if that is not shorter.
fn encode_document(
    tree: &JsonTree<'_>,
    cuts: &JsonCuts,
    layout: Option<&JsonLayout>,
    tables: &mut TableChoices,
) -> Option<Vec<TextSegment>> {
    let coded = layout.map(|layout| {
        let args = layout.args();
        let head = if args.is_empty() { "⟨=json⟩".to_owned() } else { format!("⟨=json {args}⟩") };
        table::writer::write_segments(tree, cuts, tables, &head, "⟨=⟩")
    });
    let coded = coded.filter(|segments| cuts.is_empty() || decodes_to(segments, tree.text));
    // A document that cannot be encoded keeps its text around the cuts.
    let segments = coded.unwrap_or_else(|| cut_source(tree, cuts));
    (written_size(&segments) < tree.span(0).len()).then_some(segments)
}

/// Returns the source around the cuts, with gaps in place of the cuts.
fn cut_source(tree: &JsonTree<'_>, cuts: &JsonCuts) -> Vec<TextSegment> {
    let Range { start: mut from, end } = tree.span(0);
    let mut segments = Vec::new();
    for gap in cuts.gaps() {
        segments.push(TextSegment::Keep(from..gap.span.start));
        from = gap.span.end;
        segments.push(TextSegment::Gap { gap: gap.clone(), shown: None });
    }
    segments.push(TextSegment::Keep(from..end));
    segments
}

/// Returns whether segments with gaps decode to the source around the gaps.
fn decodes_to(segments: &[TextSegment], source: &str) -> bool {
    let (mut said, mut meant) = (String::new(), String::new());
    for segment in segments {
        match segment {
            TextSegment::Coded { span, text } => {
                said.push_str(text);
                mark::escape(source.part(span.clone()), &mut meant);
            }
            TextSegment::Gap { gap, .. } => {
                let mark = gap.mark(None);
                said.push_str(&mark);
                meant.push_str(&mark);
            }
            TextSegment::Keep(_) | TextSegment::Note(_) => return false,
        }
    }
    decode_text(&said, TextSink::comparing(&meant)).is_some()
}

/// Returns the text that a whole encoded block represents.
fn decode_text(code: &str, mut out: TextSink<'_>) -> Option<String> {
    let (head, body) = code.strip_prefix("⟨=json")?.strip_suffix("⟨=⟩")?.split_once('⟩')?;
    decode_block(head.trim_start(), body, &mut out)?;
    out.finish()
}

/// Approximate number of bytes by which the first mark is longer than the others, because it contains the handle and
/// the count.
const NAMED_BYTES: usize = 36;
/// Approximate size of the mark of a gap that is counted in bytes.
const STRETCH_MARK_BYTES: usize = 88;

fn written_size(segments: &[TextSegment]) -> usize {
    let of = |segment: &TextSegment| match segment {
        TextSegment::Coded { text, .. } => text.len(),
        TextSegment::Keep(span) => span.len(),
        TextSegment::Gap { gap, .. } => gap.short_mark().len(),
        TextSegment::Note(note) => note.len(),
    };
    let gap = segments.iter().any(|segment| matches!(segment, TextSegment::Gap { .. }));
    segments.iter().map(of).sum::<usize>() + if gap { NAMED_BYTES } else { 0 }
}

/// Returns the beginning of a document when no choice fits into the room.
fn cut_off(tree: &JsonTree<'_>, room: usize) -> Vec<TextSegment> {
    let span = tree.span(0);
    let mut at = span.start + room.saturating_sub(STRETCH_MARK_BYTES).min(span.len());
    while !tree.text.is_char_boundary(at) {
        at -= 1;
    }
    let (first, last) = (at as u64 + 1, span.end as u64);
    let gap =
        Gap { span: at..span.end, measure: GapUnit::Bytes, first, last, within: None, told: Vec::new() };
    vec![TextSegment::Keep(span.start..at), TextSegment::Gap { gap, shown: None }]
}
