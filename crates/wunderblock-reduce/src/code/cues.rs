//! Signs that reveal the language of a line, as listed in `rules/languages.rules`.

use std::sync::OnceLock;

use super::language::SourceLanguage;
use crate::part::PartOfList;

/// Signs of one language, and the programs that run its sources.
#[derive(Default)]
struct LanguageSigns {
    /// Index of another language whose signs also count, and the maximum weight of these signs.
    on: Option<(usize, u32)>,
    interpreters: Vec<String>,
    lines: Vec<SignLine>,
}

/// A weight, and the conditions that a line must meet to have it.
struct SignLine {
    weight: u32,
    clauses: Vec<SignClause>,
}

/// A condition on a line: for example, that it begins with one of several texts.
struct SignClause {
    test: SignTest,
    is_denied: bool,
    texts: Vec<SignText>,
}

/// A text, and the set of ASCII bytes in it.
struct SignText {
    text: String,
    bytes: u128,
}

/// A line without its indentation, and the set of ASCII bytes in it. The set rules out most texts without a search.
pub(super) struct SignedLine<'l> {
    line: &'l str,
    bytes: u128,
}

impl<'l> SignedLine<'l> {
    pub(super) fn of(line: &'l str) -> Self {
        Self { line, bytes: bytes_of(line) }
    }
}

/// Returns the set of ASCII bytes in a text, one bit per byte value.
fn bytes_of(text: &str) -> u128 {
    text.bytes().filter(u8::is_ascii).fold(0, |bytes, byte| bytes | 1 << byte)
}

enum SignTest {
    Begins,
    Ends,
    Contains,
    Is,
    /// The line has fewer words than this number.
    FewerWords(usize),
}

/// Returns the weight of a line for a language: each weight (1 to 3) counts once if any sign in the line has it. A
/// sign that only this language has weighs 3, and a sign that other languages share weighs 1.
pub(super) fn language_weight(language: SourceLanguage, line: &SignedLine<'_>) -> u32 {
    weight(language.index(), line)
}

/// Returns the names of the programs that run sources of a language.
pub(super) fn interpreters(language: SourceLanguage) -> &'static [String] {
    languages().item(language.index()).map_or(&[], |signs| &signs.interpreters)
}

fn weight(language: usize, line: &SignedLine<'_>) -> u32 {
    let Some(signs) = languages().item(language) else { return 0 };
    let own = |weight: u32| {
        let holds =
            |sign: &SignLine| sign.weight == weight && sign.clauses.iter().all(|clause| clause.holds(line));
        if signs.lines.iter().any(holds) { weight } else { 0 }
    };
    let shared = signs.on.map_or(0, |(language, most)| weight(language, line).min(most));
    shared + (1..=3).map(own).sum::<u32>()
}

impl SignClause {
    fn of(sign: &str, texts: &[&str]) -> Self {
        let test = match sign.trim_start_matches('!') {
            "^" => SignTest::Begins,
            "$" => SignTest::Ends,
            "~" => SignTest::Contains,
            "#" => SignTest::FewerWords(texts.first().and_then(|count| count.parse().ok()).unwrap_or(0)),
            _ => SignTest::Is,
        };
        Self {
            test,
            is_denied: sign.starts_with('!'),
            texts: texts.iter().map(|text| SignText::of(text)).collect(),
        }
    }

    fn holds(&self, SignedLine { line, bytes }: &SignedLine<'_>) -> bool {
        let mut texts =
            self.texts.iter().filter(|text| text.bytes & !bytes == 0).map(|text| text.text.as_str());
        let holds = match self.test {
            SignTest::Begins => texts.any(|text| line.starts_with(text)),
            SignTest::Ends => texts.any(|text| line.ends_with(text)),
            SignTest::Contains => texts.any(|text| line.contains(text)),
            SignTest::Is => texts.any(|text| *line == text),
            SignTest::FewerWords(count) => line.split_whitespace().count() < count,
        };
        holds != self.is_denied
    }
}

fn languages() -> &'static [LanguageSigns] {
    static LANGUAGES: OnceLock<Vec<LanguageSigns>> = OnceLock::new();
    LANGUAGES.get_or_init(|| parse(include_str!("../../rules/languages.rules")))
}

fn parse(table: &str) -> Vec<LanguageSigns> {
    let mut names: Vec<&str> = Vec::new();
    let mut languages: Vec<LanguageSigns> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            names.push(name);
            languages.push(LanguageSigns::default());
        }
        let (Some((first, rest)), Some(language)) = (line.split_once(' '), languages.last_mut()) else {
            continue;
        };
        let mut words = rest.split(' ');
        match (first, first.parse()) {
            (_, Ok(weight)) => language.lines.push(SignLine { weight, clauses: clauses(rest) }),
            ("by", _) => language.interpreters = words.map(text_of).collect(),
            _ => {
                let on = words.next().and_then(|name| names.iter().position(|known| *known == name));
                language.on = on.zip(words.next().and_then(|most| most.parse().ok()));
            }
        }
    }
    languages
}

fn clauses(line: &str) -> Vec<SignClause> {
    let is_sign = |word: &str| matches!(word.trim_start_matches('!'), "^" | "$" | "~" | "=" | "#");
    let words: Vec<&str> = line.split(' ').collect();
    let clauses = words.chunk_by(|_, next| !is_sign(next));
    clauses
        .filter_map(|clause| clause.split_first())
        .map(|(sign, texts)| SignClause::of(sign, texts))
        .collect()
}

impl SignText {
    fn of(word: &str) -> Self {
        let text = text_of(word);
        Self { bytes: bytes_of(&text), text }
    }
}

fn text_of(word: &str) -> String {
    let text = word.strip_prefix('\\').filter(|text| !text.is_empty()).unwrap_or(word);
    text.replace('·', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_signs() {
        let table = include_str!("../../rules/languages.rules");
        let names: Vec<&str> =
            table.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')).collect();
        for language in SourceLanguage::ALL {
            let name = format!("{language:?}").to_lowercase();
            assert_eq!(names.get(language.index()), Some(&name.as_str()));
        }
        let languages = parse(table);
        assert!(languages.iter().all(|signs| !signs.lines.is_empty()));
        let clauses = || languages.iter().flat_map(|signs| &signs.lines).flat_map(|line| &line.clauses);
        assert!(clauses().all(|clause| !clause.texts.is_empty()));
        assert_eq!(language_weight(SourceLanguage::Php, &SignedLine::of("$total = $this->sum();")), 3);
        assert_eq!(language_weight(SourceLanguage::Tsx, &SignedLine::of("<Shelf room={3} />")), 3);
    }
}
