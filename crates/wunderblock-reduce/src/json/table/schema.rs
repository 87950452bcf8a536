//! Learns the columns of a table: what the items of an array, or the values of an object used as a map, have in
//! common.
//!
//! Columns are learned from a sample of the rows. A misleading sample costs only savings: a row can always name
//! members that have no column, are out of order, or differ from their usual value.

use std::collections::HashMap;

use super::cell;
use crate::json::tree::{JsonTree, JsonType};
use crate::part::PartOfList;

/// Maximum number of rows examined: half of them from the start, and the others at even intervals after that.
const MAX_SAMPLED_ROWS: usize = 384;
/// Maximum depth of nested objects whose members become columns.
const MAX_DEPTH: usize = 5;
/// Maximum number of different keys in a record, counted over all rows. An object with more keys than this is a map.
const MAX_RECORD_KEYS: usize = 48;
/// Maximum number of columns in a table. Readers do not count more commas than this.
pub(super) const MAX_COLUMNS: usize = 48;
/// Minimum number of objects in an object that is treated as a map.
const MIN_MAP_VALUES: usize = 6;
/// Maximum number of paths that are followed in total.
const MAX_PATHS: usize = 512;
/// The values of a column's cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnCells {
    Any,
    /// A row with this value has no cell for the column; any other row names the column. The value is stored as the
    /// header writes it.
    Usual(String),
    /// Rows have no cell if the value is their own key.
    Key,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonColumn {
    /// Path as it is written: `address.city`.
    pub(super) path: String,
    pub(super) cells: ColumnCells,
}

/// A place in a row, and the places within it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SchemaPlace {
    /// Inner places, by name without quotes.
    pub(super) within: Vec<(String, usize)>,
    /// Whether the members of the place, rather than the place itself, are columns.
    pub(super) flattened: bool,
    pub(super) column: Option<usize>,
}

/// The columns of a table, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TableSchema {
    pub(super) columns: Vec<JsonColumn>,
    /// Places in a row. The first is the row itself.
    pub(super) places: Vec<SchemaPlace>,
    pub(super) rows: TableRows,
}

/// The kind of rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TableRows {
    #[default]
    Items,
    /// Values of an object, each after its key.
    Keys,
    /// Arrays whose items are written side by side.
    Lists,
}

impl TableRows {
    /// Returns the brackets of the table, and the word for its rows.
    pub(super) const fn words(self) -> (char, char, &'static str) {
        match self {
            Self::Items => ('[', ']', "items"),
            Self::Keys => ('{', '}', "keys"),
            Self::Lists => ('[', ']', "lists"),
        }
    }
}

impl TableSchema {
    /// Returns the place of a member, and the number of that place. The search starts at `hint`, because members keep
    /// their order.
    pub(super) fn place(&self, within: usize, name: &str, hint: &mut usize) -> Option<(usize, &SchemaPlace)> {
        let within = &self.places.item(within)?.within;
        let next = within.get(*hint).filter(|(known, _)| known == name).map(|known| (*hint, known));
        let (at, (_, place)) =
            next.or_else(|| within.iter().enumerate().find(|(_, (known, _))| known == name))?;
        *hint = at + 1;
        Some((*place, self.places.item(*place)?))
    }
}

/// A path found in the sample.
#[derive(Default)]
struct SeenPath<'t> {
    within: Vec<usize>,
    /// Number of rows that have the path. `objects` counts the rows in which the path is an object with members.
    count: usize,
    objects: usize,
    members: usize,
    name: &'t str,
    parent: usize,
    // The following fields are for leaves.
    leaves: usize,
    keys: usize,
    values: HashMap<&'t str, usize>,
}

