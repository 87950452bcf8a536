//! JSON as spans of its source.
//!
//! Nothing is decoded: a number is its text, a string its escapes, a key may come twice. So whatever is written from
//! a tree says exactly what the source said.

use std::ops::Range;

use super::inner_mark;
use crate::lines;
use crate::mark::OPEN;

/// The type of a value, told by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Object,
    Array,
    Text,
    Number,
    /// `true`, `false`, `null`.
    Word,
    /// A mark of a gap that stands where a value or a member would.
    Mark,
}

/// A value. Nodes stand in the order of the source, each before what it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonNode {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The start of its key; its own start without a key.
    key: u32,
    /// The node after all that this one contains.
    pub(super) next: u32,
}

/// A document.
#[derive(Debug)]
pub(super) struct JsonTree<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<JsonNode>,
    /// The root is no value of the source but its lines, a document each.
    pub(super) lines: bool,
    /// Marks may stand in it: it is a written text.
    marks: bool,
}

/// The place up to which a text is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonStop(pub(super) usize);

const NONE: JsonNode = JsonNode { start: 0, end: 0, key: 0, next: u32::MAX };

impl<'t> JsonTree<'t> {
    /// The one value that begins at a byte; it ends where `node(0)` ends.
    pub(super) fn value(text: &'t str, at: usize, marks: bool) -> Result<Self, JsonStop> {
        let mut tree = Self { text, nodes: Vec::new(), lines: false, marks };
        JsonParser { bytes: text.as_bytes(), at, marks }.value(&mut tree.nodes)?;
        Ok(tree)
    }

    /// The same of a text that is most likely nothing else. Room is made at once: a list that grows is twice in memory
    /// while it is moved.
    pub(super) fn whole(text: &'t str, at: usize, marks: bool) -> Result<Self, JsonStop> {
        let nodes = Vec::with_capacity(max_nodes(text));
        let mut tree = Self { text, nodes, lines: false, marks };
        JsonParser { bytes: text.as_bytes(), at, marks }.value(&mut tree.nodes)?;
        Ok(tree)
    }

    /// One value per line of a stretch of the text, two lines at least.
    pub(super) fn lines(text: &'t str, within: Range<usize>) -> Result<Self, JsonStop> {
        let bytes = text.as_bytes().get(..within.end).unwrap_or_default();
        let mut reader = JsonParser { bytes, at: within.start, marks: false };
        let stretch = text.get(within.clone()).unwrap_or("");
        let mut nodes = Vec::with_capacity(max_nodes(stretch) + lines::count_lines(stretch));
        nodes.push(JsonNode { start: 0, end: 0, key: 0, next: 0 });
        let mut count = 0;
        reader.space();
        let mut end = reader.at;
        let start = reader.at;
        while reader.at < bytes.len() {
            reader.value(&mut nodes)?;
            count += 1;
            end = reader.at;
            reader.space();
            let between = text.get(end..reader.at).unwrap_or("");
            if reader.at < bytes.len() && !between.contains('\n') {
                return Err(JsonStop(end));
            }
        }
        let next = u32::try_from(nodes.len()).map_err(|_| JsonStop(0))?;
        let (start, end) = (to_u32(start)?, to_u32(end)?);
        if let Some(root) = nodes.first_mut() {
            *root = JsonNode { start, end, key: start, next };
        }
        if count < 2 {
            Err(JsonStop(end as usize))
        } else {
            Ok(Self { text, nodes, lines: true, marks: false })
        }
    }

    pub(super) fn node(&self, at: usize) -> &JsonNode {
        self.nodes.get(at).unwrap_or(&NONE)
    }

    pub(super) fn kind(&self, at: usize) -> JsonType {
        if at == 0 && self.lines {
            return JsonType::Array;
        }
        match self.text.as_bytes().get(self.node(at).start as usize) {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::Array,
            Some(b'"') => JsonType::Text,
            Some(b't' | b'f' | b'n') => JsonType::Word,
            Some(b'-' | b'0'..=b'9') => JsonType::Number,
            _ => JsonType::Mark,
        }
    }

    pub(super) fn is_container(&self, at: usize) -> bool {
        matches!(self.kind(at), JsonType::Object | JsonType::Array)
    }

    pub(super) fn span(&self, at: usize) -> Range<usize> {
        let node = self.node(at);
        node.start as usize..node.end as usize
    }

