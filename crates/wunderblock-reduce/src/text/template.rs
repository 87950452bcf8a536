//! Lines that say the same thing about different values.
//!
//! Lines are grouped in two steps, both linear. The *words* of a line are hashed with every value masked (numbers,
//! addresses, paths, ids, times): lines with the same hash are a *variant*. Variants of the same length that have the
//! same first word and differ in only a few places are a *group* (after Drain, He et al. 2017: a fixed-depth tree,
//! then similarity). The first few variants of a group are separate templates, so that `Starting` and `Finished` stay
//! apart. If there are more variants, the word that differs is a value (for example, a user's name), and the rest of
//! the group is one template.

use crate::part::PartOfList;
use std::collections::HashMap;

/// Maximum number of words of a line that are compared. All words take part in the hash of the variant.
const MAX_WORDS: usize = 40;
/// Lines of a group may differ in one place, and in one more place for each run of this many words.
const WORDS_PER_PLACE: usize = 12;
/// Maximum number of first words, and of second words after the same first word, that have a separate bucket. Any
/// other word is a value. Logs of harnesses begin their lines with the task. With this limit, 77 % of a harness's log
/// is saved instead of 37 %.
const MAX_CHILDREN: u32 = 12;
/// Maximum number of groups in one bucket that are compared with a new variant.
const MAX_CANDIDATES: usize = 32;
/// Maximum number of variants that are separate templates, first for plain lines, then for lines of other classes.
const MAX_VARIANTS: [u32; 2] = [4, 8];
/// Hash of any masked value.
const VALUE: u32 = 0;
const NONE: u32 = u32::MAX;

/// One template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineTemplate {
    pub(crate) count: u32,
    /// First line that was learnt for the template. `last` is the last one.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Whether any lines of the template differ.
    pub(crate) differ: bool,
    bytes: u64,
    group: u32,
}

#[derive(Debug)]
struct TemplateGroup {
    words: Vec<u32>,
    /// Places in which the variants of the group differ, one bit per place.
    places: u64,
    variants: u32,
    /// Template of all variants after the first few.
    pooled: u32,
}

/// The templates of the lines learnt so far.
#[derive(Debug, Default)]
pub(crate) struct LineTemplates {
    known: HashMap<u64, u32>,
    buckets: HashMap<u64, Vec<u32>>,
    /// Number of branches below each branch: of first words below a length, and of second words below a first word.
    children: HashMap<u64, u32>,
    groups: Vec<TemplateGroup>,
    all: Vec<LineTemplate>,
    words: Vec<u32>,
}

impl LineTemplates {
    /// Counts a line and returns its template. Lines of different classes never share a template.
    pub(crate) fn learn(&mut self, at: usize, line: &str, class: u8) -> u32 {
        let at = u32::try_from(at).unwrap_or(NONE);
        let masked = mask_values(line, class, &mut self.words);
        let id = match self.known.get(&masked.hash) {
            Some(id) => *id,
            None => {
                let id = self.place(&masked, at, class);
                self.known.insert(masked.hash, id);
                id
            }
        };
        if let Some(template) = self.all.item_mut(id as usize) {
            if template.count == 0 {
                template.first = at;
                template.bytes = masked.bytes;
            }
            template.count += 1;
            template.last = at;
            template.differ |= template.bytes != masked.bytes;
        }
        id
    }

    pub(crate) fn get(&self, id: u32) -> Option<&LineTemplate> {
        self.all.item(id as usize)
    }

    /// Returns the template that pools the group of a rare template (with fewer than `rare` lines), or the template
    /// itself.
    pub(crate) fn settled(&self, id: u32, rare: u32) -> u32 {
        let rare = self.get(id).filter(|template| template.count < rare);
        // A template has no group if its bucket was full.
        let group = rare.and_then(|template| self.groups.get(template.group as usize));
        group.map(|group| group.pooled).filter(|pooled| *pooled != NONE).unwrap_or(id)
    }

