//! Maintenance of one tenant's data in a ledger: examining it, and rebuilding derived data.

use crate::base::apart::with_progress;
use crate::base::future::BoxFuture;
use crate::base::short_id::{ShortIds, beginning};
use crate::import::transcripts::{Imported, OnBytes, verify_import};
use crate::keeping::doctor::diagnosis::Diagnosis;
use crate::keeping::doctor::{examine, examine_all};
use crate::ledger::engine::Engine;
use crate::ledger::recording::authors::settle_authors;
use crate::recall::catch_up::{Extent, Progress, catch_up, catch_up_briefly};
use std::collections::BTreeSet;
use std::path::Path;
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_store::{Commit, Write};
use wunderblock_wire::transcript::Format;

/// Maintenance of one tenant's data in a ledger. [`Ledger`](crate::Ledger) is for the whole file.
#[derive(Clone, Copy, Debug)]
pub struct Maintenance<'e>(&'e Engine);

impl Engine {
    /// Returns the maintenance operations: examine, rebuild, catch up.
    #[must_use]
    pub fn maintenance(&self) -> Maintenance<'_> {
        Maintenance(self)
    }
}

impl<'a> Maintenance<'a> {
    /// Examines the ledger's file and the data of this tenant.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read at all. Problems in the ledger's data are part of the diagnosis.
    pub fn doctor(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, Diagnosis> {
        let engine = self.0.clone();
        with_progress(progress, move |progress| {
            Box::pin(async move { examine(&engine, std::slice::from_ref(&engine), progress).await })
        })
    }

    /// Imports one transcript file, comparing all of it with the stored bytes, even if it seems unchanged or grown.
    ///
    /// # Errors
    /// Fails in the same cases as [`Engine::import`].
    pub fn verify_import(
        self,
        path: &'a Path,
        format: Option<Format>,
        progress: OnBytes<'a>,
    ) -> BoxFuture<'a, Imported> {
        verify_import(self.0, path, format, progress)
    }

    /// Counts and indexes all waiting events. Calls `progress` after each batch.
    ///
    /// # Errors
    /// Fails if the ledger cannot be used. Completed batches remain.
    pub fn catch_up(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, ()> {
        let engine = self.0.clone();
        with_progress(progress, move |progress| {
            Box::pin(async move { catch_up(&engine, Extent::ALL, progress).await })
        })
    }

    /// Indexes and counts waiting events for at most 200 ms. The rest remains waiting. Does nothing if the ledger is
    /// read-only.
    ///
    /// # Errors
    /// Fails if the ledger cannot be used. Completed batches remain.
    pub fn catch_up_briefly(self) -> BoxFuture<'a, ()> {
        Box::pin(async move { catch_up_briefly(self.0, true).await })
    }

    /// Indexes waiting messages for at most 200 ms, without counting. The rest remains waiting. Does nothing if the
    /// ledger is read-only.
    ///
    /// # Errors
    /// Fails if the ledger cannot be used. Completed batches remain.
    pub fn index_briefly(self) -> BoxFuture<'a, ()> {
        Box::pin(async move { catch_up_briefly(self.0, false).await })
    }

    /// Rebuilds all derived data of this tenant: authors, counts, tallies, and the text index.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written.
    pub fn rebuild(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let drop = Write::DropDerived { tenant: self.0.tenant.no };
            self.0.storage.commit(Commit::raw(vec![drop])).await?;
            settle_authors(self.0).await?;
            self.catch_up(progress).await
        })
    }
}

/// A ledger as a whole: its file, and all its tenants.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'e>(pub(crate) &'e Engine);

impl Engine {
    /// Returns the ledger as a whole, with all its tenants.
    #[must_use]
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(self)
    }
}

impl Ledger<'_> {
    /// Returns an engine for each tenant of this ledger.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn tenants<'a>(&'a self) -> BoxFuture<'a, Vec<Engine>> {
        Box::pin(async move { self.0.every_tenant().await })
    }

    /// Returns whether other processes cannot open the ledger as long as this engine is open. See
    /// [`Sqlite::excludes_others`](crate::ledger::ledger_file::Sqlite::excludes_others).
    #[must_use]
    pub fn excludes_others(&self) -> bool {
        self.0.file.as_ref().is_some_and(|file| file.excludes_others())
    }

    /// Reads the ids from which the short id of a session must be distinguished.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn short_ids<'a>(&'a self, id: &'a StreamId) -> BoxFuture<'a, ShortIds> {
        Box::pin(async move {
            let streams = self.0.streams(beginning(id), u64::from(u32::MAX)).await?;
            Ok(ShortIds::among(streams.iter().map(|info| &info.id)))
        })
    }

    /// Returns whether an erasure is waiting for another process that reads the ledger.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.0.file.as_ref().is_some_and(|file| file.is_waiting())
    }

    /// Examines the ledger's file and the data of all tenants.
    ///
    /// # Errors
    /// See [`Maintenance::doctor`](crate::Maintenance::doctor).
    pub fn doctor<'a>(&'a self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, Diagnosis> {
        let engine = self.0.clone();
        with_progress(progress, move |progress| Box::pin(async move { examine_all(&engine, progress).await }))
    }

    /// Repairs those problems in a diagnosis that can be repaired. Derived data is rebuilt, the file's permissions
    /// are restricted to its owner, and erased content that is still in the log is removed. Examine the ledger again
    /// to see what remains.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written.
    pub fn repair<'a>(
        &'a self,
        diagnosis: &'a Diagnosis,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut stale = BTreeSet::new();
            for problem in diagnosis.problems.iter().filter(|problem| problem.derived) {
                // Problems of the file are repaired in the file itself; for every other problem, the derived data of
                // the affected tenant is rebuilt.
                if let Some(file) = &self.0.file
                    && file.repair(problem.rule).await?
                {
                    continue;
                }
                let is_its =
                    |tenant: &&TenantId| problem.tenant.as_ref().is_none_or(|whose| whose == *tenant);
                stale.extend(diagnosis.tenants.iter().filter(is_its));
            }
            for engine in self.0.every_tenant().await? {
                if stale.contains(&engine.config.tenant) {
                    engine.maintenance().rebuild(progress).await?;
                }
            }
            Ok(())
        })
    }
}
