//! The elements of a JSON array that is too large for the memory: one at a time, and those behind a damaged one.
//!
//! The end of an element is found by its brackets and strings. A bracket that does not fit, or a byte that JSON has only
//! in strings, ends an element as damaged: without these checks, a missing quote would turn the rest of the file into one
//! element. The next element is then the next place at which a conversation begins.

use crate::histories::stamp::read_up_to;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use wunderblock_wire::transcript::conversation_format;

/// Size in bytes of the block that is searched for a conversation at once.
const BLOCK: usize = 1 << 20;

/// Number of bytes by which the beginning of a conversation is recognised.
pub(super) const HEAD: usize = 16 << 10;

/// Bytes that JSON has outside of strings, besides brackets and white space.
const BARE: &[u8] = b"+-.0123456789truefalsnE";

/// An element: where it is, and what was read of it, or why it could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element<T> {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) read: Result<T, String>,
}

/// Cursor over the elements of an array. A file that is one object is its only element.
pub(super) struct Elements<F> {
    file: BufReader<F>,
    /// Offset of the next byte.
    at: u64,
    /// Maximum size in bytes of an element that is read.
    limit: usize,
    /// Whether the file is an array.
    is_array: bool,
}

impl<F: Read + Seek> Elements<F> {
    pub(super) fn new(file: F, limit: usize) -> io::Result<Self> {
        let mut elements = Self { file: BufReader::with_capacity(BLOCK, file), at: 0, limit, is_array: true };
        if elements.file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            elements.skip(3);
        }
        elements.is_array = elements.peek(u8::is_ascii_whitespace)? == Some(b'[');
        if elements.is_array {
            elements.skip(1);
        }
        Ok(elements)
    }

    /// Returns the next element, or `None` at the end of the array. `read` reads the bytes of an element.
    pub(super) fn next<T>(
        &mut self,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> io::Result<Option<Element<T>>> {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        let end = if self.is_array { Some(b']') } else { None };
        let first = self.peek(is_between)?;
        if first.is_none() || first == end || (!self.is_array && first != Some(b'{')) {
            return Ok(None);
        }
        let offset = self.at;
        let mut bytes = Vec::new();
        let found = self.value(&mut bytes)?;
        let is_kept = bytes.len() as u64 == self.at - offset;
        let read = found.map_err(str::to_owned).and_then(|()| match is_kept {
            true => read(&bytes),
            false => Err(format!("it has {} bytes, the maximum is {}", self.at - offset, self.limit)),
        });
        // The element that is too large has an end, so what follows is read.
        if read.is_err() && (found.is_err() || is_kept) {
            self.at = self.beginning_after(offset)?;
            self.file.seek(SeekFrom::Start(self.at))?;
        }
        Ok(Some(Element { offset, len: self.at - offset, read }))
    }

    fn skip(&mut self, count: usize) {
        self.file.consume(count);
        self.at += count as u64;
    }

    /// Returns the next byte to which a condition does not apply, without consuming it.
    fn peek(&mut self, is_skipped: impl Fn(&u8) -> bool) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.file.fill_buf()?;
            let (found, len) = (buffer.iter().position(|byte| !is_skipped(byte)), buffer.len());
            let byte = found.and_then(|at| buffer.get(at).copied());
            self.skip(found.unwrap_or(len));
            if byte.is_some() || len == 0 {
                return Ok(byte);
            }
        }
    }

    /// Reads a value. Returns an error if no value ends here. Keeps at most the maximum of its bytes.
    fn value(&mut self, out: &mut Vec<u8>) -> io::Result<Result<(), &'static str>> {
        let mut shape = ValueShape::default();
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                return Ok(Err("the file ends within it"));
            }
            let (taken, end) = shape.take(buffer);
            let room = self.limit.saturating_sub(out.len()).min(taken);
            out.extend_from_slice(buffer.get(..room).unwrap_or_default());
            self.skip(taken);
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// Returns the offset of the first conversation that begins behind an offset, or the end of the file.
    fn beginning_after(&mut self, offset: u64) -> io::Result<u64> {
        let (mut base, mut before) = (offset + 1, b'{');
        let mut block = Vec::new();
        loop {
            self.file.seek(SeekFrom::Start(base))?;
            read_up_to(&mut self.file, BLOCK + HEAD, &mut block)?;
            let end = if block.len() < BLOCK + HEAD { block.len() } else { BLOCK };
            for (at, byte) in block.iter().enumerate().take(end) {
                if *byte == b'{' && matches!(before, b',' | b'}' | b'[') && begins_conversation(&block, at) {
                    return Ok(base + at as u64);
                }
                if !byte.is_ascii_whitespace() {
                    before = *byte;
                }
            }
            base += end as u64;
            if end == block.len() {
                return Ok(base);
            }
        }
    }
}

fn begins_conversation(block: &[u8], at: usize) -> bool {
    let head = block.get(at..block.len().min(at + HEAD)).unwrap_or_default();
    let is_key = head.iter().skip(1).find(|byte| !byte.is_ascii_whitespace()) == Some(&b'"');
    is_key && conversation_format(&String::from_utf8_lossy(head)).is_some()
}

