//! Texts that become bodies.

use crate::store::codec;
use crate::texts::Texts;
use crate::token_costs::TokenCosts;
use std::sync::{Mutex, PoisonError};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, count_lines};
use wunderblock_core::units::Bytes;

/// Makes bodies of texts as the ledger will hold them, and keeps the texts until they are [moved](Packer::unload) on.
pub(crate) struct Packer {
    key: [u8; 32],
    /// Behind a lock, because stages hand packing on as a shared closure.
    texts: Mutex<Vec<(Handle, String)>>,
}

impl Packer {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key, texts: Mutex::default() }
    }

    /// A text as a body.
    pub(crate) fn pack(&self, text: String) -> Body {
        if text.len() < codec::INLINE_MAX { Body::Inline(text) } else { self.pack_named(text) }
    }

    /// A text as a body that has a handle, however short.
    pub(crate) fn pack_named(&self, text: String) -> Body {
        let blob = codec::handle(&codec::body_hash(&self.key, text.as_bytes()));
        let body = Body::Blob { blob, bytes: Bytes(text.len() as u64), lines: count_lines(&text) };
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push((blob, text));
        body
    }

    /// Moves its texts to where rendering finds them, and counts those nobody has counted.
    pub(crate) fn unload(&self, costs: &TokenCosts, texts: &mut Texts) {
        for (handle, text) in self.texts.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if !costs.knows(handle) {
                costs.learn(handle, costs.measure(&text));
            }
            texts.insert(handle, text);
        }
    }
}
