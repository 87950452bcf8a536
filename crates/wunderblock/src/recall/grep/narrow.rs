//! Narrows a search to the positions at which a pattern may occur, with the text index.
//!
//! ```text
//! pattern ─► strings that every match contains ─► fragments ─► terms of all segments ─► documents that may match ─┐
//!                                              events with texts that are not indexed, events not indexed yet ────┴─► places
//! ```
//! The texts at these places are then searched as without the index, so the index only excludes texts. Secrets are
//! missing from the index, so a text with a secret is never excluded.

use super::options::GrepOptions;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::KeptTexts;
use crate::ledger::reading::query_batch::QueryBatch;
use regex_syntax::hir::{Hir, HirKind};
use std::collections::HashMap;
use wunderblock_core::units::Seq;
use wunderblock_index::fragments::DocFragments;
use wunderblock_index::{Fragments, Header};
use wunderblock_redact::PLACEHOLDER_WORD;
use wunderblock_store::{Answer, DerivedTable, Query, StreamInfo, StreamKind, StreamNo};

/// Number of blocks that are read at a time, and that one thread searches.
const BLOCKS: usize = 1024;
const SHARE: usize = 32;
/// Kinds of events whose texts are not in the index.
pub(crate) const NOT_INDEXED: [&str; 5] =
    ["session.compacted", "content.reduced", "context.built", "preamble.changed", "context.injected"];

/// Positions at which a pattern may occur, in ascending order by stream.
pub(super) struct Places {
    indexed: HashMap<StreamNo, Vec<Seq>>,
    /// Positions of events that are not in the index, and of messages whose texts are kept as bytes.
    others: HashMap<StreamNo, Vec<Seq>>,
}

/// Returns the fragments of a pattern, or `None` if the index cannot narrow a search for it.
pub(super) fn fragments(pattern: &str, options: &GrepOptions) -> Option<Fragments> {
    let strings = if options.regex {
        let mut parser = regex_syntax::ParserBuilder::new().utf8(false).multi_line(true).build();
        let mut strings = Vec::new();
        add_strings(&parser.parse(pattern).ok()?, &mut strings);
        strings
    } else {
        vec![pattern.to_owned()]
    };
    Fragments::of(&strings, options.ignore_case, PLACEHOLDER_WORD)
}

/// Adds the strings that every match of an expression contains.
fn add_strings(hir: &Hir, strings: &mut Vec<String>) {
    match hir.kind() {
        HirKind::Literal(literal) => strings.extend(std::str::from_utf8(&literal.0).map(str::to_owned)),
        HirKind::Concat(parts) => parts.iter().for_each(|part| add_strings(part, strings)),
        HirKind::Capture(group) => add_strings(&group.sub, strings),
        HirKind::Repetition(repeated) if repeated.min > 0 => add_strings(&repeated.sub, strings),
        _ => {}
    }
}

/// Finds the places at which a pattern may occur. Returns `None` if reading the index takes longer than searching
/// `left` events, or if the index cannot be read: it is damaged, or segments were joined at the same time.
pub(super) async fn places(
    engine: &Engine,
    fragments: &Fragments,
    left: u64,
    kept: &KeptTexts,
) -> Result<Option<Places>, Error> {
    let tenant = engine.tenant.no;
    let mut batch = QueryBatch::default();
    let segments = batch.ask(Query::Segments { tenant, table: DerivedTable::Words }, Answer::segments);
    let others = Query::PlacesOfKinds { tenant, of: StreamKind::Session, kinds: NOT_INDEXED.to_vec() };
    let others = batch.ask(others, Answer::holders);
    let mut answers = engine.ask_all(batch).await?;
    let segments = answers.take(segments)?;
    // The terms of an event take a tenth of the time of its texts.
    if left < segments.iter().map(|segment| segment.docs).sum::<u64>() / 8 {
        return Ok(None);
    }
    let mut places = Places { indexed: HashMap::new(), others: HashMap::new() };
    let kept = kept.keys().copied();
    for (stream, seq) in answers.take(others)?.into_iter().chain(kept) {
        places.others.entry(stream).or_default().push(seq);
    }
    let Ok(headers) = engine.known.headers(segments) else { return Ok(None) };
    for (segment, header) in headers {
        let Some(documents) = documents(engine, fragments, segment, &header).await? else {
            return Ok(None);
        };
        for (key, bits) in header.docs().zip(documents) {
            if fragments.are_all(bits) {
                places.indexed.entry(StreamNo(key.stream)).or_default().push(Seq(key.seq));
            }
        }
    }
    places.indexed.values_mut().for_each(|seqs| seqs.sort_unstable());
    Ok(Some(places))
}

