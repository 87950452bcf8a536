//! Ranks of tokens, read from tables that are embedded in the program.
//!
//! `build.rs` writes three tables for each vocabulary. Nothing is built or copied at run time, so the first lookup
//! costs as much as the thousandth, except for the pages that are read in:
//!
//! - **records**: the rank (three bytes), the length and the bytes of each token;
//! - **slots**: a hash table with open addressing. A slot holds the place of a record and ten more bits of its hash.
//!   The load is 0.75. At a load of 0.38 the tables are larger by 1.5 MB, and counting takes as long;
//! - **pairs**: the rank of each pair of bytes, because every merge begins with pairs.

use crate::key;
use crate::layout::{ABSENT, PLACE_BITS, home, tag};

/// Number of bytes in a record before the bytes of its token: rank and length.
const HEAD: usize = 4;

/// Tables of a vocabulary.
pub(crate) struct Table {
    slots: &'static [u8],
    pairs: &'static [u8],
    records: &'static [u8],
}

macro_rules! table {
    ($name:literal) => {
        Table {
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
            pairs: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")),
            records: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".records")),
        }
    };
}

pub(crate) static O200K: Table = table!("o200k");
pub(crate) static CL100K: Table = table!("cl100k");

impl Table {
    /// Returns the rank of a pair of bytes, or [`ABSENT`] if the pair is not a token.
    pub(crate) fn pair(&self, first: u8, second: u8) -> u32 {
        let (pairs, _) = self.pairs.as_chunks::<4>();
        let at = usize::from(first) << 8 | usize::from(second);
        pairs.get(at).map_or(ABSENT, |rank| u32::from_le_bytes(*rank))
    }

    /// Returns the rank of a token, or [`ABSENT`] if the bytes are not a token.
    pub(crate) fn rank(&self, token: &[u8]) -> u32 {
        if token.len() > 8 {
            return self.find(key::hash(token), |record| {
                let length = record.get(3).copied().map_or(0, usize::from);
                length == token.len() && record.get(HEAD..HEAD + length) == Some(token)
            });
        }
        let (bytes, length) = (key::short(token), token.len());
        // The mask hides the bytes behind the token, which belong to the next record.
        let kept = u64::MAX >> (8 * (8 - length as u32).min(7));
        self.find(key::hash_short(bytes, length), |record| {
            let held = record.get(HEAD..).and_then(|rest| rest.first_chunk::<8>());
            record.get(3).copied() == Some(length as u8)
                && held.is_some_and(|held| u64::from_le_bytes(*held) & kept == bytes)
        })
    }

    fn find(&self, hash: u64, is_token: impl Fn(&[u8]) -> bool) -> u32 {
        let (slots, _) = self.slots.as_chunks::<4>();
        let mut at = home(hash, slots.len());
        while let Some(slot) = slots.get(at).map(|slot| u32::from_le_bytes(*slot)).filter(|slot| *slot != 0) {
            let place = slot & ((1 << PLACE_BITS) - 1);
            // The tag rules out nearly all other tokens before their records are read.
            if slot ^ place == tag(hash)
                && let Some(record) = self.records.get(place as usize..)
                && is_token(record)
            {
                return record
                    .first_chunk::<4>()
                    .map_or(ABSENT, |head| u32::from_le_bytes(*head) & 0xff_ffff);
            }
            at = if at + 1 == slots.len() { 0 } else { at + 1 };
        }
        ABSENT
    }
}
