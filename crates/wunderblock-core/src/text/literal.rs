//! Literals of a text, as opposed to words: paths, URLs, identifiers, ids, numbers, codes and quotations.
//!
//! A summary must copy literals and must not invent any, so they are found mechanically: one pass over the bytes, no
//! regular expressions, no allocation. When in doubt, the rules find nothing: a plain word, a compound (`read-only`)
//! and an alternative (`and/or`) are not literals, even if some programs use them as names.

mod kind;

pub(crate) use kind::is_letter;
use kind::{CLASS, RunContext};

/// Kind of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiteralKind {
    /// A path, or the name of a file with a known extension. A line suffix (`:10-40`) is part of the path.
    Path,
    /// `scheme://…`.
    Url,
    /// A name in a program: `snake_case`, `CamelCase`, `dotted.name`, `a::b`, `utf8`, `gpt-4o`, `--flag`.
    Identifier,
    /// A hash, a UUID, a handle, or the id of a call.
    Id,
    /// A number of at least two digits, a version, a date, or a time.
    Number,
    /// Letters and a number that name an error, an issue or a standard, for example: `E0308`, `CVE-2024-3094`.
    Code,
    /// Text in quotation marks or backticks on one line, of at least [`QUOTATION_MIN`] characters. The literals
    /// inside a quotation are returned before the quotation.
    Quotation,
}

/// Minimum length of a quotation, in characters. A shorter quotation carries too little information.
pub const QUOTATION_MIN: usize = 4;
/// Minimum length of an unmistakable id, in bytes. A shorter id may be a prefix, since commit ids are seldom written
/// in full.
pub const ID_MIN: usize = 16;
/// Maximum length of a literal, in bytes. A longer run of characters is data.
pub const LITERAL_MAX: usize = 512;
/// Minimum length of an entity's normal form, in bytes.
pub const ENTITY_MIN: usize = 4;

/// A literal found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'t> {
    /// Kind of the literal.
    pub kind: LiteralKind,
    /// The literal as written, without the punctuation of the sentence around it, and without its quotation marks.
    pub text: &'t str,
    /// Offset at which the literal begins, in bytes.
    pub at: usize,
}

impl<'t> Literal<'t> {
    /// Returns the form used for comparisons, without a line suffix, a leading `./`, a final slash, or the unit of a
    /// number.
    #[must_use]
    pub fn normal(&self) -> &'t str {
        kind::normal(self.kind, self.text)
    }

    /// Returns whether the literal is an entity: anything but a quotation, of at least [`ENTITY_MIN`] bytes.
    #[must_use]
    pub fn is_entity(&self) -> bool {
        self.kind != LiteralKind::Quotation && self.normal().len() >= ENTITY_MIN
    }

    /// Returns whether the literal can only be a specific name, not a figure of speech, a kind of file or part of a
    /// name. Specific names are files with a known extension, paths of at least two parts from a root, and ids of at
    /// least [`ID_MIN`] bytes.
    #[must_use]
    pub fn is_unmistakable(&self) -> bool {
        match self.kind {
            LiteralKind::Path => kind::is_particular(self.normal()),
            LiteralKind::Id => self.text.len() >= ID_MIN && !self.text.starts_with("wb:"),
            _ => false,
        }
    }

    /// Returns a hash of the normal form. Slashes and backslashes are treated as equal, and a doubled slash or
    /// backslash counts as a single one.
    #[must_use]
    pub fn key(&self) -> u64 {
        let mut key = LiteralKey::default();
        self.normal().bytes().for_each(|byte| key.push(byte));
        key.value()
    }
}

/// Hash of a literal, computed byte by byte: FNV-1a, with one kind of slash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralKey {
    state: u64,
    slash: bool,
}

impl Default for LiteralKey {
    fn default() -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325, slash: false }
    }
}