/// Returns the fragments that each document of a segment contains. The next blocks are read while the current ones are
/// searched.
async fn documents(
    engine: &Engine,
    fragments: &Fragments,
    segment: u64,
    header: &Header,
) -> Result<Option<Vec<u8>>, Error> {
    let numbers: Vec<u32> = (0..header.blocks() as u32).collect();
    let mut chunks = numbers.chunks(BLOCKS);
    let mut read = || {
        let chunk = chunks.next()?;
        let wanted = chunk.iter().map(|number| (segment, *number)).collect();
        Some((chunk, engine.storage.query(vec![Query::Blocks { tenant: engine.tenant.no, wanted }])))
    };
    let mut documents = vec![0; header.len()];
    let mut coming = read();
    while let Some((chunk, answer)) = coming {
        let blocks = answer.await?.pop().and_then(Answer::blocks).unwrap_or_default();
        coming = read();
        let blocks: Vec<(u32, Option<Vec<u8>>)> = chunk.iter().copied().zip(blocks).collect();
        let found = parallel::map(blocks.chunks(SHARE).collect(), |share| {
            let mut found: Vec<DocFragments> = Vec::new();
            for (number, block) in share {
                let block = block.as_deref().unwrap_or_default();
                found.append(&mut fragments.find(header, *number, block)?);
            }
            Ok(found)
        });
        let Ok(found) = found else { return Ok(None) };
        for (document, bits) in found.into_iter().flatten() {
            if let Some(all) = documents.get_mut(document as usize) {
                *all |= bits;
            }
        }
    }
    Ok(Some(documents))
}

