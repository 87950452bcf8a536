//! The text of a page as Markdown, block by block, each with its place in the source.

mod raw;
mod tables;
mod title;

use std::ops::Range;

use super::entity;
use super::region::PageOutline;
use super::token::{HtmlToken, HtmlTokens, LowerName, attribute};
use tables::HtmlTable;
use title::TitleState;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlBlockKind {
    Title,
    Heading(u8),
    Paragraph,
    Item,
    TableHead,
    Row,
    /// The first lines of a code block.
    Code,
    /// More of it.
    MoreCode,
    /// A part of a script or a style sheet.
    Script,
    Style,
}

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HtmlBlock {
    pub(super) sort: HtmlBlockKind,
    /// Where it stands in the Markdown. Blocks tile it.
    pub(super) shown: Range<usize>,
    /// Where its source begins.
    pub(super) start: usize,
}

/// A code block is cut into parts of so many lines.
const CODE_LINES: usize = 16;
/// Lists and quotations are indented up to this depth.
const DEPTH_MAX: usize = 6;

/// The Markdown of a page and its blocks.
pub(super) fn write(text: &str, page: &PageOutline) -> (String, Vec<HtmlBlock>) {
    let mut writer =
        MarkdownWriter { out: String::with_capacity(text.len() / 3), ..MarkdownWriter::default() };
    let mut tokens = HtmlTokens::of(text);
    let mut skipped = page.skipped.iter().peekable();
    let mut title = TitleState::default();
    let mut raw = HtmlBlockKind::Script;
    while let Some((span, token)) = tokens.next() {
        if title.takes(&token, &mut writer, span.start) || span.start < page.main.start {
            continue;
        }
        if span.start >= page.main.end {
            break;
        }
        while skipped.next_if(|region| region.span.end <= span.start).is_some() {}
        if let Some(region) = skipped.next_if(|region| region.span.start <= span.start) {
            writer.space();
            tokens.jump(region.span.end);
            continue;
        }
        match token {
            HtmlToken::Text(said) => writer.text(said, span.start),
            HtmlToken::Open { name, attributes, .. } => {
                raw = if name.eq_ignore_ascii_case("style") {
                    HtmlBlockKind::Style
                } else {
                    HtmlBlockKind::Script
                };
                writer.open(name, attributes, span.start);
            }
            HtmlToken::Close(name) => writer.close(name, span.start),
            HtmlToken::Raw if page.raw => writer.raw(text.get(span.clone()).unwrap_or(""), span.start, raw),
            HtmlToken::Aside | HtmlToken::Raw => {}
        }
    }
    writer.flush(HtmlBlockKind::Paragraph);
    (writer.out, writer.blocks)
}

