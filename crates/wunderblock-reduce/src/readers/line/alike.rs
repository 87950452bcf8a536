//! Notes about what differs among lines of one template. A note follows the first of the lines that it describes.
//!
//! ```text
//! ⟨×47⟩                                                the line occurs 47 times, unchanged
//! ⟨and 40 alike to L1999: J12-U11 ×30, J13-U04 ×11⟩    40 more lines, and the words that differ in all 41
//! ⟨and 379 alike to L7015: 80 values⟩                  more words than can be named
//! ⟨and 12 alike to L40: order 3 … 9000; in 4 … 897⟩    numbers as ranges, each after the word before them
//! ```

use std::collections::{HashMap, HashSet};

use crate::text::lines::TextLines;
use crate::text::template::{self, LineTemplate, LineTemplates};

use super::timestamp;

/// Maximum number of different words named in a note.
const MAX_NAMED: usize = 12;
/// Maximum number of different words that are counted. If there are more words, a note says "more than".
const MAX_COUNTED: usize = 2_000;
/// Maximum number of positions in a line that a note describes.
const MAX_PLACES: usize = 2;
/// Maximum number of words of a line that are compared.
const MAX_WORDS: usize = 48;
/// Maximum number of characters of a word in a note.
const MAX_CHARS: usize = 40;

/// Returns the notes of the templates that `wanted` selects, by template. A note names the words that differ: given
/// only a count, 380 lines about 80 tasks look like one task that occurs 380 times.
pub(in crate::readers) fn notes(
    lines: &TextLines<'_>,
    templates: &LineTemplates,
    ids: impl Iterator<Item = Option<u32>>,
    wanted: impl Fn(&LineTemplate) -> bool,
) -> HashMap<u32, String> {
    let mut alike: HashMap<u32, AlikeLines<'_>> = HashMap::new();
    let mut notes = HashMap::new();
    for (line, id) in lines.iter().zip(ids) {
        let Some((id, template)) = id.and_then(|id| Some((id, templates.get(id)?))) else { continue };
        if !wanted(template) {
            continue;
        }
        if template.differ {
            alike.entry(id).or_default().add(line);
        } else {
            notes.entry(id).or_insert_with(|| format!("⟨×{}⟩", template.count));
        }
    }
    for (id, words) in alike {
        if let Some(template) = templates.get(id) {
            let (more, last) = (template.count - 1, lines.number(template.last as usize));
            notes.insert(id, format!("⟨and {more} alike to L{last}{}⟩", words.told(false)));
        }
    }
    notes
}

/// The words of lines of one template, by their positions.
#[derive(Default)]
pub(in crate::readers) struct AlikeLines<'t> {
    places: Vec<WordValues<'t>>,
    lines: usize,
    /// Whether the lines have different numbers of words, so that positions cannot be compared.
    is_ragged: bool,
}

/// The different words at one position.
#[derive(Default)]
struct WordValues<'t> {
    /// The first words, in order, with their counts.
    named: Vec<(&'t str, u32)>,
    /// Hashes of the other words, once there are more than can be named.
    others: HashSet<u64>,
    numbers: Option<(f64, f64)>,
    /// Whether all words are numbers. If `is_rising` is set, each number is also larger than the previous one, like a
    /// counter or a time.
    all_numbers: bool,
    is_rising: bool,
    last: f64,
}

impl<'t> AlikeLines<'t> {
    pub(in crate::readers) fn add(&mut self, line: &'t str) {
        let dated = timestamp::prefix_length(line);
        let words = line
            .get(dated..)
            .unwrap_or(line)
            .split(|c: char| c.is_whitespace() || ",;=()[]{}\"'<>|".contains(c));
        let words = words.filter(|word| !word.is_empty()).take(MAX_WORDS);
        let mut count = 0;
        for (place, word) in words.enumerate() {
            count = place + 1;
            match self.places.get_mut(place) {
                Some(values) => values.add(word.trim_end_matches([':', '.'])),
                None if self.lines == 0 => {
                    let mut values =
                        WordValues { all_numbers: true, is_rising: true, ..WordValues::default() };
                    values.add(word.trim_end_matches([':', '.']));
                    self.places.push(values);
                }
                None => self.is_ragged = true,
            }
        }
        self.is_ragged |= count != self.places.len();
        self.lines += 1;
    }

    /// Returns the differing words, as the end of a note: `: 3 … 9000`. The text is empty if the difference cannot be
    /// stated. Numbers that only count up are included if `counters` is set; they add no information if the lines
    /// follow one another.
    pub(in crate::readers) fn told(&self, counters: bool) -> String {
        let values = self.differing(counters);
        if values.is_empty() { String::new() } else { format!(": {}", values.join("; ")) }
    }

