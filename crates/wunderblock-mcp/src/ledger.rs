//! The ledger of a server: opened when a call first needs it, and again after an error that a new attempt may solve.

use crate::answer::ToolFailure;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use wunderblock::definitions::{DefinitionCache, DefinitionQuery, DelegateRules};
use wunderblock::store::StoreError;
use wunderblock::store::StreamFilter;
use wunderblock::store::sqlite::Access;
use wunderblock::{
    Config, ContextOptions, Engine, Error, LaneBuilt, ReachChoice, Session, latest_session, reach_at,
};
use wunderblock_core::fence::plain;
use wunderblock_settings::{
    DefinitionChoice, RequestChoice, Settings, SettingsError, context_options, definition_query,
    delegate_model,
};

/// What a server serves: a ledger, and the place and the options for which requests are explained.
#[derive(Debug)]
pub struct Served {
    /// Path of the ledger. The ledger need not exist.
    pub db: PathBuf,
    /// Settings of the engine.
    pub config: Config,
    /// Working directory, whose project has the current session, and in which commands run.
    pub cwd: PathBuf,
    /// How far the tools see.
    pub reach: ReachChoice,
    /// Options of the requests that `explain` reports on.
    pub options: ContextOptions,
    /// Whether the policy of `options` is used even if the session's latest request was made with another one.
    pub keeps_policy: bool,
    /// Delegates to which the agent can hand work.
    pub agents: ServedAgents,
    /// Beginning of the command line that runs a command so that it ends with the server, and writes its output to a
    /// file, too. The server adds `--session SESSION --call ID -- sh -c LINE`, and removes the file when the output is in
    /// the ledger. Empty if commands are run directly.
    pub guard: Vec<String>,
}

impl Served {
    /// Returns what a server serves by the settings, for a project and a choice of how requests are built. Commands are
    /// run directly.
    ///
    /// # Errors
    /// Fails if a choice is invalid, or if a file that it or the settings name cannot be used.
    pub fn of(
        settings: &Settings,
        request: &RequestChoice,
        cwd: PathBuf,
        reach: ReachChoice,
    ) -> Result<Self, SettingsError> {
        let agents = ServedAgents {
            query: definition_query(&DefinitionChoice::default(), &cwd)?,
            rules: settings.delegate_rules()?,
            environment: delegate_model(),
        };
        Ok(Self {
            db: settings.db.clone(),
            config: Config { cwd: Some(cwd.clone()), ..settings.config() },
            cwd,
            reach,
            options: context_options(settings, request)?,
            keeps_policy: request.compaction.policy.is_some(),
            agents,
            guard: Vec::new(),
        })
    }
}

/// Definitions of delegates, and the rules that choose their models.
#[derive(Debug, Default)]
pub struct ServedAgents {
    /// Places of the definitions.
    pub query: DefinitionQuery,
    /// Rules for types and models.
    pub rules: DelegateRules,
    /// Value of the environment variable with the model of delegates.
    pub environment: Option<String>,
}

/// Use of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LedgerUse {
    /// The ledger must exist.
    Existing,
    /// A missing ledger is created.
    Created,
}

/// A ledger that is shared by all calls.
#[derive(Debug)]
pub(crate) struct SharedLedger {
    pub(crate) served: Served,
    pub(crate) definitions: DefinitionCache,
    /// Engine that sees everything. The tools get one that sees what is in reach.
    whole: Mutex<Option<Engine>>,
}

impl SharedLedger {
    pub(crate) fn new(served: Served) -> Self {
        Self { served, definitions: DefinitionCache::default(), whole: Mutex::default() }
    }

    /// Returns the engine for work that shows nothing to anyone, if a call has already opened the ledger.
    pub(crate) fn opened(&self) -> Option<Engine> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the ledger, for writing if possible, and returns an engine that sees what the agent may. The reach is found
    /// for each call, because the folder may get another project while the server runs.
    pub(crate) async fn open(&self, wanted: LedgerUse) -> Result<Engine, Error> {
        let whole = self.open_whole(wanted).await?;
        let reach = reach_at(&whole, &self.served.cwd, self.served.reach).await?;
        Ok(whole.reaching(reach))
    }

    /// Opens the ledger for work that shows nothing to anyone.
    pub(crate) async fn open_whole(&self, wanted: LedgerUse) -> Result<Engine, Error> {
        if let Some(engine) = self.opened() {
            return Ok(engine);
        }
        let open = |access| Engine::open_with(&self.served.db, access, self.served.config.clone());
        let access = if wanted == LedgerUse::Created { Access::Create } else { Access::Write };
        let engine = match open(access).await {
            Err(Error::Store(error)) if error.may_be_read() => open(Access::Read).await?,
            opened => opened?,
        };
        if !engine.ledger().excludes_others() {
            *self.whole.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine.clone());
        }
        Ok(engine)
    }

    /// Closes the ledger after an error that lasts as long as it is open.
    pub(crate) fn note(&self, failure: &ToolFailure) {
        let gone = |error: &StoreError| matches!(error, StoreError::Replaced | StoreError::Missing(_));
        if matches!(failure, ToolFailure::Engine(Error::Store(error)) if gone(error)) {
            *self.whole.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Says in which sessions a search that found nothing has looked.
    pub(crate) async fn searched(&self, engine: &Engine) -> Result<String, Error> {
        let reach = plain(&engine.reach().to_string());
        let any = engine.listed(StreamFilter::default(), 1).await?;
        Ok(match any.is_empty() {
            true => format!(" The ledger has no session of {reach}."),
            false => format!(" Only sessions of {reach} were searched."),
        })
    }

    /// Returns the session that was named, or else the latest one of the project, if there is one.
    pub(crate) async fn find_session(
        &self,
        engine: &Engine,
        named: Option<&str>,
    ) -> Result<Option<Session>, Error> {
        match named {
            Some(id) => engine.find_session(id).await.map(Some),
            None => latest_session(engine, &self.served.cwd).await,
        }
    }

    /// Returns the current session: the one that was named, or else the latest one of the project.
    pub(crate) async fn session(&self, engine: &Engine, named: Option<&str>) -> Result<Session, ToolFailure> {
        let missing = || {
            let cwd = plain(&self.served.cwd.to_string_lossy());
            ToolFailure::Door(format!(
                "no session of the project in {cwd} is in the ledger; give `session`, an id as `search` returns it, or \
                 ask the user to run `wunderblock import` on the transcripts of this project"
            ))
        };
        self.find_session(engine, named).await?.ok_or_else(missing)
    }

    /// Returns the current session to write to. A beginning of its id does not name it, because an agent that
    /// mistypes an id would write into another session.
    pub(crate) async fn written_session(
        &self,
        engine: &Engine,
        named: Option<&str>,
    ) -> Result<Session, ToolFailure> {
        let session = self.session(engine, named).await?;
        let Some(name) = named else { return Ok(session) };
        if engine.ledger().short_ids(session.id()).await?.names(session.id(), name) {
            return Ok(session);
        }
        let (name, id) = (plain(name), plain(session.id().as_str()));
        Err(ToolFailure::Door(format!(
            "no session has the id `{name}`; give `{id}` if you mean the session whose id begins with it"
        )))
    }

    /// Returns the options of a session's next request.
    pub(crate) async fn options(&self, session: &Session) -> Result<ContextOptions, Error> {
        let options = self.served.options.clone();
        if self.served.keeps_policy { Ok(options) } else { LaneBuilt::continued(session, options).await }
    }
}
