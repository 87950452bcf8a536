//! The format of each word of a template, learnt from all the lines that share it.

use super::line_words::ShapeWord;

/// The format of a value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueFormat {
    /// It is in the template: the same in every line.
    Said,
    /// As it is, without what all values begin and end with.
    Plain,
    /// This number of bytes; a value written shorter begins as the value above did.
    Fixed(usize),
    /// Filled up with spaces on its left to this number of bytes, the separator before it included.
    Right(usize),
    /// Filled up with spaces on its right to this number of bytes, the separator after it included.
    Left(usize),
    /// With the spaces before it, all but one.
    Loose,
}

/// The most frequent of some numbers, if one is more than half of them; and by how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MajorityVote {
    number: usize,
    lead: u32,
}

impl MajorityVote {
    fn cast(&mut self, number: usize) {
        if self.lead == 0 {
            *self = Self { number, lead: 1 };
        } else if self.number == number {
            self.lead += 1;
        } else {
            self.lead -= 1;
        }
    }

    fn join(&mut self, other: Self) {
        if self.number == other.number {
            self.lead += other.lead;
        } else if self.lead >= other.lead {
            self.lead -= other.lead;
        } else {
            *self = Self { number: other.number, lead: other.lead - self.lead };
        }
    }
}

/// One word in all the lines of a template.
#[derive(Clone, Debug)]
pub(super) struct TemplateColumn<'t> {
    /// Whether it may differ.
    pub(super) value: bool,
    pub(super) sep: &'t str,
    pub(super) first: &'t str,
    same: bool,
    pub(super) prefix: usize,
    pub(super) suffix: usize,
    width: Option<usize>,
    shortest: usize,
    /// Whether the separator before it is nothing but spaces.
    spaced: bool,
    lines: u32,
    gap: MajorityVote,
    right: MajorityVote,
    left: MajorityVote,
    pub(super) form: ValueFormat,
}

impl<'t> TemplateColumn<'t> {
    pub(super) fn new(line: &'t str, word: &ShapeWord, value: bool) -> Self {
        let (sep, first) = (word.before(line), word.of(line));
        Self {
            value,
            sep,
            first,
            same: true,
            prefix: first.len(),
            suffix: first.len(),
            width: Some(first.len()),
            shortest: first.len(),
            spaced: is_spaces(sep),
            lines: 0,
            gap: MajorityVote::default(),
            right: MajorityVote::default(),
            left: MajorityVote::default(),
            form: ValueFormat::Said,
        }
    }

    /// Learns from a line's word; `after` is the separator after it.
    pub(super) fn learn(&mut self, sep: &str, said: &str, after: Option<&str>) {
        if self.value {
            self.compare(said);
        }
        self.lines += 1;
        if self.spaced {
            self.gap.cast(sep.len());
            self.right.cast(sep.len() + said.len());
        }
        if let Some(after) = after.filter(|after| is_spaces(after)) {
            self.left.cast(said.len() + after.len());
        }
    }

    fn compare(&mut self, said: &str) {
        if self.same && said == self.first {
            return;
        }
        self.same = false;
        self.shortest = self.shortest.min(said.len());
        if self.width != Some(said.len()) {
            self.width = None;
        }
        let (first, said) = (self.first.as_bytes(), said.as_bytes());
        if self.prefix > 0 {
            self.prefix = first.iter().zip(said).take(self.prefix).take_while(|(a, b)| a == b).count();
        }
        if self.suffix > 0 {
            let alike = first.iter().rev().zip(said.iter().rev());
            self.suffix = alike.take(self.suffix).take_while(|(a, b)| a == b).count();
        }
    }

    /// The word in the lines of two templates. None where they have no common format.
    pub(super) fn join(&self, other: &Self) -> Option<Self> {
        let alike = self.value == other.value && (self.sep == other.sep || (self.spaced && other.spaced));
        if !alike || (!self.value && self.first != other.first) {
            return None;
        }
        let mut joined = self.clone();
        if self.value {
            let same = other.same;
            joined.compare(other.first);
            joined.same &= same;
            joined.prefix = joined.prefix.min(other.prefix);
            joined.suffix = joined.suffix.min(other.suffix);
            joined.shortest = joined.shortest.min(other.shortest);
            joined.width = joined.width.filter(|width| other.width == Some(*width));
        }
        joined.lines += other.lines;
        joined.gap.join(other.gap);
        joined.right.join(other.right);
        joined.left.join(other.left);
        Some(joined)
    }

