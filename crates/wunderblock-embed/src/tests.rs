//! What a text's vector promises: the encoder's own pieces, integers that never change, and silence where the table
//! knows nothing.

use crate::scan::fill;
use crate::words::each_word;
use crate::{DIMENSIONS, MAX_SIMILARITY, Table, Vector, scan};
use fearless_simd::Level;
use proptest::prelude::*;

/// Texts with the pieces that Hugging Face's tokenizers 0.23.3 gives for them with the encoder's `tokenizer.json`,
/// special tokens encoded as text.
const PIECES: &str = include_str!("tests/pieces.json");

fn pieces(text: &str) -> Vec<&'static str> {
    let (table, mut all, mut numbers) = (Table::embedded(), Vec::new(), Vec::new());
    each_word(text, |word| {
        table.pieces().of(word, &mut numbers);
        all.extend(numbers.iter().map(|number| table.pieces().text(*number)));
        all.extend(numbers.is_empty().then_some("[UNK]"));
    });
    all
}

fn vector(text: &str) -> Vector {
    Table::embedded().vector(text).unwrap_or_else(|| panic!("no vector: {text:?}"))
}

/// FNV-1a of many vectors, by which a change of any bit is seen.
fn digest<'a>(vectors: impl Iterator<Item = &'a Vector>) -> u64 {
    let bytes = vectors.flat_map(Vector::bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn recorded() -> Vec<(String, Vec<String>)> {
    serde_json::from_str(PIECES).unwrap()
}

#[test]
fn texts_have_the_pieces_that_the_encoder_was_trained_with() {
    let recorded = recorded();
    assert!(recorded.len() > 200);
    for (text, expected) in recorded {
        assert_eq!(pieces(&text), expected, "{text:?}");
    }
}

#[test]
fn related_texts_are_closer_than_others() {
    let question = vector("Why did the build fail?");
    let close = question.similarity(&vector("The compilation stopped with an error in the linker."));
    let far = question.similarity(&vector("We had pasta with tomatoes for lunch."));
    assert!(close > far + 100, "{close} and {far}");
}

#[test]
fn vectors_are_the_same_everywhere() {
    let texts = recorded();
    let vectors: Vec<Vector> = texts.iter().filter_map(|(text, _)| Table::embedded().vector(text)).collect();
    assert_eq!((vectors.len(), digest(vectors.iter())), (153, 15_973_830_080_607_082_478));
    assert_eq!(Table::embedded().model(), "all-MiniLM-L6-v2/256/idf-1/1b1a2175");
}

#[test]
fn case_accents_and_spaces_do_not_change_a_vector() {
    assert_eq!(vector("Café in  Zürich\n"), vector("CAFE IN ZURICH"));
    assert_eq!(vector("a zo\u{eb}"), vector("a zoe\u{308}"));
}

#[test]
fn a_text_has_no_vector_where_the_table_knows_nothing() {
    let table = Table::embedded();
    for text in [
        "",
        " \n",
        "\u{7}",
        "😀",
        "我爱北京天安门",
        "怎么安装这个程序？",
        "日本語のテキスト",
        "Привет, мир",
        "한국어",
    ] {
        assert_eq!(table.vector(text), None, "{text:?}");
    }
    for text in ["怎么安装这个程序？", "为什么 build 失败了，日志里没有任何错误"] {
        assert!(!table.knows(text), "{text:?}");
    }
    for text in
        ["Why did the build fail?", "安装 wunderblock", "12:30", "naïve façade", "The word 安 is Chinese."]
    {
        assert!(table.knows(text) && table.vector(text).is_some(), "{text:?}");
    }
}

#[test]
fn a_long_text_has_a_vector_like_its_parts() {
    let short = vector("The parser reads a line and returns a token. ");
    let long = vector(&"The parser reads a line and returns a token. ".repeat(20_000));
    assert!(short.similarity(&long) > MAX_SIMILARITY - 4);
    assert!(Table::embedded().vector(&"x".repeat(1_000_000)).is_none());
}

#[test]
fn a_table_that_is_cut_off_is_rejected() {
    assert!(Table::read(&super::table::EMBEDDED[..1_000_000]).is_none());
    assert!(Table::read(b"wbtable2").is_none());
}

/// Similarities as computed with each kind of instructions.
fn with_each_kind(query: &Vector, vectors: &[u8]) -> Vec<Vec<u16>> {
    let mut all = Vec::new();
    macro_rules! filled {
        ($($kind:ident),*) => {
            $(if let Some(simd) = Level::new().$kind() {
                let mut similarities = vec![0; vectors.len() / query.bytes().len()];
                fill(simd, query, vectors, &mut similarities);
                all.push(similarities);
            })*
        };
    }
    #[cfg(target_arch = "x86_64")]
    filled!(as_sse2, as_sse4_2, as_avx2, as_avx512);
    #[cfg(target_arch = "aarch64")]
    filled!(as_neon);
    all
}

fn any_vector(dimensions: usize) -> impl Strategy<Value = Vector> {
    proptest::collection::vec(-1_000_000_000_000_i64..1_000_000_000_000, dimensions)
        .prop_filter_map("no direction", |sums| Vector::normalised(&sums))
}

/// A query and stored vectors of one model: of the table, or of one with any number of dimensions.
fn any_vectors() -> impl Strategy<Value = (Vector, Vec<Vector>)> {
    prop_oneof![Just(DIMENSIONS), 1_usize..200].prop_flat_map(|dimensions| {
        (any_vector(dimensions), proptest::collection::vec(any_vector(dimensions), 0..20))
    })
}

#[test]
fn numbers_of_a_model_have_a_direction_or_none() {
    let numbers = |numbers: &[f32]| Vector::from_numbers(numbers);
    let few: [f32; 40] = std::array::from_fn(|at| (at as f32).sin());
    let (one, same) = (numbers(&few).unwrap(), numbers(&few.map(|number| number * 1e38)).unwrap());
    assert_eq!(one, same);
    assert!(one.similarity(&same) > MAX_SIMILARITY - 16);
    assert_eq!(one.similarity(&numbers(&few.map(|number| -number)).unwrap()), 0);
    assert!(numbers(&[f32::from_bits(1), 0.0]).is_some(), "the smallest number");
    for without in [&[][..], &[0.0, -0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[f32::NEG_INFINITY]] {
        assert_eq!(numbers(without), None, "{without:?}");
    }
    // A model with many dimensions keeps its cosines: of random directions, within a hundredth.
    let (mut state, mut next) = (7_u64, Vec::new());
    for _ in 0..2 * 4_096 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        next.push((state >> 40) as f32 / (1 << 23) as f32 - 1.0);
    }
    let (a, b) = next.split_at(4_096);
    let mixed: Vec<f32> = a.iter().zip(b).map(|(a, b)| a + b).collect();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let cosine = dot(a, &mixed) / (dot(a, a) * dot(&mixed, &mixed)).sqrt();
    let found = f64::from(numbers(a).unwrap().similarity(&numbers(&mixed).unwrap())) / 1023.0;
    assert!((cosine - found).abs() < 0.01, "{cosine} and {found}");
}

proptest! {
    #[test]
    fn a_scan_gives_what_the_definition_says((query, stored) in any_vectors()) {
        let bytes: Vec<u8> = stored.iter().flat_map(Vector::bytes).copied().collect();
        let mut similarities = vec![7; 3];
        scan(&query, &bytes, &mut similarities);
        let signed = |vector: &Vector| -> Vec<i64> {
            vector.bytes().iter().map(|byte| i64::from(byte.cast_signed())).collect()
        };
        let expected = stored.iter().map(|vector| {
            let dot: i64 = signed(&query).iter().zip(signed(vector)).map(|(a, b)| a * b).sum();
            ((dot.clamp(0, 32_768) * 1023 + 16_384) / 32_768) as u16
        });
        let expected: Vec<u16> = expected.collect();
        prop_assert_eq!(&similarities, &expected);
        let alone: Vec<u16> = stored.iter().map(|vector| query.similarity(vector)).collect();
        prop_assert_eq!(&alone, &expected);
        // Every kind of instructions that this processor has gives the same.
        for filled in with_each_kind(&query, &bytes) {
            prop_assert_eq!(&filled, &expected);
        }
    }

    #[test]
    fn a_vector_is_the_direction_of_its_sum(vector in any_vector(DIMENSIONS), factor in 1_i64..1000) {
        let sums: Vec<i64> =
            vector.bytes().iter().map(|byte| i64::from(byte.cast_signed()) * factor).collect();
        let again = Vector::normalised(&sums).unwrap();
        prop_assert!(vector.similarity(&again) >= MAX_SIMILARITY - 8);
        prop_assert!(vector.similarity(&vector) >= MAX_SIMILARITY - 8);
        let opposite = Vector::normalised(&sums.iter().map(|sum| -sum).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(vector.similarity(&opposite), 0);
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        let table = Table::embedded();
        prop_assert!(table.vector(&text).is_none() || table.knows(&text));
    }
}