    /// The value as the source has it.
    pub(super) fn source(&self, at: usize) -> &'t str {
        self.text.get(self.span(at)).unwrap_or("")
    }

    /// The start of a member: that of its key, if it has one.
    pub(super) fn member(&self, at: usize) -> usize {
        self.node(at).key as usize
    }

    /// The key with its quotes; empty where there is none.
    pub(super) fn key(&self, at: usize) -> &'t str {
        let node = self.node(at);
        let before = self.text.get(node.key as usize..node.start as usize).unwrap_or("");
        before.trim_end_matches(SPACE).strip_suffix(':').unwrap_or("").trim_end_matches(SPACE)
    }

    /// The key without its quotes, escapes as they are.
    pub(super) fn name(&self, at: usize) -> &'t str {
        let key = self.key(at);
        key.get(1..key.len().saturating_sub(1)).unwrap_or("")
    }

    /// The first of what a container holds, or what comes after it.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = if self.is_container(at) { self.node(at).next as usize } else { at };
        let mut child = at + 1;
        std::iter::from_fn(move || {
            let found = child;
            (found < end).then(|| {
                child = (self.node(found).next as usize).max(found + 1);
                found
            })
        })
    }

    /// The bytes of a stretch as the source has it, where a bracket stands once.
    pub(super) fn width(&self, text: &str) -> usize {
        let escapes = if self.marks {
            memchr::memmem::find_iter(text.as_bytes(), "⟨⟨".as_bytes()).count()
        } else {
            0
        };
        text.len() - escapes * OPEN.len()
    }

    /// Whether a mark stands here, or in the string that does.
    pub(super) fn has_mark(&self, at: usize) -> bool {
        match self.kind(at) {
            JsonType::Mark => true,
            JsonType::Text if self.marks => inner_mark::holds_mark(self.source(at).as_bytes()),
            _ => false,
        }
    }

    pub(super) fn is_empty(&self, at: usize) -> bool {
        self.node(at).next as usize <= at + 1
    }
}

/// White space of JSON.
pub(super) const SPACE: [char; 4] = [' ', '\n', '\r', '\t'];

/// As many values as a document may have at most: one before each comma, one after each bracket that opens.
fn max_nodes(text: &str) -> usize {
    let bytes = text.as_bytes();
    2 + memchr::memchr3_iter(b',', b'[', b'{', bytes).count()
}

fn to_u32(at: usize) -> Result<u32, JsonStop> {
    u32::try_from(at).map_err(|_| JsonStop(at))
}

struct JsonParser<'t> {
    bytes: &'t [u8],
    at: usize,
    marks: bool,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// A whole value, with a stack of its own: the depth is the input's to choose.
    fn value(&mut self, nodes: &mut Vec<JsonNode>) -> Result<(), JsonStop> {
        let base = nodes.len();
        let mut open: Vec<u32> = Vec::new();
        loop {
            // A value, or a member of the innermost object.
            let in_object = open.last().is_some_and(|at| self.opened(nodes, *at) == Some(b'{'));
            let key = to_u32(self.at)?;
            if in_object && !(self.marks && self.at_mark()) {
                self.string()?;
                self.space();
                self.expect(b':')?;
                self.space();
            }
            let (index, start) = (to_u32(nodes.len())?, to_u32(self.at)?);
            let key = if in_object { key } else { start };
            nodes.push(JsonNode { start, end: start, key, next: index + 1 });
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(bracket + 2) {
                        self.at += 1;
                    } else {
                        open.push(index);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            close_container(nodes, index, self.at)?;
            // What follows it: the next, or the end of what it is in.
            loop {
                let Some(outer) = open.last().copied() else { return Ok(()) };
                let bracket = self.opened(nodes, outer).unwrap_or(0);
                self.space();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.space();
                        break;
                    }
                    Some(found) if found == bracket + 2 => {
                        self.at += 1;
                        open.pop();
                        close_container(nodes, outer, self.at)?;
                    }
                    _ => return Err(JsonStop(self.at)),
                }
            }
            debug_assert!(nodes.len() > base);
        }
    }

    fn opened(&self, nodes: &[JsonNode], at: u32) -> Option<u8> {
        nodes.get(at as usize).and_then(|node| self.bytes.get(node.start as usize)).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonStop> {
        if self.peek() != Some(byte) {
            return Err(JsonStop(self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), JsonStop> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ if self.marks && self.at_mark() => self.mark(),
            _ => Err(JsonStop(self.at)),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), JsonStop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(JsonStop(self.at));
        }
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonStop> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(JsonStop(start)) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), JsonStop> {
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), JsonStop> {
        self.expect(b'"')?;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let run = rest.iter().position(|byte| is_special(*byte));
            let Some(run) = run else { return Err(JsonStop(self.bytes.len())) };
            self.at += run;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(0xe2) if !self.marks => self.at += 1,
                Some(0xe2) if self.at_mark() => self.mark()?,
                // A bracket of the source stands twice: neither opens a mark.
                Some(0xe2) => self.at += if self.at_open() { 2 * OPEN.len() } else { 1 },
                _ => return Err(JsonStop(self.at)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonStop> {
        let stop = JsonStop(self.at);
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6).ok_or(stop)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(stop);
                }
                self.at += 6;
            }
            _ => return Err(stop),
        }
        Ok(())
    }

    fn at_open(&self) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(OPEN.as_bytes()))
    }

    fn at_mark(&self) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with("⟨… ".as_bytes()))
    }

    fn mark(&mut self) -> Result<(), JsonStop> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = memchr::memmem::find(rest, "⟩".as_bytes()).ok_or(JsonStop(self.at))?;
        self.at += end + "⟩".len();
        Ok(())
    }
}

/// Whether a run of plain characters of a string ends at a byte.
fn is_special(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xe2)
}

fn close_container(nodes: &mut [JsonNode], at: u32, end: usize) -> Result<(), JsonStop> {
    let next = to_u32(nodes.len())?;
    if let Some(node) = nodes.get_mut(at as usize) {
        node.end = to_u32(end)?;
        node.next = next;
    }
    Ok(())
}
