//! The model a request is for, and what follows from it: window, reserve, margin, format.

use super::options::ContextOptions;
use crate::catalog::{CacheMode, Catalog, ModelRow};
use crate::error::Error;
use crate::limits;
use crate::token_costs::TokenCosts;
use wunderblock_core::budget::{Budget, Certainty, WindowSource};
use wunderblock_core::event::{ContextBuilt, LaneTarget};
use wunderblock_core::line::SourceLine;
use wunderblock_core::message::Dialect;
use wunderblock_core::ports::CostModel as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Tokens};

/// The model that is meant when neither the caller nor the transcript names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";
/// Around everything: the names of the fields, the most the model may answer.
const REQUEST_FRAME: Cost = Cost::new(0, 128);
/// Where to cache up to: a mark at the end, or the names of the places.
const CACHE_FRAME: Cost = Cost::new(12, 96);

/// The model a session has been with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionModel<'a> {
    /// The one that spoke last.
    pub(crate) model: Option<&'a str>,
    /// The window its provider told last.
    pub(crate) window: Option<Tokens>,
}

/// The model a request is for, and what follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) model: String,
    pub(crate) known: bool,
    pub(crate) row: ModelRow,
    pub(crate) dialect: Dialect,
    pub(crate) budget: Budget,
    pub(crate) certainty: Certainty,
}

impl Target {
    /// The target of a lane's next request.
    ///
    /// # Errors
    /// When nothing is left of the window once the answer's part is kept free.
    pub(crate) fn of(
        catalog: &Catalog,
        options: &ContextOptions,
        said: &SessionModel<'_>,
    ) -> Result<Self, Error> {
        let named = Self::name(options, said).to_owned();
        let found = catalog.lookup(&named);
        let row = found.row.clone();
        let (window, window_source) = Self::window(catalog, options, said);
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
        let (added, max_bytes) = (Tokens::ZERO, row.max_bytes);
        let budget = Budget { window, window_source, reserve, margin, added, max_bytes };
        let dialect = options.dialect.unwrap_or(row.dialect);
        Ok(Self { model: named, known: found.known, row, dialect, budget, certainty })
    }

    /// The model that options mean in a session.
    pub(crate) fn name<'a>(options: &'a ContextOptions, said: &SessionModel<'a>) -> &'a str {
        options.model.as_deref().or(said.model).unwrap_or(DEFAULT_MODEL)
    }

    /// The window of that model, and who says so.
    pub(crate) fn window(
        catalog: &Catalog,
        options: &ContextOptions,
        said: &SessionModel<'_>,
    ) -> (Tokens, WindowSource) {
        let found = catalog.lookup(Self::name(options, said));
        match (options.window, said.window.filter(|_| options.model.is_none())) {
            (Some(window), _) => (window, WindowSource::Declared),
            (None, Some(window)) => (window, WindowSource::Provider),
            (None, None) if found.known => (found.row.window, WindowSource::Catalog),
            (None, None) => (found.row.window, WindowSource::Default),
        }
    }

    /// The target of a recorded request.
    pub(crate) fn recorded(catalog: &Catalog, built: &ContextBuilt) -> Self {
        let found = catalog.lookup(&built.model);
        Self {
            model: built.model.to_string(),
            known: found.known,
            row: found.row.clone(),
            dialect: built.dialect,
            budget: built.budget,
            certainty: Certainty::Exact,
        }
    }

    /// What the lane is for.
    pub(crate) fn lane(&self) -> LaneTarget {
        LaneTarget { model: self.model.as_str().into(), window: self.budget.window }
    }

    /// A request says which model it is for, and what it says is counted.
    pub(crate) fn model_line(&self, costs: &TokenCosts) -> SourceLine {
        let model = &self.model;
        let is_told = self.row.cache.mode == CacheMode::Explicit;
        let cost = costs.text(model) + REQUEST_FRAME + if is_told { CACHE_FRAME } else { Cost::ZERO };
        SourceLine::outside(Section::System, format!("the model's name, {model}"), cost)
    }
}
