//! Lays out text in columns, measured by its width on a terminal.

use unicode_width::UnicodeWidthChar;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Bytes;

/// Breaks a text between words into lines of at most `columns` columns, with an indent of `indent` columns. A word
/// that is longer than a line stays whole.
pub(crate) fn wrap(text: &str, columns: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let wide = self::columns(word);
        if used > 0 && used + 1 + wide > columns {
            out.push('\n');
            used = 0;
        }
        if used == 0 {
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += wide;
    }
    out.push('\n');
    out
}

/// Cuts a text to at most `columns` columns, and marks the cut with `…`.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let mut used = 0;
    let mut out = String::new();
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > columns.saturating_sub(1) {
            out.push('…');
            break;
        }
        used += wide;
        out.push(c);
    }
    out
}

/// Returns the number of columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Pads a text to `wide` columns. A longer text stays whole.
pub(crate) fn pad(text: &str, wide: usize) -> String {
    format!("{text}{}", " ".repeat(wide.saturating_sub(columns(text))))
}

/// Formats a length in bytes for people, for example: `240 B`, `1.5 kB`, `496 kB`.
pub(crate) fn size(bytes: Bytes) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes.0 >= *unit) {
        Some((unit, name)) if bytes.0 < unit * 10 => {
            format!("{}.{} {name}", bytes.0 / unit, bytes.0 % unit * 10 / unit)
        }
        Some((unit, name)) => format!("{} {name}", bytes.0 / unit),
        None => format!("{} B", bytes.0),
    }
}

/// Formats a number with its noun.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8, 0), "one two\nthree\n");
        assert_eq!(wrap("普通 话 longerthanaline x", 8, 2), "  普通\n  话\n  longerthanaline\n  x\n");
        assert_eq!(wrap("", 8, 4), "    \n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(fit("普通话普通话", 7), "普通话…");
        assert_eq!(fit("plain", 20), "plain");
    }
}
