//! Page boundaries on a line of tokens.
//!
//! All content to be read is laid out on one line of tokens. Each message takes up [`HEAD`] tokens for the lines
//! above its texts, followed by the tokens of the texts. The line is divided into cells of equal length, one per
//! page, so the page that contains a given place is known without looking at earlier text. A message that exceeds its
//! cell by no more than the slack is still shown completely; a longer one is cut at the end of the cell. The rest of
//! a page's limit is reserved for marks.
//!
//! Rejected alternative: filling pages one after another. Finding page 300 would require first filling the 299 pages
//! before it.

use crate::rules::tokens::Vocabulary;

/// Number of tokens that a message takes up on the line in addition to its texts: for its position, its role, and the
/// kinds of its parts.
pub(super) const HEAD: u64 = 16;

/// Grid for pages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    cell: u64,
    slack: u64,
    /// Approximate size in bytes of the chunks in which long texts are counted and cut.
    chunk: usize,
}

impl Grid {
    /// Creates a grid for pages of at most `page_tokens` tokens.
    pub(super) fn of(page_tokens: u64) -> Self {
        let chunk = usize::try_from(page_tokens / 8).unwrap_or(usize::MAX).clamp(16, 256);
        // The cell takes up 70 % of a page, and the slack takes up 20 %. The remaining 10 % are for marks.
        Self { cell: (page_tokens * 7 / 10).max(1), slack: page_tokens / 5, chunk }
    }

    /// Returns the number of pages needed for a line of this length, at least one.
    pub(super) fn pages(&self, length: u64) -> u64 {
        length.saturating_sub(self.slack).div_ceil(self.cell).max(1)
    }

    /// Returns the cell of a page; pages are counted from 1.
    pub(super) fn cell(&self, page: u64) -> (u64, u64) {
        let begin = page.saturating_sub(1).saturating_mul(self.cell);
        (begin, begin.saturating_add(self.cell))
    }

    /// Returns the last place that a page may show, given the end of its cell.
    pub(super) fn reach(&self, close: u64) -> u64 {
        close.saturating_add(self.slack)
    }

    /// Returns the part of the range `start..end` that a page shows, if any.
    pub(super) fn shown(&self, page: u64, start: u64, end: u64) -> Option<(u64, u64)> {
        let (begin, close) = self.cell(page);
        let before = page > 1 && end <= self.reach(begin);
        let upto = if end <= self.reach(close) { end } else { close };
        let from = start.max(begin);
        (!before && from < upto).then_some((from, upto))
    }

    /// Returns a scale that converts a token count within a text into a byte offset.
    pub(super) fn scale<'t>(&self, text: &'t str, tokens: u64) -> TokenScale<'t> {
        TokenScale::of(text, tokens, self.chunk)
    }
}

/// A long text with token counts of its chunks.
///
/// The counts of the chunks add up to slightly more than the count of the whole text, since a chunk boundary can
/// split a token. Places are therefore scaled. The same place always gives the same byte, so consecutive pages
/// neither overlap nor leave a gap.
pub(super) struct TokenScale<'t> {
    text: &'t str,
    tokens: u64,
    /// Byte offset of the end of each chunk, and the number of tokens up to that end.
    ends: Vec<(usize, u64)>,
}

impl<'t> TokenScale<'t> {
    fn of(text: &'t str, tokens: u64, chunk: usize) -> Self {
        let mut ends = Vec::with_capacity(text.len() / chunk + 1);
        let (mut at, mut sum) = (0, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let next = at + chunk_end(rest, chunk);
            sum += u64::from(Vocabulary::O200k.count(text.get(at..next).unwrap_or_default()));
            ends.push((next, sum));
            at = next;
        }
        Self { text, tokens, ends }
    }

    /// Returns the byte at which the text is cut after `tokens` tokens.
    pub(super) fn cut(&self, tokens: u64) -> usize {
        if tokens >= self.tokens {
            return self.text.len();
        }
        let sum = self.ends.last().map_or(0, |(_, sum)| *sum);
        let wide = u128::from(tokens) * u128::from(sum) / u128::from(self.tokens.max(1));
        let after = self.ends.partition_point(|(_, upto)| u128::from(*upto) <= wide);
        after.checked_sub(1).and_then(|last| self.ends.get(last)).map_or(0, |(end, _)| *end)
    }
}

/// Returns the end of a text's first chunk: after a line if possible, otherwise before a space, and otherwise after
/// any character.
fn chunk_end(text: &str, chunk: usize) -> usize {
    if text.len() <= chunk {
        return text.len();
    }
    let most = text.floor_char_boundary(chunk);
    let most = if most == 0 { text.ceil_char_boundary(1) } else { most };
    let bytes = text.as_bytes().get(..most).unwrap_or_default();
    let late = |place: &usize| *place > most / 2;
    let line = memchr::memrchr(b'\n', bytes).map(|at| at + 1).filter(late);
    // Both vocabularies join a space with the following word, so the cut is before the space.
    line.or_else(|| memchr::memrchr(b' ', bytes).filter(late)).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pages_tile_the_line(widths in prop::collection::vec(1u64..5_000, 1..60), page in 100u64..3_000) {
            let grid = Grid::of(page);
            let mut at = 0;
            let places: Vec<(u64, u64)> = widths.iter().map(|width| { at += width; (at - width, at) }).collect();
            let pages = grid.pages(at);
            let mut parts = Vec::new();
            for number in 1..=pages {
                let here: Vec<_> = places.iter().filter_map(|(from, to)| grid.shown(number, *from, *to)).collect();
                prop_assert!(!here.is_empty(), "page {} of {} is empty", number, pages);
                let length: u64 = here.iter().map(|(from, to)| to - from).sum();
                prop_assert!(length <= grid.cell + grid.slack);
                parts.extend(here);
            }
            let mut next = 0;
            for (from, to) in parts {
                prop_assert_eq!(from, next);
                next = to;
            }
            prop_assert_eq!(next, at);
            prop_assert!(places.iter().all(|(from, to)| grid.shown(pages + 1, *from, *to).is_none()));
        }

        #[test]
        fn cuts_are_characters_and_go_on_where_they_ended(
            text in "([a-z ]{0,90}|\\PC{0,40}|[普通话数据库]{0,60}|\n){0,40}",
            step in 1u64..200,
        ) {
            let tokens = u64::from(Vocabulary::O200k.count(&text));
            let scale = Grid::of(400).scale(&text, tokens);
            let mut last = 0;
            for at in (0..=tokens).step_by(step as usize) {
                let cut = scale.cut(at);
                prop_assert!(text.is_char_boundary(cut) && cut >= last);
                last = cut;
            }
            prop_assert_eq!(scale.cut(tokens), text.len());
        }
    }

    #[test]
    fn a_short_line_is_one_page() {
        let grid = Grid::of(2_000);
        assert_eq!(
            [0, 1, 1_400, 1_800, 1_801, 3_200, 3_201].map(|length| grid.pages(length)),
            [1, 1, 1, 1, 2, 2, 3]
        );
    }
}