impl LiteralKey {
    pub(crate) fn push(&mut self, byte: u8) {
        let byte = if byte == b'\\' { b'/' } else { byte };
        if byte == b'/' && self.slash {
            return;
        }
        self.slash = byte == b'/';
        self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(crate) const fn value(self) -> u64 {
        let mixed = (self.state ^ (self.state >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}

/// Returns the literals of a text, in the order in which they end.
#[must_use]
pub fn literals(text: &str) -> Literals<'_> {
    Literals { text, bytes: text.as_bytes(), at: 0, open: [None; QUOTES] }
}

/// Number of pairs of quotation marks.
const QUOTES: usize = 6;

/// Quotation marks beyond ASCII: for each, the mark, the index of its pair, and whether it opens a quotation.
const WIDE: [(&str, usize, bool); 8] = [
    ("“", 2, true),
    ("”", 2, false),
    ("「", 3, true),
    ("」", 3, false),
    ("『", 4, true),
    ("』", 4, false),
    ("«", 5, true),
    ("»", 5, false),
];

/// Iterator over the literals of a text; see [`literals`].
#[derive(Clone, Debug)]
pub struct Literals<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Offset at which each open quotation begins, indexed by the quotation's pair of marks.
    open: [Option<usize>; QUOTES],
}

impl<'t> Iterator for Literals<'t> {
    type Item = Literal<'t>;

    fn next(&mut self) -> Option<Literal<'t>> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            let found = if CLASS.of(byte) == 0 { self.pass(byte) } else { self.run() };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl<'t> Literals<'t> {
    /// Advances past a character that belongs to no run: quotation marks open and close, and a line end discards open
    /// quotations.
    fn pass(&mut self, byte: u8) -> Option<Literal<'t>> {
        let at = self.at;
        match byte {
            b'\n' => {
                self.open = [None; QUOTES];
                self.at += 1;
                None
            }
            b'"' => {
                self.at += 1;
                self.toggle(0, at)
            }
            b'`' => {
                let run = self.rest(at).iter().take_while(|byte| **byte == b'`').count();
                self.at += run;
                // Fences and empty pairs quote nothing.
                if run > 1 { None } else { self.toggle(1, at) }
            }
            // `\n` in JSON text is a line end, and its letter is not part of a word.
            b'\\' => {
                self.at += if matches!(self.bytes.get(at + 1), Some(b'n' | b't' | b'r')) { 2 } else { 1 };
                None
            }
            0xE2 | 0xE3 | 0xC2 => self.wide(),
            // No byte of the character has a class, so its bytes are passed one at a time.
            _ => {
                self.at += 1;
                None
            }
        }
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// Reads a quotation mark of several bytes; see [`WIDE`].
    fn wide(&mut self) -> Option<Literal<'t>> {
        let (at, rest) = (self.at, self.rest(self.at));
        let found = WIDE.into_iter().find(|(mark, _, _)| rest.starts_with(mark.as_bytes()));
        let Some((mark, pair, opens)) = found else {
            self.at += 1;
            return None;
        };
        self.at += mark.len();
        if opens {
            self.set(pair, Some(self.at));
            return None;
        }
        let from = self.open.get(pair).copied().flatten()?;
        self.set(pair, None);
        self.quotation(from, at)
    }

    fn set(&mut self, pair: usize, at: Option<usize>) {
        if let Some(open) = self.open.get_mut(pair) {
            *open = at;
        }
    }

    /// Reads a mark that both opens and closes quotations.
    fn toggle(&mut self, pair: usize, at: usize) -> Option<Literal<'t>> {
        match self.open.get(pair).copied().flatten() {
            None => {
                self.set(pair, Some(at + 1));
                None
            }
            Some(from) => {
                self.set(pair, None);
                self.quotation(from, at)
            }
        }
    }

    fn quotation(&self, from: usize, to: usize) -> Option<Literal<'t>> {
        let text = self.text.get(from..to)?;
        let is_one = text.len() <= LITERAL_MAX
            && text.chars().nth(QUOTATION_MIN - 1).is_some()
            && text.chars().any(char::is_alphanumeric);
        is_one.then_some(Literal { kind: LiteralKind::Quotation, text, at: from })
    }

    /// Reads a run of characters that can form a name.
    fn run(&mut self) -> Option<Literal<'t>> {
        let from = self.at;
        let end = kind::end_of_run(self.bytes, from);
        // Advance by at least one byte, whatever the run begins with.
        self.at = end.at.max(from + 1);
        if end.is_word() {
            return None;
        }
        let text = self.text.get(from..self.at)?;
        let before = from.checked_sub(1).and_then(|at| self.bytes.get(at)).copied();
        let after = self.bytes.get(self.at).copied();
        let (kind, inside, len) = RunContext { text, before, after }.kind()?;
        Some(Literal { kind, text: text.get(inside..inside + len)?, at: from + inside })
    }
}

#[cfg(test)]
mod tests;
