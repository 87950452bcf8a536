//! Finds the features that a line must have to match a pattern, by reading the text of the pattern.
//!
//! Compiling the patterns of all tables takes 47 million instructions, which is most of the time of a process that
//! reduces one text, and an output matches few patterns. A pattern is therefore compiled only when a line has the
//! features that it needs: the first byte of the line, and pairs of neighbouring bytes. A test verifies that the
//! needs never exclude a line that the pattern matches. A pattern that reveals too few needs is tried on every line.

/// Maximum number of ways to match that are distinguished in one pattern.
const MAX_WAYS: usize = 64;

/// Number of needs after which further ways are not distinguished.
const ENOUGH: usize = 2;

/// The features of a line that patterns may need: pairs of neighbouring bytes, each hashed to a byte, and the first
/// byte that is not blank. All digits count as the same byte.
pub(super) struct LineFeatures([bool; 512]);

impl LineFeatures {
    pub(super) fn of(line: &str) -> Self {
        let mut features = Self([false; 512]);
        let mut before = 0;
        for byte in line.bytes().map(without_digits) {
            features.add(pair(before, byte));
            before = byte;
        }
        line.bytes().find(|byte| !is_blank(*byte)).into_iter().for_each(|byte| features.add(start(byte)));
        features
    }

    fn add(&mut self, feature: u16) {
        if let Some(has) = self.0.get_mut(usize::from(feature)) {
            *has = true;
        }
    }

    pub(super) fn has(&self, feature: u16) -> bool {
        self.0.get(usize::from(feature)) == Some(&true)
    }
}

/// The features that a line needs to match a pattern in one way.
pub(super) type LineNeeds = Vec<u16>;

fn pair(one: u8, next: u8) -> u16 {
    u16::from(one.wrapping_mul(5) ^ next)
}

fn start(byte: u8) -> u16 {
    256 | u16::from(without_digits(byte))
}

fn without_digits(byte: u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { byte }
}

/// Returns whether a byte may precede the first byte that counts in a line.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | b'|')
}

/// Returns the needs of a pattern, one list for each way to match. A line must meet all the needs in at least one
/// list.
pub(super) fn needs_of(pattern: &str) -> Vec<LineNeeds> {
    let mut found = Vec::new();
    let ways = alternatives(pattern.as_bytes());
    for way in &ways {
        Walk::default().walk(way, MAX_WAYS / ways.len().max(1), &mut found);
    }
    found
}

/// The byte before the next byte of a match.
#[derive(Clone, Copy, Debug, Default)]
enum Before {
    #[default]
    Unknown,
    /// The start of the line, possibly followed by blanks.
    Start,
    Byte(u8),
}

