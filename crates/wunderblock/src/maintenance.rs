//! Maintenance of what a ledger holds of one tenant: examining it, and making what is derived.

use crate::catch_up::{Extent, Progress, catch_up};
use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::{examine, examine_all};
use crate::engine::Engine;
use crate::future::BoxFuture;
use crate::store::Write;
use std::collections::BTreeSet;
use wunderblock_core::id::TenantId;

/// Maintenance of one tenant's part of a ledger; [`Ledger`](crate::Ledger) is the whole.
#[derive(Clone, Copy, Debug)]
pub struct Maintenance<'e>(&'e Engine);

impl Engine {
    /// Examining and rebuilding, and the background's work.
    #[must_use]
    pub fn maintenance(&self) -> Maintenance<'_> {
        Maintenance(self)
    }
}

impl<'a> Maintenance<'a> {
    /// Examines the file, and what it holds of this tenant.
    ///
    /// # Errors
    /// When it cannot be read at all. What is wrong with it is in the diagnosis.
    pub fn doctor(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, Diagnosis> {
        Box::pin(async move { examine(self.0, std::slice::from_ref(self.0), progress).await })
    }

    /// Counts and indexes whatever is waiting. `progress` is told after each batch.
    ///
    /// # Errors
    /// When the ledger cannot be used. What was done stays done.
    pub fn catch_up(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, ()> {
        Box::pin(async move { catch_up(self.0, Extent::ALL, progress).await })
    }

    /// Rebuilds everything derived of this tenant: counts, tallies, the text index.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn rebuild(self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.0.storage.commit(vec![Write::DropDerived { tenant: self.0.tenant.no }]).await?;
            self.catch_up(progress).await
        })
    }
}

/// A ledger as a whole: what concerns its file, and all tenants.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'e>(pub(crate) &'e Engine);

impl Engine {
    /// The ledger as a whole, with all its tenants.
    #[must_use]
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(self)
    }
}

impl Ledger<'_> {
    /// The same ledger for each of its tenants.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn tenants<'a>(&'a self) -> BoxFuture<'a, Vec<Engine>> {
        Box::pin(async move { self.0.every_tenant().await })
    }

    /// Whether an erasure is waiting for another process that reads the ledger.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.0.file.as_ref().is_some_and(|file| file.is_waiting())
    }

    /// Examines the file, and what it holds of every tenant.
    ///
    /// # Errors
    /// As [`Maintenance::doctor`](crate::Maintenance::doctor).
    pub fn doctor<'a>(&'a self, progress: &'a mut (dyn FnMut(Progress) + Send)) -> BoxFuture<'a, Diagnosis> {
        Box::pin(async move { examine_all(self.0, progress).await })
    }

    /// Repairs what a diagnosis has found and can be repaired: derived data is rebuilt, the file taken from everybody but
    /// its owner, and erased content removed that is still in the log. Another examination says what is left.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn repair<'a>(
        &'a self,
        diagnosis: &'a Diagnosis,
        progress: &'a mut (dyn FnMut(Progress) + Send),
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut stale = BTreeSet::new();
            for problem in diagnosis.problems.iter().filter(|problem| problem.derived) {
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
