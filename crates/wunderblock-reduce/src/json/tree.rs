//! JSON as spans of its source.
//!
//! Nothing is decoded: a number is its text, a string keeps its escapes, and a key may occur twice. A text written
//! from a tree therefore says exactly what the source says.

use crate::part::{PartOfList, PartOfText};
use std::ops::Range;

use crate::result::mark::OPEN;
use crate::text::lines;

/// The type of a value, known from its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonType {
    Object,
    Array,
    Text,
    Number,
    /// `true`, `false`, `null`.
    Word,
    /// A mark of a gap in place of a value or a member.
    Mark,
    /// A line between documents that is not itself a document.
    Raw,
}

/// A value. Nodes are in the order of the source, each before those it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonNode {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Start of the node's key, or of the node itself if it has no key.
    key: u32,
    /// The node that follows all nodes contained in this one.
    pub(super) next: u32,
}

/// A document.
#[derive(Debug)]
pub(super) struct JsonTree<'t> {
    pub(super) text: &'t str,
    pub(super) nodes: Vec<JsonNode>,
    /// Whether the root represents the lines of the source, one document each, and not a value in the source.
    pub(super) lines: bool,
    /// Nodes of lines that are not documents, in order.
    raw: Vec<u32>,
    /// Containers that a cut left open, from the root.
    pub(super) open: Vec<u32>,
}

/// The position up to which a text is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JsonStop(pub(super) usize);

const NONE: JsonNode = JsonNode { start: 0, end: 0, key: 0, next: u32::MAX };

impl<'t> JsonTree<'t> {
    fn with(text: &'t str, nodes: Vec<JsonNode>) -> Self {
        Self { text, nodes, lines: false, raw: Vec::new(), open: Vec::new() }
    }

    /// Parses the value that begins at a given byte. The value ends where `node(0)` ends. `marks` allows marks of
    /// gaps in the text.
    pub(super) fn value(text: &'t str, at: usize, marks: bool) -> Result<Self, JsonStop> {
        let mut nodes = Vec::new();
        JsonParser::of(text.as_bytes(), at, marks).value(&mut nodes)?;
        Ok(Self::with(text, nodes))
    }

    /// Parses a value that is most likely the whole text. Memory is reserved for all nodes of the value, because a
    /// growing list is in memory twice while it is moved.
    pub(super) fn whole(text: &'t str, at: usize, marks: bool) -> Result<Self, JsonStop> {
        let mut nodes = Vec::with_capacity(max_nodes(text));
        JsonParser::of(text.as_bytes(), at, marks).value(&mut nodes)?;
        Ok(Self::with(text, nodes))
    }

    /// Parses the value that begins at a given byte, up to the point where it is cut off. The item in which the cut
    /// lies stays text unless it is long, in which case the tree contains its complete parts.
    pub(super) fn cut(text: &'t str, at: usize) -> Option<Self> {
        let mut nodes = Vec::new();
        let mut parser = JsonParser::of(text.as_bytes(), at, false);
        let JsonStop(stop) = parser.value(&mut nodes).err()?;
        let open = parser.open;
        let mut last = None;
        for (depth, container) in open.iter().enumerate() {
            let inner = open.get(depth + 1).map_or(nodes.len(), |inner| *inner as usize);
            let mut child = *container as usize + 1;
            while child < inner {
                let node = nodes.get(child)?;
                let after = text.get(node.end as usize..stop)?.trim_start_matches(SPACE);
                // The last digits of a number may be cut off.
                if node.end == node.start
                    || after.is_empty() && !text.get(node.start as usize..)?.starts_with(['"', '{', '['])
                {
                    break;
                }
                last = Some((depth, *node));
                child = node.next as usize;
            }
            if last.is_some_and(|(_, node)| stop - (node.end as usize) <= MAX_CUT_ITEM.min((stop - at) / 8)) {
                break;
            }
        }
        let (depth, last) = last?;
        nodes.truncate(last.next as usize);
        let open: Vec<u32> = open.into_iter().take(depth + 1).collect();
        for container in &open {
            let node = nodes.get_mut(*container as usize)?;
            (node.end, node.next) = (last.end, last.next);
        }
        Some(Self { open, ..Self::with(text, nodes) })
    }

