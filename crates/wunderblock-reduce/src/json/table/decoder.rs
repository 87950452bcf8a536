//! Decodes JSON that `writer` encoded, in its original layout.
//!
//! Marks of gaps count as the values they replace, so that a text with gaps can be decoded around them.

use super::cell;
use super::inner_mark;
use super::schema::{ColumnCells, JsonColumn, MAX_COLUMNS, TableRows, TableSchema};
use crate::json::layout::JsonLayout;
use crate::json::tree::JsonTree;
use crate::part::{PartOfList, PartOfText};
use crate::result::sink::TextSink;

/// Maximum depth of tables in tables.
const MAX_DEPTH: usize = 12;

/// Decodes a JSON block. Returns `None` if the block is invalid or its content does not fit `out`: a row of one byte
/// may represent any number of bytes.
pub(crate) fn decode_block(args: &str, body: &str, out: &mut TextSink<'_>) -> Option<()> {
    let room = out.remaining();
    let layout = JsonLayout::read(args)?;
    let out_of = String::with_capacity(body.len() * 2);
    let mut reader = TableDecoder { text: body, at: 0, out: out_of, room, lines: layout.is_lines() };
    if layout.is_lines() {
        reader.lines()?
    } else {
        reader.value(0)?
    }
    if reader.at != body.len() {
        return None;
    }
    let plain = reader.out;
    if layout.is_compact() {
        return out.push(&plain);
    }
    let tree = if layout.is_lines() {
        JsonTree::lines(&plain, 0..plain.len(), true).ok()?
    } else {
        JsonTree::whole(&plain, 0, true).ok()?
    };
    if tree.node(0).end as usize != plain.len() {
        return None;
    }
    layout.print(&tree, out)
}

struct TableDecoder<'t> {
    text: &'t str,
    at: usize,
    out: String,
    /// Maximum number of bytes that may be written.
    room: usize,
    /// Whether each document is on its own line, and no table is open.
    lines: bool,
}

/// The row whose cells are being read.
struct RowContext<'r> {
    schema: &'r TableSchema,
    /// Key of the row with its quotes, if rows have keys.
    key: Option<&'r str>,
    /// Number of tables around the row.
    level: usize,
}

/// An object that is assembled from its leaves.
#[derive(Default)]
struct OpenObject<'t> {
    /// Keys of the nested objects that are open.
    open: Vec<std::borrow::Cow<'t, str>>,
    begun: bool,
}

impl<'t> TableDecoder<'t> {
    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.part(self.at..)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn copy(&mut self, to: usize) -> Option<()> {
        self.out.push_str(self.text.get(self.at..to)?);
        self.at = to;
        Some(())
    }

    fn has_room(&self) -> Option<()> {
        (self.out.len() <= self.room).then_some(())
    }

    /// Returns whether a cell or a row ends at the current position.
    fn at_end(&self) -> bool {
        matches!(self.peek(), None | Some(b',' | b';' | b']' | b'}' | b'\n'))
    }

    /// Reads one document per line, or a table of documents.
    fn lines(&mut self) -> Option<()> {
        loop {
            if !self.raw_line()? {
                self.value(0)?;
            }
            if self.at == self.text.len() {
                return Some(());
            }
            if !self.eat(b'\n') {
                return None;
            }
            self.out.push('\n');
        }
    }

    /// Reads a line that is not a document, if one begins here. Returns whether one did.
    fn raw_line(&mut self) -> Option<bool> {
        let raw = self.rest().starts_with("~~");
        if raw {
            self.at += 2;
            let end = memchr::memchr(b'\n', self.rest().as_bytes()).unwrap_or(self.rest().len());
            self.copy(self.at + end)?;
        }
        Some(raw)
    }