#[derive(Default)]
struct MarkdownWriter<'t> {
    out: String,
    blocks: Vec<HtmlBlock>,
    /// The block that is being read, and where its source begins.
    line: String,
    start: Option<usize>,
    /// Links that are open in it: where their text begins, and where they lead.
    links: Vec<(usize, &'t str)>,
    /// Lists that are open: the number of the next item, or none if they have no numbers.
    lists: Vec<Option<u32>>,
    quotes: usize,
    heading: Option<u8>,
    in_item: bool,
    tables: Vec<HtmlTable>,
    /// The code block that is being read: its language, and where its lines begin in `line` and in the source.
    code: Option<(&'t str, Vec<(usize, usize)>)>,
    scratch: String,
}

impl<'t> MarkdownWriter<'t> {
    fn in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.in_cell)
    }

    fn text(&mut self, said: &str, at: usize) {
        if let Some((_, lines)) = &mut self.code {
            for piece in said.split_inclusive('\n') {
                let offset = piece.as_ptr() as usize - said.as_ptr() as usize;
                if self.line.is_empty() || self.line.ends_with('\n') {
                    lines.push((self.line.len(), at + offset));
                }
                entity::decode(piece, &mut self.line);
            }
            return;
        }
        let blank = said.bytes().all(|byte| byte.is_ascii_whitespace());
        if blank {
            self.space();
            return;
        }
        self.start.get_or_insert(at);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let said = if memchr::memchr(b'&', said.as_bytes()).is_some() {
            entity::decode(said, &mut scratch);
            scratch.as_str()
        } else {
            said
        };
        if said.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
        for (nth, word) in said.split_ascii_whitespace().enumerate() {
            if nth > 0 {
                self.line.push(' ');
            }
            self.line.push_str(word);
        }
        if said.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
        self.scratch = scratch;
    }

    fn space(&mut self) {
        if self.code.is_none() && !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
            self.line.push(' ');
        }
    }

    /// Where one block ends and another may begin.
    fn boundary(&mut self) {
        if self.in_cell() || self.heading.is_some() {
            self.space();
        } else {
            self.flush(HtmlBlockKind::Paragraph);
        }
    }

    fn open(&mut self, name: &str, attributes: &'t str, at: usize) {
        let lower = LowerName::of(name);
        if let Some((language, _)) = &mut self.code {
            // Code is often coloured: only its language is of interest.
            if language.is_empty() && lower.as_str() == "code" {
                *language = language_of(attributes);
            }
            if lower.as_str() == "br" {
                self.line.push('\n');
            }
            return;
        }
        match lower.as_str() {
            "a" => self.links.push((self.line.len(), attribute(attributes, "href").unwrap_or(""))),
            "img" => self.image(attributes, at),
            "code" | "kbd" | "samp" | "tt" => self.line.push('`'),
            "time" => self.space(),
            "br" => self.line_break(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.boundary();
                if !self.in_cell() {
                    self.heading = name.bytes().last().map(|digit| digit - b'0');
                }
            }
            "ul" | "menu" => self.list(None),
            "ol" => self
                .list(Some(attribute(attributes, "start").and_then(|start| start.parse().ok()).unwrap_or(1))),
            "li" => {
                self.boundary();
                self.in_item = true;
            }
            "blockquote" => {
                self.boundary();
                self.quotes += 1;
            }
            "pre" => {
                if self.in_cell() && self.line.trim_matches([' ', '|']).is_empty() {
                    self.line.clear();
                }
                self.flush(HtmlBlockKind::Paragraph);
                self.heading = None;
                self.start = Some(at);
                self.code = Some((language_of(attributes), Vec::new()));
            }
            "table" => {
                self.leave_cell();
                self.flush(HtmlBlockKind::Paragraph);
                self.tables.push(HtmlTable::default());
            }
            "tr" => self.row(),
            "td" | "th" => self.cell(at),
            _ if is_block(lower.as_str()) => self.boundary(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, _at: usize) {
        let lower = LowerName::of(name);
        if self.code.is_some() {
            if lower.as_str() == "pre" {
                self.code_block();
            }
            return;
        }
        match lower.as_str() {
            "a" => self.link(),
            "code" | "kbd" | "samp" | "tt" => {
                if self.line.ends_with('`') {
                    self.line.pop();
                } else {
                    let spaced = self.line.ends_with(' ');
                    self.line.truncate(self.line.trim_end().len());
                    self.line.push_str(if spaced { "` " } else { "`" });
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => match self.heading.take() {
                Some(level) => self.flush(HtmlBlockKind::Heading(level)),
                None => self.boundary(),
            },
            "ul" | "ol" | "menu" => {
                self.boundary();
                self.lists.pop();
                self.in_item = false;
            }
            "li" => {
                self.boundary();
                self.in_item = false;
            }
            "blockquote" => {
                self.boundary();
                self.quotes = self.quotes.saturating_sub(1);
            }
            "td" | "th" => self.space(),
            "tr" => self.row(),
            "table" => {
                self.row();
                self.tables.pop();
            }
            other if is_block(other) => self.boundary(),
            _ => {}
        }
    }

    fn list(&mut self, first: Option<u32>) {
        self.boundary();
        self.lists.push(first);
        self.in_item = false;
    }

    fn line_break(&mut self) {
        if self.in_cell() || self.heading.is_some() {
            self.space();
        } else if !self.line.is_empty() {
            self.line.truncate(self.line.trim_end().len());
            self.line.push('\n');
        }
    }

    fn image(&mut self, attributes: &str, at: usize) {
        if let Some(alt) = attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty()) {
            self.start.get_or_insert(at);
            self.line.push_str("![");
            entity::decode(alt, &mut self.line);
            self.line.push(']');
        }
    }

    /// The end of a link: its text and where it leads. Links within the page lead nowhere for who reads its text.
    fn link(&mut self) {
        let Some((start, href)) = self.links.pop() else { return };
        let text = self.line.get(start..).unwrap_or("");
        if matches!(text.trim(), "¶" | "#" | "§" | "🔗") {
            self.line.truncate(start);
            return;
        }
        let away = !href.is_empty() && !href.starts_with('#') && !href.starts_with("javascript:");
        if text.trim().is_empty() || !away || text.contains('\n') {
            return;
        }
        let lead = start + text.len() - text.trim_start().len();
        let spaced = text.ends_with(' ');
        self.line.truncate(self.line.trim_end().len());
        self.line.insert(lead, '[');
        self.line.push_str("](");
        entity::decode(href, &mut self.line);
        self.line.push_str(if spaced { ") " } else { ")" });
    }

    /// The block that was read is written.
    fn flush(&mut self, sort: HtmlBlockKind) {
        let sort = match self.heading {
            Some(level) if sort == HtmlBlockKind::Paragraph => HtmlBlockKind::Heading(level),
            _ => sort,
        };
        while !self.links.is_empty() {
            self.link();
        }
        let mut line = std::mem::take(&mut self.line);
        let said = line.trim();
        let start = self.start.take();
        if said.bytes().all(|byte| matches!(byte, b'`' | b' ' | b'\n')) {
            line.clear();
            self.line = line;
            return;
        }
        let sort = if sort == HtmlBlockKind::Paragraph && !self.lists.is_empty() {
            HtmlBlockKind::Item
        } else {
            sort
        };
        let from = self.out.len();
        self.part_from_last(sort);
        let depth = self.lists.len().clamp(1, DEPTH_MAX) - 1;
        match sort {
            HtmlBlockKind::Heading(level) => {
                self.out.extend(std::iter::repeat_n('#', usize::from(level.clamp(1, 6))));
                self.out.push(' ');
            }
            HtmlBlockKind::Title => self.out.push_str("title: "),
            HtmlBlockKind::Item => {
                self.out.extend(std::iter::repeat_n("  ", depth));
                match self.lists.last_mut() {
                    _ if !self.in_item => self.out.push_str("  "),
                    Some(Some(number)) => {
                        self.out.push_str(&format!("{number}. "));
                        *number = number.saturating_add(1);
                    }
                    _ => self.out.push_str("- "),
                }
                // What follows in the same item is a part of it, not another.
                self.in_item = false;
            }
            _ => {}
        }
        let quotes = self.quotes.min(DEPTH_MAX);
        for (nth, line) in said.split('\n').enumerate() {
            if nth > 0 {
                self.out.push('\n');
            }
            self.out.extend(std::iter::repeat_n("> ", quotes));
            self.out.push_str(line.trim());
        }
        self.out.push('\n');
        self.block(sort, from, start);
        line.clear();
        self.line = line;
    }

    /// An empty line, where one kind of block ends or each is a paragraph.
    fn part_from_last(&mut self, sort: HtmlBlockKind) {
        let last = self.blocks.last().map(|block| block.sort);
        let joined = match sort {
            HtmlBlockKind::Item => last == Some(HtmlBlockKind::Item),
            HtmlBlockKind::Row => matches!(last, Some(HtmlBlockKind::TableHead | HtmlBlockKind::Row)),
            HtmlBlockKind::MoreCode => true,
            HtmlBlockKind::Script | HtmlBlockKind::Style => last == Some(sort),
            _ => last.is_none(),
        };
        if !joined {
            self.out.push('\n');
        }
    }

    fn block(&mut self, sort: HtmlBlockKind, from: usize, start: Option<usize>) {
        let before = self.blocks.last().map_or(0, |block| block.start);
        let start = start.unwrap_or(before).max(before);
        self.blocks.push(HtmlBlock { sort, shown: from..self.out.len(), start });
    }

    fn code_block(&mut self) {
        let Some((language, lines)) = self.code.take() else { return };
        let start = self.start.take();
        let text = std::mem::take(&mut self.line);
        if text.trim().is_empty() {
            return;
        }
        let body = text.trim_end();
        let from = self.out.len();
        self.part_from_last(HtmlBlockKind::Code);
        self.out.push_str("```");
        self.out.push_str(language);
        self.out.push('\n');
        let mut chunks: Vec<(usize, usize)> =
            lines.chunks(CODE_LINES).filter_map(|lines| lines.first().copied()).collect();
        chunks.retain(|(at, _)| *at < body.len());
        let (mut sort, mut from, mut start) = (HtmlBlockKind::Code, from, start);
        for (nth, (at, _)) in chunks.iter().enumerate() {
            let next = chunks.get(nth + 1).copied();
            let end = next.map_or(body.len(), |(end, _)| end);
            self.out.push_str(body.get(*at..end).unwrap_or(""));
            if next.is_none() {
                self.out.push_str("\n```\n");
            }
            self.block(sort, from, start);
            (sort, from, start) = (HtmlBlockKind::MoreCode, self.out.len(), next.map(|(_, source)| source));
        }
    }
}

/// The language a code block is marked with, as a Markdown fence names it.
fn language_of(attributes: &str) -> &str {
    let classes = attribute(attributes, "class").unwrap_or("");
    classes
        .split_ascii_whitespace()
        .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")))
        .or_else(|| {
            classes
                .split_ascii_whitespace()
                .find(|class| matches!(*class, "rust" | "python" | "bash" | "json"))
        })
        .unwrap_or("")
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "footer"
            | "aside"
            | "nav"
            | "hr"
            | "form"
            | "fieldset"
            | "figure"
            | "figcaption"
            | "details"
            | "summary"
            | "dl"
            | "dt"
            | "dd"
            | "address"
            | "body"
            | "html"
            | "head"
            | "center"
            | "caption"
            | "thead"
            | "tbody"
            | "tfoot"
            | "legend"
            | "noscript"
            | "option"
            | "title"
            | "dialog"
            | "label"
            | "button"
            | "textarea"
            | "video"
            | "audio"
            | "search"
            | "hgroup"
    )
}
