//! Writes the tables that the library embeds: one set per vocabulary, and the class of each character.
//!
//! The vocabularies are those of the crate `tiktoken`. The classes are those of the crate `regex`, with which
//! `tiktoken` cuts texts. `src/table.rs` and `src/class.rs` describe the layouts.

// A table that cannot be written has to fail the build, so panics are intended here.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

use regex::Regex;
use std::path::Path;
use std::{env, fs};
use tiktoken::{CoreBpe, encoding};

#[path = "src/key.rs"]
mod key;
#[path = "src/layout.rs"]
mod layout;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/key.rs");
    println!("cargo:rerun-if-changed=src/layout.rs");
    let out = env::var_os("OUT_DIR").expect("a folder to write to");
    write_vocabulary(Path::new(&out), "o200k", &encoding::o200k_base());
    write_vocabulary(Path::new(&out), "cl100k", &encoding::cl100k_base());
    write_classes(Path::new(&out));
}

fn write_vocabulary(out: &Path, name: &str, encoder: &CoreBpe) {
    let size = u32::try_from(encoder.vocab_size()).expect("fewer tokens than numbers");
    // A load of 0.75. The module documentation of `src/table.rs` explains the reason.
    let mut slots = vec![0_u32; size as usize * 4 / 3];
    let mut pairs = vec![layout::ABSENT; 1 << 16];
    // Place 0 holds a padding byte, because a slot with the value 0 is empty.
    let mut records = vec![0_u8; 1];
    for rank in 0..size {
        let token = encoder.decode(&[rank]);
        if let [first, second] = token[..] {
            pairs[usize::from(first) << 8 | usize::from(second)] = rank;
        }
        let place = u32::try_from(records.len()).expect("a small table");
        assert!(place < 1 << layout::PLACE_BITS && rank < 1 << 24, "{name}: the table is too large");
        let length = u8::try_from(token.len()).expect("a token of at most 255 bytes");
        assert!(length > 0, "{name}: ranks are consecutive");
        records.extend_from_slice(&(rank | u32::from(length) << 24).to_le_bytes());
        records.extend_from_slice(&token);

        let hash = key::hash(&token);
        let mut at = layout::home(hash, slots.len());
        while slots[at] != 0 {
            at = (at + 1) % slots.len();
        }
        slots[at] = place | layout::tag(hash);
    }
    // Padding: a token of at most eight bytes is compared as eight bytes, so the last record needs padding as well.
    records.resize(records.len() + 8, 0);
    fs::write(out.join(format!("{name}.slots")), words(&slots)).expect("slots");
    fs::write(out.join(format!("{name}.pairs")), words(&pairs)).expect("pairs");
    fs::write(out.join(format!("{name}.records")), records).expect("records");
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes the classes of all characters. Identical blocks of 256 characters are stored once. An index gives the block
/// for each run of 256 characters.
fn write_classes(out: &Path) {
    let every: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
    let mut classes = vec![layout::OTHER; 0x11_0000];
    // The order matters: `\s` also matches `\r` and `\n`, which the last pattern then overwrites.
    let kinds = [
        (r"[\p{Lu}\p{Lt}]+", layout::UPPER | layout::LETTER),
        (r"\p{Ll}+", layout::LOWER | layout::LETTER),
        (r"[\p{Lm}\p{Lo}]+", layout::UPPER | layout::LOWER | layout::LETTER),
        (r"\p{M}+", layout::UPPER | layout::LOWER | layout::MARK),
        (r"\p{N}+", layout::NUMBER),
        (r"\s+", layout::SPACE),
        (r"[\r\n]+", layout::NEWLINE),
    ];
    for (pattern, class) in kinds {
        for found in Regex::new(pattern).expect("a pattern").find_iter(&every) {
            for character in found.as_str().chars() {
                classes[character as usize] = class;
            }
        }
    }
    let (mut index, mut blocks) = (Vec::new(), Vec::<&[u8]>::new());
    for block in classes.chunks(256) {
        let at = blocks.iter().position(|other| *other == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        index.push(u8::try_from(at).expect("fewer than 256 different blocks"));
    }
    fs::write(out.join("classes.index"), index).expect("an index");
    fs::write(out.join("classes.blocks"), blocks.concat()).expect("blocks");
}
