//! Search in texts that are kept as bytes. They are not indexed, so each search scans them and ranks them like the
//! messages that are not indexed yet.
//!
//! Only the counts of the query's terms, and the best window, are kept of a text. The line of a hit is looked up when
//! the hit is returned.

use super::ground::Ground;
use super::resolve::read_rows;
use super::snippet::find_folded;
use super::task::Task;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::{AROUND, BytePlace, KeptText, KeptTexts, Window, masked, shown_part};
use crate::ledger::reading::originals::copy_source;
use crate::recall::document::key_of;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use wunderblock_index::{DocKey, ParsedQuery as Words, Tail, TermCounter, TermCounts};

/// Number of bytes after a window in which a phrase may end.
const PHRASE: usize = 4 << 10;
/// Maximum length in terms with which a text takes part in the ranking: that of a long message. With its full length, a
/// text of millions of terms would be ranked below everything else, and would change the ranks of the other hits.
const MAX_TERMS: u32 = 10_000;

/// Texts that were scanned for a query.
#[derive(Default)]
pub(super) struct KeptScan {
    texts: BTreeMap<DocKey, (KeptText, FoundWords)>,
    /// Whether the deadline passed before all texts were scanned.
    pub(super) late: bool,
}

/// Words and phrases of a query in a text.
#[derive(Default)]
struct FoundWords {
    terms: TermCounts,
    /// Numbers of the phrases that the text contains.
    phrases: Vec<usize>,
    /// Place of the first window with the most different words.
    best: Option<BestWindow>,
}

/// Place of a window in a source, and of its own part in it.
struct BestWindow {
    different: usize,
    offset: u64,
    to: u64,
    own: Range<usize>,
}

/// Scans the texts in scope.
pub(super) async fn scan_all(
    task: &Task<'_>,
    ground: &Ground,
    mut texts: KeptTexts,
) -> Result<KeptScan, Error> {
    let may_be = |key| ground.scope.contains(key) && ground.passes(key);
    texts.retain(|(stream, seq), _| may_be(key_of(*stream, *seq)));
    if texts.is_empty() {
        return Ok(KeptScan::default());
    }
    let rows = read_rows(task.engine, texts.keys().copied()).await?.rows;
    texts.retain(|(stream, seq), _| rows.get(&(stream.0, seq.0)).is_some_and(|row| row.payload.is_some()));
    scan(task, texts).await
}

async fn scan(task: &Task<'_>, texts: KeptTexts) -> Result<KeptScan, Error> {
    let (engine, words, deadline) = (task.engine, task.words(), &task.options.deadline);
    let mut scan = KeptScan::default();
    for (place, text) in texts {
        let (mut found, mut waiting) = (FoundWords::default(), Vec::new());
        scan.late = scan.late || deadline.is_over();
        if scan.late {
            break;
        }
        let read = text
            .each_window(engine, AROUND, deadline, &mut |window| {
                waiting.push(window);
                // Each core searches a window.
                if waiting.len() >= parallel::workers() {
                    found.add(engine, words, std::mem::take(&mut waiting))?;
                }
                Ok(if deadline.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })
            .await?;
        scan.late = read.is_break();
        found.add(engine, words, waiting)?;
        scan.texts.insert(key_of(place.0, place.1), (text, found));
    }
    Ok(scan)
}

impl FoundWords {
    /// Adds the words of windows that follow each other.
    fn add(&mut self, engine: &Engine, words: &Words, windows: Vec<Window>) -> Result<(), Error> {
        let counter = TermCounter::of(words);
        let parts = parallel::map(windows, |mut window| {
            window.bytes = masked(&window.bytes, &engine.config.redactor).into_owned();
            let mut terms = TermCounts::default();
            counter.count(&String::from_utf8_lossy(window.reach(0)), &mut terms);
            let text = String::from_utf8_lossy(window.reach(PHRASE));
            let found = words.phrases().enumerate().filter(|(_, (phrase, _))| phrase.is_in(&text));
            let phrases: Vec<usize> = found.map(|(number, _)| number).collect();
            let (different, offset, to) = (terms.different(), window.offset, window.at(window.bytes.len()));
            Ok((terms, phrases, BestWindow { different, offset, to, own: window.own }))
        })?;
        for (terms, phrases, window) in parts {
            self.terms.add(&terms);
            self.phrases.extend(phrases);
            let least = self.best.as_ref().map_or(0, |best| best.different);
            if window.different > least {
                self.best = Some(window);
            }
        }
        self.phrases.sort_unstable();
        self.phrases.dedup();
        Ok(())
    }
}

impl KeptScan {
    /// Returns the scanned texts as documents that are not indexed yet.
    pub(super) fn tail(&self, words: &Words) -> Tail {
        let documents = self.texts.iter().map(|(key, (_, found))| {
            let mut terms = found.terms.clone();
            terms.len = terms.len.min(MAX_TERMS);
            (*key, terms)
        });
        Tail::of(words, documents)
    }

    /// Returns whether a text contains a phrase of the query.
    pub(super) fn has_phrase(&self, key: DocKey, phrase: usize) -> bool {
        self.texts.get(&key).is_some_and(|(_, found)| found.phrases.contains(&phrase))
    }

    /// Returns the line of a text that contains the most different words of the query, without secrets. `None` if the
    /// document is not a scanned text, or contains no word.
    pub(super) async fn best_line(
        &self,
        engine: &Engine,
        words: &Words,
        key: DocKey,
        matched: &[Box<str>],
    ) -> Result<Option<(BytePlace, String)>, Error> {
        let Some((text, FoundWords { best: Some(place), .. })) = self.texts.get(&key) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        copy_source(engine, &text.source, place.offset, place.to, &mut bytes).await?;
        let bytes = masked(&bytes, &engine.config.redactor);
        let counter = TermCounter::of(words);
        let (mut start, mut best) = (place.own.start, (0, 0..0));
        while let Some(rest) = bytes.get(start..place.own.end).filter(|rest| !rest.is_empty()) {
            let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
            let mut terms = TermCounts::default();
            counter.count(&line, &mut terms);
            if terms.different() > best.0 {
                let word = matched.iter().find_map(|word| find_folded(&line, &word.to_lowercase()));
                let word = start + word.unwrap_or_default();
                best = (terms.different(), shown_part(start..end, &(word..word)));
            }
            start = end + 1;
        }
        let shown = String::from_utf8_lossy(bytes.get(best.1.clone()).unwrap_or_default());
        let at = |place_in: usize| place.offset + place_in as u64;
        Ok(Some((text.place(at(best.1.start), at(best.1.end)), shown.into_owned())))
    }
}
