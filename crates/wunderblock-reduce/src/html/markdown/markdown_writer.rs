//! Writes the Markdown of a page, one block after another: text, links, lists and code.

use super::page_block::{HtmlBlock, HtmlBlockKind, HtmlTable};
use crate::html::entity;
use crate::html::tokens::attribute_value;
use crate::part::PartOfText;

/// Maximum depth to which lists and quotations are indented.
const MAX_DEPTH: usize = 6;

/// Writes Markdown, block by block.
#[derive(Default)]
pub(super) struct MarkdownWriter<'t> {
    pub(super) out: String,
    pub(super) blocks: Vec<HtmlBlock>,
    /// Text of the block that is being read. The source of the block begins at `start`.
    pub(super) line: String,
    pub(super) start: Option<usize>,
    /// Open links: for each, the position of its text in `line`, and its target.
    pub(super) links: Vec<(usize, &'t str)>,
    /// Open lists: for each, the number of the next item, or `None` for a list without numbers.
    pub(super) lists: Vec<Option<u32>>,
    pub(super) quotes: usize,
    /// Whether the open element began where another ended, so that a space must separate their words.
    pub(super) apart: bool,
    pub(super) heading: Option<u8>,
    pub(super) in_item: bool,
    pub(super) tables: Vec<HtmlTable>,
    /// Language of the code block that is being read. `None` outside code blocks.
    pub(super) code: Option<&'t str>,
}

impl<'t> MarkdownWriter<'t> {
    pub(super) fn in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.in_cell)
    }

    pub(super) fn text(&mut self, said: &str, at: usize) {
        if self.code.is_some() {
            entity::decode(said, &mut self.line);
            return;
        }
        let blank = said.bytes().all(|byte| byte.is_ascii_whitespace());
        if blank {
            self.space();
            return;
        }
        self.start.get_or_insert(at);
        let mut decoded = String::new();
        let said = if memchr::memchr(b'&', said.as_bytes()).is_some() {
            entity::decode(said, &mut decoded);
            decoded.as_str()
        } else {
            said
        };
        let after_word = self.line.ends_with(|c: char| c.is_alphanumeric() || c == ')');
        if said
            .starts_with(|c: char| c.is_ascii_whitespace() || self.apart && after_word && c.is_alphanumeric())
        {
            self.space();
        }
        self.apart = false;
        for (nth, word) in said.split_ascii_whitespace().enumerate() {
            if nth > 0 {
                self.line.push(' ');
            }
            self.line.push_str(word);
        }
        if said.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.space();
        }
    }

    pub(super) fn space(&mut self) {
        if self.code.is_none() && !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
            self.line.push(' ');
        }
    }

    /// Ends a block, so that another can begin.
    pub(super) fn boundary(&mut self) {
        if self.in_cell() || self.heading.is_some() {
            self.space();
        } else {
            self.flush(HtmlBlockKind::Paragraph);
        }
    }

    pub(super) fn list(&mut self, first: Option<u32>) {
        self.boundary();
        self.lists.push(first);
        self.in_item = false;
    }

    pub(super) fn line_break(&mut self) {
        if self.in_cell() || self.heading.is_some() {
            self.space();
        } else if !self.line.is_empty() {
            self.line.truncate(self.line.trim_end().len());
            self.line.push('\n');
        }
    }

    pub(super) fn image(&mut self, attributes: &str, at: usize) {
        if let Some(alt) = attribute_value(attributes, "alt").filter(|alt| !alt.trim().is_empty()) {
            self.start.get_or_insert(at);
            self.line.push_str("![");
            entity::decode(alt, &mut self.line);
            self.line.push(']');
        }
    }

    /// Ends a link and writes its target. A link within the page gets no target, because readers of the text cannot
    /// follow it.
    pub(super) fn link(&mut self) {
        let Some((start, href)) = self.links.pop() else { return };
        let text = self.line.part(start..);
        // A link whose text is only a sign such as `#` points to its own heading.
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

    /// Writes the block that was read.
    pub(super) fn flush(&mut self, sort: HtmlBlockKind) {
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
        let depth = self.lists.len().clamp(1, MAX_DEPTH) - 1;
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
                // Further blocks of a list item are part of the item, not new items.
                self.in_item = false;
            }
            _ => {}
        }
        let quotes = self.quotes.min(MAX_DEPTH);
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

    /// Writes an empty line before a block, except between items of a list and between rows of a table.
    pub(super) fn part_from_last(&mut self, sort: HtmlBlockKind) {
        let last = self.blocks.last().map(|block| block.sort);
        let joined = match sort {
            HtmlBlockKind::Item => last == Some(HtmlBlockKind::Item),
            HtmlBlockKind::Row => matches!(last, Some(HtmlBlockKind::TableHead | HtmlBlockKind::Row)),
            _ => last.is_none(),
        };
        if !joined {
            self.out.push('\n');
        }
    }

    pub(super) fn block(&mut self, sort: HtmlBlockKind, from: usize, start: Option<usize>) {
        let before = self.blocks.last().map_or(0, |block| block.start);
        let start = start.unwrap_or(before).max(before);
        self.blocks.push(HtmlBlock { sort, shown: from..self.out.len(), start });
    }

    pub(super) fn code_block(&mut self) {
        let Some(language) = self.code.take() else { return };
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
        self.out.push_str(body);
        self.out.push_str("\n```\n");
        self.block(HtmlBlockKind::Code, from, start);
    }
}