struct SchemaSurvey<'t, 's> {
    tree: &'s JsonTree<'t>,
    seen: Vec<SeenPath<'t>>,
    index: HashMap<(usize, &'t str), usize>,
}

/// Returns the columns for rows of this kind, if most rows are objects and have few different keys.
pub(super) fn learn_schema(tree: &JsonTree<'_>, rows: &[usize], kind: TableRows) -> Option<TableSchema> {
    let step = (rows.len() / (MAX_SAMPLED_ROWS / 2)).max(1);
    let head = rows.iter().take(MAX_SAMPLED_ROWS / 2);
    let rest = rows.iter().skip(MAX_SAMPLED_ROWS / 2).step_by(step);
    let sample: Vec<usize> = head.chain(rest).copied().collect();
    let objects = sample.iter().filter(|row| is_record(tree, **row)).count();
    if objects < 2 || objects * 5 < sample.len() * 4 {
        return None;
    }
    let mut survey = SchemaSurvey { tree, seen: vec![SeenPath::default()], index: HashMap::new() };
    let sample: Vec<usize> = sample.into_iter().filter(|row| is_record(tree, *row)).collect();
    for row in &sample {
        survey.look(*row, 0, 0);
    }
    if survey.is_wide(0) {
        return None;
    }
    let order = survey.order(&sample);
    Some(survey.schema(&order, sample.len(), kind))
}

fn is_record(tree: &JsonTree<'_>, at: usize) -> bool {
    tree.kind(at) == JsonType::Object && !tree.is_empty(at)
}

impl<'t> SchemaSurvey<'t, '_> {
    fn is_wide(&self, at: usize) -> bool {
        let max_keys = MAX_RECORD_KEYS * if at == 0 { 8 } else { 1 };
        self.seen.item(at).is_none_or(|seen| seen.within.len() > max_keys)
    }

    fn look(&mut self, object: usize, place: usize, depth: usize) {
        let tree = self.tree;
        for child in tree.children(object) {
            if tree.kind(child) == JsonType::Mark || self.is_wide(place) {
                return;
            }
            let at = self.find(place, tree.name(child));
            let Some(seen) = self.seen.item_mut(at) else { return };
            seen.count += 1;
            if is_record(tree, child) {
                seen.objects += 1;
                seen.members += tree.children(child).take(MAX_RECORD_KEYS).count();
                if depth + 1 < MAX_DEPTH && self.seen.len() < MAX_PATHS {
                    self.look(child, at, depth + 1);
                }
            }
        }
    }

    fn find(&mut self, parent: usize, name: &'t str) -> usize {
        let next = self.seen.len();
        let at = *self.index.entry((parent, name)).or_insert(next);
        if at == next {
            self.seen.push(SeenPath { name, parent, ..SeenPath::default() });
            self.seen.item_mut(parent).into_iter().for_each(|seen| seen.within.push(at));
        }
        at
    }

    /// Returns whether the members of a place are columns: most rows have the same few members.
    fn flattened(&self, at: usize) -> bool {
        let Some(seen) = self.seen.item(at) else { return false };
        let mean = seen.members / seen.objects.max(1);
        seen.objects * 2 > seen.count
            && !seen.within.is_empty()
            && seen.within.len() <= mean * 2 + 2
            && !self.is_wide(at)
            && !self.is_map(at)
    }

    /// Returns whether a place has more members than a record can have keys, and most of them are objects: its keys
    /// are then values.
    fn is_map(&self, at: usize) -> bool {
        let Some(seen) = self.seen.item(at) else { return false };
        let objects = |at: &&usize| self.seen.item(**at).is_some_and(|seen| seen.objects * 2 > seen.count);
        seen.within.len() >= MIN_MAP_VALUES
            && seen.within.iter().filter(objects).count() * 5 >= seen.within.len() * 4
    }

