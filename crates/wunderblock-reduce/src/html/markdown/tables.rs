//! Writes tables, row by row. A table with one cell per row is layout, and a table within a cell ends the text before
//! it.

use super::markdown_writer::MarkdownWriter;
use super::page_block::HtmlBlockKind;

impl MarkdownWriter<'_> {
    /// Leaves a cell in which another table begins. The content of the cell becomes a paragraph.
    pub(super) fn leave_cell(&mut self) {
        if let Some(table) = self.tables.last_mut()
            && table.in_cell
        {
            table.in_cell = false;
            table.cells = 0;
            let said = self.line.trim_matches([' ', '|']).to_owned();
            self.line = said;
            self.links.clear();
        }
    }

    /// Ends a row, or starts one.
    pub(super) fn row(&mut self) {
        let Some(table) = self.tables.last_mut() else {
            self.boundary();
            return;
        };
        let (cells, rows) = (table.cells, table.rows);
        table.cells = 0;
        table.in_cell = false;
        let blank = self.line.bytes().all(|byte| byte == b' ' || byte == b'|');
        if cells == 0 {
            self.flush(HtmlBlockKind::Paragraph);
        } else if blank {
            self.line.clear();
            self.links.clear();
            self.start = None;
        } else if cells == 1 {
            // A table with one cell per row lays out a page and is not a table of values.
            let said = self.line.trim_start_matches(['|', ' ']).to_owned();
            self.line = said;
            self.links.clear();
            self.flush(HtmlBlockKind::Paragraph);
        } else {
            self.space();
            self.line.push('|');
            if rows == 0 {
                self.line.push_str("\n|");
                self.line.extend(std::iter::repeat_n("---|", cells));
            }
            if let Some(table) = self.tables.last_mut() {
                table.rows += 1;
            }
            self.flush(if rows == 0 { HtmlBlockKind::TableHead } else { HtmlBlockKind::Row });
        }
    }

    pub(super) fn cell(&mut self, at: usize) {
        let Some(table) = self.tables.last_mut() else {
            self.boundary();
            return;
        };
        if table.cells == 0 && !self.line.trim().is_empty() {
            self.flush(HtmlBlockKind::Paragraph);
        }
        let Some(table) = self.tables.last_mut() else { return };
        table.cells += 1;
        table.in_cell = true;
        self.start.get_or_insert(at);
        self.space();
        self.line.push_str("| ");
    }
}
