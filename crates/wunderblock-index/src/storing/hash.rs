//! Fast hash of short byte strings for tables in memory. The hashes are not cryptographic and are never stored.

/// Hashes bytes by folded multiplication, eight bytes at a time, after wyhash (Wang Yi).
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

/// Multiplies two words and folds the product to 64 bits, so that every bit of either word affects the result.
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}