    /// Returns the leaves of the rows, in an order that most rows have.
    fn order(&mut self, sample: &[usize]) -> Vec<usize> {
        let flat: Vec<bool> = (0..self.seen.len()).map(|at| self.flattened(at)).collect();
        let mut order: Vec<usize> = Vec::new();
        let mut leaves: Vec<(usize, usize)> = Vec::new();
        let mut placed: Vec<Option<usize>> = vec![None; self.seen.len()];
        for row in sample {
            leaves.clear();
            self.leaves(*row, 0, &flat, &mut leaves);
            let key = self.tree.key(*row);
            let mut after = 0;
            for (leaf, value) in &leaves {
                self.count(*leaf, *value, key);
                if let Some(position) = placed.item(*leaf).copied().flatten() {
                    after = after.max(position + 1);
                    continue;
                }
                order.insert(after, *leaf);
                for (position, leaf) in order.iter().enumerate().skip(after) {
                    placed.item_mut(*leaf).into_iter().for_each(|slot| *slot = Some(position));
                }
                after += 1;
            }
        }
        order
    }

    fn leaves(&self, object: usize, place: usize, flat: &[bool], into: &mut Vec<(usize, usize)>) {
        for child in self.tree.children(object) {
            let Some(at) = self.index.get(&(place, self.tree.name(child))).copied() else { continue };
            if flat.item(at) == Some(&true) && is_record(self.tree, child) {
                self.leaves(child, at, flat, into);
            } else {
                into.push((at, child));
            }
        }
    }

    fn count(&mut self, leaf: usize, value: usize, key: &str) {
        let source = self.tree.source(value);
        let container = self.tree.is_container(value);
        let Some(seen) = self.seen.item_mut(leaf) else { return };
        seen.leaves += 1;
        seen.keys += usize::from(source == key);
        if !container || source.len() <= 2 {
            if let Some(count) = seen.values.get_mut(source) {
                *count += 1;
            } else if seen.values.len() < 24 {
                seen.values.insert(source, 1);
            }
        }
    }

    fn schema(&self, order: &[usize], rows: usize, kind: TableRows) -> TableSchema {
        let mut places: Vec<SchemaPlace> = vec![SchemaPlace::default(); self.seen.len()];
        for (at, seen) in self.seen.iter().enumerate().skip(1) {
            if let Some(place) = places.item_mut(at) {
                place.flattened = self.flattened(at);
            }
            if let Some(parent) = places.item_mut(seen.parent) {
                parent.within.push((seen.name.to_owned(), at));
            }
        }
        // A column saves bytes if few rows have to state that they lack it. The most frequent leaves are chosen
        // first.
        let mut ranked: Vec<usize> =
            order.iter().copied().filter(|leaf| self.leaves_of(*leaf) * 3 >= rows * 2).collect();
        ranked.sort_by_key(|leaf| std::cmp::Reverse(self.leaves_of(*leaf)));
        ranked.truncate(MAX_COLUMNS);
        let chosen: std::collections::HashSet<usize> = ranked.into_iter().collect();
        let mut columns = Vec::new();
        for leaf in order.iter().filter(|leaf| chosen.contains(leaf)) {
            if let Some(place) = places.item_mut(*leaf) {
                place.column = Some(columns.len());
            }
            columns.push(JsonColumn { path: self.path(*leaf), cells: self.cells(*leaf, rows, kind) });
        }
        TableSchema { columns, places, rows: kind }
    }

    fn leaves_of(&self, at: usize) -> usize {
        self.seen.item(at).map_or(0, |seen| seen.leaves)
    }

    fn path(&self, at: usize) -> String {
        let mut names = Vec::new();
        let mut at = at;
        while at != 0
            && let Some(seen) = self.seen.item(at)
        {
            names.push(cell::path_part(seen.name));
            at = seen.parent;
        }
        names.reverse();
        names.join(".")
    }

    fn cells(&self, at: usize, rows: usize, kind: TableRows) -> ColumnCells {
        let Some(seen) = self.seen.item(at) else { return ColumnCells::Any };
        if kind == TableRows::Keys && seen.keys * 10 >= rows * 9 {
            return ColumnCells::Key;
        }
        let commonest = seen.values.iter().max_by_key(|(value, count)| (**count, std::cmp::Reverse(**value)));
        if let Some((value, count)) = commonest
            && *count * 5 >= rows * 4
            && value.len() <= 200
        {
            return ColumnCells::Usual(cell::header_value(value));
        }
        ColumnCells::Any
    }
}
