//! The effect of a page's tags on its Markdown.

use super::markdown_writer::MarkdownWriter;
use super::page_block::{HtmlBlockKind, HtmlTable};
use crate::html::tokens::attribute_value;

impl<'t> MarkdownWriter<'t> {
    pub(super) fn open(&mut self, name: &str, attributes: &'t str, at: usize) {
        let lower = name.to_ascii_lowercase();
        if let Some(language) = &mut self.code {
            // Code often contains elements that colour it. Of all attributes, only the language of the code matters
            // here.
            if language.is_empty() && lower.as_str() == "code" {
                *language = language_of(attributes);
            }
            if lower.as_str() == "br" {
                self.line.push('\n');
            }
            return;
        }
        match lower.as_str() {
            "a" => self.links.push((self.line.len(), attribute_value(attributes, "href").unwrap_or(""))),
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
            "ol" => self.list(Some(
                attribute_value(attributes, "start").and_then(|start| start.parse().ok()).unwrap_or(1),
            )),
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
                self.code = Some(language_of(attributes));
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

    pub(super) fn close(&mut self, name: &str, _at: usize) {
        let lower = name.to_ascii_lowercase();
        if self.code.is_some() {
            if lower.as_str() == "pre" {
                self.code_block();
            }
            return;
        }
        match lower.as_str() {
            "a" => self.link(),
            "code" | "kbd" | "samp" | "tt" => {
                // Empty code gets no backquotes.
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
}

/// Returns the language of a code block, as a Markdown fence names it.
fn language_of(attributes: &str) -> &str {
    let classes = attribute_value(attributes, "class").unwrap_or("");
    let language =
        |class: &'static str| classes.split_ascii_whitespace().find_map(|name| name.strip_prefix(class));
    language("language-").or_else(|| language("lang-")).unwrap_or("")
}

fn is_block(name: &str) -> bool {
    #[rustfmt::skip]
    const BLOCKS: [&str; 40] = [
        "p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "hr", "form",
        "fieldset", "figure", "figcaption", "details", "summary", "dl", "dt", "dd", "address", "body",
        "html", "head", "center", "caption", "thead", "tbody", "tfoot", "legend", "noscript", "option",
        "title", "dialog", "label", "button", "textarea", "video", "audio", "search", "hgroup",
    ];
    BLOCKS.contains(&name)
}