    /// Parses one value per line in a stretch of the text, which must have at least two lines. A few of the lines
    /// need not be values. Each line that is not a value is a node as well.
    pub(super) fn lines(text: &'t str, within: Range<usize>, marks: bool) -> Result<Self, JsonStop> {
        let stretch = text.part(within.clone());
        let bytes = text.as_bytes().part(..within.end);
        let mut nodes = Vec::with_capacity(max_nodes(stretch) + lines::count_lines(stretch));
        nodes.push(JsonNode { start: 0, end: 0, key: 0, next: 0 });
        let mut raw = Vec::new();
        let mut parser = JsonParser::of(bytes, within.start, marks);
        let (mut count, mut patience) = (0, 4 * stretch.len());
        parser.space();
        let (start, mut end) = (parser.at, parser.at);
        while parser.at < bytes.len() {
            let (at, before) = (parser.at, nodes.len());
            let read = parser.value(&mut nodes);
            end = parser.at;
            parser.space();
            let ends = parser.at >= bytes.len() || text.part(end..parser.at).contains('\n');
            if read.is_err() || !ends {
                // Each failed line is charged for the bytes that were read from it, so that unclosed brackets do not
                // take quadratic time.
                patience = patience.checked_sub(parser.at - at).ok_or(JsonStop(at))?;
                nodes.truncate(before);
                let rest = bytes.part(at..);
                end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                end -= usize::from(end < bytes.len() && bytes.get(end - 1) == Some(&b'\r'));
                let (index, key) = (to_u32(nodes.len())?, to_u32(at)?);
                nodes.push(JsonNode { start: key, end: to_u32(end)?, key, next: index + 1 });
                raw.push(index);
                parser.at = end;
                parser.space();
            }
            count += 1;
        }
        let next = to_u32(nodes.len())?;
        let (start, end_at) = (to_u32(start)?, to_u32(end)?);
        if let Some(root) = nodes.first_mut() {
            *root = JsonNode { start, end: end_at, key: start, next };
        }
        // Lines may have been cut out of a written text, so the number of its lines is not checked.
        if !marks && (count < 2 || raw.len() * MIN_LINES_TO_RAW > count) {
            return Err(JsonStop(end));
        }
        Ok(Self { lines: true, raw, ..Self::with(text, nodes) })
    }

    pub(super) fn node(&self, at: usize) -> &JsonNode {
        self.nodes.item(at).unwrap_or(&NONE)
    }

    pub(super) fn kind(&self, at: usize) -> JsonType {
        if at == 0 && self.lines {
            return JsonType::Array;
        }
        if !self.raw.is_empty() && u32::try_from(at).is_ok_and(|at| self.raw.binary_search(&at).is_ok()) {
            return JsonType::Raw;
        }
        match self.text.as_bytes().item(self.node(at).start as usize) {
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

    /// Returns the value as it appears in the source.
    pub(super) fn source(&self, at: usize) -> &'t str {
        self.text.part(self.span(at))
    }

    /// Returns the start of a member, which is the start of its key if it has one.
    pub(super) fn member(&self, at: usize) -> usize {
        self.node(at).key as usize
    }

    /// Returns the key with its quotes, or an empty text if there is no key.
    pub(super) fn key(&self, at: usize) -> &'t str {
        let node = self.node(at);
        let before = self.text.part(node.key as usize..node.start as usize);
        before.trim_end_matches(SPACE).strip_suffix(':').unwrap_or("").trim_end_matches(SPACE)
    }

    /// Returns the key without its quotes. Escapes in the key stay as they are.
    pub(super) fn name(&self, at: usize) -> &'t str {
        let key = self.key(at);
        key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key)
    }

    /// Iterates over the direct children of a container.
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

    pub(super) fn is_empty(&self, at: usize) -> bool {
        self.node(at).next as usize <= at + 1
    }
}

/// Maximum size, in bytes, of an item that stays text although a cut lies in it.
const MAX_CUT_ITEM: usize = 600;
/// Minimum number of lines in a text for each line that is not a document.
const MIN_LINES_TO_RAW: usize = 4;

/// White space of JSON.
pub(super) const SPACE: [char; 4] = [' ', '\n', '\r', '\t'];

/// Returns the maximum number of values in a text: one before each comma, and one after each opening bracket.
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
    /// Open containers, from the outermost.
    open: Vec<u32>,
}

impl<'t> JsonParser<'t> {
    fn of(bytes: &'t [u8], at: usize, marks: bool) -> Self {
        Self { bytes, at, marks, open: Vec::new() }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Parses a whole value with an explicit stack, because the input decides the depth.
    fn value(&mut self, nodes: &mut Vec<JsonNode>) -> Result<(), JsonStop> {
        self.open.clear();
        loop {
            // A value, or a member of the innermost object.
            let in_object = self.open.last().is_some_and(|at| self.opened(nodes, *at) == Some(b'{'));
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
                    // In ASCII, the code of a closing bracket is two higher than that of its opening bracket.
                    if self.peek() == Some(bracket + 2) {
                        self.at += 1;
                    } else {
                        self.open.push(index);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            close_container(nodes, index, self.at)?;
            // A value is followed by the next one, or by the end of the container around it.
            loop {
                let Some(outer) = self.open.last().copied() else { return Ok(()) };
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
                        self.open.pop();
                        close_container(nodes, outer, self.at)?;
                    }
                    _ => return Err(JsonStop(self.at)),
                }
            }
        }
    }

    fn opened(&self, nodes: &[JsonNode], at: u32) -> Option<u8> {
        nodes.item(at as usize).and_then(|node| self.bytes.item(node.start as usize)).copied()
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
        let rest = self.bytes.part(self.at..);
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
            let rest = self.bytes.part(self.at..);
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
                // A bracket in the source is doubled so that neither bracket opens a mark.
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
        let rest = self.bytes.part(self.at..);
        let end = memchr::memmem::find(rest, "⟩".as_bytes()).ok_or(JsonStop(self.at))?;
        self.at += end + "⟩".len();
        Ok(())
    }
}

/// Returns whether a byte ends a run of plain characters in a string.
fn is_special(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xe2)
}

fn close_container(nodes: &mut [JsonNode], at: u32, end: usize) -> Result<(), JsonStop> {
    let next = to_u32(nodes.len())?;
    if let Some(node) = nodes.item_mut(at as usize) {
        node.end = to_u32(end)?;
        node.next = next;
    }
    Ok(())
}
