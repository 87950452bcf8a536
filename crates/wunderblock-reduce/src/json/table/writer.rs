//! Writes a tree in fewer words: without white space, and with tables where many objects are alike.
//!
//! ```text
//! [40 items: id,name,address.city,status=ok,items
//! 1,Ann,Paris,[3 items: sku,price;a1,9.5;a2,3;b7,4.1]
//! 2,Bob,!address.city,status=failed,[],note=late
//! ]
//! {2 keys: price,currency=EUR
//! apples: 1.10
//! pears: 2.40
//! }
//! [3 lists: flight,from,to
//! A1,ATL,LGA;A2,LGA,PHL
//! A1,ATL,LGA;A7,LGA,PHL
//! B4,ATL,PHL
//! ]
//! ```

use crate::part::PartOfText;
use std::collections::HashMap;

use super::schema::{self, ColumnCells, TableRows, TableSchema};
use crate::json::cuts::JsonCuts;
use crate::json::tree::{JsonTree, JsonType};
use crate::result::mark::{self, Gap, OPEN};
use crate::result::segment::TextSegment;

/// Minimum rows of a table. A table with fewer rows than this is harder to read than the JSON it replaces.
const MIN_ROWS: usize = 3;
/// Minimum share of a container's bytes that a table must save, in per cent.
const MIN_GAIN_PERCENT: usize = 8;
/// Maximum depth of tables in tables.
const MAX_LEVELS: usize = 3;

pub(super) struct JsonWriter<'t, 's> {
    pub(super) tree: &'s JsonTree<'t>,
    pub(super) cuts: Option<&'s JsonCuts>,
    pub(super) out: String,
    pub(super) segments: Vec<TextSegment>,
    /// Position in the source at which `out` begins.
    from: usize,
    escapes: bool,
    /// Number of tables around the current position.
    pub(super) level: usize,
    tables: &'s mut TableChoices,
}

/// The containers that are tables. The choices are stored, because a document is written more than once.
#[derive(Debug)]
pub(in crate::json) struct TableChoices {
    known: HashMap<usize, Option<TableSchema>>,
    /// Bytes that may still be spent on tables that are written on trial.
    trials: usize,
}

impl TableChoices {
    pub(in crate::json) fn of(tree: &JsonTree<'_>) -> Self {
        Self { known: HashMap::new(), trials: 8 * tree.text.len() }
    }
}

/// Writes the root value in fewer words, as segments that tile its span. `before` and `after` are written around the
/// root value.
pub(in crate::json) fn write_segments(
    tree: &JsonTree<'_>,
    cuts: &JsonCuts,
    tables: &mut TableChoices,
    before: &str,
    after: &str,
) -> Vec<TextSegment> {
    let within = tree.span(0);
    let mut writer = JsonWriter {
        tree,
        cuts: (!cuts.is_empty()).then_some(cuts),
        out: before.to_owned(),
        segments: Vec::new(),
        from: within.start,
        escapes: tree.text.contains(OPEN),
        level: 0,
        tables,
    };
    writer.value(0);
    writer.out.push_str(after);
    writer.flush(within.end);
    writer.segments
}

impl JsonWriter<'_, '_> {
    fn flush(&mut self, to: usize) {
        let text = std::mem::take(&mut self.out);
        if !text.is_empty() || to > self.from {
            self.segments.push(TextSegment::Coded { span: self.from..to, text });
        }
        self.from = to;
    }

    pub(super) fn gap(&mut self, gap: &Gap) {
        self.flush(gap.span.start);
        self.from = gap.span.end;
        self.segments.push(TextSegment::Gap { gap: gap.clone(), shown: None });
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.escapes { mark::escape(text, &mut self.out) } else { self.out.push_str(text) }
    }

