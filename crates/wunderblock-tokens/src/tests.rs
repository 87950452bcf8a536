//! Compares counts with those of the crate that the tables were made from, and with published counts.

use super::*;
use proptest::prelude::*;
use regex::Regex;
use std::sync::OnceLock;
use tiktoken::{CoreBpe, encoding};

const BOTH: [Vocabulary; 2] = [Vocabulary::O200k, Vocabulary::Cl100k];

/// Returns the vocabulary with which the crate `tiktoken` counts.
fn encoder(vocabulary: Vocabulary) -> &'static CoreBpe {
    static O200K: OnceLock<CoreBpe> = OnceLock::new();
    static CL100K: OnceLock<CoreBpe> = OnceLock::new();
    match vocabulary {
        Vocabulary::O200k => O200K.get_or_init(encoding::o200k_base),
        Vocabulary::Cl100k => CL100K.get_or_init(encoding::cl100k_base),
    }
}

fn assert_once(text: &str) {
    for vocabulary in BOTH {
        assert_eq!(
            vocabulary.count(text) as usize,
            encoder(vocabulary).count(text),
            "{vocabulary:?}: {text:?}"
        );
    }
}

/// Asserts the count twice. The second time, the counts of the pieces are taken from memory.
fn assert_alike(text: &str) {
    assert_once(text);
    assert_once(text);
}

#[test]
fn counts_are_those_of_the_published_vocabularies() {
    // (text, o200k, cl100k): counts of the published vocabularies, not of this program.
    let table = [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
    ];
    for (text, o200k, cl100k) in table {
        assert_eq!(Vocabulary::O200k.count(text), o200k, "{text:?} in o200k");
        assert_eq!(Vocabulary::Cl100k.count(text), cl100k, "{text:?} in cl100k");
    }
}

#[test]
fn special_tokens_are_ordinary_text() {
    for vocabulary in BOTH {
        let whole = vocabulary.count("<|endoftext|>");
        assert!(whole > 3, "{vocabulary:?} counted {whole}");
        assert!(vocabulary.count("<|im_start|>") > 1);
    }
}

#[test]
fn long_texts_are_counted_exactly() {
    let line = "fn next(&mut self) -> Option<u32> { self.left.checked_sub(1) } // 2031 字\n";
    let text = line.repeat(3 * STRETCH / line.len());
    for vocabulary in BOTH {
        assert_eq!(vocabulary.count(&text) as usize, encoder(vocabulary).count(&text));
    }
}

#[test]
fn a_run_without_seams_is_never_counted_too_low() {
    for (number, unit) in ["a", " ", "\n", "=", "é", "字", "的是不", "🙂"].into_iter().enumerate() {
        let text = unit.repeat((STRETCH + STRETCH / 8) / unit.len());
        let vocabulary = BOTH[number % BOTH.len()];
        let (ours, whole) = (vocabulary.count(&text) as usize, encoder(vocabulary).count(&text));
        assert!(ours > whole && ours <= whole + 2 * BLIND_CUT, "{unit:?}: {ours} for {whole}");
    }
}

#[test]
fn threads_count_alike() {
    let text = "The same text, counted on four threads at once. 同一段文字。\n".repeat(200);
    let here = Vocabulary::O200k.count(&text);
    let counts: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| Vocabulary::O200k.count(&text))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts, [here; 4]);
}

#[test]
fn up_to_three_digits_are_one_token() {
    for vocabulary in BOTH {
        for number in 0..1000 {
            for digits in [format!("{number}"), format!("{number:02}"), format!("{number:03}")] {
                assert_eq!(vocabulary.count(&digits), 1, "{digits}");
            }
        }
    }
}

#[test]
fn the_tables_have_every_token_with_its_rank_and_nothing_else() {
    for (vocabulary, table) in [(Vocabulary::O200k, &table::O200K), (Vocabulary::Cl100k, &table::CL100K)] {
        let encoder = encoder(vocabulary);
        for rank in 0..encoder.vocab_size() as u32 {
            let token = encoder.decode(&[rank]);
            assert_eq!(table.rank(&token), rank, "{vocabulary:?}: {token:?}");
            if let [first, second] = token[..] {
                assert_eq!(table.pair(first, second), rank);
            }
        }
        let every = (0..=u16::MAX).map(u16::to_be_bytes);
        let pairs = every.clone().filter(|[first, second]| table.pair(*first, *second) != layout::ABSENT);
        assert_eq!(pairs.count(), every.filter(|pair| table.rank(pair) != layout::ABSENT).count());
        for stranger in [&b""[..], b"<|endoftext|>", b"zzzzzzzzz", b"\0\0\0\0\0\0\0\0\0"] {
            assert_eq!(table.rank(stranger), layout::ABSENT, "{stranger:?}");
        }
    }
}

#[test]
fn every_kind_of_character_is_cut_as_the_crate_cuts_it() {
    let contexts = [("", ""), ("a", "b"), ("A", "B"), (" ", "a"), ("!", " "), ("\n", "\n"), ("1", "2")];
    for character in (0..=0x10_ffff).filter_map(char::from_u32) {
        // All of the alphabets, and a sample of the blocks whose characters are all alike.
        if character as u32 > 0x3100 && !(character as u32).is_multiple_of(43) {
            continue;
        }
        let text: String = contexts.iter().flat_map(|(a, b)| [*a, "x", *b]).collect();
        assert_once(&text.replace('x', character.encode_utf8(&mut [0; 4])));
    }
}