    /// Reads one JSON value, which may contain tables.
    fn value(&mut self, level: usize) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => self.copy(cell::string_end(self.bytes(), self.at)?)?,
                b'[' | b'{' => {
                    if let Some(rows) = self.table_begins() {
                        self.table(rows, level)?;
                    } else {
                        depth += 1;
                        self.copy(self.at + 1)?;
                    }
                }
                b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    self.copy(self.at + 1)?;
                }
                b',' | b':' if depth > 0 => self.copy(self.at + 1)?,
                _ => match inner_mark::mark_end(self.bytes(), self.at) {
                    Some(end) => self.copy(end)?,
                    None => {
                        let word =
                            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                        let run = self.rest().bytes().take_while(word).count();
                        if run == 0 {
                            return None;
                        }
                        self.copy(self.at + run)?;
                    }
                },
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// If a table begins here, returns the kind of its rows and moves to its header.
    fn table_begins(&mut self) -> Option<TableRows> {
        let inner = self.rest().get(1..)?;
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        let open = usize::from(inner.as_bytes().get(digits) == Some(&b'+'));
        let unit = inner.get(digits + open..)?;
        let unit = unit.strip_prefix(' ')?;
        let kinds = [TableRows::Items, TableRows::Keys, TableRows::Lists].into_iter();
        let (rows, rest) =
            kinds.filter_map(|rows| Some((rows, unit.strip_prefix(rows.words().2)?))).next()?;
        let rest =
            rest.strip_prefix(": ").filter(|_| digits > 0 && self.peek() == Some(rows.words().0 as u8))?;
        self.at = self.text.len() - rest.len();
        Some(rows)
    }

    fn table(&mut self, rows: TableRows, level: usize) -> Option<()> {
        if level > MAX_DEPTH {
            return None;
        }
        let schema = self.header()?;
        let (open, close, _) = rows.words();
        let lines = std::mem::take(&mut self.lines);
        if !lines {
            self.out.push(open);
        }
        let mut first = true;
        while self.peek()? != close as u8 {
            let broken = self.peek() == Some(b'\n');
            if !broken && self.peek() != Some(b';') {
                return None;
            }
            self.at += 1;
            if broken && self.peek() == Some(close as u8) {
                break;
            }
            if !std::mem::take(&mut first) {
                self.out.push(if lines { '\n' } else { ',' });
            }
            if !(lines && self.raw_line()?) {
                match rows {
                    TableRows::Lists => self.list(&schema, level + 1)?,
                    kind => self.row(&schema, kind == TableRows::Keys, level + 1)?,
                }
            }
        }
        self.at += 1;
        if !lines {
            self.out.push(close);
        }
        Some(())
    }

    /// Reads a row that is a list of items.
    fn list(&mut self, schema: &TableSchema, level: usize) -> Option<()> {
        if let Some(end) = inner_mark::mark_end(self.bytes(), self.at)
            && self.bytes().get(end) != Some(&b';')
        {
            return self.copy(end);
        }
        if self.rest().starts_with("~=") {
            self.at += 2;
            return self.value(level);
        }
        self.out.push('[');
        self.row(schema, false, level)?;
        while self.eat(b';') {
            self.out.push(',');
            self.row(schema, false, level)?;
        }
        self.out.push(']');
        Some(())
    }

    /// Reads the columns, up to the end of the header.
    fn header(&mut self) -> Option<TableSchema> {
        let mut columns = Vec::new();
        loop {
            let end = self.at + cell::path_length(self.rest())?;
            let path = self.text.get(self.at..end)?.to_owned();
            self.at = end;
            let cells = match self.peek() {
                Some(b'=') => {
                    self.at += 1;
                    self.usual()?
                }
                _ => ColumnCells::Any,
            };
            // The writer never writes more columns than this. More columns would be slow to decode, because every
            // column must be examined for each row.
            if columns.len() >= MAX_COLUMNS {
                return None;
            }
            columns.push(JsonColumn { path, cells });
            if !self.eat(b',') {
                return Some(TableSchema { columns, places: Vec::new(), rows: TableRows::default() });
            }
        }
    }

    fn usual(&mut self) -> Option<ColumnCells> {
        if self.rest().starts_with("@key") {
            self.at += "@key".len();
            return Some(ColumnCells::Key);
        }
        let from = self.out.len();
        self.any(0)?;
        let value = self.out.split_off(from);
        Some(ColumnCells::Usual(value))
    }

    /// Reads a row and writes it as an object.
    fn row(&mut self, schema: &TableSchema, by_key: bool, level: usize) -> Option<()> {
        self.has_room()?;
        if let Some(end) = inner_mark::mark_end(self.bytes(), self.at) {
            return self.copy(end);
        }
        let mut key = None;
        if by_key {
            let from = self.out.len();
            if self.peek() == Some(b'"') {
                self.copy(cell::string_end(self.bytes(), self.at)?)?;
            } else {
                let end = memchr::memchr(b':', self.rest().as_bytes())?;
                self.out.push('"');
                self.copy(self.at + end)?;
                self.out.push('"');
            }
            key = self.out.get(from..).map(str::to_owned);
            if !(self.eat(b':') && self.eat(b' ')) {
                return None;
            }
            self.out.push(':');
        }
        if self.eat(b'~') {
            return self.value(level);
        }
        self.out.push('{');
        let mut object = OpenObject::default();
        let mut cursor = 0;
        let row = RowContext { schema, key: key.as_deref(), level };
        while !self.at_end() {
            self.member(&row, &mut cursor, &mut object)?;
            if !self.eat(b',') {
                break;
            }
        }
        self.usuals(&row, cursor..schema.columns.len(), &mut object);
        self.out.extend(object.open.iter().map(|_| '}'));
        self.out.push('}');
        Some(())
    }

    /// Reads one cell.
    fn member(
        &mut self,
        row: &RowContext<'_>,
        cursor: &mut usize,
        object: &mut OpenObject<'t>,
    ) -> Option<()> {
        self.has_room()?;
        if self.eat(b'!') {
            let path = self.rest().get(..cell::path_length(self.rest())?)?;
            self.at += path.len();
            let column =
                (*cursor..).zip(row.schema.columns.get(*cursor..)?).find(|(_, known)| known.path == path);
            let (column, _) = column?;
            self.usuals(row, *cursor..column, object);
            *cursor = column + 1;
            return Some(());
        }
        if let Some(length) = cell::name_length(self.rest()) {
            let path = self.rest().get(..length)?;
            self.at += length + 1;
            let column = row.schema.columns.iter().position(|column| column.path == path);
            if let Some(column) = column.filter(|column| *column >= *cursor) {
                self.usuals(row, *cursor..column, object);
                *cursor = column + 1;
            }
            self.path(cell::path_keys(path), object);
            return self.any(row.level);
        }
        let is_usual = |column: &JsonColumn| matches!(column.cells, ColumnCells::Usual(_) | ColumnCells::Key);
        let (to, column) =
            row.schema.columns.iter().enumerate().skip(*cursor).find(|(_, column)| !is_usual(column))?;
        self.usuals(row, *cursor..to, object);
        *cursor = to + 1;
        let keys = cell::path_keys(&column.path);
        self.path(keys.into_iter().map(|key| key.into_owned().into()).collect(), object);
        self.any(row.level)
    }

    /// Writes the usual values of columns that the row leaves out.
    fn usuals(&mut self, row: &RowContext<'_>, columns: std::ops::Range<usize>, object: &mut OpenObject<'t>) {
        for column in row.schema.columns.part(columns) {
            let value = match (&column.cells, row.key) {
                (ColumnCells::Usual(value), _) => value.as_str(),
                (ColumnCells::Key, Some(key)) => key,
                _ => continue,
            };
            let keys = cell::path_keys(&column.path);
            self.path(keys.into_iter().map(|key| key.into_owned().into()).collect(), object);
            self.out.push_str(value);
        }
    }

    /// Writes the key of a leaf. Objects that end before the leaf are closed, and objects around it are opened.
    fn path(&mut self, mut keys: Vec<std::borrow::Cow<'t, str>>, object: &mut OpenObject<'t>) {
        let Some(own) = keys.pop() else { return };
        let same = keys.iter().zip(&object.open).take_while(|(key, open)| key == open).count();
        while object.open.len() > same {
            object.open.pop();
            self.out.push('}');
        }
        if std::mem::replace(&mut object.begun, true) {
            self.out.push(',');
        }
        for key in keys.into_iter().skip(same) {
            self.out.push_str(&key);
            self.out.push_str(":{");
            object.open.push(key);
        }
        self.out.push_str(&own);
        self.out.push(':');
    }

    /// Decodes the content of a cell to JSON.
    fn any(&mut self, level: usize) -> Option<()> {
        match self.peek()? {
            b'~' => {
                self.at += 1;
                self.value(level)
            }
            b'"' | b'[' | b'{' => self.value(level),
            _ => {
                let stops = |byte: u8| matches!(byte, b',' | b';' | b']' | b'}' | b'\n');
                let length = self.rest().bytes().position(stops).unwrap_or(self.rest().len());
                let text = self.rest().get(..length)?;
                self.at += length;
                if cell::is_literal(text) {
                    self.out.push_str(text);
                } else {
                    self.out.push('"');
                    self.out.push_str(text);
                    self.out.push('"');
                }
                Some(())
            }
        }
    }
}
