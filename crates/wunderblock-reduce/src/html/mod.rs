//! Markup pages, shown as Markdown without the parts that only a browser needs.
//!
//! A page is read twice, each time in one pass and without a tree: first for its regions ([`regions`]), so that
//! navigation and scripts are known before anything is written, and then for its text ([`markdown`]). The text is
//! fitted to a budget like any other: its blocks are spans, and omissions are marked in bytes of the page.

mod entity;
mod markdown;
mod regions;
mod tokens;

use crate::part::{PartOfList, PartOfText};
use std::borrow::Cow;
use std::ops::Range;

use crate::result::label::Label;
use crate::result::mark::{self, Gap, GapFact, GapUnit};
use crate::result::segment::TextSegment;
use crate::spans::query::QueryTerms;
use crate::spans::select::{self, KeepLimit};
use crate::spans::span::{LineSpan, Rank, counts};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use markdown::{HtmlBlock, HtmlBlockKind};
use regions::{PageOutline, PagePart};

/// Number of bytes of text below which a page with scripts may load its content from elsewhere.
const SHELL_TEXT: usize = 200;
/// Ratio of page bytes to text bytes above which a page with scripts and little text does load its content from
/// elsewhere.
const SHELL_SHARE: usize = 100;
/// Minimum number of bytes shown between two marks.
const MIN_SHOWN_BYTES: usize = 200;
/// Minimum size of an omission that has its own mark, in bytes. A smaller omission is named in the mark of the text
/// around it.
const MIN_HIDDEN_BYTES: usize = 600;

/// Returns how certain it is that a text is a page of markup, or part of one. Other markup (feeds, build files) does
/// not count.
pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let head = sample.lines.iter().take(60).map(|line| line.trim_start().trim_start_matches('\u{feff}'));
    let starts =
        |line: &str, with: &str| line.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    for (said, line) in head.filter(|line| !line.is_empty()).enumerate() {
        if starts(line, "<!doctype html") || starts(line, "<html") {
            // The head of an HTTP response may precede a page, but hardly any other text does.
            return if said < 40 { 96 } else { 60 };
        }
        if starts(line, "<?xml") && memchr::memmem::find(first_bytes(sample.text), b"<html").is_none() {
            return 0;
        }
    }
    let first = sample.text.trim_start();
    if !first.starts_with('<') || first.starts_with("<?") {
        return 0;
    }
    let tagged = sample.share(|line| {
        let line = line.trim_start();
        line.strip_prefix("</").or_else(|| line.strip_prefix('<')).is_some_and(is_known)
    });
    let foreign = sample.share(|line| {
        let line = line.trim_start();
        line.starts_with('<')
            && !line.strip_prefix("</").or_else(|| line.strip_prefix('<')).is_some_and(is_known)
    });
    if tagged < 25 || foreign > tagged / 2 { 0 } else { (40 + tagged / 2).min(85) }
}

fn first_bytes(text: &str) -> &[u8] {
    text.as_bytes().get(..2_000).unwrap_or(text.as_bytes())
}

/// Returns whether the name of a tag is common in pages and rare in other markup.
fn is_known(tag: &str) -> bool {
    const KNOWN: [&str; 30] = [
        "div", "p", "span", "a", "ul", "ol", "li", "table", "tr", "td", "th", "h1", "h2", "h3", "h4",
        "section", "article", "body", "head", "script", "style", "link", "meta", "img", "br", "nav", "main",
        "pre", "!--", "form",
    ];
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '!' && c != '-').unwrap_or(tag.len());
    tag.get(..end).is_some_and(|name| KNOWN.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Returns the title of a page of HTML, and its text as Markdown without navigation, scripts and the like.
#[must_use]
pub fn page_markdown(page: &str) -> (Option<String>, String) {
    let (mut text, blocks) = markdown::write_markdown(page, &regions::read_page(page));
    // The title is the first block, wherever it is in the page.
    let title = blocks.first().filter(|block| block.sort == HtmlBlockKind::Title);
    let Some(end) = title.map(|block| block.shown.end) else { return (None, text) };
    let rest = text.split_off(end);
    let title = text.trim().strip_prefix("title: ").map(str::to_owned);
    (title, rest)
}

/// A page, its regions and its Markdown.
pub(crate) struct HtmlReading<'t> {
    text: &'t str,
    page: PageOutline,
    main: PageMarkdown,
}

/// The Markdown of a page, its blocks, and their worth.
struct PageMarkdown {
    shown: String,
    blocks: Vec<HtmlBlock>,
    spans: Vec<LineSpan>,
}

impl<'t> HtmlReading<'t> {
    pub(crate) fn of(text: &'t str, query: &QueryTerms) -> Self {
        let page = regions::read_page(text);
        let (shown, blocks) = markdown::write_markdown(text, &page);
        let mut spans = rank_blocks(&blocks, &shown);
        query.promote(&shown, &mut spans);
        if !query.is_empty() {
            select::raise_under_query(&mut spans);
        }
        Self { text, page, main: PageMarkdown { shown, blocks, spans } }
    }

