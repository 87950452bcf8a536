//! Writes the text of a page as Markdown, block by block, each with its position in the source.

mod elements;
mod markdown_writer;
mod page_block;
mod tables;
mod title;

use super::regions::PageOutline;
use super::tokens::{HtmlToken, HtmlTokens};
use markdown_writer::MarkdownWriter;
use title::TitleState;

pub(super) use page_block::{HtmlBlock, HtmlBlockKind};

/// Returns the Markdown of a page, and its blocks.
pub(super) fn write_markdown(text: &str, page: &PageOutline) -> (String, Vec<HtmlBlock>) {
    let mut writer =
        MarkdownWriter { out: String::with_capacity(text.len() / 3), ..MarkdownWriter::default() };
    let mut tokens = HtmlTokens::of(text);
    let mut skipped = page.skipped.iter().peekable();
    let mut title = TitleState::default();
    // The position at which an element ended, and whether that element may be part of a word.
    let mut ended = (0, false);
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
                writer.apart |= ended.0 == span.start && !(ended.1 && is_part_of_word(name));
                writer.open(name, attributes, span.start);
                ended = if writer.apart { (span.end, false) } else { (0, false) };
            }
            HtmlToken::Close(name) => {
                writer.close(name, span.start);
                let joins = ["sub", "sup", "wbr"].iter().any(|part| name.eq_ignore_ascii_case(part));
                ended = if joins { (0, false) } else { (span.end, is_part_of_word(name)) };
            }
            HtmlToken::Aside | HtmlToken::Raw => {}
        }
    }
    writer.flush(HtmlBlockKind::Paragraph);
    (writer.out, writer.blocks)
}

/// Returns whether an element may be part of a word.
fn is_part_of_word(name: &str) -> bool {
    ["sub", "sup", "wbr", "b", "i", "u", "em", "strong", "code"]
        .iter()
        .any(|part| name.eq_ignore_ascii_case(part))
}
