//! Checks that a reduction of arbitrary bytes, with arbitrary options, keeps all its promises.
//!
//! The first bytes encode the options, so that a shell can write a seed and a person can read a finding:
//!
//! | byte | meaning |
//! |---|---|
//! | 0 | the kind: 0 detects it, other values select one of [`Kind::ALL`] |
//! | 1 | the level: lossless, fold, budget |
//! | 2, 3 | the budget |
//! | 4 | bit 0 failed, bit 1 the first line is the command, bit 2 the last line is the query, bit 3 no handle |
#![no_main]

use libfuzzer_sys::fuzz_target;
use wunderblock_reduce::{Kind, Level, Options};

#[path = "../../crates/wunderblock-reduce/tests/promises/held.rs"]
mod held;

fuzz_target!(|input: &[u8]| {
    let [kind, level, low, high, said, bytes @ ..] = input else { return };
    let text = String::from_utf8_lossy(bytes);
    let is = |bit: u8| said & bit != 0;
    let options = Options {
        level: match level % 3 {
            0 => Level::Lossless,
            1 => Level::Fold,
            _ => Level::Budget(u64::from(u16::from_be_bytes([*high, *low]))),
        },
        kind: usize::from(*kind).checked_sub(1).map(|kind| Kind::ALL[kind % Kind::ALL.len()]),
        command: text.lines().next().filter(|_| is(2)),
        failed: is(1),
        query: text.lines().last().filter(|_| is(4)),
        handle: (!is(8)).then_some(held::HANDLE),
        ..Options::default()
    };
    if let Err(broken) = held::check(bytes, &options) {
        panic!("{broken}");
    }
});
