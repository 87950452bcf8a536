//! The exact search: a query's similarity to every vector there is.
//!
//! A vector is multiplied with the widest instructions that the processor has, chosen when the program runs. Products
//! of two signed bytes are summed in pairs, which fit in 16 bits, and then in 32 bits, so that the order of the sums
//! does not matter and the result is the same with any instructions.

use crate::vector::{Vector, product, scaled};
use fearless_simd::{Level, Simd, dispatch, i8x32, i32x8, prelude::*, u8x32};

/// Bytes that are multiplied at once.
const LANES: usize = 32;

/// Writes the similarity of `query` to each of the vectors, in their order, in place of what `similarities` holds.
///
/// `vectors` are bytes of [`Vector::bytes`] of the same model, one vector after the other.
pub fn scan(query: &Vector, vectors: &[u8], similarities: &mut Vec<u16>) {
    similarities.clear();
    similarities.resize(vectors.len() / query.bytes().len().max(1), 0);
    dispatch!(Level::new(), simd => fill(simd, query, vectors, similarities));
}

/// Fills in the similarities, with the instructions that `simd` names.
#[inline(always)]
pub(crate) fn fill<S: Simd>(simd: S, query: &Vector, vectors: &[u8], similarities: &mut [u16]) {
    let signed = |bytes: &[u8; LANES]| -> i8x32<S> { u8x32::from_slice(simd, bytes).bitcast() };
    let dimensions = query.bytes().len().max(1);
    let (query, query_end) = query.bytes().as_chunks();
    for (similarity, stored) in similarities.iter_mut().zip(vectors.chunks_exact(dimensions)) {
        let (stored, end) = stored.as_chunks();
        let mut sums = i32x8::splat(simd, 0);
        for (a, b) in query.iter().zip(stored) {
            let (low, high) = simd.widening_mul_i8x32(signed(a), signed(b));
            // No vector has the component -128, so a pair is at most 2 × 127 × 128.
            let (low, high) = simd.widen_i16x16(low + high);
            sums = sums + low + high;
        }
        *similarity = scaled(simd.reduce_sum_i32x8(sums) + product(query_end, end));
    }
}
