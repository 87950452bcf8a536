//! Makes text safe for terminals: nothing in it can move the cursor, set a title, or reorder characters.

use std::io::{IsTerminal, Write};

/// Replaces every character that could move the cursor, set a title or reverse text with a visible one.
pub(crate) fn clean(text: &str) -> String {
    clean_keeping(text, |_| false)
}

/// Replaces every unsafe character, but keeps line ends and tabs.
pub(crate) fn clean_lines(text: &str) -> String {
    clean_keeping(text, |c| c == '\n' || c == '\t')
}

fn clean_keeping(text: &str, keep: impl Fn(char) -> bool) -> String {
    text.chars()
        .map(|c| match c {
            c if keep(c) => c,
            '\u{7f}' => '\u{2421}',
            // Unicode has a visible symbol for each of the first 32 control characters.
            c if (c as u32) < 0x20 => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
            c if c.is_control() || is_bidi(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Returns a text without the colours that a program gave it. Other control characters are kept, so that [`clean`]
/// can show them.
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

/// Characters that change the direction of the following text (Unicode Standard Annex 9), that break a line (2028,
/// 2029), or that are invisible: zero-width characters, annotations, tags.
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

/// Escapes, in a JSON text, all characters that a terminal would act on. The JSON value stays the same.
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

/// Writes bytes to stdout unchanged, except that on a terminal unsafe characters are replaced.
pub(crate) fn write_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = stdout();
    out.write_all(bytes)?;
    out.flush()
}

/// Returns stdout for content that is not ours. Bytes pass unchanged, but on a terminal unsafe characters are
/// replaced.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    let stdout = std::io::stdout();
    if stdout.is_terminal() {
        Box::new(Harmless { out: stdout, held: Vec::new() })
    } else {
        Box::new(std::io::BufWriter::new(stdout))
    }
}

/// Writer that replaces unsafe characters, and waits for incomplete ones.
struct Harmless<W: Write> {
    out: W,
    /// The start of a character whose remaining bytes have not arrived yet.
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
            // An incomplete character at the end may be completed by the next write.
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

/// Returns the width for output, in columns: `COLUMNS`, or else the terminal's width, or else 100.
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