    /// Cuts the page into segments. Each segment has a mark that names what it leaves out, followed by Markdown.
    pub(crate) fn segments(&mut self, room: KeepLimit) -> Vec<TextSegment> {
        let chosen = select::select(&TextLines::of(&self.main.shown), &self.main.spans, room);
        let omissions = find_omissions(&self.page, &self.main, &chosen, self.text.len());
        assemble_segments(&self.page, omissions, &self.main, self.text.len())
    }
}

/// Returns the spans of a page's blocks.
fn rank_blocks(blocks: &[HtmlBlock], shown: &str) -> Vec<LineSpan> {
    let mut after: Option<(HtmlBlockKind, u16)> = None;
    let mut spans = Vec::with_capacity(blocks.len());
    for block in blocks {
        // Number of blocks of the same kind directly before this one.
        let nth = after.filter(|(sort, _)| *sort == block.sort).map_or(0, |(_, nth)| nth.saturating_add(1));
        let (rank, score, label) = match block.sort {
            HtmlBlockKind::Title => (Rank::Frame, 990, Label::Titles),
            HtmlBlockKind::Heading(level) => {
                (Rank::Frame, 950 - 50 * u16::from(level.min(9)), Label::Headings)
            }
            HtmlBlockKind::TableHead => (Rank::Frame, 500, Label::Rows),
            HtmlBlockKind::Paragraph => (Rank::Context, if nth == 0 { 500 } else { 300 }, Label::Paragraphs),
            HtmlBlockKind::Item => (Rank::Context, if nth < 3 { 400 } else { 200 }, Label::Items),
            HtmlBlockKind::Row => (Rank::Context, if nth < 3 { 380 } else { 190 }, Label::Rows),
            HtmlBlockKind::Code => (Rank::Context, 350, Label::CodeBlocks),
        };
        let mut span = LineSpan::new(block.shown.clone(), rank);
        span.score = score;
        span.label = Some(label);
        if matches!(block.sort, HtmlBlockKind::Title | HtmlBlockKind::Heading(_)) {
            span.set_description(Some(shown.part(block.shown.clone()).trim().to_owned().into()));
        }
        spans.push(span);
        after = Some((block.sort, nth));
    }
    spans
}

/// A fact about an omission. Counts are put into words last, because several omissions may share a mark.
#[derive(Clone)]
enum PageFact {
    Blocks(Label, u64),
    Parts(String, u64),
    Said(Cow<'static, str>),
}

impl PageFact {
    /// Merges another fact into this one if both are about the same thing. Returns whether they are.
    fn joins(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Blocks(label, count), Self::Blocks(other, more)) if label == other => {
                *count += more;
                true
            }
            (Self::Parts(kind, count), Self::Parts(other, more)) if kind == other => {
                *count += more;
                true
            }
            (Self::Said(told), Self::Said(other)) => told == other,
            _ => false,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Blocks(label, count) => format!("{count} {}", label.fact(count).what),
            Self::Parts(kind, count) => format!("{count} {kind}{}", if count == 1 { "" } else { "s" }),
            Self::Said(told) => told.into_owned(),
        }
    }
}

/// A stretch of the page that is left out.
struct PageOmission {
    span: Range<usize>,
    facts: Vec<PageFact>,
    /// End of the Markdown before the omission. The Markdown continues at `resume`.
    until: usize,
    resume: usize,
}

/// Returns the omissions in the order of the source, without overlaps: regions of the page, and blocks that do not
/// fit.
fn find_omissions(
    page: &PageOutline,
    written: &PageMarkdown,
    chosen: &[TextSegment],
    length: usize,
) -> Vec<PageOmission> {
    let PageMarkdown { blocks, spans, shown } = written;
    let mut omissions = Vec::new();
    // The title is written first, wherever its source is.
    let before = |at: usize| {
        let next = blocks.partition_point(|block| block.start < at);
        let only_title = next == 1 && blocks.first().is_some_and(|block| block.sort == HtmlBlockKind::Title);
        if only_title { 0 } else { blocks.get(next).map_or(shown.len(), |block| block.shown.start) }
    };
    for region in page.skipped.iter().chain(&page.unread).filter(|region| !region.span.is_empty()) {
        let kind = Some(region.kind()).filter(|kind| !kind.is_empty());
        let mut facts: Vec<PageFact> = kind.map(|kind| PageFact::Parts(kind, 1)).into_iter().collect();
        facts.extend(region.titles.iter().map(|title| PageFact::Said(title.trim().to_owned().into())));
        let until = before(region.span.start);
        omissions.push(PageOmission { span: region.span.clone(), facts, until, resume: until });
    }
    for segment in chosen {
        let TextSegment::Gap { gap, .. } = segment else { continue };
        let start_of = |at: usize| {
            let next = blocks.partition_point(|block| block.shown.start < at);
            blocks.get(next).map_or(page.main.end.min(length), |block| block.start)
        };
        let from = spans.partition_point(|span| span.range().start < gap.span.start);
        let to = spans.partition_point(|span| span.range().end <= gap.span.end);
        let counts = counts(spans.part(from..to));
        let mut facts: Vec<PageFact> =
            counts.into_iter().map(|(label, count)| PageFact::Blocks(label, count)).collect();
        let told = gap.told.iter().filter(|told| told.count.is_none());
        facts.extend(told.map(|told| PageFact::Said(told.what.clone())));
        let start = start_of(gap.span.start);
        let span = start..start_of(gap.span.end).max(start);
        omissions.push(PageOmission { span, facts, until: gap.span.start, resume: gap.span.end });
    }
    omissions.sort_by_key(|omission| (omission.span.start, omission.until));
    let mut apart: Vec<PageOmission> = Vec::with_capacity(omissions.len());
    for omission in omissions {
        match apart
            .last_mut()
            .filter(|last| omission.span.start < last.span.end || omission.until <= last.resume)
        {
            Some(last) => {
                last.span.end = last.span.end.max(omission.span.end);
                last.until = last.until.min(omission.until);
                last.resume = last.resume.max(omission.resume);
                join_facts(&mut last.facts, omission.facts);
            }
            None => apart.push(omission),
        }
    }
    apart
}

