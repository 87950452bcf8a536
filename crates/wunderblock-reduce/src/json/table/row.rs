//! Writes the rows and cells of a table.

use super::cell;
use super::schema::{ColumnCells, SchemaPlace, TableSchema};
use super::writer::JsonWriter;
use crate::json::tree::JsonType;
use crate::part::{PartOfList, PartOfText};

/// The state of a row that is being written.
struct RowState<'s> {
    schema: &'s TableSchema,
    cursor: usize,
    cells: usize,
    /// Column whose usual value was left out since the last cell.
    silent: Option<usize>,
    by_key: Option<usize>,
}

/// Count of an object's keys that have a column, in the order of the columns.
struct ColumnMatch<'s> {
    schema: &'s TableSchema,
    /// First column that may follow.
    cursor: usize,
    /// Number of columns found.
    found: usize,
}

impl<'t> JsonWriter<'t, '_> {
    /// Writes one row, without the text before and after it.
    pub(super) fn row(&mut self, at: usize, schema: &TableSchema, by_key: bool) {
        let tree = self.tree;
        if by_key {
            let name = tree.name(at);
            self.text(if cell::is_plain_key(name) { name } else { tree.key(at) });
            self.out.push_str(": ");
        }
        if tree.kind(at) == JsonType::Raw {
            self.out.push_str("~~");
            return self.text(tree.source(at));
        }
        let mut row = RowState { schema, cursor: 0, cells: 0, silent: None, by_key: by_key.then_some(at) };
        if tree.kind(at) == JsonType::Object
            && !tree.is_empty(at)
            && self.is_regular(at, 0, &mut ColumnMatch { schema, cursor: 0, found: 0 })
        {
            let before = (self.out.len(), self.segments.len());
            let mut path = Vec::new();
            self.leaves(at, 0, &mut row, &mut path);
            self.pass(&mut row, schema.columns.len());
            if self.out.len() > before.0 || self.segments.len() > before.1 || by_key {
                return;
            }
        }
        self.out.push('~');
        self.value(at);
    }

    /// Returns whether the columns can represent an object. The object must have at least half of the columns, in
    /// their order, and nothing may be left out of it; no flattened key may follow itself.
    fn is_regular(&self, object: usize, place: usize, matched: &mut ColumnMatch<'_>) -> bool {
        let schema = matched.schema;
        let (mut last, mut hint) = (None, 0);
        let columns = self.tree.children(object).all(|child| {
            let name = self.tree.name(child);
            let known = schema.place(place, name, &mut hint);
            let twice = last == Some(name);
            last = Some(name);
            if self.cuts.is_some_and(|cuts| cuts.items(child).is_some()) {
                return false;
            }
            match known {
                Some((at, place))
                    if place.flattened
                        && self.tree.kind(child) == JsonType::Object
                        && !self.tree.is_empty(child) =>
                {
                    !twice && self.is_regular(child, at, matched)
                }
                Some((_, SchemaPlace { column: Some(column), .. })) => {
                    let in_order = *column >= matched.cursor;
                    matched.cursor = *column + 1;
                    matched.found += 1;
                    in_order
                }
                _ => true,
            }
        });
        columns && (place > 0 || matched.found * 2 >= schema.columns.len())
    }

    fn leaves(&mut self, object: usize, place: usize, row: &mut RowState<'_>, path: &mut Vec<&'t str>) {
        let tree = self.tree;
        let schema = row.schema;
        let mut hint = 0;
        for child in tree.children(object) {
            let name = tree.name(child);
            path.push(name);
            match schema.place(place, name, &mut hint) {
                Some((at, place))
                    if place.flattened && tree.kind(child) == JsonType::Object && !tree.is_empty(child) =>
                {
                    self.leaves(child, at, row, path);
                }
                found => {
                    let column = found.and_then(|(_, place)| place.column);
                    self.leaf(child, column, row, path);
                }
            }
            path.pop();
        }
    }

    fn leaf(&mut self, value: usize, column: Option<usize>, row: &mut RowState<'_>, path: &[&str]) {
        let Some(column) = column else {
            // A usual value that was left out before this member must be written, to keep the order of members.
            if let Some(silent) = row.silent.take() {
                self.say(row, silent);
            }
            self.next(row);
            for (count, name) in path.iter().enumerate() {
                if count > 0 {
                    self.out.push('.');
                }
                let part = cell::path_part(name);
                self.text(&part);
            }
            self.out.push('=');
            self.cell(value);
            return;
        };
        self.pass(row, column);
        row.cursor = column + 1;
        let Some(column_is) = row.schema.columns.item(column) else { return };
        let usual = match &column_is.cells {
            ColumnCells::Usual(usual) => Some(cell::header_value(self.tree.source(value)) == *usual),
            ColumnCells::Key => {
                Some(row.by_key.is_some_and(|key| self.tree.key(key) == self.tree.source(value)))
            }
            _ => None,
        };
        match usual {
            Some(true) => row.silent = Some(column),
            Some(false) => {
                self.next(row);
                row.silent = None;
                self.text(&column_is.path);
                self.out.push('=');
                self.cell(value);
            }
            None => {
                self.next(row);
                row.silent = None;
                self.cell(value);
            }
        }
    }

    /// Writes that the columns before `to` are missing in this row.
    fn pass(&mut self, row: &mut RowState<'_>, to: usize) {
        for missing in row.schema.columns.iter().take(to).skip(row.cursor) {
            self.next(row);
            self.out.push('!');
            self.text(&missing.path);
            row.silent = None;
        }
        row.cursor = row.cursor.max(to);
    }

    /// Writes a usual value that the row would otherwise leave out.
    fn say(&mut self, row: &mut RowState<'_>, column: usize) {
        let Some(usual) = row.schema.columns.item(column) else { return };
        self.next(row);
        self.text(&usual.path);
        self.out.push('=');
        match (&usual.cells, row.by_key) {
            (ColumnCells::Usual(value), _) => self.text(value),
            (_, Some(key)) => self.text(self.tree.key(key)),
            _ => {}
        }
    }

    /// Writes the comma before a cell.
    fn next(&mut self, row: &mut RowState<'_>) {
        if row.cells > 0 {
            self.out.push(',');
        }
        row.cells += 1;
    }

    fn cell(&mut self, at: usize) {
        let cut = self.cuts.is_some_and(|cuts| cuts.bytes(at).is_some());
        if self.tree.kind(at) == JsonType::Text && !cut {
            let source = self.tree.source(at);
            let raw = source.part(1..source.len() - 1);
            self.text(if cell::is_plain(raw) { raw } else { source });
        } else {
            self.value(at);
        }
    }
}
