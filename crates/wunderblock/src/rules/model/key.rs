//! API keys of providers.

use std::fmt;

/// An API key. The key is sent to the provider and never shown: `Debug` prints `…`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

impl ApiKey {
    /// Makes a key from the caller's text. Surrounding blanks, such as the newline at the end of a file, are removed.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Replaces the key in a text with `…`, because providers repeat the key in their error messages.
    pub(super) fn hide(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&*self.0, "…") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-secret\n");
        assert_eq!((format!("{key:?}"), key.reveal()), ("…".to_owned(), "sk-secret"));
        assert_eq!(key.hide("no such key: sk-secret!"), "no such key: …!");
        assert_eq!(ApiKey::new("").hide("as it was"), "as it was");
    }
}