    /// Whether all have the same number of bytes: only such columns are shared among templates.
    pub(super) fn is_even(&self) -> bool {
        self.width.is_some() || matches!(self.form, ValueFormat::Right(_))
    }

    /// The number of spaces before it in most lines.
    pub(super) fn gap(&self) -> Option<usize> {
        self.spaced.then_some(self.gap.number)
    }

    /// Decides how it is written. `before` is the column to its left, which may take the spaces between them.
    pub(super) fn choose_format(&mut self, before: Option<&mut Self>) {
        self.form = self.own_form();
        if !self.spaced || !self.value && before.as_ref().is_none_or(|before| !before.value) {
            return;
        }
        let mut lead = self.gap.lead;
        if self.value && self.right.lead > lead {
            lead = self.right.lead;
            self.form = ValueFormat::Right(self.right.number);
        }
        if let Some(before) = before
            && before.value
            && before.left.lead > lead
            && matches!(before.form, ValueFormat::Plain | ValueFormat::Fixed(_) | ValueFormat::Said)
        {
            lead = before.left.lead;
            before.form = ValueFormat::Left(before.left.number);
            self.form = self.own_form();
        }
        // No width holds for most lines: the spaces go with the value.
        if self.value && lead < self.lines / 2 {
            self.form = ValueFormat::Loose;
        }
    }

    fn own_form(&mut self) -> ValueFormat {
        if !self.value || self.same {
            return ValueFormat::Said;
        }
        (self.prefix, self.suffix) = trim_common(self.first, self.prefix, self.suffix);
        if self.prefix + self.suffix >= self.shortest {
            (self.prefix, self.suffix) = (if self.prefix < self.shortest { self.prefix } else { 0 }, 0);
        }
        match self.width {
            Some(width) => ValueFormat::Fixed(width - self.prefix - self.suffix),
            None => ValueFormat::Plain,
        }
    }
}

fn is_spaces(sep: &str) -> bool {
    !sep.is_empty() && sep.bytes().all(|byte| byte == b' ')
}

/// The common start and end of values, shortened so that no number or character is cut in two.
fn trim_common(first: &str, prefix: usize, suffix: usize) -> (usize, usize) {
    let common = first.get(..floor(first, prefix)).unwrap_or("");
    let head = common.trim_end_matches(|c: char| c.is_ascii_digit());
    // Letters before cut digits may be the digits of a hash.
    let head =
        if head.len() < common.len() { head.trim_end_matches(|c: char| c.is_ascii_hexdigit()) } else { head };
    let tail = first.get(ceil(first, first.len() - suffix)..).unwrap_or("");
    let end = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    let end =
        if end.len() < tail.len() { end.trim_start_matches(|c: char| c.is_ascii_hexdigit()) } else { end };
    (head.len(), end.len())
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The part of a fixed-width value that has to be written, given the one above: whole components only.
pub(super) fn shorten<'v>(value: &'v str, above: &str) -> &'v str {
    if above.len() != value.len() {
        return value;
    }
    let alike = value.bytes().zip(above.bytes()).take_while(|(a, b)| a == b).count();
    let bytes = value.as_bytes();
    let parts = bytes.get(..alike).unwrap_or_default();
    let cut = parts.iter().rposition(|byte| byte.is_ascii_punctuation()).map_or(0, |at| at + 1);
    value.get(cut..).filter(|rest| !rest.is_empty()).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_between_components() {
        for (value, above, expected) in [
            ("10:00:07", "10:00:06", "07"),
            ("10:01:07", "10:00:06", "01:07"),
            ("203518", "203517", "203518"),
            ("10:00:07", "", "10:00:07"),
            ("10:00:07", "10:00:7", "10:00:07"),
        ] {
            assert_eq!(shorten(value, above), expected);
        }
    }

    #[test]
    fn what_values_have_in_common_does_not_cut_numbers() {
        for (first, prefix, suffix, expected) in [
            ("blk_-160", 6, 0, (5, 0)),
            ("10.250.19.1", 8, 0, (7, 0)),
            ("0x14e1de63a", 6, 0, (2, 0)),
            ("12ms", 0, 3, (0, 2)),
        ] {
            assert_eq!(trim_common(first, prefix, suffix), expected, "{first}");
        }
    }
}