/// What is known of a value that is being read.
#[derive(Default)]
struct ValueShape {
    /// Open brackets.
    stack: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// Latest byte outside of strings, except white space; 0 at the beginning.
    last: u8,
}

impl ValueShape {
    /// Takes bytes until the value ends. Returns the number of bytes taken, and how the value ended.
    fn take(&mut self, bytes: &[u8]) -> (usize, Option<Result<(), &'static str>>) {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if self.in_string {
                let rest = bytes.get(at..).unwrap_or_default();
                at += self.string(rest);
                continue;
            }
            // A number or a word has no end of its own.
            let is_end = matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
            if self.stack.is_empty() && self.last != 0 && is_end {
                return (at, Some(Ok(())));
            }
            at += 1;
            match self.bare(*byte) {
                Err(why) => return (at, Some(Err(why))),
                Ok(true) => return (at, Some(Ok(()))),
                Ok(false) => {}
            }
        }
        (at, None)
    }

    /// Takes bytes of a string, at most up to its end. Returns their number.
    fn string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escaped) {
            return 1;
        }
        let Some(at) = memchr::memchr2(b'"', b'\\', bytes) else { return bytes.len() };
        match bytes.get(at) {
            Some(b'\\') => self.escaped = true,
            _ => self.in_string = false,
        }
        at + 1
    }

    /// Takes a byte outside of strings. Returns whether it ends the value.
    fn bare(&mut self, byte: u8) -> Result<bool, &'static str> {
        if byte.is_ascii_whitespace() {
            return Ok(false);
        }
        let last = std::mem::replace(&mut self.last, byte);
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                let fits = match self.stack.last() {
                    Some(b'{') => last == b':',
                    Some(_) => matches!(last, b'[' | b','),
                    None => last == 0,
                };
                if !fits {
                    return Err("invalid JSON: a bracket where none can be");
                }
                self.stack.push(byte);
            }
            b'}' | b']' => {
                let opens = if byte == b'}' { b'{' } else { b'[' };
                if self.stack.pop() != Some(opens) {
                    return Err("invalid JSON: a bracket that closes no other");
                }
                return Ok(self.stack.is_empty());
            }
            b':' | b',' => {}
            _ if BARE.contains(&byte) => {}
            _ => return Err("invalid JSON: a text outside of quotes"),
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn told(text: &str, limit: usize) -> Vec<(u64, Result<String, String>)> {
        let mut elements = Elements::new(Cursor::new(text), limit).unwrap();
        let mut all = Vec::new();
        let read = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).unwrap().to_owned();
            serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|_| "invalid".to_owned())?;
            Ok(text)
        };
        while let Some(element) = elements.next(read).unwrap() {
            if let Ok(read) = &element.read {
                assert_eq!(element.len, read.len() as u64);
            }
            all.push((element.offset, element.read));
        }
        all
    }

    fn texts(text: &str) -> Vec<String> {
        told(text, 1000).into_iter().map(|(_, read)| read.unwrap_or_else(|why| format!("! {why}"))).collect()
    }

    #[test]
    fn elements_are_found_one_by_one() {
        let text = "\u{feff} [\n {\"a\": \"]}\\\"{\", \"b\": [1, {}]} ,null,7 , \"x, ]\",[[]] ] trailing";
        assert_eq!(texts(text), [r#"{"a": "]}\"{", "b": [1, {}]}"#, "null", "7", "\"x, ]\"", "[[]]"]);
        for empty in ["", "[]", " [ ] ", "7", "\"x\"", "nothing"] {
            assert_eq!(texts(empty), [""; 0], "{empty}");
        }
        assert_eq!(texts(" {\"a\": 1}\n"), ["{\"a\": 1}"]);
    }

    #[test]
    fn the_next_conversation_behind_damage_is_found() {
        let one = r#"{"title":"新的 ,{","mapping":{"n":{"message":null}}}"#;
        for broken in [
            r#"{"title":"a","mapping":{"n":{"message":{}}"#,
            r#"{"title":"a,"mapping":{"n":{"message":{}}}}"#,
            r#"{"title":"a","mapping":{"n":nul}}"#,
            r#"{"title":"a","mapping":{"n":Infinity}}"#,
            r#"{"title":"a","mapping":{"n":{]}}"#,
            r#"{"title":"a","mapping":{"n":[1 {"x":1}]}}"#,
            "{\"title\":\"a\",\"mapping\":{\"n\":{\"message\":\"\u{1}Hello",
        ] {
            let found = told(&format!("[{one},\n{broken},{one},null]"), 1000);
            let good: Vec<bool> = found.iter().map(|(_, read)| read.is_ok()).collect();
            assert_eq!(good, [true, false, true, true], "{broken}: {found:?}");
            assert_eq!(found[2].1.as_deref(), Ok(one));
        }
        assert_eq!(texts(&format!("[{one},{{\"title\":"))[1], "! the file ends within it");
    }

    #[test]
    fn an_element_that_is_too_large_is_passed_over() {
        let text = format!("[1,{{\"a\":\"{}\"}},2]", "x".repeat(100));
        let found = told(&text, 50);
        assert_eq!(found[1].1, Err("it has 108 bytes, the maximum is 50".to_owned()));
        assert_eq!(found[2].1.as_deref(), Ok("2"));
    }
}
