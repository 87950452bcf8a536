//! `[context]`: defaults of the options of a request.

use super::{InvalidValue, Section};
use serde::Deserialize;
use wunderblock::ContextOptions;
use wunderblock_core::units::Tokens;

/// Defaults of the options of a request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Context {
    /// The model that reads requests. If unset, the transcript's last one, or else the catalog's default.
    pub model: Option<String>,
    /// The model's window, in tokens. If unset, the provider's, or else the catalog's.
    pub window: Option<u64>,
    /// Tokens to keep free for the answer.
    pub reserve: Option<u64>,
    /// Whether requests recall, without being asked, what bears on a new turn. If unset, they do not.
    pub recall: Option<bool>,
    /// Percentages of the limit above which a request is reported as large.
    pub warn: Option<Vec<u8>>,
}

/// The model that reads a request and its limits, as a caller gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReaderChoice {
    /// Name of the model.
    pub model: Option<String>,
    /// Window, in tokens.
    pub window: Option<u64>,
    /// Tokens to keep free for the answer.
    pub reserve: Option<u64>,
}

impl Context {
    /// Returns options with the model and the limits that the caller chose, or else those of the section.
    #[must_use]
    pub fn over(&self, choice: &ReaderChoice, options: ContextOptions) -> ContextOptions {
        ContextOptions {
            model: choice.model.clone().or_else(|| self.model.clone()),
            window: choice.window.or(self.window).map(Tokens),
            reserve: choice.reserve.or(self.reserve).map(Tokens),
            ..options
        }
    }
}

impl Section for Context {
    const NAME: &'static str = "context";
    const MAX_KEYS: usize = 5;

    fn invalid(&self) -> Option<InvalidValue> {
        if self.model.as_deref().is_some_and(|model| model.trim().is_empty()) {
            let why = "`model` is empty; leave it out to use the transcript's model".to_owned();
            return Some(InvalidValue { key: "model", why });
        }
        let percent = self.warn.iter().flatten().find(|percent| !(1..=100).contains(*percent))?;
        let why = format!("invalid percentage `{percent}` in `warn`; must be from 1 to 100");
        Some(InvalidValue { key: "warn", why })
    }
}
