//! Sizes of texts that are bounded in bytes and in tokens at once.

use crate::rules::tokens::Vocabulary;
use wunderblock_core::stub::head;

/// Maximum size of a recap, in bytes. A recap has at most a third as many tokens.
pub const RECAP_BYTES: usize = 4_500;
/// Maximum size of a digest, in bytes. A digest has at most a third as many tokens.
pub const DIGEST_BYTES: usize = 2_400;
/// Number of bytes per token.
const BYTES_PER_TOKEN: usize = 3;

/// Returns the size of a text: its bytes, or three times its tokens (o200k), whichever is larger. Text in Chinese has
/// more bytes than this, and hashes and paths have more tokens.
pub(super) fn size(text: &str) -> usize {
    text.len().max(Vocabulary::O200k.count(text) as usize * BYTES_PER_TOKEN)
}

/// Returns the beginning of a text, with `…` if it was cut, in at most `room`. `None` if the beginning would have fewer
/// than [`MIN_BEGINNING`] bytes.
pub(super) fn beginning(text: &str, room: usize) -> Option<String> {
    let text = text.trim();
    if size(text) <= room {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let mut bytes = room;
    while bytes >= MIN_BEGINNING {
        let cut = format!("{}…", head(text, bytes - '…'.len_utf8()).trim_end());
        if size(&cut) <= room {
            return Some(cut);
        }
        bytes = bytes * 7 / 8;
    }
    None
}

/// Minimum number of bytes of the beginning of a text.
const MIN_BEGINNING: usize = 40;
