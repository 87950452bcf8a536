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

/// A text without the colours that a program gave it. Other control characters stay, for [`clean`] to show.
pub(crate) fn without_colour(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        let end = after.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == ':'));
        match end.filter(|end| after.get(*end..).is_some_and(|tail| tail.starts_with('m'))) {
            Some(end) => {
                out.push_str(before);
                rest = after.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push_str(before);
                out.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.into()
}

/// Marks that change the direction of what follows (Unicode Standard Annex 9), that break a line (2028, 2029), and those
/// that are not to be seen at all: zero-width characters, annotations, tags.
fn is_bidi(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A JSON text that is the same value and shows nothing hostile: what a terminal would act on is written as an escape.
pub(crate) fn clean_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !(c.is_control() || is_bidi(c)) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

/// Writes bytes to stdout: exactly as they are, unless a terminal would act on them.
pub(crate) fn write_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = stdout();
    out.write_all(bytes)?;
    out.flush()
}

/// Stdout for what is not ours: bytes go out as they are, but on a terminal they are made harmless.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    let stdout = std::io::stdout();
    if stdout.is_terminal() {
        Box::new(Harmless { out: stdout, held: Vec::new() })
    } else {
        Box::new(std::io::BufWriter::new(stdout))
    }
}

/// Passes on what is safe to see, in whole characters.
struct Harmless<W: Write> {
    out: W,
    /// The beginning of a character whose rest has not come yet.
    held: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.out.write_all(clean_lines(&String::from_utf8_lossy(bytes)).as_bytes())
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.held) {
            Ok(text) => text.len(),
            // Only an unfinished character at the very end may still become one.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.held.len(),
        };
        let rest = self.held.split_off(whole);
        let ready = std::mem::replace(&mut self.held, rest);
        self.put(&ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.held);
        self.put(&rest)?;
        self.out.flush()
    }
}

/// The width to write for, in columns: as declared (`COLUMNS`), else the terminal's own, else what most windows have.
pub(crate) fn width() -> usize {
    let declared = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let own = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    declared.or_else(own).unwrap_or(100).clamp(40, 160)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_other_sequences_stay() {
        assert_eq!(without_colour("\x1b[1m\x1b[38;5;2mok\x1b[0m done"), "ok done");
        assert_eq!(without_colour("\x1b[2Jcleared\x1b[31"), "\x1b[2Jcleared\x1b[31");
        assert_eq!(without_colour("plain"), "plain");
    }

    #[test]
    fn nothing_hostile_passes() {
        let hostile = "a\x1b[31mred\x07\u{202e}evil\u{9b}x\r\nnext\t\u{7f}";
        let cleaned = clean_lines(hostile);
        assert!(
            cleaned.chars().all(|c| c == '\n' || c == '\t' || (!c.is_control() && !is_bidi(c))),
            "{cleaned:?}"
        );
        assert_eq!(clean("a\nb"), "a\u{240a}b");
        assert_eq!(clean("a\u{2028}b\u{e0041}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(clean("普通 text — ok"), "普通 text — ok");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a\u{9b}": "x\u{7f}\u{202e}\u{e0041}普\u{1b}" });
        let shown = clean_json(&value.to_string());
        assert!(shown.chars().all(|c| !c.is_control() && !is_bidi(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn characters_cut_in_two_are_put_together() {
        let mut out = Harmless { out: Vec::new(), held: Vec::new() };
        for byte in "普\u{1b}[2J通\u{9b}".bytes() {
            out.write_all(&[byte]).unwrap();
        }
        out.write_all(&[0xff, 0xe6]).unwrap();
        out.flush().unwrap();
        assert_eq!(String::from_utf8(out.out).unwrap(), "普\u{241b}[2J通\u{fffd}\u{fffd}\u{fffd}");
    }
}
