//! Classification of runs of characters as literals.

use super::{LITERAL_MAX, LiteralKind};

pub(super) const LOWER: u16 = 1;
const UPPER: u16 = 1 << 1;
const DIGIT: u16 = 1 << 2;
const UNDER: u16 = 1 << 3;
const DASH: u16 = 1 << 4;
const DOT: u16 = 1 << 5;
const SLASH: u16 = 1 << 6;
const COLON: u16 = 1 << 7;
const AT: u16 = 1 << 8;
const TILDE: u16 = 1 << 9;
/// First byte of a two-byte character: a letter beyond ASCII, in a script that separates words with spaces.
const LETTER: u16 = 1 << 10;
const BACKSLASH: u16 = 1 << 11;
/// Classes of characters that belong to a run only if they are next to certain other characters.
const CHOOSY: u16 = COLON | LETTER | BACKSLASH;

pub(super) struct Classes([u16; 256]);

impl Classes {
    #[inline]
    pub(super) fn of(&self, byte: u8) -> u16 {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }
}

pub(super) static CLASS: Classes = Classes(classes());

// This is evaluated at compile time, so an index out of bounds would not compile.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)]
const fn classes() -> [u16; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = match at as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDER,
            b'-' => DASH,
            b'.' => DOT,
            b'/' => SLASH,
            b'@' => AT,
            b'~' => TILDE,
            0xC3..=0xDF => LETTER,
            _ => 0,
        };
        at += 1;
    }
    table
}

/// Returns the class of a byte inside a run, where colons and backslashes may occur.
#[inline]
fn class_of(byte: u8) -> u16 {
    match byte {
        b':' => COLON,
        b'\\' => BACKSLASH,
        byte => CLASS.of(byte),
    }
}

/// End of a run, and the classes of the characters in it.
pub(super) struct End {
    pub(super) at: usize,
    seen: u16,
    /// Whether a capital occurs after the first character.
    capital_inside: bool,
}

impl End {
    /// Returns whether the run is a plain word: only letters, in lower case, capitalised, or all in capitals.
    pub(super) const fn is_word(&self) -> bool {
        self.seen & !(LOWER | UPPER | LETTER) == 0 && (!self.capital_inside || self.seen & LOWER == 0)
    }
}

/// Returns the end of the run that begins at `from`.
pub(super) fn end_of_run(bytes: &[u8], from: usize) -> End {
    let mut end = End { at: from, seen: 0, capital_inside: false };
    while let Some(byte) = bytes.get(end.at).copied() {
        let class = class_of(byte);
        if class == 0 {
            break;
        }
        if class & CHOOSY != 0 {
            match joins(bytes, from, end.at, class) {
                Joins::No => break,
                Joins::By(width) => end.at += width,
                Joins::Url => {
                    end.seen |= COLON;
                    end.at = end_of_url(bytes, end.at);
                    break;
                }
            }
            end.seen |= class;
            continue;
        }
        end.capital_inside |= class == UPPER && end.at > from;
        end.seen |= class;
        end.at += 1;
    }
    end
}

enum Joins {
    No,
    By(usize),
    Url,
}

fn joins(bytes: &[u8], from: usize, at: usize, class: u16) -> Joins {
    let next = bytes.get(at + 1).copied().unwrap_or_default();
    let so_far = bytes.get(from..at).unwrap_or_default();
    if class == LETTER {
        // Two-byte characters that are not letters, such as × and ÷, separate names.
        let lead = bytes.get(at).copied().unwrap_or_default();
        return if is_letter(lead, next) { Joins::By(2) } else { Joins::No };
    }
    let is_drive = matches!(so_far, [letter] if letter.is_ascii_alphabetic());
    if class == BACKSLASH {
        let windows = matches!(so_far, [drive, b':', ..] if drive.is_ascii_alphabetic());
        return if windows { Joins::By(1) } else { Joins::No };
    }
    match next {
        b'/' if bytes.get(at + 2) == Some(&b'/')
            && so_far.iter().all(u8::is_ascii_alphabetic)
            && !so_far.is_empty() =>
        {
            Joins::Url
        }
        b'/' | b'\\' if is_drive => Joins::By(1),
        b':' if bytes.get(at + 2).is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, b'_')) => {
            Joins::By(2)
        }
        b'0'..=b'9' if !so_far.is_empty() => Joins::By(1),
        b'a'..=b'f' if so_far == b"wb" => Joins::By(1),
        _ => Joins::No,
    }
}

