//! The engine: one ledger, one tenant, and the operations on them.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::base::parallel::Workers;
use crate::base::short_id;
use crate::histories::export::ExportCache;
use crate::ledger::header_cache::HeaderCache;
use crate::ledger::incoming::{Clock, IdSource, Stamp};
use crate::ledger::ledger_file::Sqlite;
use crate::ledger::session::Session;
use crate::rules::catalog::Catalog;
use crate::rules::embedder::Embedder;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wunderblock_core::id::{EventId, StreamId, TenantId, branch};
use wunderblock_core::units::Millis;
use wunderblock_redact::Redactor;
use wunderblock_store::{
    Answer, Commit, Query, Reach, Storage, StreamFilter, StreamInfo, StreamKind, Tenant, Write, Written,
};

/// Settings of an engine. The caller parses the settings once; the engine itself does not read files or environment
/// variables.
#[derive(Clone)]
pub struct Config {
    /// Tenant whose data the engine uses.
    pub tenant: TenantId,
    /// User of the sessions that are opened or imported, if they state none.
    pub user: Option<String>,
    /// Folder in which the program works: the project of sessions that are opened, if they state none. Imported sessions
    /// do not take it.
    pub cwd: Option<PathBuf>,
    /// Known models, with their windows and prices.
    pub catalog: Catalog,
    /// Rules that detect secrets.
    pub redactor: Arc<Redactor>,
    /// Model that embeds texts of chosen scopes; none by default, and nothing is sent.
    pub embedder: Option<Arc<Embedder>>,
    /// Clock; the system's clock by default.
    pub clock: Clock,
    /// Generator of event ids; random ids by default.
    pub ids: IdSource,
    /// Function that shortens texts: [`wunderblock_reduce::reduce`], unless a test replaces it.
    pub reducer: Reducer,
}

