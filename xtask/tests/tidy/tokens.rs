//! Splits Rust sources into tokens, without comments, character literals, and items that are compiled for tests only.

/// A word, a sign or a string literal, with its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(self) -> bool {
        !self.is_string() && self.text.starts_with(|first: char| first.is_alphanumeric() || first == '_')
    }

    fn is_string(self) -> bool {
        self.text.len() > 1 && self.text.ends_with(['"', '#'])
    }
}

/// Returns the tokens of a file without string literals and without items under `#[cfg(test)]`.
pub(crate) fn production(text: &str) -> Vec<Token<'_>> {
    let mut kept = compiled(text);
    kept.retain(|token| !token.is_string());
    kept
}

/// Returns the string literals of a file as written, without those of items under `#[cfg(test)]`.
pub(crate) fn strings(text: &str) -> Vec<Token<'_>> {
    let mut kept = compiled(text);
    kept.retain(|token| token.is_string());
    kept
}

fn compiled(text: &str) -> Vec<Token<'_>> {
    let all = tokens(text);
    let is_mark = |rest: &[Token<'_>]| {
        let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
        rest.len() >= mark.len() && rest.iter().zip(mark).all(|(token, word)| token.text == word)
    };
    let (mut kept, mut at) = (Vec::with_capacity(all.len()), 0);
    while at < all.len() {
        if is_mark(&all[at..]) {
            at = item_end(&all, at + 7);
        } else {
            kept.push(all[at]);
            at += 1;
        }
    }
    kept
}

/// Returns the index just after the item that starts at a given index.
fn item_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return at;
        }
        if depth == 0 && (token.text == "}" || token.text == ";") {
            return at + 1;
        }
    }
    tokens.len()
}

pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let skipped = comment(rest).or_else(|| character(rest));
        let len = skipped.or_else(|| string(rest)).unwrap_or_else(|| word(rest));
        let part = &rest[..len];
        if skipped.is_none() && !part.trim().is_empty() {
            found.push(Token { text: part, line });
        }
        line += part.matches('\n').count();
        at += len;
    }
    found
}

/// Length in bytes of a word, of a sign, or of one blank character.
fn word(rest: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begins = usize::from(rest.starts_with('\''));
    let len = rest[begins..].find(|c| !is_part(c)).unwrap_or(rest.len() - begins);
    match () {
        () if len > 0 => begins + len,
        () if rest.starts_with("::") || rest.starts_with("->") => 2,
        () => rest.chars().next().map_or(1, char::len_utf8),
    }
}

fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest.find("*/").map_or(rest.len(), |end| end + 2))
}

/// Length in bytes of a string literal: plain, byte, C, or raw. `None` if there is none.
fn string(rest: &str) -> Option<usize> {
    let letters = rest.bytes().take_while(|byte| matches!(byte, b'b' | b'c' | b'r')).count();
    let hashes = rest[letters..].bytes().take_while(|byte| *byte == b'#').count();
    let begin = letters + hashes + 1;
    let is_raw = rest[..letters].contains('r');
    if letters > 2 || !rest[begin - 1..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return rest[begin..].find(&end).map(|at| begin + at + end.len());
    }
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(begin) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Length in bytes of a character literal. `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    let from = first.len_utf8() + if first == '\\' { inner[1..].chars().next()?.len_utf8() } else { 0 };
    if first == '\\' {
        return inner[from..].find('\'').map(|end| 1 + from + end + 1);
    }
    inner[from..].starts_with('\'').then_some(1 + from + 1)
}

#[test]
fn only_what_is_compiled_for_users_counts() {
    let text = r##"
        use a::b; // c::d
        /* e::f */ const G: &str = "h::i \" j"; let k = r#"l "m" n"#; let o = ['p', '\'', '"']; fn q<'r>() {}
        #[cfg(test)]
        #[allow(clippy::unwrap_used)]
        mod tests { use s::t; fn u() { [1; 2]; } }
        v
    "##;
    let found: Vec<&str> =
        production(text).into_iter().filter(|token| token.is_word()).map(|token| token.text).collect();
    assert_eq!(found, "use a b const G str let k let o fn q v".split(' ').collect::<Vec<_>>());
    assert_eq!(production(text).last().map(|token| token.line), Some(7));
}