    /// Writes a value and everything in it.
    pub(super) fn value(&mut self, root: usize) {
        let end = self.tree.node(root).next as usize;
        let mut open: Vec<(usize, &str)> = Vec::new();
        let (mut at, mut first) = (root, true);
        while at < end {
            while let Some((_, close)) = open.pop_if(|(end, _)| *end <= at) {
                self.out.push_str(close);
                first = false;
            }
            let is_line = self.tree.lines && open.len() <= 1 && root == 0;
            if !first {
                self.out.push(if is_line { '\n' } else { ',' });
            }
            first = false;
            if at != root {
                if let Some(cut) = self.cuts.and_then(|cuts| cuts.items(at)) {
                    self.gap(&cut.gap);
                    at = cut.next;
                    continue;
                }
                let key = self.tree.key(at);
                if !key.is_empty() {
                    self.text(key);
                    self.out.push(':');
                }
            }
            let kind = self.tree.kind(at);
            if kind == JsonType::Raw {
                self.out.push_str("~~");
                self.text(self.tree.source(at));
            } else if !matches!(kind, JsonType::Object | JsonType::Array) || self.tree.is_empty(at) {
                self.scalar(at);
            } else if !self.table(at) {
                let (bracket, close) = match kind {
                    _ if at == 0 && self.tree.lines => ("", ""),
                    JsonType::Object => ("{", "}"),
                    _ => ("[", "]"),
                };
                self.out.push_str(bracket);
                open.push((self.tree.node(at).next as usize, close));
                at += 1;
                first = true;
                continue;
            }
            at = (self.tree.node(at).next as usize).max(at + 1);
        }
        while let Some((_, close)) = open.pop() {
            self.out.push_str(close);
        }
    }

    /// Writes an empty container, a plain value, or a string that may be cut.
    fn scalar(&mut self, at: usize) {
        if self.tree.is_container(at) {
            self.out.push_str(if self.tree.kind(at) == JsonType::Object { "{}" } else { "[]" });
            return;
        }
        match self.cuts.and_then(|cuts| cuts.bytes(at)) {
            Some(gap) => {
                let span = self.tree.span(at);
                let head = self.tree.text.part(span.start..gap.span.start);
                let tail = self.tree.text.part(gap.span.end..span.end);
                self.text(head);
                self.gap(gap);
                self.text(tail);
            }
            None => self.text(self.tree.source(at)),
        }
    }

    /// Writes the container as a table, if that is shorter. Returns whether it did.
    fn table(&mut self, at: usize) -> bool {
        let tree = self.tree;
        if self.level >= MAX_LEVELS || tree.children(at).nth(MIN_ROWS - 1).is_none() {
            return false;
        }
        // The choice is removed while the table is written, because tables in its cells look up choices too.
        match self.tables.known.remove(&at) {
            Some(None) => {
                self.tables.known.insert(at, None);
                return false;
            }
            Some(Some(schema)) => {
                self.rows(at, &schema);
                self.tables.known.insert(at, Some(schema));
                return true;
            }
            None => {}
        }
        let Some((schema, written)) = self.trial(at) else {
            self.tables.known.insert(at, None);
            return false;
        };
        if self.cuts.is_some() {
            self.rows(at, &schema)
        } else {
            self.out.push_str(&written)
        }
        self.tables.known.insert(at, Some(schema));
        true
    }

    /// Writes the container as a table with nothing left out, if that is shorter.
    fn trial(&mut self, at: usize) -> Option<(TableSchema, String)> {
        let tree = self.tree;
        let span = tree.span(at).len();
        self.tables.trials = self.tables.trials.checked_sub(span)?;
        let kind = self.row_kind(at)?;
        let rows: Vec<usize> = match kind {
            TableRows::Lists => tree.children(at).flat_map(|list| tree.children(list)).collect(),
            TableRows::Items | TableRows::Keys => tree.children(at).collect(),
        };
        let schema = schema::learn_schema(tree, &rows, kind)?;
        if schema.columns.is_empty() {
            return None;
        }
        // The trial is written without cuts, and into a separate output.
        let (cuts, out) = (self.cuts.take(), std::mem::take(&mut self.out));
        self.rows(at, &schema);
        let written = std::mem::take(&mut self.out);
        let pays = written.len() * 100 <= compact_length(tree, at) * (100 - MIN_GAIN_PERCENT);
        self.out = out;
        self.cuts = cuts;
        pays.then_some((schema, written))
    }

