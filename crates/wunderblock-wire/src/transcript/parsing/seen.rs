//! Native ids that a file has contained, stored as hashes.

use std::collections::HashMap;

/// Ids, each with the session in which it was seen.
///
/// Each id is kept as a 64-bit hash, which takes 13 bytes together with its session. A file of 2 GB with one record
/// per kilobyte needs less than 60 MB. The probability that any two of two million ids collide is 10⁻⁷. A collision
/// places one record after a known record instead of an unknown one.
#[derive(Debug, Default)]
pub(crate) struct SeenIds {
    ids: HashMap<[u8; 8], [u8; 4]>,
}

impl SeenIds {
    /// Returns whether an id was seen.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// Returns the session in which an id was last seen.
    pub(crate) fn get(&self, id: &str) -> Option<u32> {
        self.ids.get(&key(id)).map(|session| u32::from_le_bytes(*session))
    }

    /// Remembers an id. The last record with an id counts, as in the importer.
    pub(crate) fn insert(&mut self, id: &str, session: u32) {
        self.ids.insert(key(id), session.to_le_bytes());
    }

    /// Remembers the id of an earlier record, unless a later record with that id was seen.
    pub(crate) fn remind(&mut self, id: &str, session: u32) {
        self.ids.entry(key(id)).or_insert(session.to_le_bytes());
    }
}

fn key(id: &str) -> [u8; 8] {
    hash([id]).to_le_bytes()
}

/// Returns 64 bits of the BLAKE3 hash of several texts. Checkpoints contain these hashes, so a hash must be the same
/// in every build.
pub(crate) fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(text.as_bytes());
        // UTF-8 never contains this byte, so `ab` + `c` differs from `a` + `bc`.
        hasher.update(&[0xff]);
    }
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    u64::from_le_bytes(first)
}
