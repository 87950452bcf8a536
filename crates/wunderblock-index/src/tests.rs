//! Compares the index with a naive one, which stores each document as a map of terms and walks all documents per
//! query.

mod versions;

use super::*;
use crate::searching::query::ClauseRule;
use crate::storing::docs::{DocsWriter, Row};
use proptest::prelude::*;
use std::collections::HashMap;
use std::convert::Infallible;

/// A document of a test.
#[derive(Clone, Debug)]
struct Text {
    key: DocKey,
    text: String,
}

impl Text {
    /// Returns who says the text; `None` for the output of a tool, which is stored as a whole.
    fn voice(&self) -> Option<Voice<'static>> {
        let name = [None, Some("Ada"), Some("Berta")][self.key.stream as usize % 3];
        let role = if self.key.seq.is_multiple_of(2) { VoiceRole::User } else { VoiceRole::Assistant };
        let day = Day(20_000 + self.key.seq as u32 % 7);
        (!self.key.seq.is_multiple_of(5)).then_some(Voice { role, name, day })
    }
}

fn build(texts: &[Text]) -> Segment {
    let mut builder = SegmentBuilder::new();
    for text in texts {
        match text.voice() {
            Some(voice) => builder.add_spoken(&voice, &text.text).unwrap(),
            None => builder.add_text(&text.text).unwrap(),
        }
        builder.end_document(text.key).unwrap();
    }
    builder.finish().unwrap()
}

fn scan(query: &ParsedQuery, texts: &[Text]) -> Tail {
    let mut writer = TailWriter::of(query);
    for text in texts {
        match text.voice() {
            Some(voice) => writer.add_spoken(&voice, &text.text),
            None => writer.add_text(&text.text),
        }
        writer.end_document(text.key);
    }
    writer.finish()
}

/// An index in memory: segments, oldest first, and texts that are not indexed yet.
struct Index {
    segments: Vec<Segment>,
    tail: Vec<Text>,
    texts: HashMap<DocKey, String>,
}

impl Index {
    /// Cuts the texts at the given places; the last part is the tail.
    fn of(texts: &[Text], cuts: &[usize]) -> Self {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (texts.len() + 1)).collect();
        places.sort_unstable();
        let (mut segments, mut from) = (Vec::new(), 0);
        for to in places {
            segments.push(build(&texts[from..to]));
            from = to;
        }
        let by_key = texts.iter().map(|text| (text.key, text.text.clone())).collect();
        Self { segments, tail: texts[from..].to_vec(), texts: by_key }
    }

    /// Returns the hits whose texts have the phrases, and the number of blocks read for them.
    fn search(&self, query: &ParsedQuery, scope: &DocScope, limit: usize) -> (Vec<DocHit>, usize) {
        let headers: Vec<Header> =
            self.segments.iter().rev().map(|segment| Header::decode(&segment.header).unwrap()).collect();
        let headers: Vec<&Header> = headers.iter().collect();
        let (a, b) = self.tail.split_at(self.tail.len() / 2);
        // One scan for the terms of several queries.
        let terms = ParsedQuery::terms_of([&ParsedQuery::parse("a +read x").unwrap(), query]);
        let tail = Tail::join(&terms, vec![scan(&terms, a), scan(&terms, b)]).unwrap();
        let tail = tail.of_query(&terms, query);
        let mut fetched = 0;
        let fetch = |segment: usize, block: u32| {
            fetched += 1;
            Ok::<_, Infallible>(&self.segments[self.segments.len() - 1 - segment].blocks[block as usize])
        };
        let phrases: Vec<(&Phrase, bool)> = query.phrases().collect();
        let request =
            IndexSearch { query, scope, limit: if phrases.is_empty() { limit } else { usize::MAX } };
        let mut hits = search(&request, &headers, Some(&tail), fetch).unwrap();
        hits.retain(|hit| {
            phrases.iter().all(|(phrase, wanted)| phrase.is_in(&self.texts[&hit.doc]) == *wanted)
        });
        hits.truncate(limit);
        (hits, fetched)
    }
}