fn join_facts(facts: &mut Vec<PageFact>, more: Vec<PageFact>) {
    for fact in more {
        if !facts.iter_mut().any(|known| known.joins(&fact)) {
            facts.push(fact);
        }
    }
}

/// Builds the segments. A large omission is a segment, and a small one is named in the mark of the text around it.
fn assemble_segments(
    page: &PageOutline,
    omissions: Vec<PageOmission>,
    written: &PageMarkdown,
    length: usize,
) -> Vec<TextSegment> {
    let text = &written.shown;
    let mut segments = Vec::new();
    let mut facts: Vec<PageFact> = Vec::new();
    let mut shown = String::new();
    let (mut start, mut from) = (0, 0);
    for omission in omissions {
        mark::escape(text.part(from..omission.until), &mut shown);
        from = from.max(omission.until).max(omission.resume);
        let is_short =
            omission.span.len() < MIN_HIDDEN_BYTES || !shown.is_empty() && shown.len() < MIN_SHOWN_BYTES;
        if is_short {
            let has_blocks = omission.resume > omission.until;
            if has_blocks && shown.len() > MIN_SHOWN_BYTES / 2 && omission.span.start > start {
                let facts = std::mem::take(&mut facts);
                segments.push(shown_segment(start..omission.span.start, facts, std::mem::take(&mut shown)));
                start = omission.span.start;
            }
            join_facts(&mut facts, omission.facts);
            continue;
        }
        if !shown.is_empty() {
            let facts = std::mem::take(&mut facts);
            segments.push(shown_segment(start..omission.span.start, facts, std::mem::take(&mut shown)));
            start = omission.span.start;
        }
        join_facts(&mut facts, omission.facts);
        let told = std::mem::take(&mut facts).into_iter().map(PageFact::text).collect();
        segments.push(make_segment(start..omission.span.end, told, String::new()));
        start = omission.span.end;
    }
    mark::escape(text.part(from..), &mut shown);
    if is_shell(page, &written.blocks, length) {
        facts.push(PageFact::Said("hardly any text: a shell that scripts fill".into()));
    }
    match segments.last_mut() {
        Some(TextSegment::Gap { shown: last, .. }) if start == length => *last = Some(shown),
        _ => segments.push(shown_segment(start..length, facts, shown)),
    }
    segments
}

/// Returns whether a page loads its content from elsewhere.
fn is_shell(page: &PageOutline, blocks: &[HtmlBlock], length: usize) -> bool {
    let bodied = blocks.iter().any(|block| block.sort != HtmlBlockKind::Title);
    let has_scripts = page.unread.iter().any(|region| region.part == PagePart::Script);
    !bodied || (has_scripts && page.text < SHELL_TEXT && page.text * SHELL_SHARE < length)
}

/// Maximum number of characters of facts in a mark. [`mark::gaps`] does not recognise marks of more than 600
/// characters.
const MAX_FACT_CHARS: usize = 480;

/// Returns a segment that is shown as Markdown after its mark. The mark names what the Markdown lacks.
fn shown_segment(span: Range<usize>, facts: Vec<PageFact>, shown: String) -> TextSegment {
    let mut told: Vec<String> = facts.into_iter().map(PageFact::text).collect();
    if !shown.trim().is_empty() {
        match told.first_mut() {
            Some(first) => first.insert_str(0, "as Markdown without "),
            None => told.push("as Markdown".into()),
        }
    }
    let mut shown = shown.trim_start_matches('\n').to_owned();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    make_segment(span, told, shown)
}

fn make_segment(span: Range<usize>, mut told: Vec<String>, shown: String) -> TextSegment {
    let mut room = MAX_FACT_CHARS;
    told.retain(|told| {
        let length = told.chars().count() + ", ".len();
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    });
    let told = told.into_iter().map(|what| GapFact { count: None, what: what.into() }).collect();
    let (first, last) = (span.start as u64 + 1, span.end as u64);
    let gap = Gap { span, measure: GapUnit::Bytes, first, last, within: None, told };
    TextSegment::Gap { gap, shown: Some(shown) }
}

#[cfg(test)]
mod tests;
