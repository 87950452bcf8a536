//! Packs texts as bodies.

use crate::ledger::texts::Texts;
use crate::rules::token_costs::TokenCosts;
use std::sync::{Mutex, PoisonError};
use wunderblock_core::decision::Injection;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, count_lines};
use wunderblock_core::units::Bytes;
use wunderblock_store::codec;

/// Packs texts as bodies in the form the ledger will hold. The texts are kept until they are
/// [unloaded](Packer::unload).
pub(crate) struct Packer {
    key: [u8; 32],
    /// The texts are behind a lock, because stages pass packing on as a shared closure.
    texts: Mutex<Vec<(Handle, String)>>,
}

impl Packer {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key, texts: Mutex::default() }
    }

    /// Packs a text as a body.
    pub(crate) fn pack(&self, text: String) -> Body {
        if text.len() < codec::INLINE_MAX { Body::Inline(text) } else { self.pack_named(text) }
    }

    /// Returns a text for the tail in the form the ledger will hold.
    pub(crate) fn packed(&self, item: &Injection) -> Injection {
        match &item.body {
            Body::Inline(text) => Injection { body: self.pack(text.clone()), ..item.clone() },
            Body::Blob { .. } => item.clone(),
        }
    }

    /// Packs a text as a body with a handle, however short the text is.
    pub(crate) fn pack_named(&self, text: String) -> Body {
        let blob = codec::handle(&codec::body_hash(&self.key, text.as_bytes()));
        let body = Body::Blob { blob, bytes: Bytes(text.len() as u64), lines: count_lines(&text) };
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push((blob, text));
        body
    }

    /// Moves the packed texts to `texts`, where rendering finds them, and counts those without a count.
    pub(crate) fn unload(&self, costs: &TokenCosts, texts: &mut Texts) {
        for (handle, text) in self.texts.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if !costs.knows(handle) {
                costs.learn(handle, costs.measure(&text));
            }
            texts.insert(handle, text);
        }
    }
}
