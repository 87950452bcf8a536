//! What reaches a terminal: nothing that could write to it on its own.

use std::io::{IsTerminal, Write};

/// A text with everything visible that could move a cursor, set a title or turn the line around.
pub(crate) fn clean(text: &str) -> String {
    clean_keeping(text, |_| false)
}

/// The same, but lines stay lines.
pub(crate) fn clean_lines(text: &str) -> String {
    clean_keeping(text, |c| c == '\n' || c == '\t')
}

fn clean_keeping(text: &str, keep: impl Fn(char) -> bool) -> String {
    text.chars()
        .map(|c| match c {
            c if keep(c) => c,
            '\u{7f}' => '\u{2421}',
            // Unicode has a picture for each of the first 32.
            c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
            c if c.is_control() || is_bidi(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Marks that change the direction of what follows (Unicode Standard Annex 9), and those that are not to be seen at all.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Writes bytes to stdout: exactly as they are, unless a terminal would act on them.
pub(crate) fn write_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if stdout.is_terminal() {
        stdout.write_all(clean_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
    } else {
        stdout.write_all(bytes)?;
    }
    stdout.flush()
}

/// The terminal's width in columns.
pub(crate) fn width() -> usize {
    let declared = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    declared.unwrap_or(100).clamp(40, 160)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_passes() {
        let hostile = "a\x1b[31mred\x07\u{202e}evil\u{9b}x\r\nnext\t\u{7f}";
        let cleaned = clean_lines(hostile);
        assert!(
            cleaned.chars().all(|c| c == '\n' || c == '\t' || (!c.is_control() && !is_bidi(c))),
            "{cleaned:?}"
        );
        assert_eq!(clean("a\nb"), "a\u{240a}b");
        assert_eq!(clean("普通 text — ok"), "普通 text — ok");
    }
}