/// Returns whether the character that these two bytes encode is a letter or a digit.
pub(crate) fn is_letter(lead: u8, next: u8) -> bool {
    let code = u32::from(lead & 0x1F) << 6 | u32::from(next & 0x3F);
    char::from_u32(code).is_some_and(char::is_alphanumeric)
}

fn end_of_url(bytes: &[u8], from: usize) -> usize {
    let goes_on = |byte: u8| byte.is_ascii_graphic() && !b"\"'`<>()[]{}|\\,;".contains(&byte);
    let mut end = from;
    while bytes.get(end).is_some_and(|byte| goes_on(*byte)) {
        end += 1;
    }
    while end > from && bytes.get(end - 1).is_some_and(|byte| b".:!?*".contains(byte)) {
        end -= 1;
    }
    end
}

/// A run, and the bytes next to it.
pub(super) struct RunContext<'t> {
    pub(super) text: &'t str,
    pub(super) before: Option<u8>,
    pub(super) after: Option<u8>,
}

impl RunContext<'_> {
    /// Returns the kind of the literal in the run, its offset in the run, and its length; `None` for a word.
    pub(super) fn kind(&self) -> Option<(LiteralKind, usize, usize)> {
        let body = trim_start(self.text);
        let inside = self.text.len() - body.len();
        let body = body.trim_end_matches(['.', ':', '-', '@', '~', '\\']);
        if body.is_empty() || body.len() > LITERAL_MAX {
            return None;
        }
        Some((self.kind_of(body)?, inside, body.len()))
    }

    fn kind_of(&self, body: &str) -> Option<LiteralKind> {
        let seen = body.bytes().fold(0, |seen, byte| seen | class_of(byte));
        let has = |class: u16| seen & class != 0;
        let letters = has(LOWER | UPPER | LETTER);
        // The order matters: a URL also consists of path characters, and an id of identifier characters.
        if has(COLON) && body.contains("://") {
            return Some(LiteralKind::Url);
        }
        if let Some(flag) = body.strip_prefix("--") {
            return (flag.len() >= 2 && letters && !has(SLASH | BACKSLASH | COLON))
                .then_some(LiteralKind::Identifier);
        }
        if is_id(body, seen) {
            return Some(LiteralKind::Id);
        }
        if has(BACKSLASH) {
            return Some(LiteralKind::Path);
        }
        if has(SLASH) {
            return self.path(body, letters);
        }
        if has(AT) {
            return (has(DOT) && letters).then_some(LiteralKind::Identifier);
        }
        if has(DOT) && is_file(without_lines(body)) {
            return Some(LiteralKind::Path);
        }
        if body.starts_with('.') {
            let is_file = self.after != Some(b'(')
                && body.len() >= 4
                && seen & !(LOWER | DOT | UNDER | DASH | DIGIT) == 0;
            return (is_file && has(LOWER)).then_some(LiteralKind::Path);
        }
        let digits = || body.bytes().filter(u8::is_ascii_digit).count();
        let number = body.strip_prefix(['v', 'V']).unwrap_or(body);
        if number.starts_with(|c: char| c.is_ascii_digit()) {
            let leading = numeric(number).bytes().filter(u8::is_ascii_digit).count();
            return (leading >= 2 || body.starts_with("0x") && body.len() >= 4)
                .then_some(LiteralKind::Number);
        }
        if has(COLON) {
            return (letters && body.contains("::")).then_some(LiteralKind::Identifier);
        }
        if has(DOT) {
            return is_dotted(body).then_some(LiteralKind::Identifier);
        }
        if has(UNDER) {
            let inner = body.trim_matches('_');
            let is_name = inner.contains('_') || body.starts_with("__") || body.len() - inner.len() == 1;
            return (is_name && inner.len() >= 2 && letters).then_some(LiteralKind::Identifier);
        }
        if has(DIGIT) {
            let is_code = seen & !(UPPER | DIGIT | DASH) == 0 && has(UPPER) && digits() >= 2;
            return if is_code {
                Some(LiteralKind::Code)
            } else {
                (body.len() >= 3 && letters).then_some(LiteralKind::Identifier)
            };
        }
        is_camel(body).then_some(LiteralKind::Identifier)
    }

    fn path(&self, body: &str, letters: bool) -> Option<LiteralKind> {
        let core = without_lines(body);
        if !letters {
            // A date with slashes.
            let is_date = core.bytes().filter(|byte| *byte == b'/').count() == 2 && core.len() >= 6;
            return (is_date && !core.starts_with('/')).then_some(LiteralKind::Number);
        }
        if let Some(rest) = core.strip_prefix('/') {
            // `</div>` closes an element, and `//` begins a comment.
            let is_path = self.before != Some(b'<') && !rest.starts_with('/') && rest.len() >= 2;
            return (is_path && rest.starts_with(|c: char| c.is_alphanumeric() || ".@_~".contains(c)))
                .then_some(LiteralKind::Path);
        }
        let rooted = ["./", "../", "~/"].iter().any(|root| core.starts_with(root))
            || core.starts_with('@')
            || core.get(1..3) == Some(":/");
        let inner = core.trim_end_matches('/');
        let slashes = inner.bytes().filter(|byte| *byte == b'/').count();
        let last = inner.rsplit('/').next().unwrap_or_default();
        let named = is_file(last) || last.contains('_') || inner.starts_with('.') || inner.contains('_');
        let folder = inner.len() < core.len() && inner.len() >= 2 && self.after != Some(b'>');
        (rooted || slashes >= 2 || (slashes == 1 && named) || folder).then_some(LiteralKind::Path)
    }
}

