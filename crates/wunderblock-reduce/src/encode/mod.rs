//! Lossless encodings that write a text in fewer words, and their decoding.
//!
//! [`encode`] works on a text as it is written, with its marks and escapes. [`decode`] returns exactly that text.

mod back_reference;
mod error_words;
mod paths;
mod rewrite;
mod slots;
mod source_lines;
mod tags;
mod template;
mod token_estimate;

use tags::EncodedBlock;
pub(crate) use token_estimate::estimate_tokens;

pub(crate) use source_lines::SourceLines;

use crate::json;
use crate::kind::Kind;
use crate::result::mark;
use crate::result::sink::TextSink;

/// Returns a shorter encoding that decodes to the text, if there is one. Lines are split into shared and differing
/// parts only if `source` is given. Without `source`, the lines were selected, and the reader looks for their words.
pub(crate) fn encode(text: &str, kind: Kind, source: Option<SourceLines<'_>>) -> Option<String> {
    // JSON was encoded before this stage, and its encoded blocks stay as they are.
    if text.contains(OPEN_TAG) {
        return None;
    }
    let packed = encode_lines(text, kind, source)?;
    (packed.len() < text.len() && decodes_to(&packed, text)).then_some(packed)
}

/// Start of the tag of an encoded block.
const OPEN_TAG: &str = "⟨=";

fn encode_lines(text: &str, kind: Kind, source: Option<SourceLines<'_>>) -> Option<String> {
    let packed = match kind {
        // A text that may be edited or applied keeps its bytes.
        Kind::Code | Kind::Markdown | Kind::Diff => return None,
        Kind::Search => paths::encode_results(text),
        Kind::Listing => paths::encode_paths(text),
        _ => None,
    };
    let Some(source) = source.filter(|_| packed.is_none()) else { return packed };
    let packed = takes_templates(kind).then(|| template::encode(text, source.shortest)).flatten();
    // If templates save 30 % or more of a text, the text has few repeated blocks, so references are not tried.
    if packed.as_ref().is_some_and(|packed| packed.len() * 10 <= text.len() * 7) {
        return packed;
    }
    shorter(packed, back_reference::encode(text, source))
}

fn shorter(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => {
            Some(if token_estimate::estimate_tokens(&other) < token_estimate::estimate_tokens(&one) {
                other
            } else {
                one
            })
        }
        (one, other) => one.or(other),
    }
}

/// Returns whether lines of a kind may be split into a template and values. Lines that people search for stay whole.
fn takes_templates(kind: Kind) -> bool {
    matches!(kind, Kind::Log | Kind::Search | Kind::Listing | Kind::Table | Kind::Infra | Kind::Blob)
}

/// Returns the text that an encoded text was made from, or `None` if an encoded block is invalid.
pub(crate) fn decode(text: &str) -> Option<String> {
    tags::decode(text, &decode_block, TextSink::new(output_limit(text)))?.finish()
}

/// Returns whether an encoded text decodes to `text`.
fn decodes_to(packed: &str, text: &str) -> bool {
    tags::decode(packed, &decode_block, TextSink::comparing(text)).and_then(TextSink::finish).is_some()
}

/// Maximum number of bytes in a decoded text, in addition to a multiple of its encoded size. The limit stops a short
/// text that would expand without bound.
const MAX_DECODED: usize = 256 << 20;

fn output_limit(text: &str) -> usize {
    MAX_DECODED + text.len().saturating_mul(16)
}

/// Returns whether a written text decodes to the source, with nothing missing.
pub(crate) fn decodes_to_source(written: &str, text: &str) -> bool {
    if !written.contains(OPEN_TAG) {
        return mark::is_escaped(written, text);
    }
    if !text.contains(mark::OPEN) {
        return decodes_to(written, text);
    }
    let mut meant = String::with_capacity(text.len());
    mark::escape(text, &mut meant);
    decodes_to(written, &meant)
}

