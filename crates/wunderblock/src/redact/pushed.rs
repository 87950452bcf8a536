//! Texts without secrets, for agents.

use super::Redactor;
use std::borrow::Cow;

/// A text for an agent, without secrets. Only a [`Redactor`] makes one, so nothing reaches an agent around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushedText(String);

impl PushedText {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Redactor {
    /// Returns a text that may be handed to an agent: the text without secrets.
    #[must_use]
    pub fn push(&self, text: &str) -> PushedText {
        PushedText(self.redact(text).text.into_owned())
    }

    /// Returns a text with each byte of a secret replaced by `*`, except line ends. All places in the text stay the
    /// same, so a part of the text can be cut afterwards without cutting a secret.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.redact(text).found;
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for secret in found {
            out.push_str(text.get(done..secret.from_byte).unwrap_or_default());
            let bytes = text.as_bytes().get(secret.from_byte..secret.to_byte).unwrap_or_default();
            out.extend(bytes.iter().map(|byte| if *byte == b'\n' { '\n' } else { '*' }));
            done = secret.to_byte;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Returns a part that was cut from a text, with the secrets of the whole text masked. `None` if the text does not
    /// contain the part.
    #[must_use]
    pub fn mask_part(&self, text: &str, part: &str) -> Option<String> {
        let masked = self.mask(text);
        let shown = text.match_indices(part).filter_map(|(at, _)| masked.get(at..at + part.len()));
        // The part may occur several times: also in a secret, and outside of one.
        shown.max_by_key(|shown| shown.bytes().filter(|byte| *byte == b'*').count()).map(str::to_owned)
    }
}
