//! The normal form of a claim, and its digest.

use crate::ledger::engine::Engine;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::memory::MemoryKind;
use wunderblock_index::words::terms;
use wunderblock_store::codec::name_handle;

/// Words that change no claim: articles, and what a person says around one.
const FILLERS: [&str; 22] = [
    "a", "an", "the", "please", "kindly", "just", "really", "very", "that", "is", "are", "be", "to", "i",
    "we", "my", "our", "you", "your", "u", "also", "so",
];

/// Returns the digest of a claim, bound to its log; `None` if the text has no word.
pub(super) fn value(engine: &Engine, log: &StreamId, kind: MemoryKind, text: &str) -> Option<Handle> {
    digest(engine, &format!("{log}\0{}", kind.word()), text)
}

/// Returns the keyed digest of a text. Other spellings have the same digest: case, width, punctuation, plurals and
/// fillers do not count. A text of fillers only keeps them.
pub(super) fn digest(engine: &Engine, bound: &str, text: &str) -> Option<Handle> {
    let mut words: Vec<String> = Vec::new();
    terms(text, |term| words.push(String::from_utf8_lossy(term).into_owned()));
    let is_filler = |word: &String| FILLERS.contains(&&**word);
    if !words.iter().all(is_filler) {
        words.retain(|word| !is_filler(word));
    }
    let form = format!("{bound}\0{}", words.join(" "));
    (!words.is_empty()).then(|| name_handle(&engine.tenant.key, "claim", &form))
}