    fn place(&mut self, masked: &MaskedLine, at: u32, class: u8) -> u32 {
        let fresh = self.all.len() as u32;
        let first = self.branch(masked.length, masked.first);
        let second = if first == masked.first { self.branch(first, masked.second) } else { first };
        let bucket = self.buckets.entry(second).or_default();
        let allowed = 1 + self.words.len() as u32 / WORDS_PER_PLACE as u32;
        let mut best: Option<(u32, u64, u32)> = None;
        for id in bucket.iter() {
            let Some(group) = self.groups.item(*id as usize) else { continue };
            let Some(places) = differing_places(group, &self.words, allowed) else { continue };
            let grown = (places ^ group.places).count_ones();
            if best.is_none_or(|(best_grown, _, _)| grown < best_grown) {
                best = Some((grown, places, *id));
            }
        }
        let group = best.and_then(|(_, places, id)| Some((places, id, self.groups.item_mut(id as usize)?)));
        let Some((places, id, group)) = group else {
            let own = if bucket.len() < MAX_CANDIDATES { self.groups.len() as u32 } else { NONE };
            if bucket.len() < MAX_CANDIDATES {
                bucket.push(self.groups.len() as u32);
                self.groups.push(TemplateGroup {
                    words: self.words.clone(),
                    places: 0,
                    variants: 1,
                    pooled: NONE,
                });
            }
            return self.open(fresh, at, own);
        };
        group.places = places;
        group.variants += 1;
        if group.variants
            <= MAX_VARIANTS.get(usize::from(class)).or(MAX_VARIANTS.last()).copied().unwrap_or(1)
        {
            return self.open(fresh, at, id);
        }
        if group.pooled == NONE {
            group.pooled = fresh;
            return self.open(fresh, at, id);
        }
        group.pooled
    }

    /// Returns the branch of a word below a parent branch, or the parent branch if it is full. A word with many
    /// different values is itself a value, and its lines share one bucket.
    fn branch(&mut self, parent: u64, child: u64) -> u64 {
        if self.children.contains_key(&child) || self.buckets.contains_key(&child) {
            return child;
        }
        let children = self.children.entry(parent).or_default();
        if *children >= MAX_CHILDREN {
            return parent;
        }
        *children += 1;
        self.children.insert(child, 0);
        child
    }

    fn open(&mut self, id: u32, at: u32, group: u32) -> u32 {
        self.all.push(LineTemplate { count: 0, first: at, last: at, differ: false, bytes: 0, group });
        id
    }
}

/// Returns the places in which a line differs from a group, together with those already recorded for the group, if
/// there are at most `allowed` of them.
fn differing_places(group: &TemplateGroup, words: &[u32], allowed: u32) -> Option<u64> {
    let mut places = group.places;
    for (at, (a, b)) in group.words.iter().zip(words).enumerate() {
        if a != b {
            places |= 1 << at;
            if places.count_ones() > allowed {
                return None;
            }
        }
    }
    (places.count_ones() <= allowed).then_some(places)
}

/// A line with its values masked.
struct MaskedLine {
    /// Hash of all words, with values masked.
    hash: u64,
    /// Hash of the whole line.
    bytes: u64,
    /// Hash of the class and the number of words.
    length: u64,
    /// Hash that includes the number of words and the first word that is not a value.
    first: u64,
    /// Hash that also includes the second word that is not a value.
    second: u64,
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

pub(crate) fn mix_hash(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(SEED);
    mixed ^ (mixed >> 29)
}

/// Returns a hash of bytes, computed eight bytes at a time.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash = mix_hash(hash, chunk.try_into().map_or(0, u64::from_le_bytes));
    }
    let tail = chunks.remainder().iter().fold(0, |tail, byte| (tail << 8) | u64::from(*byte));
    mix_hash(hash, tail)
}

/// Returns a hash of the words of a line, with values masked.
pub(crate) fn masked_hash(line: &str, words: &mut Vec<u32>) -> u64 {
    mask_values(line, 0, words).hash
}

fn mask_values(line: &str, class: u8, words: &mut Vec<u32>) -> MaskedLine {
    words.clear();
    let bytes = line.as_bytes();
    let mut hash_all = mix_hash(SEED, u64::from(class));
    let (mut first, mut second, mut heads) = (hash_all, hash_all, 0);
    let (mut at, mut was_value, mut count, mut asked) = (0, false, 0u64, false);
    while let Some(byte) = bytes.get(at) {
        if !in_word(*byte) {
            at += 1;
            continue;
        }
        let path = *byte == b'/';
        let end = at
            + bytes.iter().skip(at).take_while(|byte| in_word(**byte) || path && !ends_path(**byte)).count();
        let word = bytes.part(at..end);
        // The status of a response is not a value. The rest of the line (sizes, browsers) is ignored, because it
        // makes lines differ without adding information.
        let status = asked && word.len() == 3 && word.iter().all(u8::is_ascii_digit);
        let value = !status && is_value(word, count);
        asked = word.starts_with(b"HTTP/");
        at = if status { bytes.len() } else { end };
        // Neighbouring values, such as the parts of a time or the items of a list, count as one value.
        if value && was_value {
            continue;
        }
        was_value = value;
        count += 1;
        // The lowest bit is set, so that no word has the hash of a value.
        let hashed = if value { VALUE } else { (hash(word) >> 32) as u32 | 1 };
        hash_all = mix_hash(hash_all, u64::from(hashed));
        if !value && heads < 2 {
            heads += 1;
            second = mix_hash(second, u64::from(hashed));
            first = if heads == 1 { second } else { first };
        }
        if words.len() < MAX_WORDS {
            words.push(hashed);
        }
    }
    MaskedLine {
        hash: hash_all,
        bytes: hash(bytes),
        length: mix_hash(SEED, u64::from(class) << 32 | count),
        first: mix_hash(first, count),
        second: mix_hash(second, count).rotate_left(1),
    }
}