/// Removes leading punctuation: dashes, dots and other characters that cannot begin a name.
fn trim_start(text: &str) -> &str {
    let mut body = text;
    loop {
        let is_start = body.starts_with("./")
            || body.starts_with("../")
            || body.starts_with("~/")
            || (body.starts_with('@') && body.contains('/'))
            || body
                .strip_prefix("--")
                .is_some_and(|flag| flag.starts_with(|c: char| c.is_ascii_alphabetic()))
            || body.strip_prefix('.').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
        let Some(rest) = body.strip_prefix(['-', '.', ':', '@', '~']).filter(|_| !is_start) else {
            return body;
        };
        body = rest;
    }
}

/// Returns whether a run is an id: a handle, a UUID, a hash, or a long run of letters and digits.
fn is_id(body: &str, seen: u16) -> bool {
    if let Some(digits) = body.strip_prefix("wb:") {
        return digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if seen & DIGIT == 0 || seen & (SLASH | DOT | COLON | AT | TILDE | BACKSLASH | LETTER) != 0 {
        return false;
    }
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if seen & DASH != 0 {
        return body.len() == 36
            && body.split('-').map(str::len).eq([8, 4, 4, 4, 12])
            && body.split('-').all(is_hex);
    }
    if seen & UNDER != 0 {
        // Ids that providers assign to calls, of the form `toolu_01ab…` or `call_9f…`.
        let tail = body.rsplit('_').next().unwrap_or_default();
        return tail.len() >= 16 && tail.bytes().any(|byte| byte.is_ascii_digit());
    }
    let mixed = seen & (LOWER | UPPER) != 0;
    let one_case = seen & (LOWER | UPPER) != LOWER | UPPER;
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    // Seven hexadecimal digits are enough for an abbreviated commit id, such as `e1bea43`.
    mixed && ((body.len() >= 7 && one_case && is_hex(body)) || (body.len() >= 16 && digits >= 3))
}

/// Removes a line suffix: `:10`, `:10-40`, `:10:5`.
fn without_lines(text: &str) -> &str {
    let Some(colon) = text.bytes().enumerate().skip(2).find(|(_, byte)| *byte == b':').map(|(at, _)| at)
    else {
        return text;
    };
    let (path, lines) = text.split_at(colon);
    if lines.bytes().all(|byte| matches!(byte, b':' | b'-' | b'0'..=b'9')) { path } else { text }
}

/// Returns whether a text ends in a known file extension.
fn is_file(text: &str) -> bool {
    let Some((stem, extension)) = text.rsplit_once('.') else { return false };
    let has_stem = stem.ends_with(|c: char| c.is_alphanumeric() || "_-])".contains(c));
    has_stem && (stem.len() > 1 || extension.len() > 1) && is_extension(extension)
}

/// Returns whether a path names one specific thing: a file with a known extension, or a place below a root. An
/// extension alone names nothing.
pub(super) fn is_particular(path: &str) -> bool {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let parts = path.split(is_slash).filter(|part| !matches!(*part, "" | "." | ".." | "~")).count();
    let last = path.rsplit(is_slash).next().unwrap_or_default();
    let rooted = ["/", "~/", "../"].iter().any(|root| path.starts_with(root)) || path.get(1..2) == Some(":");
    let hidden = path.starts_with('.') && !path.starts_with("../");
    (rooted && parts >= 2) || (is_file(last) && !hidden)
}

/// Extensions of files that agents commonly work with, sorted for a binary search.
#[rustfmt::skip]
pub(super) const KNOWN: [&str; 112] = [
    "adoc", "bak", "bash", "bat", "bib", "bin", "bz2", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp", "crt", "cs",
    "css", "csv", "cxx", "dart", "db", "diff", "dll", "doc", "docx", "env", "erl", "ex", "exe", "exs", "fish", "gif", "go",
    "gradle", "graphql", "gz", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js", "json",
    "json5", "jsonl", "jsx", "key", "kt", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "ml", "mm", "mp3", "mp4",
    "parquet", "patch", "pdf", "pem", "php", "pl", "png", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass",
    "scala", "scss", "sh", "snap", "so", "sql", "sqlite", "svelte", "svg", "swift", "tar", "tex", "tf", "tmp", "toml", "traj",
    "ts", "tsv", "tsx", "txt", "vue", "wasm", "webp", "xml", "yaml", "yml", "zig", "zip", "zst",
];

fn is_extension(text: &str) -> bool {
    KNOWN.binary_search(&text).is_ok()
}

/// Returns whether a text is a dotted name like `a.b`, in which each part is a name. Abbreviations (`e.g`) and ends
/// of sentences (`end.The`) are not dotted names.
fn is_dotted(text: &str) -> bool {
    let mut long = false;
    let is_name = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let names = text.split('.').all(|part| {
        long |= part.len() > 1;
        is_name(part)
    });
    let (first, second) = text.split_once('.').unwrap_or_default();
    let sentence = first.bytes().all(|byte| byte.is_ascii_lowercase())
        && second.starts_with(|c: char| c.is_ascii_uppercase())
        && second.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    names && long && !sentence
}

/// Returns whether a word contains a capital after its first letter, but is not written all in capitals.
fn is_camel(text: &str) -> bool {
    let text = text
        .strip_suffix('s')
        .filter(|rest| rest.bytes().all(|byte| byte.is_ascii_uppercase()))
        .unwrap_or(text);
    let bytes = text.as_bytes();
    let has_lower = bytes.iter().any(u8::is_ascii_lowercase);
    // A compound of plain words (`Read-Only`) is not a name.
    let inner = bytes.windows(2).any(
        |pair| matches!(pair, [before, after] if before.is_ascii_alphabetic() && after.is_ascii_uppercase()),
    );
    has_lower && inner && bytes.iter().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns the number at the beginning of a text, without its unit or the rest of a compound.
fn numeric(text: &str) -> &str {
    let end = text
        .bytes()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b':' | b'-' | b'_'))
        .unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end_matches(['.', ':', '-', '_'])
}

/// Returns the normal form of a literal. See [`super::Literal::normal`].
pub(super) fn normal(kind: LiteralKind, text: &str) -> &str {
    match kind {
        LiteralKind::Path => {
            let mut path = without_lines(text);
            while let Some(rest) = path.strip_prefix("./") {
                path = rest;
            }
            let inner = path.trim_end_matches(['/', '\\']);
            if inner.is_empty() { path } else { inner }
        }
        LiteralKind::Url => text.trim_end_matches('/'),
        LiteralKind::Number => {
            let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
            let number = numeric(digits);
            let rest = digits.get(number.len()..).unwrap_or_default();
            // A time of day is part of its date, and hexadecimal digits are part of the number that begins with `0x`.
            if rest.starts_with(['T', 'x', 'X', '/']) { digits } else { number }
        }
        LiteralKind::Quotation => {
            text.trim().trim_end_matches(['.', ',', ';', ':', '!', '?', '…', '。', '，'])
        }
        LiteralKind::Identifier | LiteralKind::Id | LiteralKind::Code => text,
    }
}
