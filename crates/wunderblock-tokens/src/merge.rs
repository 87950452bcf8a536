//! Byte pair encoding of one piece: the two neighbours that form the token of the lowest rank are merged, and this is
//! repeated until no neighbours form a token.

use crate::layout::ABSENT;
use crate::table::Table;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum size, in bytes, of a piece that is scanned for the lowest rank at each merge. Nearly every piece is
/// shorter, and for short pieces a heap costs more than it saves.
const SHORT: usize = 32;

/// Returns the number of tokens in a piece.
pub(crate) fn count(table: &Table, piece: &[u8]) -> usize {
    match piece.len() {
        0 | 1 => piece.len(),
        _ if table.rank(piece) != ABSENT => 1,
        2 => 2,
        3..=SHORT => short(table, piece),
        _ => long(table, piece),
    }
}

fn short(table: &Table, piece: &[u8]) -> usize {
    // `begins` holds the start of each part, then the end of the last part. `ranks` holds the rank of each part
    // joined with the next.
    let mut begins: [u8; SHORT + 1] = std::array::from_fn(|at| at as u8);
    let mut ranks = [ABSENT; SHORT];
    for (rank, pair) in ranks.iter_mut().zip(piece.array_windows()) {
        let [first, second] = *pair;
        *rank = table.pair(first, second);
    }
    let mut count = piece.len();
    loop {
        let mut lowest = (ABSENT, 0);
        for (at, rank) in ranks.iter().take(count).enumerate() {
            if *rank < lowest.0 {
                lowest = (*rank, at);
            }
        }
        let (rank, at) = lowest;
        if rank == ABSENT {
            return count;
        }
        begins.copy_within(at + 2..=count, at + 1);
        ranks.copy_within(at + 1..count, at);
        count -= 1;
        // Only two joins have changed: the merged part with the part before it, and with the part after it.
        for first in at.saturating_sub(1)..=at {
            let bounds = begins.get(first..=first + 2).filter(|_| first + 2 <= count);
            let both = match bounds {
                Some([begin, _, end]) => piece.get(usize::from(*begin)..usize::from(*end)),
                _ => None,
            };
            if let Some(rank) = ranks.get_mut(first) {
                *rank = both.map_or(ABSENT, |both| table.rank(both));
            }
        }
    }
}

/// A part of a long piece, stored at the index of its first byte. Holds the starts of the next part and of the
/// previous part, and the rank of this part joined with the next.
#[derive(Clone, Copy)]
struct Part {
    next: u32,
    before: u32,
    rank: u32,
}

fn long(table: &Table, piece: &[u8]) -> usize {
    let end = piece.len();
    let mut parts: Vec<Part> = Vec::with_capacity(end);
    let mut heap = BinaryHeap::new();
    for (at, byte) in piece.iter().enumerate() {
        let rank = piece.get(at + 1).map_or(ABSENT, |next| table.pair(*byte, *next));
        parts.push(Part { next: at as u32 + 1, before: (at as u32).wrapping_sub(1), rank });
        if rank != ABSENT {
            heap.push(Reverse((rank, at as u32)));
        }
    }
    let part = |parts: &[Part], at: u32| parts.get(at as usize).copied();
    let mut count = end;
    while let Some(Reverse((rank, at))) = heap.pop() {
        // An entry is outdated if its part or the neighbour of the part has since been merged, because the merge
        // changes the rank.
        let Some(first) = part(&parts, at).filter(|first| first.rank == rank) else { continue };
        let Some(second) = part(&parts, first.next) else { continue };
        if let Some(gone) = parts.get_mut(first.next as usize) {
            gone.rank = ABSENT;
        }
        if let Some(after) = parts.get_mut(second.next as usize) {
            after.before = at;
        }
        if let Some(merged) = parts.get_mut(at as usize) {
            merged.next = second.next;
        }
        count -= 1;
        for begin in [at, first.before] {
            let Some(now) = part(&parts, begin) else { continue };
            let both = part(&parts, now.next).and_then(|next| piece.get(begin as usize..next.next as usize));
            let rank = both.map_or(ABSENT, |both| table.rank(both));
            if let Some(now) = parts.get_mut(begin as usize) {
                now.rank = rank;
            }
            if rank != ABSENT {
                heap.push(Reverse((rank, begin)));
            }
        }
    }
    count
}
