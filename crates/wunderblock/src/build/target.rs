//! The model a request is for, and what follows from it: window, reserve, margin, format.

use super::ContextOptions;
use super::load::Loaded;
use crate::catalog::Row;
use crate::engine::Engine;
use crate::error::Error;
use crate::limits;
use wunderblock_core::budget::{Budget, Certainty, WindowSource};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Tokens;

/// The model that is meant when neither the caller nor the transcript names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

/// The model a request is for, and what follows from it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) model: String,
    pub(super) known: bool,
    pub(super) row: Row,
    pub(super) dialect: Dialect,
    pub(super) budget: Budget,
    pub(super) certainty: Certainty,
}

impl Engine {
    pub(super) fn window_of(&self, model: &str) -> Tokens {
        self.config.catalog.lookup(model).row.window
    }

    pub(super) fn target(&self, options: &ContextOptions, loaded: &Loaded) -> Result<Target, Error> {
        let model = options.model.clone().or_else(|| loaded.view.model().map(ToOwned::to_owned));
        let named = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        let found = self.config.catalog.lookup(&named);
        let row = found.row.clone();
        let provider =
            loaded.usage.as_ref().filter(|_| options.model.is_none()).and_then(|usage| usage.window);
        let (window, window_source) = match (options.window, provider) {
            (Some(window), _) => (window, WindowSource::Declared),
            (None, Some(window)) => (window, WindowSource::Provider),
            (None, None) if found.known => (row.window, WindowSource::Catalog),
            (None, None) => (row.window, WindowSource::Default),
        };
        let certainty = match row.vocabulary {
            Some(_) => Certainty::Exact,
            None => crate::tokens::certainty(row.family, crate::tokens::Class::Prose),
        };
        let margin = match certainty {
            Certainty::Exact => Tokens::ZERO,
            _ => Tokens(window.0 / limits::ESTIMATE_MARGIN_DIVISOR),
        };
        let most = Tokens(window.0 / limits::RESERVE_DIVISOR);
        let reserve =
            options.reserve.unwrap_or_else(|| limits::DEFAULT_RESERVE.min(row.max_output).min(most));
        // Some models take in less than their window less their answer.
        let unusable =
            row.max_input.filter(|_| options.window.is_none()).map(|input| window.saturating_sub(input));
        let reserve = reserve.max(unusable.unwrap_or_default());
        if reserve >= window {
            return Err(Error::Config(format!(
                "nothing is left of a window of {window} tokens when {reserve} are kept for the answer"
            )));
        }
        let budget = Budget { window, window_source, reserve, margin, max_bytes: row.max_bytes };
        let dialect = options.dialect.unwrap_or(row.dialect);
        Ok(Target { model: named, known: found.known, row, dialect, budget, certainty })
    }
}
