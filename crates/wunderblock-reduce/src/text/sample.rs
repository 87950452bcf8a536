//! Lines from three places of a text, on which every reader votes.
use crate::part::{PartOfList, PartOfText};

/// Maximum number of lines in each window: at the start, in the middle, and at the end.
const WINDOW_LINES: usize = 120;
/// Maximum number of bytes of a line that are examined.
const MAX_LINE_BYTES: usize = 400;

/// Lines from three places of a text.
#[derive(Debug)]
pub(crate) struct LineSample<'t> {
    /// The whole text.
    pub(crate) text: &'t str,
    /// Lines without their endings, cut at 400 bytes.
    pub(crate) lines: Vec<&'t str>,
}

impl<'t> LineSample<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut lines = Vec::with_capacity(3 * WINDOW_LINES);
        let bytes = text.len();
        // Three windows of lines. The first window contains all lines of a short text, and the start of the last
        // window is based on lines of 80 bytes.
        let mut from = 0;
        for start in [0, bytes / 2, bytes.saturating_sub(WINDOW_LINES * 80)] {
            if start < from {
                continue;
            }
            let start = next_line(text, start);
            let window = text.part(start..);
            let mut taken = 0;
            for line in window.lines().take(WINDOW_LINES) {
                lines.push(truncate(line));
                taken += line.len() + 1;
            }
            from = start + taken;
        }
        Self { text, lines }
    }

    /// Returns the share of lines for which `such` is true, in per cent. Empty lines do not count.
    pub(crate) fn share(&self, such: impl Fn(&str) -> bool) -> u32 {
        let nonblank = self.lines.iter().filter(|line| !line.trim().is_empty());
        let (all, some) =
            nonblank.fold((0u32, 0u32), |(all, some), line| (all + 1, some + u32::from(such(line))));
        some * 100 / all.max(1)
    }

    /// Returns the number of lines for which `such` is true.
    pub(crate) fn count(&self, such: impl Fn(&str) -> bool) -> u32 {
        self.lines.iter().map(|line| u32::from(such(line))).sum()
    }
}

fn truncate(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

/// Returns the start of the line after a given byte, or 0 for the start of the text.
fn next_line(text: &str, at: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let rest = text.as_bytes().part(at..);
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| at + end + 1)
}