/// Published patterns without `\s+(?!\S)`, because the crate `regex` has no look-ahead. [`ends`] derives it from
/// `\s+`.
const PATTERNS: [&str; 2] = [
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
];

/// Returns the ends of a text's pieces as a general engine finds them.
fn ends(pattern: &Regex, text: &str) -> Vec<usize> {
    let (mut at, mut ends) = (0, Vec::new());
    while let Some(found) = pattern.find_at(text, at) {
        assert_eq!(found.start(), at, "every character is of a piece");
        let last = found.as_str().char_indices().next_back().map_or(0, |(last, _)| last);
        let is_blank = found.as_str().chars().all(char::is_whitespace);
        let looks_ahead = is_blank && !found.as_str().ends_with(['\r', '\n']) && found.end() < text.len();
        at = if looks_ahead && last > 0 { at + last } else { found.end() };
        ends.push(at);
    }
    ends
}

/// Asserts that a text is cut where the patterns cut it. A count alone hardly shows a wrong cut, because few tokens
/// would extend across it.
fn assert_cut_alike(text: &str) {
    static REGEXES: OnceLock<[Regex; 2]> = OnceLock::new();
    let regexes = REGEXES.get_or_init(|| PATTERNS.map(|pattern| Regex::new(pattern).unwrap()));
    let ours: [fn(&str, usize) -> usize; 2] = [piece::o200k, piece::cl100k];
    for (end, regex) in ours.iter().zip(regexes) {
        let mut found = vec![];
        while found.last().copied().unwrap_or(0) < text.len() {
            found.push(end(text, found.last().copied().unwrap_or(0)));
        }
        assert_eq!(found, ends(regex, text), "{text:?}");
    }
}

#[test]
fn real_texts_are_counted_as_the_crate_counts_them() {
    for text in [
        include_str!("../../../README.zh-CN.md"),
        include_str!("../../../README.md"),
        include_str!("../../../Cargo.lock"),
        include_str!("../../../docs/report.svg"),
        include_str!("tests.rs"),
    ] {
        assert_once(text);
        for line in text.lines() {
            assert_once(line);
        }
    }
}

#[test]
fn contractions_match_in_any_letter_case_and_with_the_long_s() {
    // The published patterns match the long s as an s. The crate misses the long s after ASCII letters.
    assert_eq!(piece::o200k("it'ſ so", 0), "it'ſ".len());
    assert_eq!(piece::cl100k("'ſ so", 0), "'ſ".len());
    for (text, end) in [("it's", 4), ("IT'LL", 5), ("we'Ve", 5), ("it'x", 2), ("it'", 2), ("it'l", 2)] {
        assert_eq!(piece::o200k(text, 0), end, "{text}");
    }
}

/// Pattern for generated texts: letters of all cases and without case, marks, numbers, white space, signs, and
/// strings that the patterns treat specially.
const MIXED: &str = "([a-zA-Z0-9'éÉßǅªʰ字かカ한ㅎاडमी\u{301}\u{940}²Ⅷ٣ \n\t\r\x0b\x0c\x00\x7f\u{85}\u{a0}\u{2028}\u{3000}/.,;:_\"(){}=—…🙂\u{200d}-]\
    |'s|'LL|'Re|a's|'d|  |\n\n|\r\n| \n|12|Ab|aB|AB|ÀÉ|Привет|мир|你好|。|[ -~]|\\PC){0,40}";

proptest! {
    #[test]
    fn texts_are_cut_where_the_published_patterns_cut_them(
        mixed in MIXED,
        letters in "([A-C]|[a-c]|ǅ|ª|字|\u{301}|'|ſ| |s|!|\n){0,30}",
        any in "(?s:.){0,80}",
    ) {
        for text in [&mixed, &letters, &any] {
            assert_cut_alike(text);
        }
    }

    #[test]
    fn mixed_texts_are_counted_as_the_crate_counts_them(text in MIXED) {
        assert_alike(&text);
    }

    #[test]
    fn any_text_is_counted_as_the_crate_counts_it(text in "\\PC{0,80}|(?s:.){0,80}") {
        assert_alike(&text);
    }

    #[test]
    fn words_of_any_length_are_merged_as_the_crate_merges_them(
        text in "[a-z]{0,120}|[a-zA-Z]{1,60}|[ab]{0,300}|[=\\-#*/]{0,90}|[ \n]{0,200}|\\p{Han}{0,60}|\\p{Cyrillic}{0,80}\
            |\\p{Hangul}{0,40}|\\p{Arabic}{0,80}|\\p{Devanagari}{0,50}|[A-Za-z0-9+/]{0,300}|[0-9a-f]{0,100}",
    ) {
        assert_alike(&text);
    }

    #[test]
    fn code_is_counted_as_the_crate_counts_it(
        text in "((fn|let|if|return|self|None|i32|getElementById|HTTP_STATUS|x1)( |\\(|\\)|;\n|\n    |\n\t\t|::|->|\\{|\\}|\\.|, |\"|/\\*|//)){0,40}",
    ) {
        assert_alike(&text);
    }
}
