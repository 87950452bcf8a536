//! Texts of blobs, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::id::{Handle, HandlePrefix};
use wunderblock_core::ports::Bodies;

/// Texts by their handles. Cloning is cheap: the texts are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(HashMap<Handle, Arc<str>>);

impl Texts {
    /// Adds a text.
    pub(crate) fn insert(&mut self, handle: Handle, text: impl Into<Arc<str>>) {
        self.0.insert(handle, text.into());
    }

    /// Adds all texts of another set.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Returns a text as a shared pointer.
    pub(crate) fn get(&self, handle: Handle) -> Option<&Arc<str>> {
        self.0.get(&handle)
    }

    /// Returns the handles that begin with a prefix.
    pub(crate) fn named(&self, prefix: HandlePrefix) -> impl Iterator<Item = Handle> {
        self.0.keys().copied().filter(move |handle| (prefix.first..=prefix.last).contains(handle))
    }

    /// Returns whether a text is loaded.
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.0.contains_key(&handle)
    }

    /// Returns the handles whose texts are not loaded.
    pub(crate) fn missing(&self, handles: impl IntoIterator<Item = Handle>) -> Vec<Handle> {
        handles.into_iter().filter(|handle| !self.has(*handle)).collect()
    }

    /// Drops the texts of these handles.
    pub(crate) fn drop_all<'h>(&mut self, handles: impl IntoIterator<Item = &'h Handle>) {
        for handle in handles {
            self.0.remove(handle);
        }
    }

    /// Returns all texts with their handles.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle, &str)> {
        self.0.iter().map(|(handle, text)| (*handle, &**text))
    }
}

impl Bodies for Texts {
    fn text(&self, handle: Handle) -> Option<&str> {
        self.0.get(&handle).map(|text| &**text)
    }
}
