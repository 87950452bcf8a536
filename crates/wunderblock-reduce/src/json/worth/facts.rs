//! Finds the facts that a reduced document must not hide: rare values of a key, numbers far from the others, and
//! names of the schema.
//!
//! Facts are found over the whole document, by key alone: a value that is common in one list may be rare in all lists
//! together. If no kept part shows a fact, the mark of its gap states it, or the item with the fact stays
//! ([`super::fact_needs`]).

use std::collections::{HashMap, HashSet};

use crate::json::tree::{JsonTree, JsonType};
use crate::part::PartOfList;
use crate::text::numbers::Numbers;

/// Maximum share of a key's values that are equal to a given rare value, in per cent.
const MAX_RARE_PERCENT: u32 = 5;
/// Minimum share of a key's values that are equal to its most common value, in per cent. Below this share, no value
/// is rare.
const MIN_COMMON_PERCENT: u32 = 25;
/// Minimum number of values of a key with rare values.
const MIN_VALUES: u32 = 20;
/// Maximum number of different values of a key with rare values.
const MAX_DISTINCT: usize = 12;
/// Maximum length of a string that can be one of a set of values, in bytes. Longer strings are prose.
const MAX_VALUE_BYTES: usize = 60;
/// Maximum length of a name in the schema, in bytes. A longer key belongs to a map.
const MAX_NAME_BYTES: usize = 40;
/// Minimum number of digits in a key of a map.
const MIN_KEY_DIGITS: usize = 3;
/// Maximum number of members in a record. An object with more members may be a map.
const MAX_RECORD_KEYS: usize = 24;
/// Maximum number of places stored per name.
const MAX_PLACES: usize = 4;
/// Maximum number of keys of a document. A document with more keys has maps, whose keys are values.
const MAX_KEYS: usize = 4_096;
/// Maximum depth at which a name that occurs once belongs to the schema.
const MAX_SCHEMA_DEPTH: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonFactKind {
    Rare,
    Min,
    Max,
    Name,
    /// A name that occurs once and might not belong to the schema. A name that might not belong to the schema is
    /// shown if there is room.
    Once,
}

/// A fact that must be visible, or stated in a mark.
#[derive(Debug)]
pub(in crate::json) struct JsonFact<'t> {
    pub(super) sort: JsonFactKind,
    /// Key of the fact. `value` is written as in the source, and is empty if the key itself is the fact.
    pub(super) key: &'t str,
    pub(super) value: &'t str,
    /// Number of times the fact occurs in the document.
    pub(super) all: u32,
    /// Places of the fact: all places of a value, or the first few places of a name.
    pub(super) places: Vec<u32>,
}

/// The values of a key, as long as there are few distinct values.
#[derive(Default)]
struct ValueCounts<'t> {
    all: u32,
    values: Vec<(&'t str, u32)>,
    many: bool,
}

impl<'t> ValueCounts<'t> {
    fn add(&mut self, value: &'t str) {
        self.all += 1;
        if self.many {
            return;
        }
        let room = self.values.len() < MAX_DISTINCT;
        match self.values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None if room => self.values.push((value, 1)),
            None => (self.many, self.values) = (true, Vec::new()),
        }
    }

    /// Returns the number of occurrences of a value, if the value is rare.
    fn rare(&self, value: &str) -> Option<u32> {
        if self.many || self.all < MIN_VALUES {
            return None;
        }
        let count = self.values.iter().find(|(known, _)| *known == value)?.1;
        let commonest = self.values.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let is_rare = count * 100 <= self.all * MAX_RARE_PERCENT;
        (is_rare && commonest * 100 >= self.all * MIN_COMMON_PERCENT).then_some(count)
    }
}

/// Returns the smallest and the largest of a key's numbers, if they are far from the others and the numbers do not
/// just count up.
fn find_extremes(numbers: &Numbers) -> impl Iterator<Item = (JsonFactKind, u32)> {
    let counts = (numbers.rises + 1) * 10 >= numbers.count * 9;
    let known = numbers.count >= MIN_VALUES && !counts;
    let (min, max) = if known { numbers.extremes() } else { (None, None) };
    min.map(|at| (JsonFactKind::Min, at)).into_iter().chain(max.map(|at| (JsonFactKind::Max, at)))
}

/// The values and places of one key.
#[derive(Default)]
struct KeyFacts<'t> {
    name: &'t str,
    values: ValueCounts<'t>,
    numbers: Numbers,
    /// Number of times the key names a member of a record. `places` contains the first few members that the key
    /// names.
    named: u32,
    places: Vec<u32>,
    shallow: bool,
}

