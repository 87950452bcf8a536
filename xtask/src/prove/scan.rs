//! Searches the bytes of a ledger for words, both in plain and in compressed data.

use crate::program::ChoreResult;
use regex::bytes::Regex;
use std::io::Read;
use std::path::Path;

/// Maximum number of bytes decompressed from one frame. No body in these tests is larger than this maximum.
const LARGEST: u64 = 4 << 20;
/// Number of characters at the end of a word that are searched for. Index terms omit the start that they share with
/// the preceding term.
const END: usize = 12;

/// Returns the words found in the ledger's file, its logs, or compressed data in them, including free pages.
pub(super) fn found<'w>(
    ledger: &Path,
    words: impl IntoIterator<Item = &'w String>,
) -> ChoreResult<Vec<String>> {
    let ends: Vec<String> = words
        .into_iter()
        .filter_map(|word| word.get(word.len().saturating_sub(END)..).map(str::to_owned))
        .collect();
    if ends.is_empty() {
        return Ok(Vec::new());
    }
    let any = Regex::new(&format!("(?-u){}", ends.join("|")))?;
    let frame = Regex::new(r"(?s-u)\x28\xB5\x2F\xFD")?;
    let mut found = Vec::new();
    for suffix in ["", "-wal", "-journal"] {
        let mut name = ledger.as_os_str().to_owned();
        name.push(suffix);
        let Ok(bytes) = std::fs::read(&name) else { continue };
        let place = if suffix.is_empty() { "the file" } else { "the log" };
        found.extend(matches(&any, &bytes).map(|word| format!("…{word} in {place}")));
        for at in frame.find_iter(&bytes).map(|frame| frame.start()) {
            let mut plain = Vec::new();
            if let Some(Ok(decoder)) = bytes.get(at..).map(zstd::stream::read::Decoder::new) {
                // A frame that continues in another page cannot be decompressed completely. The part that can be
                // decompressed is searched.
                let _ = decoder.take(LARGEST).read_to_end(&mut plain);
            }
            found.extend(matches(&any, &plain).map(|word| format!("…{word}, compressed, in {place}")));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn matches<'b>(any: &'b Regex, bytes: &'b [u8]) -> impl Iterator<Item = String> + 'b {
    any.find_iter(bytes).map(|word| String::from_utf8_lossy(word.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect fails")]

    use super::found;

    #[test]
    fn a_word_is_found_as_it_stands_and_compressed_and_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("ledger.db");
        let words =
            ["abcdefghijklmnop".to_owned(), "qrstuvwxyzqrstuv".to_owned(), "nowherenowherenow".to_owned()];
        let packed = zstd::encode_all(format!("{} ", words.concat()).repeat(50).as_bytes(), 3).unwrap();
        std::fs::write(&ledger, [b"page", &packed[..], b"rest of it"].concat()).unwrap();
        let there = found(&ledger, &words[..2]).unwrap();
        let compressed = there.iter().filter(|word| word.contains("compressed"));
        assert_eq!(compressed.count(), 2, "{there:?}");
        // The index does not store the start of a term that the previous term shares.
        std::fs::write(&ledger, "efghijklmnop").unwrap();
        std::fs::write(folder.path().join("ledger.db-wal"), &words[1]).unwrap();
        assert_eq!(
            found(&ledger, &words).unwrap(),
            ["…efghijklmnop in the file", "…uvwxyzqrstuv in the log"]
        );
        assert!(found(&ledger, &words[2..]).unwrap().is_empty());
    }
}
