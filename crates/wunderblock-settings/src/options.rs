//! Resolves the options of a request: what the caller chose, or else what the settings say.

use crate::definitions::agent_types;
use crate::error::SettingsError;
use crate::policy::compactor;
use crate::sections::compaction::CompactionChoice;
use crate::sections::context::ReaderChoice;
use crate::settings::Settings;
use crate::sources::{SourceChoice, sources};
use wunderblock::{ContextOptions, Error};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Seq;

/// How a request is built, as a caller chooses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestChoice {
    /// The model that reads the request, and its limits.
    pub reader: ReaderChoice,
    /// Whether to keep room for what the agent itself adds.
    pub harness: bool,
    /// Text about which older messages are brought back.
    pub query: Option<String>,
    /// Whether to recall, without being asked, what bears on a new turn.
    pub recall: bool,
    /// Name of the lane.
    pub lane: Option<String>,
    /// The policy, and the writer of summaries.
    pub compaction: CompactionChoice,
    /// Inputs from outside the ledger.
    pub sources: SourceChoice,
    /// Position of a past request. If unset, the request is the next one.
    pub at: Option<Seq>,
    /// Format of the request. If unset, the model's.
    pub dialect: Option<Dialect>,
}

/// Parses the name of a lane, if one is given.
///
/// # Errors
/// Fails if the name is invalid.
pub fn lane(name: Option<&str>) -> Result<Option<LaneId>, Error> {
    Ok(name.map(LaneId::new).transpose()?)
}

/// Returns the options of a request.
///
/// # Errors
/// Fails if a choice is invalid, or if a named file cannot be used.
pub fn context_options(
    settings: &Settings,
    request: &RequestChoice,
) -> Result<ContextOptions, SettingsError> {
    let (file, default) = (&settings.file, ContextOptions::default());
    if request.reader.model.as_deref().is_some_and(|model| model.trim().is_empty()) {
        return Err(SettingsError::EmptyModel);
    }
    let mut sources = sources(file, request)?;
    if let Some(product) = &request.sources.agents {
        sources.agents = Some(agent_types(settings, product, request.sources.cwd.as_deref())?);
    }
    let options = ContextOptions {
        lane: lane(request.lane.as_deref())?,
        harness: request.harness,
        dialect: request.dialect,
        query: request.query.clone(),
        recall: request.recall,
        handed: Vec::new(),
        prompt: None,
        at: request.at,
        sources,
        shares: file.budget.clone(),
        warn: file.context.warn.clone().unwrap_or_else(|| default.warn.clone()),
        compactor: Some(compactor(settings, &request.compaction)?),
        ..default
    };
    Ok(file.context.over(&request.reader, options))
}
