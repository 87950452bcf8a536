//! Hashes by which bodies, sources, records and erased ids are recognised.

use wunderblock_core::id::{EventId, Handle};

/// Returns the first bytes of a hash.
pub(super) fn first(hash: &[u8; 32]) -> [u8; 8] {
    std::array::from_fn(|index| hash.get(index).copied().unwrap_or_default())
}

/// Returns the hash of a transcript record's own id, by which the record is found in any session. The hash is even
/// (see [`nameless_key`]).
#[must_use]
pub fn record_key(id: &str) -> i64 {
    i64::from_be_bytes(first(blake3::hash(id.as_bytes()).as_bytes())) & !1
}

/// Returns the hash by which a record without an id is found in any session; it covers the record's offset and
/// content, and is keyed with the tenant's key. The hash is odd, so that a store can distinguish it from a hash of an
/// id and delete it with the content.
#[must_use]
pub fn nameless_key(key: &[u8; 32], offset: u64, content: &[u8; 32]) -> i64 {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"record").update(&offset.to_be_bytes()).update(content);
    i64::from_be_bytes(first(hasher.finalize().as_bytes())) | 1
}

/// Returns whether a record's hash comes from [`nameless_key`].
#[must_use]
pub fn is_nameless(record: i64) -> bool {
    record & 1 == 1
}

/// Returns the hash of an erased record without an id; it covers only the record's offset and length, never its
/// content.
#[must_use]
pub fn erased_key(offset: u64, len: u64) -> i64 {
    record_key(&format!("\0{offset}+{len}"))
}

/// Returns the name under which an erasure keeps an id: a keyed hash, so that the id is recognised but cannot be read.
#[must_use]
pub fn erased_name(key: &[u8; 32], id: &str) -> String {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"erased").update(&[0]).update(id.as_bytes());
    let hex = hasher.finalize().to_hex();
    format!("{ERASED_MARK}{}", hex.get(..ERASED_DIGITS).unwrap_or(&hex))
}

/// Returns whether a name comes from [`erased_name`]. Earlier versions kept the ids themselves.
#[must_use]
pub fn is_erased_name(name: &str) -> bool {
    let digits = name.strip_prefix(ERASED_MARK).unwrap_or_default();
    digits.len() == ERASED_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the id that an event has after its erasure.
#[must_use]
pub fn erased_id(key: &[u8; 32], id: &EventId) -> EventId {
    if is_erased_name(id.as_str()) {
        return id.clone();
    }
    EventId::new(erased_name(key, id.as_str())).unwrap_or_else(|_| id.clone())
}

const ERASED_MARK: char = '~';
const ERASED_DIGITS: usize = 32;

/// Returns the handle of a source's revision.
#[must_use]
pub fn revision_handle(key: &[u8; 32], source: Handle, revision: u32) -> Handle {
    name_handle(key, "revision", &format!("{source}:{revision}"))
}

/// Returns the tenant-keyed hash of a body.
#[must_use]
pub fn body_hash(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    *blake3::keyed_hash(key, text).as_bytes()
}

/// Returns the handle of a stream's or source's name. `domain` separates the namespace of streams from that of
/// sources.
#[must_use]
pub fn name_handle(key: &[u8; 32], domain: &str, name: &str) -> Handle {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(domain.as_bytes()).update(&[0]).update(name.as_bytes());
    handle(hasher.finalize().as_bytes())
}

/// Returns the handle of a hash: its first 64 bits.
#[must_use]
pub fn handle(hash: &[u8; 32]) -> Handle {
    Handle(u64::from_be_bytes(first(hash)))
}
