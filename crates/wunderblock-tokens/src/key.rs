//! Hash of a token's bytes. `build.rs` uses the hash to place tokens in the tables, and the library uses it to find
//! them.

const A: u64 = 0x9e37_79b9_7f4a_7c15;
const B: u64 = 0xe703_7ed1_a0b4_28db;

/// Returns the hash of a token, after wyhash (Wang Yi).
pub(crate) fn hash(token: &[u8]) -> u64 {
    if token.len() <= 8 {
        return hash_short(short(token), token.len());
    }
    let (words, _) = token.as_chunks::<8>();
    let hash = words.iter().fold(token.len() as u64, |hash, word| fold(hash ^ u64::from_le_bytes(*word), A));
    // The last eight bytes may overlap the last whole word of the token.
    fold(hash ^ token.last_chunk::<8>().map_or(0, |last| u64::from_le_bytes(*last)), B)
}

/// Returns the hash of a token of at most eight bytes. `key` is the [`short`] form of the token.
pub(crate) fn hash_short(key: u64, length: usize) -> u64 {
    fold(key ^ A, B ^ length as u64)
}

/// Packs at most eight bytes into a number, with the first byte in the lowest position.
pub(crate) fn short(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            // Where the first and the last four bytes overlap, their bits are equal.
            let shift = 8 * (bytes.len().min(8) - 4) as u32;
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift
        }
        _ => bytes.iter().rev().fold(0, |key, byte| key << 8 | u64::from(*byte)),
    }
}

/// Mixes two words into one. Every bit of both words affects the result.
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