impl Places {
    /// Returns the places in a range of a stream, newest first, or `None` if they are most of the range.
    pub(super) fn of(&self, stream: &StreamInfo, from: Seq, to: Seq) -> Option<Vec<Seq>> {
        let inside = |all: &HashMap<StreamNo, Vec<Seq>>| -> Vec<Seq> {
            let seqs = all.get(&stream.no).map(Vec::as_slice).unwrap_or_default();
            seqs.iter()
                .copied()
                .filter(|seq| (from..=stream.reach(DerivedTable::Words).min(to)).contains(seq))
                .collect()
        };
        let behind = from.max(stream.reach(DerivedTable::Words).next());
        let most = to.0.saturating_sub(from.0) / 2;
        let mut places = [inside(&self.indexed), inside(&self.others)].concat();
        if places.len() as u64 + to.next().0.saturating_sub(behind.0) > most {
            return None;
        }
        places.extend((behind.0..=to.0).map(Seq));
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.dedup();
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::deadline::Deadline;
    use crate::recall::grep::pattern::Pattern;
    use proptest::prelude::*;
    use wunderblock_index::{DocKey, Segment, SegmentBuilder};

    /// Returns the texts that may match according to the index.
    fn candidates(segment: &Segment, fragments: &Fragments) -> Vec<usize> {
        let header = Header::decode(&segment.header).unwrap();
        let mut documents = vec![0; header.len()];
        for (number, block) in (0..).zip(&segment.blocks) {
            for (document, bits) in fragments.find(&header, number, block).unwrap() {
                documents[document as usize] |= bits;
            }
        }
        (0..documents.len()).filter(|at| fragments.are_all(documents[*at])).collect()
    }

    fn segment(texts: &[String]) -> Segment {
        let mut builder = SegmentBuilder::new();
        for (text, seq) in texts.iter().zip(0..) {
            builder.add(DocKey { stream: 0, seq }, [text.as_str()]).unwrap();
        }
        builder.finish().unwrap()
    }

    const WORDS: [&str; 30] = [
        "error",
        "errors",
        "status",
        "kiss",
        "cookie",
        "cookies",
        "entries",
        "entry",
        "parse_config",
        "parseConfig",
        "HTTPServer",
        "XMLHttpRequest2",
        "src/a-b.rs:12",
        "9f3c07e1",
        "中文字符",
        "文字",
        "データを読む",
        "Straße",
        "ſtatus",
        "\u{212a}elvin",
        "İstanbul",
        "Ünits",
        "ﬁles",
        "e\u{301}tat",
        "[[secret:key:00000000]]",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefghies",
        "an_identifier_of_more_than_sixty_four_bytes_that_is_cut_off_in_the_index_entries",
        "ΣΊΣΥΦΟΣ",
        "naïve",
        "😀smile",
    ];

    fn text() -> impl Strategy<Value = String> {
        let word = (0..WORDS.len(), prop::sample::select(vec![" ", "", "_", "-", "\n", "S", "s", "字"]));
        prop::collection::vec(word, 1..6)
            .prop_map(|words| words.into_iter().flat_map(|(at, joint)| [WORDS[at], joint]).collect())
    }

    /// Part of a text, in another case, and as an expression whose other parts can match nothing or anything.
    fn pattern(text: &str, (from, len): (usize, usize), form: usize) -> (String, GrepOptions) {
        let chars: Vec<char> = text.chars().collect();
        let from = from % chars.len();
        let part: String = chars[from..].iter().take(len).collect();
        let swapped =
            |c: char| if c.is_lowercase() { c.to_uppercase().next() } else { c.to_lowercase().next() };
        let other_case = || part.chars().map(|c| swapped(c).unwrap_or(c)).collect::<String>();
        let (regex, ignore_case) = (form >= 2, form % 2 == 1);
        let part = if ignore_case { other_case() } else { part };
        let escaped = regex::escape(&part);
        let pattern = match form {
            0 | 1 => part,
            2 | 3 => escaped,
            4 | 5 => format!("(?:nowhere)?(x*{escaped}|elsewhere)"),
            6 | 7 => format!("(?:{escaped})+x{{0,3}}"),
            _ => format!("^.*({escaped})[a-z]*"),
        };
        (pattern, GrepOptions { regex, ignore_case, ..GrepOptions::default() })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn a_text_that_matches_is_never_left_out(
            texts in prop::collection::vec(text(), 1..8), place in (0usize..200, 1usize..40), form in 0usize..10,
        ) {
            let (pattern, options) = pattern(&texts[0], place, form);
            if let Some(fragments) = fragments(&pattern, &options) {
                let found = candidates(&segment(&texts), &fragments);
                let exact = Pattern::new(&pattern, &options).unwrap();
                for (at, text) in texts.iter().enumerate() {
                    let is_left_out = exact.find(text.as_bytes(), 0, &Deadline::default()).is_some() && !found.contains(&at);
                    prop_assert!(!is_left_out, "{pattern:?} {options:?} in {text:?}: {fragments:?}");
                }
            }
        }
    }

    #[test]
    fn texts_without_a_part_of_the_pattern_are_left_out() {
        let texts =
            ["the parser failed", "parse_config(x)", "a [[secret:key:00000000]] here", "読む文字", "errors"];
        let segment = segment(&texts.map(str::to_owned));
        let table: [(&str, GrepOptions, Option<&[usize]>); 9] = [
            ("pars", GrepOptions::default(), Some(&[0, 1, 2])),
            ("parser failed", GrepOptions::default(), Some(&[0, 2])),
            ("rse_conf", GrepOptions::default(), Some(&[1, 2])),
            ("文字", GrepOptions::default(), Some(&[2, 3])),
            ("Errors", GrepOptions { ignore_case: true, ..GrepOptions::default() }, Some(&[2, 4])),
            ("x(", GrepOptions::default(), None),
            (
                r"pars\w+ (failed|config)",
                GrepOptions { regex: true, ..GrepOptions::default() },
                Some(&[0, 1, 2]),
            ),
            (r"(fail)+ed$", GrepOptions { regex: true, ..GrepOptions::default() }, Some(&[0, 2])),
            (r"failed|errors", GrepOptions { regex: true, ..GrepOptions::default() }, None),
        ];
        for (pattern, options, expected) in table {
            let found = fragments(pattern, &options).map(|fragments| candidates(&segment, &fragments));
            assert_eq!(found.as_deref(), expected, "{pattern}");
        }
    }
}