/// Returns the facts of a document, in the order of their first places.
pub(in crate::json) fn find_facts<'t>(tree: &JsonTree<'t>) -> Vec<JsonFact<'t>> {
    let mut keys: Vec<KeyFacts<'t>> = Vec::new();
    let mut index: HashMap<&'t str, usize> = HashMap::new();
    for_each_member(tree, |at, name, depth| {
        let next = keys.len();
        if next >= MAX_KEYS && !index.contains_key(name) {
            return;
        }
        let key = *index.entry(name).or_insert(next);
        if key == next {
            keys.push(KeyFacts { name, ..KeyFacts::default() });
        }
        if let Some(key) = keys.item_mut(key) {
            count_value(tree, key, at);
            if let Some(depth) = depth {
                key.named += 1;
                key.shallow |= depth <= MAX_SCHEMA_DEPTH;
                if key.places.len() < MAX_PLACES {
                    key.places.push(to_u32(at));
                }
            }
        }
    });
    let mut facts = Vec::new();
    let mut rare: HashMap<(usize, &'t str), JsonFact<'t>> = HashMap::new();
    for_each_member(tree, |at, name, _| {
        let Some((number, key)) = index.get(name).and_then(|at| Some((*at, keys.item(*at)?))) else { return };
        let Some(value) = set_value(tree, at) else { return };
        let Some(all) = key.values.rare(value) else { return };
        let new = || JsonFact { sort: JsonFactKind::Rare, key: key.name, value, all, places: Vec::new() };
        rare.entry((number, value)).or_insert_with(new).places.push(to_u32(at));
    });
    facts.extend(rare.into_values());
    for key in &keys {
        let of = |sort, at: u32| {
            let value = tree.source(at as usize);
            JsonFact { sort, key: key.name, value, all: 1, places: vec![at] }
        };
        // A number that identifies something is not a measurement.
        if !is_identifier_name(key.name) {
            facts.extend(find_extremes(&key.numbers).map(|(sort, at)| of(sort, at)));
        }
        if is_name(key.name) && key.named > 0 {
            let sort = if key.named > 1 || key.shallow { JsonFactKind::Name } else { JsonFactKind::Once };
            facts.push(JsonFact {
                sort,
                key: key.name,
                value: "",
                all: key.named,
                places: key.places.clone(),
            });
        }
    }
    facts.sort_by_key(|fact| (fact.places.first().copied(), fact.key, fact.value));
    facts
}

/// Calls `each` with every node except the root, and with the key that the node is a value of (an item has the key of
/// its array). Members of records also have their depth.
fn for_each_member<'t>(tree: &JsonTree<'t>, mut each: impl FnMut(usize, &'t str, Option<usize>)) {
    let mut open: Vec<(usize, &'t str, bool)> = Vec::new();
    for at in 0..tree.nodes.len() {
        while open.pop_if(|(end, ..)| *end <= at).is_some() {}
        let own = tree.name(at);
        let (_, outer, in_record) = open.last().copied().unwrap_or_default();
        let name = if own.is_empty() { outer } else { own };
        if at > 0 {
            each(at, name, in_record.then_some(open.len()));
        }
        if tree.is_container(at) && !tree.is_empty(at) {
            let is_record = tree.kind(at) == JsonType::Object
                && !(tree.children(at).nth(MAX_RECORD_KEYS).is_some() && is_map(tree, at));
            open.push((tree.node(at).next as usize, name, is_record));
        }
    }
}

/// Minimum number of plain values in an object for the object to be a map if its values are alike.
const MIN_PLAIN_MAP: usize = 24;
/// Maximum number of members of an object that are compared.
const MAX_COMPARED: usize = 64;

/// Returns whether the members of an object are alike, so that the object is in fact a list.
pub(in crate::json) fn is_map(tree: &JsonTree<'_>, at: usize) -> bool {
    let sample: Vec<usize> = tree.children(at).take(MAX_COMPARED).collect();
    let more_than = |count: usize| tree.children(at).nth(count).is_some();
    let objects: Vec<usize> =
        sample.iter().copied().filter(|at| tree.kind(*at) == JsonType::Object).collect();
    if objects.len() * 5 >= sample.len() * 4 {
        let mut names: HashSet<&str> = HashSet::new();
        let mut members = 0;
        for object in &objects {
            for child in tree.children(*object).take(MAX_COMPARED) {
                names.insert(tree.name(child));
                members += 1;
            }
        }
        return names.len() <= 2 * (members / objects.len().max(1)) + 8 || more_than(MAX_COMPARED);
    }
    if !more_than(MIN_PLAIN_MAP) {
        return false;
    }
    let kinds = |kind: JsonType| sample.iter().filter(|at| tree.kind(**at) == kind).count();
    let alike = [JsonType::Text, JsonType::Number, JsonType::Array, JsonType::Word]
        .into_iter()
        .map(kinds)
        .max()
        .unwrap_or(0);
    alike * 10 >= sample.len() * 9 || more_than(8 * MIN_PLAIN_MAP)
}

/// Returns a plain value that is short enough to be one of a set.
fn set_value<'t>(tree: &JsonTree<'t>, at: usize) -> Option<&'t str> {
    let source = tree.source(at);
    match tree.kind(at) {
        JsonType::Text => (source.len() <= MAX_VALUE_BYTES + 2).then_some(source),
        JsonType::Number | JsonType::Word => (source.len() <= MAX_VALUE_BYTES).then_some(source),
        JsonType::Object | JsonType::Array | JsonType::Mark | JsonType::Raw => None,
    }
}

fn count_value<'t>(tree: &JsonTree<'t>, key: &mut KeyFacts<'t>, at: usize) {
    let kind = tree.kind(at);
    if let Some(value) = set_value(tree, at) {
        key.values.add(value);
    }
    if kind == JsonType::Number
        && let Ok(number) = tree.source(at).parse::<f64>()
        && number.is_finite()
    {
        key.numbers.add(number, to_u32(at));
    }
}

/// Returns whether a key may be a name of a schema.
fn is_name(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && digits < MIN_KEY_DIGITS
        && name.contains(char::is_alphabetic)
}

/// Returns whether a key identifies things by numbers.
fn is_identifier_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "id" || name.ends_with("_id") || name.ends_with("number") || name.ends_with("timestamp")
}

fn to_u32(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