/// Returns the hits that [`search`] must find, given `texts` oldest first.
fn naive(texts: &[Text], query: &ParsedQuery, scope: &DocScope, limit: usize) -> Vec<DocHit> {
    let hit = |text: &Text| {
        let (mut counts, mut len) = (vec![0u32; query.terms.len()], 0);
        words::terms(&text.text, |term| {
            len += 1;
            for (asked, count) in query.terms.iter().zip(&mut counts) {
                *count += u32::from(asked.has(term));
            }
        });
        let met = |clause: &query::Clause| {
            clause.needs.iter().all(|at| counts[*at] > 0)
                && clause.phrase.as_ref().is_none_or(|phrase| phrase.is_in(&text.text))
        };
        let is_wanted = |clause: &&query::Clause| clause.need != ClauseRule::MustNot;
        let words = query.clauses.iter().filter(is_wanted).map(|clause| clause.text.clone());
        let passes = query.clauses.iter().all(|clause| met(clause) == is_wanted(&clause));
        (passes && scope.contains(text.key)).then(|| DocHit { doc: text.key, len, matched: words.collect() })
    };
    texts.iter().rev().filter_map(hit).take(limit).collect()
}

const VOCABULARY: [&str; 16] = [
    "error",
    "errors",
    "the",
    "the",
    "the",
    "parse_config",
    "parseConfig",
    "config",
    "src/a.rs:12",
    "中文字符",
    "文字",
    "字",
    "データ",
    "9f3c",
    "connection refused",
    "refused",
];

fn texts(most: usize) -> impl Strategy<Value = Vec<Text>> {
    let words = prop::collection::vec(0..VOCABULARY.len(), 0..8);
    // Some texts have several passages.
    let one = (0u32..4, words, prop_oneof![9 => Just(1), 1 => 2usize..60]);
    prop::collection::vec(one, 0..most).prop_map(|all| {
        let number = |(seq, (stream, words, times)): (u64, (u32, Vec<usize>, usize))| {
            let text = words.iter().map(|at| VOCABULARY[*at]).collect::<Vec<_>>().join(" ");
            let text = vec![text; times].join(if times % 2 == 0 { " " } else { ". " });
            Text { key: DocKey { stream, seq }, text }
        };
        (0..).zip(all).map(number).collect()
    })
}

fn queries() -> impl Strategy<Value = ParsedQuery> {
    let clause = (0..6usize, 0..VOCABULARY.len()).prop_map(|(form, at)| {
        let word = VOCABULARY[at];
        match form {
            0 => format!("+{word}"),
            1 => format!("-{word}"),
            2 => format!("\"{word}\""),
            3 => format!("-\"{word}\""),
            _ => word.to_owned(),
        }
    });
    let line = prop::collection::vec(clause, 1..4).prop_map(|clauses| clauses.join(" "));
    line.prop_filter_map("only exclusions", |line| ParsedQuery::parse(&line).ok())
}

