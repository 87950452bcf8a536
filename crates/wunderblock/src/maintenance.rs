//! Maintenance of what a ledger holds of one tenant: examining it, and making what is derived.

use crate::catch_up::{Extent, Progress, catch_up};
use crate::doctor::{Diagnosis, examine};
use crate::engine::Engine;
use crate::error::Error;
use crate::store::Write;

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

impl Maintenance<'_> {
    /// Examines the file, and what it holds of this tenant.
    ///
    /// # Errors
    /// When it cannot be read at all. What is wrong with it is in the diagnosis.
    pub async fn doctor(self, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<Diagnosis, Error> {
        examine(self.0, std::slice::from_ref(self.0), progress).await
    }

    /// Counts and indexes whatever is waiting. `progress` is told after each batch.
    ///
    /// # Errors
    /// When the ledger cannot be used. What was done stays done.
    pub async fn catch_up(self, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<(), Error> {
        catch_up(self.0, Extent::ALL, progress).await
    }

    /// Rebuilds everything derived of this tenant: counts, tallies, the text index.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub async fn rebuild(self, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<(), Error> {
        self.0.storage.commit(vec![Write::DropDerived { tenant: self.0.tenant.no }]).await?;
        self.catch_up(progress).await
    }
}
