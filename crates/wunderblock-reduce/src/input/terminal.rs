//! Terminal output in the state that the screen shows at the end.
//!
//! The result is simpler than a terminal: there is no width, no line wraps, and the cursor never leaves its line. The
//! number of lines, and every place named in a mark, are therefore the same as in the bytes.

use crate::part::PartOfText;
use memchr::{memchr, memchr3};

const ESCAPE: u8 = 0x1b;
const BACKSPACE: u8 = 0x08;

/// Returns the text without terminal controls, and the number of bytes removed. A line that was overwritten with `\r`
/// appears in its last state, as on a terminal. `alike` receives each unchanged stretch: its position in the result,
/// its position in `text`, and its length. For a changed line, `alike` receives only the end, with length 0.
pub(crate) fn visible_text(text: &str, alike: &mut dyn FnMut(usize, usize, usize)) -> (String, u64) {
    let mut out = String::with_capacity(text.len());
    let mut row = ScreenRow::default();
    let mut rest = text;
    while !rest.is_empty() {
        let from = text.len() - rest.len();
        let end = memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after;
        let ending = if line.ends_with("\r\n") { 2 } else { usize::from(line.ends_with('\n')) };
        let (body, ending) = line.split_at_checked(line.len() - ending).unwrap_or((line, ""));
        if memchr3(ESCAPE, b'\r', BACKSPACE, body.as_bytes()).is_none() {
            alike(out.len(), from, line.len());
            out.push_str(body);
        } else {
            row.play(body);
            out.extend(row.cells.iter());
            alike(out.len() + ending.len(), from + line.len(), 0);
        }
        out.push_str(ending);
    }
    let gone = text.len().saturating_sub(out.len()) as u64;
    (out, gone)
}

/// One line of a screen.
#[derive(Default)]
struct ScreenRow {
    cells: Vec<char>,
    cursor: usize,
}

impl ScreenRow {
    fn play(&mut self, body: &str) {
        self.cells.clear();
        self.cursor = 0;
        let mut rest = body;
        while let Some(char) = rest.chars().next() {
            let after = rest.part(char.len_utf8()..);
            rest = match char {
                '\u{1b}' => self.control(after),
                '\r' => {
                    self.cursor = 0;
                    after
                }
                '\u{8}' => {
                    self.cursor = self.cursor.saturating_sub(1);
                    after
                }
                char => {
                    self.put(char);
                    after
                }
            };
        }
    }

    fn put(&mut self, char: char) {
        match self.cells.get_mut(self.cursor) {
            Some(cell) => *cell = char,
            None => self.cells.push(char),
        }
        self.cursor += 1;
    }

    /// Executes the sequence after an escape character, as far as it concerns one line, and returns the text after
    /// the sequence.
    fn control<'t>(&mut self, text: &'t str) -> &'t str {
        let bytes = text.as_bytes();
        match bytes.first() {
            Some(b'[') => self.sequence(text),
            // Strings for the terminal itself (titles, links) end with BEL or ESC \. An unfinished string ends at the
            // end of the line.
            Some(b']' | b'P' | b'X' | b'^' | b'_') => {
                let end = bytes.iter().position(|byte| matches!(*byte, 0x07 | ESCAPE)).unwrap_or(bytes.len());
                let skip = match bytes.get(end) {
                    Some(0x07) => 1,
                    Some(_) if bytes.get(end + 1) == Some(&b'\\') => 2,
                    _ => 0,
                };
                text.part(end + skip..)
            }
            Some(0x20..=0x7e) => {
                let end = bytes.iter().position(|byte| !(0x20..=0x2f).contains(byte)).unwrap_or(bytes.len());
                let last = usize::from(bytes.get(end).is_some_and(|byte| (0x30..=0x7e).contains(byte)));
                text.part(end + last..)
            }
            _ => text,
        }
    }

    /// Executes a sequence of `[`, parameters and a letter, and returns the text after it.
    fn sequence<'t>(&mut self, text: &'t str) -> &'t str {
        let bytes = text.as_bytes();
        let end = 1 + bytes.iter().skip(1).take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
        let number = text
            .get(1..end)
            .and_then(|said| said.split(';').next())
            .and_then(|said| said.parse::<usize>().ok());
        let Some(last) = bytes.get(end).filter(|byte| (0x40..=0x7e).contains(*byte)) else {
            return text.part(end..);
        };
        let by = number.unwrap_or(1).max(1);
        match last {
            b'K' => self.erase(number.unwrap_or(0)),
            b'G' => self.cursor = (by - 1).min(self.cells.len()),
            b'D' => self.cursor = self.cursor.saturating_sub(by),
            b'C' => self.cursor = self.cursor.saturating_add(by).min(self.cells.len()),
            _ => {}
        }
        text.part(end + 1..)
    }

    /// Clears the line from the cursor to the end (0), from the start to the cursor (1), or as a whole (2).
    fn erase(&mut self, what: usize) {
        match what {
            0 => self.cells.truncate(self.cursor),
            1 => self.cells.iter_mut().take(self.cursor + 1).for_each(|cell| *cell = ' '),
            _ => {
                self.cells.clear();
                self.cursor = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_stands_on_the_screen_stays() {
        let cases = [
            ("plain\r\nlines\n", "plain\r\nlines\n"),
            ("\u{1b}[31mred\u{1b}[0m and \u{1b}[1;38;5;12mblue\u{1b}[m\n", "red and blue\n"),
            ("10%\r50%\r100%\n", "100%\n"),
            ("a long state\rdone\n", "doneng state\n"),
            ("a long state\r\u{1b}[Kdone\r\n", "done\r\n"),
            ("50%\r", "50%"),
            ("working |\u{8}/\u{8}-\n", "working -\n"),
            (
                "\u{1b}]0;a title\u{7}text \u{1b}]8;;https://x.test\u{1b}\\link\u{1b}]8;;\u{1b}\\\n",
                "text link\n",
            ),
            ("\u{1b}]0;never closed\nnext\n", "\nnext\n"),
            ("\u{1b}[1G\u{1b}[0K⠋ one\u{1b}[1G\u{1b}[0K⠙ two\n", "⠙ two\n"),
            ("\u{1b}(Bx\u{1b}", "x"),
            ("\u{1b}[12", ""),
            ("é\u{1b}[999999999999Cx\n", "éx\n"),
        ];
        for (text, wanted) in cases {
            let (got, gone) = visible_text(text, &mut |_, _, _| {});
            assert_eq!(got, wanted, "{text:?}");
            assert_eq!(gone, (text.len() - got.len()) as u64);
        }
    }

    proptest! {
        #[test]
        fn the_number_of_lines_never_changes(text in "(\u{1b}|\\[|[0-9;]{0,3}|[KGDCm\\]]|\r|\n|\u{8}|\u{7}|[a-cé]){0,60}") {
            let mut wrong = 0;
            let (got, gone) = visible_text(&text, &mut |_, _, _| {});
            visible_text(&text, &mut |shown, source, len| wrong += u8::from(got.get(shown..shown + len) != text.get(source..source + len)));
            prop_assert_eq!(wrong, 0);
            prop_assert_eq!(got.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(got.len() as u64 + gone, text.len() as u64);
            prop_assert!(gone > 0 || got == text);
        }
    }
}
