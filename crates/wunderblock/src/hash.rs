//! A fast hash of short bytes, for tables in memory: never stored, and no proof of anything.

/// Folded multiplication, eight bytes at a time, after wyhash (Wang Yi).
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xe703_7ed1_a0b4_28db;
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(A);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), A);
    }
    let last = rest.iter().rev().fold(0_u64, |last, byte| last << 8 | u64::from(*byte));
    fold(hash ^ last, B ^ seed.rotate_left(32))
}

/// Two words as one, in which every bit of either has a part.
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
