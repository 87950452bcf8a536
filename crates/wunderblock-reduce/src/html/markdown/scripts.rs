//! The text of scripts and style sheets, in parts: shown where a budget has room for more than the page's text.

use super::markdown_writer::MarkdownWriter;
use super::page_block::HtmlBlockKind;

/// Maximum bytes of a part: it ends at the end of a line, or of a statement where lines are longer.
const MAX_PART_BYTES: usize = 400;

impl MarkdownWriter<'_> {
    pub(super) fn raw(&mut self, said: &str, at: usize, sort: HtmlBlockKind) {
        self.flush(HtmlBlockKind::Paragraph);
        let mut from = 0;
        while from < said.len() {
            let end = from + first_part_length(said.get(from..).unwrap_or(""));
            let part = said.get(from..end).unwrap_or("");
            if !part.trim().is_empty() {
                let start = self.out.len();
                self.part_from_last(sort);
                self.out.push_str(part.trim_matches(['\n', '\r']));
                self.out.push('\n');
                self.block(sort, start, Some(at + from));
            }
            from = end.max(from + 1);
        }
    }
}

/// The bytes of the first part of a text.
fn first_part_length(text: &str) -> usize {
    let mut max = text.len().min(MAX_PART_BYTES);
    if max == text.len() {
        return max;
    }
    while !text.is_char_boundary(max) {
        max -= 1;
    }
    let head = text.get(..max).unwrap_or("");
    let end = head.rfind('\n').or_else(|| head.rfind([';', '}', ',', ' ']));
    end.map_or(max, |end| end + 1).max(1)
}