    /// Returns the differences at the best two positions, in their order. Words are better than numbers, and few
    /// values are better than many. Numbers that only count up are left out unless `counters` is set.
    fn differing(&self, counters: bool) -> Vec<String> {
        if self.is_ragged {
            return Vec::new();
        }
        let differ =
            self.places.iter().enumerate().filter(|(_, values)| values.count() > 1 && !values.is_time());
        let mut best: Vec<(usize, &WordValues<'_>)> = differ
            .filter(|(_, values)| {
                counters || !(values.all_numbers && values.is_rising && values.count() >= self.lines)
            })
            .collect();
        best.sort_by_key(|(_, values)| (values.all_numbers, values.count()));
        best.truncate(MAX_PLACES);
        best.sort_by_key(|(place, _)| *place);
        let many = best.len() > 1;
        let is_named = |values: &WordValues<'_>| many && values.all_numbers;
        best.into_iter()
            .map(|(place, values)| format!("{}{}", self.named(place, is_named(values)), values.told()))
            .collect()
    }

    /// Returns the word before a range of numbers if several positions are described, to show which range is which.
    fn named(&self, place: usize, is_named: bool) -> String {
        let before = place.checked_sub(1).and_then(|before| self.places.get(before));
        match before.map(|values| values.named.as_slice()) {
            Some([(word, _)]) if is_named && word.contains(char::is_alphanumeric) => format!("{word} "),
            _ => String::new(),
        }
    }
}

impl<'t> WordValues<'t> {
    fn add(&mut self, word: &'t str) {
        let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').parse::<f64>();
        match number.ok().filter(|number| number.is_finite()) {
            Some(number) if self.all_numbers => {
                self.is_rising &= self.numbers.is_none() || number > self.last;
                let (least, most) = self.numbers.unwrap_or((number, number));
                self.numbers = Some((least.min(number), most.max(number)));
                self.last = number;
            }
            _ => self.all_numbers = false,
        }
        if let Some((_, count)) = self.named.iter_mut().find(|(known, _)| *known == word) {
            *count += 1;
        } else if self.named.len() < MAX_NAMED {
            self.named.push((word, 1));
        } else if self.others.len() < MAX_COUNTED {
            self.others.insert(template::hash(word.as_bytes()));
        }
    }

    fn count(&self) -> usize {
        self.named.len() + self.others.len()
    }

    /// Returns whether all words are times or dates. The first and the last line of a log show times and dates
    /// anyway.
    fn is_time(&self) -> bool {
        self.named.iter().all(|(word, _)| {
            word.len() >= 5
                && word.contains([':', '-', '/'])
                && word.bytes().all(|byte| byte.is_ascii_digit() || b":-/.,TZ+".contains(&byte))
        })
    }

    fn told(&self) -> String {
        if let Some((least, most)) = self.numbers.filter(|_| self.all_numbers && self.count() > MAX_NAMED / 2)
        {
            return format!("{least} … {most}");
        }
        if !self.others.is_empty() {
            let more = if self.others.len() >= MAX_COUNTED { "more than " } else { "" };
            return format!("{more}{} values", self.count());
        }
        let named = self.named.iter().map(|(word, count)| {
            let word: String = word.chars().filter(|c| !matches!(c, '⟨' | '⟩')).take(MAX_CHARS).collect();
            if *count > 1 { format!("{word} ×{count}") } else { word }
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> String {
        let lines = TextLines::of(text);
        let mut templates = LineTemplates::default();
        let ids: Vec<Option<u32>> =
            lines.iter().enumerate().map(|(at, line)| Some(templates.learn(at, line, 0))).collect();
        let mut notes: Vec<_> = notes(&lines, &templates, ids.iter().copied(), |template| template.count > 3)
            .into_iter()
            .collect();
        notes.sort_unstable();
        notes.into_iter().map(|(_, note)| note).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_and_alike_look_different() {
        assert_eq!(note(&"cache miss\n".repeat(5)), "⟨×5⟩");
        let hosts: String = (0..9).map(|n| format!("10:00:0{n} node-{} is down\n", n % 3)).collect();
        assert_eq!(note(&hosts), "⟨and 8 alike to L9: node-0 ×3, node-1 ×3, node-2 ×3⟩");
        let tasks: String = (0..40).map(|n| format!("Running task: task-{n}-easy\n")).collect();
        assert_eq!(note(&tasks), "⟨and 39 alike to L40: 40 values⟩");
        let took: String = (0..40).map(|n| format!("served page in {} ms\n", n * 37 % 90)).collect();
        assert_eq!(note(&took), "⟨and 39 alike to L40: 0 … 89⟩");
        let both: String =
            (0..40).map(|n| format!("order {} placed in {} ms\n", n * 37 % 90 + 900, n * 7 % 40)).collect();
        assert_eq!(note(&both), "⟨and 39 alike to L40: order 900 … 989; in 0 … 39⟩");
        let counted: String = (0..40).map(|n| format!("request {n} served\n")).collect();
        assert_eq!(note(&counted), "⟨and 39 alike to L40⟩");
    }
}
