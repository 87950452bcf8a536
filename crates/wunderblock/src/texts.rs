//! The texts of blobs, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::id::{Handle, HandlePrefix};
use wunderblock_core::ports::Bodies;

/// Texts by their handles. Cheap to clone: the texts are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(HashMap<Handle, Arc<str>>);

impl Texts {
    /// Adds a text.
    pub(crate) fn insert(&mut self, handle: Handle, text: impl Into<Arc<str>>) {
        self.0.insert(handle, text.into());
    }

    /// Adds texts.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// A text, shared.
    pub(crate) fn get(&self, handle: Handle) -> Option<&Arc<str>> {
        self.0.get(&handle)
    }

    /// The handles of texts that begin so.
    pub(crate) fn named(&self, prefix: HandlePrefix) -> impl Iterator<Item = Handle> {
        self.0.keys().copied().filter(move |handle| (prefix.first..=prefix.last).contains(handle))
    }

    /// Whether a text is here.
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.0.contains_key(&handle)
    }

    /// The handles whose texts are not here.
    pub(crate) fn missing(&self, handles: impl IntoIterator<Item = Handle>) -> Vec<Handle> {
        handles.into_iter().filter(|handle| !self.has(*handle)).collect()
    }

    /// Drops the texts of these handles.
    pub(crate) fn drop_all<'h>(&mut self, handles: impl IntoIterator<Item = &'h Handle>) {
        for handle in handles {
            self.0.remove(handle);
        }
    }

    /// All texts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle, &str)> {
        self.0.iter().map(|(handle, text)| (*handle, &**text))
    }
}

impl Bodies for Texts {
    fn text(&self, handle: Handle) -> Option<&str> {
        self.0.get(&handle).map(|text| &**text)
    }
}
