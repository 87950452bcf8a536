//! Keys of providers.

use std::fmt;

/// A key. It is sent to the provider and shown nowhere: printed, it is `…`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

impl ApiKey {
    /// A key from wherever the caller keeps it. Blanks around it, as files have them, are no part of it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the key: providers repeat it in what they say of it.
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
