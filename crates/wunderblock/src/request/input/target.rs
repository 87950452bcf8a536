//! Model of a request, with the window, reserve, margin and format that follow from it.

use crate::base::error::Error;
use crate::limits;
use crate::request::input::options::ContextOptions;
use crate::rules::catalog::{CacheMode, Catalog, ModelRow};
use crate::rules::token_costs::TokenCosts;
use wunderblock_core::budget::{Budget, Certainty, WindowSource};
use wunderblock_core::event::{ContextBuilt, LaneTarget};
use wunderblock_core::line::SourceLine;
use wunderblock_core::message::Dialect;
use wunderblock_core::ports::CostModel as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Tokens};

/// Model used if neither the caller nor the transcript names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";
/// Cost of the request's outer fields, including the maximum length of the answer.
const REQUEST_FRAME: Cost = Cost::new(0, 128);
/// Cost of cache marks: a mark at the end, or the names of the places.
const CACHE_FRAME: Cost = Cost::new(12, 96);

/// Model that a session used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionModel<'a> {
    /// Model that spoke last.
    pub(crate) model: Option<&'a str>,
    /// Context window that the provider reported last, in tokens.
    pub(crate) window: Option<Tokens>,
}

/// Model of a request, with the window, reserve, margin and format that follow from it.
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
    /// Returns the target of a lane's next request.
    ///
    /// # Errors
    /// Returns an error if the tokens reserved for the answer leave no room in the window.
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
            None => crate::rules::tokens::certainty(row.family, crate::rules::tokens::Class::Prose),
        };
        let margin = match certainty {
            Certainty::Exact => Tokens::ZERO,
            _ => Tokens(window.0 / limits::ESTIMATE_MARGIN_DIVISOR),
        };
        let most = Tokens(window.0 / limits::RESERVE_DIVISOR);
        let reserve =
            options.reserve.unwrap_or_else(|| limits::DEFAULT_RESERVE.min(row.max_output).min(most));
        // Some models accept less input than their window would hold beside the answer. The difference is added to
        // the reserve.
        let unusable =
            row.max_input.filter(|_| options.window.is_none()).map(|input| window.saturating_sub(input));
        let reserve = reserve.max(unusable.unwrap_or_default());
        if reserve >= window {
            return Err(Error::Config(format!(
                "no room in a window of {window} tokens: {reserve} are reserved for the answer"
            )));
        }
        let (added, max_bytes) = (Tokens::ZERO, row.max_bytes);
        let budget = Budget { window, window_source, reserve, margin, added, max_bytes };
        let dialect = options.dialect.unwrap_or(row.dialect);
        Ok(Self { model: named, known: found.known, row, dialect, budget, certainty })
    }

    /// Returns the name of the model that the options select in a session.
    pub(crate) fn name<'a>(options: &'a ContextOptions, said: &SessionModel<'a>) -> &'a str {
        options.model.as_deref().or(said.model).unwrap_or(DEFAULT_MODEL)
    }

    /// Returns the window of the selected model, and its source.
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

    /// Returns the target of a recorded request.
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

    /// Returns the model and window that identify a lane.
    pub(crate) fn lane(&self) -> LaneTarget {
        LaneTarget { model: self.model.as_str().into(), window: self.budget.window }
    }

    /// Returns the report line for the model's name, which a request contains and which therefore costs tokens.
    pub(crate) fn model_line(&self, costs: &TokenCosts) -> SourceLine {
        let model = &self.model;
        let is_told = self.row.cache.mode == CacheMode::Explicit;
        let cost = costs.text(model) + REQUEST_FRAME + if is_told { CACHE_FRAME } else { Cost::ZERO };
        SourceLine::outside(Section::System, format!("the model's name, {model}"), cost)
    }
}
