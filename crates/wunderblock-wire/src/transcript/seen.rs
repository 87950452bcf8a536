//! Which native ids a file has shown so far, without keeping them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Ids and the session each was seen in.
///
/// Ids are kept as 64-bit hashes, 13 bytes with their session: a file of 2 GB with a record per kilobyte needs less
/// than 60 MB. Of two million ids two collide with a probability of 10⁻⁷, and then one record is taken to stand after
/// a known one where it stands after an unknown one.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    ids: HashMap<[u8; 8], [u8; 4]>,
}

impl Seen {
    /// The session an id was first seen in.
    pub(crate) fn get(&self, id: &str) -> Option<u32> {
        self.ids.get(&key(id)).map(|session| u32::from_le_bytes(*session))
    }

    /// Remembers an id; where it was seen first counts.
    pub(crate) fn insert(&mut self, id: &str, session: u32) {
        self.ids.entry(key(id)).or_insert(session.to_le_bytes());
    }
}

fn key(id: &str) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}
