//! Which native ids a file has shown so far, without keeping them.

use std::collections::HashMap;

/// Ids and the session each was seen in.
///
/// Ids are kept as 64-bit hashes, 13 bytes with their session: a file of 2 GB with a record per kilobyte needs less
/// than 60 MB. Of two million ids two collide with a probability of 10⁻⁷, and then one record is taken to stand after
/// a known one where it stands after an unknown one.
#[derive(Debug, Default)]
pub(crate) struct SeenIds {
    ids: HashMap<[u8; 8], [u8; 4]>,
}

impl SeenIds {
    /// The session an id was last seen in.
    pub(crate) fn get(&self, id: &str) -> Option<u32> {
        self.ids.get(&key(id)).map(|session| u32::from_le_bytes(*session))
    }

    /// Remembers an id. The last record with an id counts, as it does for the importer.
    pub(crate) fn insert(&mut self, id: &str, session: u32) {
        self.ids.insert(key(id), session.to_le_bytes());
    }

    /// Remembers an id of an earlier record, unless a later record with that id was seen.
    pub(crate) fn remind(&mut self, id: &str, session: u32) {
        self.ids.entry(key(id)).or_insert(session.to_le_bytes());
    }
}

fn key(id: &str) -> [u8; 8] {
    hash([id]).to_le_bytes()
}

/// 64 bits of BLAKE3 over texts. Checkpoints hold such hashes, so they are the same in every build.
pub(crate) fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(text.as_bytes());
        // A byte that no text holds, so that `ab` + `c` differs from `a` + `bc`.
        hasher.update(&[0xff]);
    }
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    u64::from_le_bytes(first)
}