    /// Returns the kind of rows of a container, if most of its members are alike. Lists need their own lines, so they
    /// are rows only in an outermost table.
    fn row_kind(&self, at: usize) -> Option<TableRows> {
        let tree = self.tree;
        let is_list = |row: usize| {
            let mut items = tree.children(row).take(8).peekable();
            tree.kind(row) == JsonType::Array
                && items.peek().is_some()
                && items.all(|item| tree.kind(item) == JsonType::Object)
        };
        let most = |is: &dyn Fn(usize) -> bool| {
            let alike = tree.children(at).take(64).filter(|row| is(*row)).count();
            alike * 5 >= tree.children(at).take(64).count() * 4
        };
        match tree.kind(at) {
            JsonType::Object => most(&|row| tree.kind(row) == JsonType::Object).then_some(TableRows::Keys),
            _ if most(&|row| tree.kind(row) == JsonType::Object) => Some(TableRows::Items),
            _ => (self.level == 0 && most(&is_list)).then_some(TableRows::Lists),
        }
    }

    fn rows(&mut self, at: usize, schema: &TableSchema) {
        let sep = if self.level == 0 { '\n' } else { ';' };
        let (bracket, close, unit) = schema.rows.words();
        self.out.push(bracket);
        // The total number of rows is unknown for a container that was cut off.
        let more = if self.tree.open.iter().any(|open| *open as usize == at) { "+" } else { "" };
        self.out.push_str(&format!("{}{more} {unit}: ", self.tree.children(at).count()));
        self.header(schema);
        self.level += 1;
        let mut rest = self.tree.children(at).peekable();
        while let Some(row) = rest.next() {
            self.out.push(sep);
            if let Some(cut) = self.cuts.and_then(|cuts| cuts.items(row)) {
                self.gap(&cut.gap);
                while rest.next_if(|row| *row < cut.next).is_some() {}
                continue;
            }
            match schema.rows {
                TableRows::Lists => self.list(row, schema),
                kind => self.row(row, schema, kind == TableRows::Keys),
            }
        }
        self.level -= 1;
        if sep == '\n' {
            self.out.push(sep);
        }
        self.out.push(close);
    }

    /// Writes a row that is a list, with its items as rows side by side.
    fn list(&mut self, at: usize, schema: &TableSchema) {
        if self.tree.kind(at) != JsonType::Array || self.tree.is_empty(at) {
            self.out.push_str("~=");
            return self.value(at);
        }
        let mut items = self.tree.children(at).peekable();
        let mut first = true;
        while let Some(item) = items.next() {
            if !std::mem::take(&mut first) {
                self.out.push(';');
            }
            if let Some(cut) = self.cuts.and_then(|cuts| cuts.items(item)) {
                self.gap(&cut.gap);
                while items.next_if(|item| *item < cut.next).is_some() {}
                continue;
            }
            self.row(item, schema, false);
        }
    }

    fn header(&mut self, schema: &TableSchema) {
        for (count, column) in schema.columns.iter().enumerate() {
            if count > 0 {
                self.out.push(',');
            }
            self.text(&column.path);
            match &column.cells {
                ColumnCells::Any => {}
                ColumnCells::Key => self.out.push_str("=@key"),
                ColumnCells::Usual(value) => {
                    self.out.push('=');
                    self.text(value);
                }
            }
        }
    }
}

/// Returns the size of a value without its white space, in bytes.
pub(super) fn compact_length(tree: &JsonTree<'_>, at: usize) -> usize {
    let end = tree.node(at).next as usize;
    (at..end)
        .map(|at| {
            let own = if tree.is_container(at) { 2 } else { tree.span(at).len() };
            let key = tree.key(at).len();
            own + 1 + if key > 0 { key + 1 } else { 0 }
        })
        .sum()
}