/// Returns whether a byte ends a path, or an address with its query.
fn ends_path(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';')
}

fn in_word(byte: u8) -> bool {
    WORD.get(usize::from(byte)).copied().unwrap_or(false)
}

/// The bytes of words: letters, digits, and bytes that join the parts of names, paths and numbers.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        #[allow(clippy::indexing_slicing, reason = "the index is below the length")]
        {
            table[byte] = b.is_ascii_alphanumeric()
                || b >= 0x80
                || matches!(b, b'_' | b'-' | b'.' | b'/' | b'\\' | b'@' | b'$' | b'%' | b'+' | b'~' | b'#');
        }
        byte += 1;
    }
    table
};

/// Returns whether a word is a value: it has digits (but is not an error code), is a path or a long hexadecimal
/// number, or is the name of a day or month early in a line.
fn is_value(word: &[u8], place: u64) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        return !(place > 0 && is_code(word, digits));
    }
    let slashes = word.iter().filter(|byte| **byte == b'/').count();
    if slashes >= 2 || (slashes == 1 && word.first() == Some(&b'/') && word.len() > 1) {
        return true;
    }
    if word.iter().all(|byte| matches!(byte, b'-' | b'.' | b'_' | b'+' | b'~' | b'#')) {
        return true;
    }
    if word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit) {
        return true;
    }
    place < 5 && word.len() == 3 && is_date_word(word)
}

/// Returns whether a word is the English name of a day or month, as logs shorten it.
pub(crate) fn is_date_word(word: &[u8]) -> bool {
    const NAMES: [&[u8]; 19] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
        b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun",
    ];
    NAMES.contains(&word)
}

/// Returns whether a word is an error code (`E0308`, `ORA-01555`, `TS2304`): a few capitals followed by three to five
/// digits.
fn is_code(word: &[u8], digits: usize) -> bool {
    let capitals = word.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let dash = usize::from(word.get(capitals) == Some(&b'-'));
    (1..=4).contains(&capitals) && (3..=5).contains(&digits) && capitals + dash + digits == word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &[&str]) -> Vec<u32> {
        let mut templates = LineTemplates::default();
        text.iter().enumerate().map(|(at, line)| templates.learn(at, line, 0)).collect()
    }

    #[test]
    fn values_do_not_tell_lines_apart_but_words_do() {
        let got = ids(&[
            "10:00:01 INFO got block blk_12 of 7 from /10.0.0.1:50010",
            "10:00:02 INFO got block blk_-98 of 11 from /10.0.0.22:50010",
            "10:00:02 INFO Starting task 4.0 in stage 1 on node-7",
            "10:00:03 INFO Finished task 4.0 in stage 1 on node-7",
            "10:00:03 INFO Starting task 5.0 in stage 1 on node-2",
            "10:00:04 raised E0308 in a.rs",
            "10:00:04 raised E0599 in a.rs",
        ]);
        assert_eq!(got[0], got[1]);
        assert_eq!(got[2], got[4]);
        assert_ne!(got[2], got[3]);
        assert_ne!(got[5], got[6]);
    }

    #[test]
    fn a_word_with_many_values_becomes_one() {
        let names = ["ann", "bob", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jon"];
        let lines: Vec<String> = names
            .iter()
            .map(|name| format!("10:00:01 sshd: failed login of {name} from 10.0.0.7 port 22"))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let got = ids(&lines);
        assert!(got[4..].iter().all(|id| *id == got[4]), "{got:?}");
        assert!(got[..4].iter().all(|id| *id != got[4]));
    }

    #[test]
    fn a_template_knows_its_places() {
        let mut templates = LineTemplates::default();
        let id = templates.learn(3, "served 12 in 4 ms", 0);
        templates.learn(5, "closed", 0);
        templates.learn(9, "served 13 in 5 ms", 0);
        let template = templates.get(id).unwrap();
        assert_eq!((template.count, template.first, template.last, template.differ), (2, 3, 9, true));
        let id = templates.learn(10, "closed", 0);
        assert!(!templates.get(id).unwrap().differ);
        assert_ne!(templates.learn(11, "closed", 1), id);
    }
}