fn decode_block(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    match code.name {
        "t" => template::decode(code, out),
        "under" => paths::decode_results(code, out),
        "dirs" => paths::decode_paths(code, out),
        "json" => json::decode_block(code.args, code.body, out),
        _ => None,
    }
}

/// Decodes the encoded blocks of a reduced text. Marks of gaps stay, and a `⟨` of the source stays doubled. Returns
/// `None` if an encoded block is invalid.
#[must_use]
pub fn unpack(text: &str) -> Option<String> {
    decode(text)
}

/// Returns the source of a text that was reduced losslessly, byte for byte. Returns `None` if the text contains a gap
/// or an invalid block.
#[must_use]
pub fn invert(text: &str) -> Option<String> {
    match text.strip_prefix(mark::FILE_NOTE) {
        Some(file) => Some(file.to_owned()),
        None => decode(text).and_then(|written| mark::unescape(&written)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines as tools write them, and lines that no tool would write.
    fn line() -> impl Strategy<Value = String> {
        let hour = (0..3u32, 0..60u32, 0..60u32).prop_map(|(h, m, s)| format!("{h:02}:{m:02}:{s:02}"));
        let word = prop::sample::select(vec![
            "alpha", "beta", "gamma", "delta", "épée", "{x}", "\"", "a", "b", "\\",
        ]);
        prop_oneof![
            6 => (hour, word.clone(), 0..2000u32).prop_map(|(at, word, n)| format!("Jun 4 {at} host app[{n}]: opened {word} size={n} ok")),
            3 => (word.clone(), 0..99999u32, 0..40u32).prop_map(|(word, size, n)| format!("-rw-r--r-- {n:>3} root root {size:>8} Nov {n:>2} {word}{n}.rs")),
            3 => (word.clone(), 0..40u32).prop_map(|(word, n)| format!("src/{word}/lib.rs:{n}:    let x = {n};")),
            2 => (word.clone(), 0..40u32).prop_map(|(word, n)| format!("src/{word}/lib.rs-{n}-")),
            2 => (word.clone(), 0..9u32).prop_map(|(word, n)| format!("./usr/share/{word}/doc{n}/file")),
            2 => (word.clone(), word.clone()).prop_map(|(one, two)| format!("| {one:<9} | {two:>7} |")),
            2 => (word.clone(), 0..99u32).prop_map(|(word, n)| format!("\x1b[1m\x1b[32m{word}\x1b[0m {n}")),
            1 => (1..30u32).prop_map(|n| (0..n).map(|n| format!("{n:>3}% done\r")).collect()),
            2 => prop::sample::select(vec!["--", "", " ", "\t", "⟨⟨", "⟨⟨=⟨⟨", "⟨… lines 1–2: 2 lines · wb:1⟩", "x ⟨×4⟩", "a", "a b", "\\a"]).prop_map(str::to_owned),
            1 => "\\PC{0,12}".prop_map(|text| { let mut out = String::new(); mark::escape(&text, &mut out); out }),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        let block = (prop::collection::vec(line(), 1..12), 1..5usize)
            .prop_map(|(lines, times)| vec![lines; times].concat());
        let ending = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
        (prop::collection::vec(block, 1..8), ending, any::<bool>()).prop_map(|(blocks, ending, ended)| {
            blocks.concat().join(ending) + if ended { ending } else { "" }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn what_is_packed_is_undone_exactly(text in text(), kind in prop::sample::select(Kind::ALL.to_vec())) {
            if let Some(packed) = encode_lines(&text, kind, Some(SourceLines { handle: Some("wb:3f"), before: 7, shortest: true })) {
                prop_assert_eq!(decode(&packed), Some(text), "{}", packed);
            }
        }

        #[test]
        fn a_broken_code_is_refused_without_harm(text in text(), cut in 0..4000usize, put in prop::sample::select(vec!["", "⟨=⟩", "⟨=t 2⟩\n", "⟨=L9-99999: again L1⟩", "\"", " ", "⟨=L3-4: again L1-4⟩", "{ }", "{}"])) {
            let mut packed = encode_lines(&text, Kind::Log, Some(SourceLines::default())).unwrap_or(text);
            let mut at = cut.min(packed.len());
            while !packed.is_char_boundary(at) { at -= 1; }
            let mut end = (at + cut % 7).min(packed.len());
            while !packed.is_char_boundary(end) { end += 1; }
            packed.replace_range(at..end, put);
            let _ = decode(&packed);
        }

        #[test]
        fn any_text_can_be_escaped_and_had_again(text in "[⟨⟩=×… a\n]{0,40}") {
            let mut written = String::new();
            mark::escape(&text, &mut written);
            prop_assert_eq!(decode(&written), Some(written.clone()));
            prop_assert_eq!(invert(&written), Some(text));
        }
    }

    #[test]
    fn what_is_packed_is_not_packed_again() {
        let log: String =
            (0..60).map(|n| format!("12:00:{n:02} INFO served request {n} to client\n")).collect();
        let options = crate::Options {
            level: crate::Level::Lossless,
            kind: Some(Kind::Log),
            ..crate::Options::default()
        };
        let once = crate::reduce(log.as_bytes(), &options);
        assert!(once.lossless && once.untouched.is_none());
        assert_eq!(invert(&once.text), Some(log));
        let known = |text: &str| text == once.text;
        let again = crate::reduce(once.text.as_bytes(), &crate::Options { known: &known, ..options });
        assert_eq!((again.text, again.untouched), (once.text, Some(crate::Untouched::Reduced)));
    }

    #[test]
    fn a_text_with_a_mark_is_not_all_of_its_source() {
        assert_eq!(invert("a\n⟨… lines 2–3: 2 lines⟩\n"), None);
        assert_eq!(invert("⟨⟨"), Some("⟨".to_owned()));
    }

    #[test]
    fn what_is_searched_for_line_by_line_is_not_taken_apart() {
        let log: String =
            (0..60).map(|n| format!("12:00:{n:02} INFO served request {n} to client\n")).collect();
        assert!(encode(&log, Kind::Log, Some(SourceLines::default())).is_some());
        for kind in
            [Kind::Build, Kind::Tests, Kind::Diff, Kind::Trace, Kind::Code, Kind::Markdown, Kind::Prose]
        {
            assert_eq!(encode(&log, kind, Some(SourceLines::default())), None, "{kind}");
        }
    }

    #[test]
    fn a_few_bytes_do_not_become_a_mountain() {
        let bomb = "x".repeat(1000) + "\n⟨=L2-99999999: again L1⟩\n";
        assert_eq!(decode(&bomb), None);
        let rows = format!("⟨=t⟩\n{}{{}}\nx\n{}⟨=⟩", "y".repeat(1 << 20), "\n".repeat(1 << 20));
        assert_eq!(decode(&rows), None);
        // One template of 100,000 values, with rows that have only two values.
        let value = "x".repeat(1 << 20);
        let one = format!(
            "⟨=t 1⟩\na {}\n{}⟨=⟩",
            "{}".repeat(100_000),
            format!("a{}\n", format!(" {value}").repeat(2)).repeat(100)
        );
        assert_eq!(decode(&one), None);
        // A table whose one-byte rows repeat a long usual value, members that are indented ever deeper, and a layout
        // argument of 60,000 bytes.
        let table = format!("⟨=json⟩[9 items: a,b=\"{value}\"{}]⟨=⟩", ";".repeat(1 << 20));
        assert_eq!(decode(&table), None);
        let deep = format!("⟨=json indent=64⟩{}{}⟨=⟩", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(decode(&deep), None);
        let colon =
            format!("⟨=json colon={}⟩{{{}\"a\":1}}⟨=⟩", "_".repeat(60_000), "\"a\":1,".repeat(100_000));
        assert_eq!(decode(&colon), None);
    }
}