/// One part of a pattern, without its repetition.
enum Atom<'p> {
    Literal(&'p [u8]),
    Group(&'p [u8]),
    Blank,
    LineStart,
    /// A part that matches no byte: an end or a boundary.
    Empty,
    Other,
}

#[derive(Clone, Default)]
struct Walk {
    needs: LineNeeds,
    before: Before,
}

impl Walk {
    /// Adds the needs of the rest of a pattern to `found`.
    fn walk(mut self, mut rest: &[u8], room: usize, found: &mut Vec<LineNeeds>) {
        while let Some((atom, after)) = split_atom(rest) {
            let (optional, after) = split_repeat(after);
            rest = after;
            match atom {
                Atom::LineStart => self.before = Before::Start,
                Atom::Empty => {}
                Atom::Blank if matches!(self.before, Before::Start) => {}
                Atom::Literal([byte]) if matches!(self.before, Before::Start) && is_blank(*byte) => {}
                Atom::Literal(bytes) if !optional => bytes.iter().for_each(|byte| self.literal(*byte)),
                Atom::Group(inner) if !optional => {
                    let ways = alternatives(inner);
                    let vague = matches!(self.before, Before::Start) || self.needs.len() < ENOUGH;
                    if ways.len() == 1 || vague && ways.len() <= room {
                        for way in &ways {
                            self.clone().walk(&[way, rest].concat(), room / ways.len().max(1), found);
                        }
                        return;
                    }
                    self.before = Before::Unknown;
                }
                _ => self.before = Before::Unknown,
            }
        }
        if !found.contains(&self.needs) {
            found.push(self.needs);
        }
    }

    fn literal(&mut self, byte: u8) {
        let byte = without_digits(byte);
        match self.before {
            Before::Start => self.needs.push(start(byte)),
            Before::Byte(before) => self.needs.push(pair(before, byte)),
            Before::Unknown => {}
        }
        self.before = Before::Byte(byte);
    }
}

/// Returns the first part of a pattern, and the rest of the pattern.
fn split_atom(pattern: &[u8]) -> Option<(Atom<'_>, &[u8])> {
    let (first, rest) = pattern.split_first()?;
    let length = atom_length(pattern);
    let after = pattern.get(length..).unwrap_or_default();
    let inner = pattern.get(1..length.saturating_sub(1)).unwrap_or_default();
    let atom = match (first, rest.first()) {
        (b'\\', Some(b't')) => Atom::Literal(b"\t"),
        (b'\\', Some(b's')) => Atom::Blank,
        (b'\\', Some(b'b')) | (b'$', _) => Atom::Empty,
        (b'\\', Some(sign)) if !sign.is_ascii_alphanumeric() => {
            Atom::Literal(rest.get(..1).unwrap_or_default())
        }
        (b'[', _) if inner == br" \t|" => Atom::Blank,
        (b'[', _) if inner.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-')) => Atom::Literal(b"0"),
        (b'(', _) => Atom::Group(group_body(inner)),
        (b'^', _) => Atom::LineStart,
        (b'\\' | b'.' | b'[', _) => Atom::Other,
        _ => Atom::Literal(pattern.get(..length).unwrap_or_default()),
    };
    Some((atom, after))
}

/// Returns the content of a group, without its name.
fn group_body(inner: &[u8]) -> &[u8] {
    let named = |rest: &'_ [u8]| rest.iter().position(|byte| *byte == b'>').map_or(0, |end| end + 1);
    match inner {
        [b'?', b':', body @ ..] => body,
        [b'?', b'<', rest @ ..] => rest.get(named(rest)..).unwrap_or_default(),
        body => body,
    }
}

/// Returns the length of the first part of a pattern, in bytes.
fn atom_length(pattern: &[u8]) -> usize {
    match pattern {
        [b'\\', b'x', ..] => 4,
        [b'\\', ..] => 2,
        [b'[', rest @ ..] => {
            let mut at = 0;
            while rest.get(at).is_some_and(|byte| *byte != b']') {
                at += if rest.get(at) == Some(&b'\\') { 2 } else { 1 };
            }
            at + 2
        }
        [b'(', rest @ ..] => {
            let mut at = 0;
            while rest.get(at).is_some_and(|byte| *byte != b')') {
                at += atom_length(rest.get(at..).unwrap_or_default());
            }
            at + 2
        }
        [first, rest @ ..] if *first >= 0xc0 => {
            1 + rest.iter().take_while(|byte| **byte & 0xc0 == 0x80).count()
        }
        _ => 1,
    }
}

/// Returns whether the preceding part may be missing, and the rest of the pattern after its repetition.
fn split_repeat(pattern: &[u8]) -> (bool, &[u8]) {
    let (optional, after) = match pattern {
        [b'*' | b'?', after @ ..] => (true, after),
        [b'+', after @ ..] => (false, after),
        [b'{', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b'}').map_or(rest.len(), |end| end + 1);
            (rest.first() == Some(&b'0'), rest.get(end..).unwrap_or_default())
        }
        _ => return (false, pattern),
    };
    (optional, after.strip_prefix(b"?").unwrap_or(after))
}

/// Returns the alternatives of a pattern that are not inside a group.
fn alternatives(pattern: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = pattern.get(at) {
        if *byte == b'|' {
            found.push(pattern.get(start..at).unwrap_or_default());
            start = at + 1;
        }
        at += atom_length(pattern.get(at..).unwrap_or_default());
    }
    found.push(pattern.get(start..).unwrap_or_default());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first byte, and runs of neighbouring bytes.
    type FirstAndRuns = (Option<u8>, &'static [&'static str]);

    #[test]
    fn a_way_needs_its_start_and_its_pairs() {
        let way = |(first, runs): &FirstAndRuns| {
            let pairs = runs.iter().flat_map(|run| run.as_bytes().windows(2));
            let pairs = pairs.map(|bytes| pair(bytes[0], bytes[1]));
            first.map(start).into_iter().chain(pairs).collect::<LineNeeds>()
        };
        let cases: [(&str, &[FirstAndRuns]); 4] = [
            ("^ *ab+c?d", &[(Some(b'a'), &["ab"])]),
            ("^(?:[Aa]x|by)(?<n>[1-9]+):", &[(None, &["x0:"]), (Some(b'b'), &["by0:"])]),
            (r"^\[7 é*(?:a|b|)$|c.d", &[(Some(b'['), &["[0 "]), (None, &[])]),
            (r"^[ \t|]*\bat [^\]a-z]{2,}(?:x)? \(\)", &[(Some(b'a'), &["at ", " ()"])]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(needs_of(pattern), expected.iter().map(way).collect::<Vec<_>>(), "{pattern}");
        }
    }
}