fn scopes() -> impl Strategy<Value = DocScope> {
    let ranges = prop::collection::vec((0u32..4, 0u64..30, 0u64..60), 0..4);
    let some = ranges
        .prop_map(|all| DocScope::of(all.into_iter().map(|(stream, from, len)| (stream, from..=from + len))));
    prop_oneof![Just(DocScope::everything()), some]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn hits_are_those_of_a_walk_over_all_texts_however_they_are_stored(
        texts in texts(50), cuts in prop::collection::vec(0usize..100, 0..6), query in queries(),
        scope in scopes(), limit in 0usize..12,
    ) {
        let mut index = Index::of(&texts, &cuts);
        let expected = naive(&texts, &query, &scope, limit);
        prop_assert_eq!(&index.search(&query, &scope, limit).0, &expected);
        if index.segments.len() > 2 {
            let joined = merge(&index.segments.drain(1..3).collect::<Vec<_>>()).unwrap();
            index.segments.insert(1, joined);
            prop_assert_eq!(&index.search(&query, &scope, limit).0, &expected);
        }
        let gone = |key: DocKey| key.seq % 3 == 1;
        index.segments.iter_mut().for_each(|segment| *segment = without(segment, gone).unwrap());
        index.tail.retain(|text| !gone(text.key));
        let left: Vec<Text> = texts.iter().filter(|text| !gone(text.key)).cloned().collect();
        prop_assert_eq!(index.search(&query, &scope, limit).0, naive(&left, &query, &scope, limit));
    }

    #[test]
    fn what_others_store_changes_no_hit(
        texts in texts(40), others in texts(40), cuts in prop::collection::vec(0usize..100, 0..5),
        query in queries(),
    ) {
        let ours = DocScope::of((0..4).map(|stream| (stream, 0..=u64::MAX)));
        let alone = Index::of(&texts, &cuts).search(&query, &ours, 10).0;
        let mut mixed = texts.clone();
        for (at, mut other) in others.into_iter().enumerate() {
            other.key.stream += 4;
            mixed.insert((at * 7) % (mixed.len() + 1), other);
        }
        prop_assert_eq!(Index::of(&mixed, &cuts).search(&query, &ours, 10).0, alone);
    }

    #[test]
    fn joined_and_pruned_segments_equal_rebuilt_ones_byte_for_byte(
        texts in texts(60), cut in 0usize..60, removed in prop::collection::hash_set(0u64..60, 0..30),
    ) {
        let whole = build(&texts);
        verify(&whole).unwrap();
        let (a, b) = texts.split_at(cut.min(texts.len()));
        prop_assert_eq!(&merge(&[build(a), build(b)]).unwrap(), &whole);
        let left: Vec<Text> = texts.iter().filter(|text| !removed.contains(&text.key.seq)).cloned().collect();
        prop_assert_eq!(without(&whole, |key| removed.contains(&key.seq)).unwrap(), build(&left));
        let keys: Vec<DocKey> = texts.iter().map(|text| text.key).collect();
        prop_assert_eq!(Header::decode(&whole.header).unwrap().docs().collect::<Vec<_>>(), keys);
    }

    #[test]
    fn damaged_bytes_with_true_checksums_are_errors_not_panics(
        texts in texts(30), changes in prop::collection::vec((0usize..2000, any::<u8>()), 1..6), cut in 0usize..3000,
        query in queries(),
    ) {
        use crate::storing::frame::{Framer, FrameKind, unwrap};
        let spoil = |kind, frame: &[u8]| {
            let mut raw = unwrap(kind, frame).unwrap();
            raw.truncate(cut.max(1));
            let len = raw.len();
            changes.iter().for_each(|(at, byte)| raw[at % len] = *byte);
            Framer::new().unwrap().wrap(kind, &raw).unwrap()
        };
        let honest = build(&texts);
        let mut bad_blocks = honest.clone();
        bad_blocks.blocks.iter_mut().for_each(|block| *block = spoil(FrameKind::Block, block));
        let bad_header = Segment { header: spoil(FrameKind::Header, &honest.header), ..honest.clone() };
        for bad in [bad_blocks, bad_header] {
            let _ = verify(&bad);
            let _ = merge(&[bad.clone(), honest.clone(), bad.clone()]);
            let Ok(header) = Header::decode(&bad.header) else { continue };
            let request = IndexSearch { query: &query, scope: &DocScope::everything(), limit: 5 };
            let fetch = |_: usize, block: u32| bad.blocks.get(block as usize).cloned().ok_or(());
            let _ = search(&request, &[&header], None, fetch);
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        use crate::storing::frame::{Framer, FrameKind};
        let mut framer = Framer::new().unwrap();
        let (header, block) = (framer.wrap(FrameKind::Header, &bytes).unwrap(), framer.wrap(FrameKind::Block, &bytes).unwrap());
        let _ = (Header::decode(&bytes), Header::decode(&header), crate::storing::block::TermBlock::decode(&block).map(|b| b.postings(0, 9)));
    }

    #[test]
    fn headers_come_back(
        rows in prop::collection::vec(((0u32..3, prop_oneof![0u64..50, any::<u64>()]), (any::<u32>(), any::<u32>(), any::<u16>(), 0usize..4)), 0..40),
        terms in prop::collection::btree_set("[a-z字]{1,9}", 0..9),
    ) {
        let mut docs = DocsWriter::default();
        for ((stream, seq), (len, day, traits, name)) in rows {
            let speaker = ["", "Ada", "Berta", "小明"].get(name).filter(|name| !name.is_empty()).map_or(0, |name| docs.speaker(name));
            docs.push(DocKey { stream, seq }, Row { len, day: Day(day), traits: Traits(traits), speaker });
        }
        let docs = docs.finish();
        let terms: Vec<Box<[u8]>> = terms.into_iter().map(|term| term.into_bytes().into()).collect();
        let bytes = crate::storing::header::encode(&docs, &terms, &mut crate::storing::frame::Framer::new().unwrap()).unwrap();
        let read = Header::decode(&bytes).unwrap();
        prop_assert_eq!(&read.docs, &docs);
        prop_assert_eq!(&read.first_terms, &terms);
    }
}

fn numbered(texts: &[&str]) -> Vec<Text> {
    (0..)
        .zip(texts)
        .map(|(seq, text)| Text { key: DocKey { stream: 1, seq }, text: (*text).to_owned() })
        .collect()
}

/// Returns the positions that a query finds in one segment.
fn found(texts: &[&str], query: &str) -> Vec<u64> {
    let index = Index::of(&numbered(texts), &[texts.len()]);
    let hits = index.search(&ParsedQuery::parse(query).unwrap(), &DocScope::everything(), 10).0;
    hits.iter().map(|hit| hit.doc.seq).collect()
}

#[test]
fn chinese_is_found_by_one_two_and_four_characters() {
    let texts = ["错误：连接超时", "数据库连接被拒绝", "时间", "connection timeout", "超", "超时重试 连接"];
    for (query, expected) in [
        ("超", vec![5, 4, 0]),
        ("时", vec![5, 2, 0]),
        ("连接", vec![5, 1, 0]),
        ("连接超时", vec![0]),
        ("+连接超时", vec![0]),
        ("\"超时 连接\"", vec![]),
        ("\"连接超时\"", vec![0]),
        ("库", vec![1]),
        ("绝", vec![1]),
    ] {
        assert_eq!(found(&texts, query), expected, "{query}");
    }
}

#[test]
fn one_character_is_found_in_pairs_that_fill_several_blocks() {
    let texts: Vec<String> = (0..9000u32)
        .map(|n| format!("字{}", char::from_u32(0x4E00 + n * 2).filter(|_| n % 3 > 0).unwrap_or('a')))
        .collect();
    let texts = numbered(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let index = Index::of(&texts, &[texts.len()]);
    let (hits, blocks) = index.search(&ParsedQuery::parse("字").unwrap(), &DocScope::everything(), 10_000);
    assert_eq!((hits.len(), blocks > 2), (9000, true));
}

#[test]
fn identifiers_are_found_whole_and_by_piece() {
    let texts = [
        "fn parse_config()",
        "let parseConfig = 1",
        "parse the config",
        "my_parse_config",
        "reparse configs",
    ];
    for (query, expected) in [
        ("parseConfig", vec![3, 2, 1, 0]),
        ("+parse_config", vec![3, 2, 1, 0]),
        ("parseconfig", vec![1, 0]),
        ("config -parse_config", vec![4, 3, 2]),
        ("\"parse config\"", vec![3, 1, 0]),
    ] {
        assert_eq!(found(&texts, query), expected, "{query}");
    }
}

#[test]
fn a_rare_word_costs_a_block_a_segment_and_the_newest_of_a_common_one_a_block() {
    let texts: Vec<String> = (0..4000u64)
        .map(|n| format!("common {:x} {:x} {:x} {:x}", n * 7919, n * 104_729, n * 611_953, n * 15_485_863))
        .collect();
    let texts = numbered(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let index = Index::of(&texts, &[500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]);
    let blocks = |query: &str, limit| {
        index.search(&ParsedQuery::parse(query).unwrap(), &DocScope::everything(), limit).1
    };
    assert!(index.segments.iter().all(|segment| segment.blocks.len() > 1));
    assert_eq!([blocks("common", usize::MAX), blocks("common", 20), blocks("absent", 20)], [8, 1, 8]);
    // Nothing at all is read from another tenant's segments.
    let nobody = DocScope::of([(7, 0..=u64::MAX)]);
    assert_eq!(index.search(&ParsedQuery::parse("common").unwrap(), &nobody, 20), (vec![], 0));
}

#[test]
fn a_join_in_ranges_finds_what_a_join_at_once_finds() {
    let texts: Vec<String> = (0..6000u64)
        .map(|n| format!("common {:x} {:x} same{}", n * 7919 % 1000, n * 104_729, n % 7))
        .collect();
    let texts = numbered(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let parts: Vec<Segment> = texts.chunks(1500).map(build).collect();
    let headers: Vec<Header> = parts.iter().map(|part| Header::decode(&part.header).unwrap()).collect();
    let plan = MergePlan::new(headers, |_| true).unwrap();
    let terms = |segment: &Segment| {
        let blocks =
            segment.blocks.iter().map(|block| crate::storing::block::TermBlock::decode(block).unwrap());
        let terms = blocks.flat_map(|block| {
            let of = |at| (block.term(at).to_vec(), block.postings(at, 6000).unwrap());
            (0..block.len()).map(of).collect::<Vec<_>>()
        });
        terms.collect::<Vec<_>>()
    };
    for blocks in [1, 2, 3, 1000] {
        let ranges = plan.ranges(blocks);
        let part = |range: &TermRange| {
            let wanted = plan.wanted(range).into_iter().zip(&parts);
            let blocks: Vec<&[Vec<u8>]> =
                wanted.map(|(at, part)| &part.blocks[at.start as usize..at.end as usize]).collect();
            plan.part(range, &blocks).unwrap()
        };
        let joined = plan.finish(ranges.iter().map(part).collect()).unwrap();
        verify(&joined).unwrap();
        assert_eq!(terms(&joined), terms(&build(&texts)), "{blocks}");
        assert_eq!(ranges.len() > 1, blocks < 1000);
        let missing: Vec<&[Vec<u8>]> = parts.iter().map(|_| &[][..]).collect();
        assert!(plan.part(ranges.last().unwrap(), &missing).is_err());
    }
}

#[test]
fn a_removed_documents_words_are_gone_from_the_bytes() {
    let texts = numbered(&["keep this", "zzsecretzz this", "keep that"]);
    let pruned = without(&build(&texts), |key| key.seq == 1).unwrap();
    let raw = |segment: &Segment| {
        let blocks = segment.blocks.iter().map(|block| {
            crate::storing::frame::unwrap(crate::storing::frame::FrameKind::Block, block).unwrap()
        });
        [crate::storing::frame::unwrap(crate::storing::frame::FrameKind::Header, &segment.header).unwrap()]
            .into_iter()
            .chain(blocks)
            .flatten()
            .collect()
    };
    let has = |bytes: Vec<u8>| bytes.windows(6).any(|window| window == b"secret");
    assert!(has(raw(&build(&texts))) && !has(raw(&pruned)));
    let nothing = without(&pruned, |_| true).unwrap();
    assert!(Header::decode(&nothing.header).unwrap().is_empty() && nothing.blocks.is_empty());
}

#[test]
fn fragments_are_those_of_a_whole_document() {
    let words = |word: &str| format!("{word} {}. ", "filler ".repeat(60));
    let text = |seq, text| Text { key: DocKey { stream: 1, seq }, text };
    let segment =
        build(&[text(1, words("alpha")), text(2, words("alpha") + &words("omega")), text(3, words("omega"))]);
    let header = Header::decode(&segment.header).unwrap();
    assert_eq!((header.len(), header.docs().count()), (4, 3));
    let fragments = Fragments::of(&["alpha".into(), "omega".into()], false, "secret").unwrap();
    let mut found = vec![0; header.len()];
    for (document, bits) in fragments.find(&header, 0, &segment.blocks[0]).unwrap() {
        found[document as usize] |= bits;
    }
    let all: Vec<u64> = header
        .docs()
        .zip(found)
        .filter(|(_, bits)| fragments.are_all(*bits))
        .map(|(key, _)| key.seq)
        .collect();
    assert_eq!(all, [2]);
}