/// Function that shortens a text. The function must return the same result for the same input, and its marks must
/// name the given handle.
pub type Reducer = fn(&[u8], &wunderblock_reduce::Options<'_>) -> wunderblock_reduce::Reduced;

impl Default for Config {
    fn default() -> Self {
        Self {
            tenant: TenantId::local(),
            user: None,
            cwd: None,
            catalog: Catalog::embedded(),
            redactor: Arc::new(Redactor::embedded()),
            embedder: None,
            clock: Arc::new(system_time),
            ids: Arc::new(random_id),
            reducer: wunderblock_reduce::reduce,
        }
    }
}

impl Config {
    /// Returns a stamp that assigns ids and times to events.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp { clock: Arc::clone(&self.clock), ids: Arc::clone(&self.ids) }
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

fn system_time() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns an id of 128 random bits.
fn random_id() -> Result<EventId, Error> {
    let bytes: [u8; 16] = random()?;
    Ok(EventId::new(format!("auto:{:032x}", u128::from_be_bytes(bytes)))?)
}

/// A ledger in use. Cloning is cheap; all clones share the ledger.
#[derive(Clone)]
pub struct Engine {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) file: Option<Arc<Sqlite>>,
    pub(crate) tenant: Tenant,
    /// What the engine sees. Its storage answers nothing else.
    pub(crate) reach: Reach,
    pub(crate) config: Config,
    pub(crate) known: Arc<HeaderCache>,
    pub(crate) exports: Arc<ExportCache>,
    pub(crate) workers: Arc<Workers>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens a ledger behind the storage port. If `writable` is true, a missing tenant may be created.
    ///
    /// # Errors
    /// Fails if the storage fails or does not answer.
    pub fn on(storage: Arc<dyn Storage>, writable: bool, config: Config) -> BoxFuture<'static, Self> {
        Box::pin(async move {
            let name = config.tenant.to_string();
            let found = match storage.query(vec![Query::Tenant { name: name.clone() }]).await?.pop() {
                Some(Answer::Tenant(found)) => found,
                _ => None,
            };
            let tenant = match found {
                Some(tenant) => tenant,
                None if writable => {
                    let key = random()?;
                    match storage.commit(Commit::raw(vec![Write::Tenant { name, key }])).await?.pop() {
                        Some(Written::Tenant(tenant)) => tenant,
                        _ => return Err(unexpected()),
                    }
                }
                // Nothing has been written for this tenant yet. No tenant has the number -1, so the ledger appears to
                // be empty, and every handle is unknown.
                None => Tenant { no: wunderblock_store::TenantNo(-1), key: [0; 32] },
            };
            Ok(Self {
                storage,
                file: None,
                tenant,
                reach: Reach::tenant(),
                config,
                known: Arc::default(),
                exports: Arc::default(),
                workers: Arc::default(),
            })
        })
    }

    /// Returns an engine for each tenant of this ledger.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub(crate) async fn every_tenant(&self) -> Result<Vec<Self>, Error> {
        let names = self.ask(Query::Tenants, Answer::tenants).await?;
        let mut engines = Vec::new();
        for name in names {
            let tenant = TenantId::new(name).map_err(|error| {
                Error::Store(wunderblock_store::StoreError::Damaged(format!(
                    "invalid name of a tenant: {error}"
                )))
            })?;
            let config = Config { tenant, ..self.config.clone() };
            let engine = Self::on(self.storage.clone(), false, config).await?;
            engines.push(Self { file: self.file.clone(), ..engine });
        }
        Ok(engines)
    }

    /// Waits until the ledger's files contain no erased content.
    pub(crate) async fn scrubbed(&self) -> Result<(), Error> {
        match &self.file {
            Some(file) => Ok(file.scrub().await?),
            None => Ok(()),
        }
    }

    /// Returns the session with this id. The session need not exist: its first event creates it.
    ///
    /// # Errors
    /// Fails if the id is empty or too long, or contains control characters.
    pub fn session<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Session> {
        Box::pin(async move { Ok(self.session_by_id(StreamId::new(id)?)) })
    }

    /// Returns the session with this id, whether or not the session exists.
    #[must_use]
    pub fn session_by_id(&self, id: StreamId) -> Session {
        Session::new(self.clone(), id)
    }

    /// Finds a session by its id or by a short id: either a unique prefix, or the beginning and end (of the form
    /// `7478b9f5…d388`), as written by [`ShortIds`](crate::ShortIds). The id of an imported transcript selects its
    /// latest branch; `ID~1` selects the first branch itself and `ID~2` the second. A short id works in place of
    /// `ID`.
    ///
    /// # Errors
    /// Fails if no session matches, or if several do.
    pub fn find_session<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Session> {
        Box::pin(async move {
            let exact = StreamId::new(text)?;
            // The complete id is checked first, because the id of a live session may look like a branch id (`ID~2`).
            if let Some(info) = self.info(&exact).await? {
                let leaf = self.leaf(&info).await?;
                return Ok(self.session_by_id(leaf.unwrap_or(exact)));
            }
            if let Some((root, number)) = branch(text) {
                let root = self.root(root, text).await?.id;
                let branch = if number == 1 { root } else { StreamId::new(format!("{root}~{number}"))? };
                let known = self.info(&branch).await?;
                return known
                    .map(|info| self.session_by_id(info.id))
                    .ok_or_else(|| Error::NoSession(text.to_owned()));
            }
            let root = self.root(text, text).await?;
            let leaf = self.leaf(&root).await?;
            Ok(self.session_by_id(leaf.unwrap_or(root.id)))
        })
    }

    /// Returns the session with this id, or the only session that matches this short id. Errors quote `text` as the
    /// caller wrote it.
    async fn root(&self, id: &str, text: &str) -> Result<StreamInfo, Error> {
        if let Some(info) = self.info(&StreamId::new(id)?).await? {
            return Ok(info);
        }
        let (beginning, end) = short_id::ends(id).unwrap_or((id, ""));
        let mut matches = self.streams(beginning, u64::from(u32::MAX)).await?;
        matches.retain(|info| {
            let id = info.id.as_str();
            id.ends_with(end) || branch(id).is_some_and(|(root, _)| root.ends_with(end))
        });
        // Branches of a transcript share its id (`ID~2`), so they do not make a short id ambiguous.
        let shortest =
            matches.iter().map(|info| info.id.as_str()).min_by_key(|id| id.len()).map(ToOwned::to_owned);
        let is_its = |info: &StreamInfo, root: &str| {
            info.id.as_str().strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
        };
        match shortest {
            None => Err(Error::NoSession(text.to_owned())),
            Some(root) if matches.iter().all(|info| is_its(info, &root)) => {
                let found = matches.into_iter().find(|info| info.id.as_str() == root);
                found.ok_or_else(unexpected)
            }
            Some(_) => Err(Error::Ambiguous {
                prefix: text.to_owned(),
                matches: matches.into_iter().map(|info| info.id).collect(),
            }),
        }
    }

    /// Returns the latest branch of an imported session, if the import made branches.
    async fn leaf(&self, info: &StreamInfo) -> Result<Option<StreamId>, Error> {
        let query = Query::SourcesOf { tenant: self.tenant.no, stream: info.id.clone() };
        let sources = self.ask(query, Answer::sources).await?;
        let is_branch = |leaf: &StreamId| {
            leaf.as_str().strip_prefix(info.id.as_str()).is_some_and(|rest| rest.starts_with('~'))
        };
        let leaves = sources.into_iter().filter_map(|source| source.revision.leaf);
        let leaves: BTreeSet<StreamId> = leaves.filter(is_branch).collect();
        // A session may have several sources, so the latest branch across all of them is selected.
        let mut newest: Option<StreamInfo> = None;
        for leaf in leaves {
            let found = self.info(&leaf).await?;
            newest = newest.into_iter().chain(found).max_by_key(|branch| (branch.updated_at, branch.no));
        }
        Ok(newest.map(|branch| branch.id))
    }

    /// Returns sessions whose id begins with `prefix`, newest first.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn streams<'a>(&'a self, prefix: &'a str, limit: u64) -> BoxFuture<'a, Vec<StreamInfo>> {
        Box::pin(async move {
            self.listed(StreamFilter { prefix: prefix.to_owned(), ..StreamFilter::default() }, limit).await
        })
    }

    /// Returns sessions that match a filter (project, agent, time), newest first.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn listed<'a>(&'a self, filter: StreamFilter, limit: u64) -> BoxFuture<'a, Vec<StreamInfo>> {
        let filter = StreamFilter { kind: StreamKind::Session, ..filter };
        Box::pin(async move {
            self.ask(Query::Streams { tenant: self.tenant.no, filter, limit }, Answer::streams).await
        })
    }

    pub(crate) async fn info(&self, stream: &StreamId) -> Result<Option<StreamInfo>, Error> {
        let query = Query::Stream { tenant: self.tenant.no, of: StreamKind::Session, stream: stream.clone() };
        Ok(self.ask(query, Answer::stream).await?.map(|info| *info))
    }

    /// Returns the model that embeds texts of chosen scopes, if one is set.
    #[must_use]
    pub fn embedder(&self) -> Option<&Embedder> {
        self.config.embedder.as_deref()
    }

    pub(crate) fn now(&self) -> Millis {
        (self.config.clock)()
    }
}

/// Returns unguessable random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::Internal(format!("could not read random bytes from the operating system: {error}"))
    })?;
    Ok(bytes)
}

/// Error for a storage backend that answers a different query from the one it received.
pub(crate) fn unexpected() -> Error {
    Error::Internal("the storage returned the answer to another query".to_owned())
}
