//! Treats arbitrary text as our own output: undoing a reduction always ends, and its result is limited in size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wunderblock_reduce::{gaps, invert, unpack};

/// Maximum number of bytes that undoing any text yields (`MAX_DECODED` in `encode/mod.rs`).
const MOST: usize = 256 << 20;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let mut at = 0;
    for found in gaps(&text) {
        assert!(at <= found.span.start && text.get(found.span.clone()).is_some());
        assert!(found.handle.is_none_or(|handle| !handle.contains('\n')));
        at = found.span.end;
    }
    let written = unpack(&text);
    let most = MOST + 16 * text.len();
    assert!(written.as_ref().is_none_or(|written| written.len() <= most));
    if let Some(source) = invert(&text) {
        assert!(written.is_some_and(|written| source.len() <= written.len()));
    }
});
