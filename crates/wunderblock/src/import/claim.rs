//! Who writes a revision: one import at a time, and nobody waits for a dead one.
//!
//! Every commit of an import names its token, and a store refuses those of anybody else: that keeps bytes apart. The
//! lease only says how long others wait. A lock on the transcript itself tells sooner that an owner is dead: the system
//! drops it with the process. Where files cannot be locked, the lease runs out.

use crate::engine::{Engine, random, unexpected};
use crate::error::Error;
use crate::limits::IMPORT_LEASE;
use crate::originals::source_handle;
use crate::store::{Begin, Owner, SourceNo, Write, Written, codec};
use std::fs::File;
use std::path::Path;
use wunderblock_core::units::Millis;

/// A revision that is this import's to write.
pub(super) struct Claim {
    pub(super) source: SourceNo,
    pub(super) revision: u32,
    pub(super) token: String,
    /// How long the revision is, once what is under way has arrived.
    pub(super) len: u64,
}

impl Claim {
    /// The owner as of now.
    pub(super) fn owner(&self, now: Millis) -> Owner {
        owner(&self.token, now)
    }

    /// A write that does nothing but say whose the revision is: it fails where it is somebody else's.
    pub(super) fn renewal(&self, now: Millis) -> Write {
        Write::Extend {
            source: self.source,
            revision: self.revision,
            owner: self.owner(now),
            from: self.len,
            chunks: Vec::new(),
            erased: Vec::new(),
        }
    }
}

fn owner(token: &str, now: Millis) -> Owner {
    Owner { token: token.to_owned(), until: Millis(now.0.saturating_add(IMPORT_LEASE)) }
}

/// Whether the file is locked by nobody else, and so no other import of it is alive.
pub(super) fn lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// A revision to be written.
pub(super) struct ToWrite<'a> {
    pub(super) path: &'a Path,
    pub(super) format: &'a str,
    /// The revision that grows, and its length; without one, a revision after the newest begins.
    pub(super) grow: Option<(u32, u64)>,
    /// The newest revision of the file; 0 for none.
    pub(super) newest: u32,
    /// Whether no other import of the file is alive.
    pub(super) locked: bool,
}

/// Takes a revision of a file to write it.
pub(super) async fn claim_source(engine: &Engine, revision: ToWrite<'_>) -> Result<Claim, Error> {
    let ToWrite { path, format, grow, newest, locked } = revision;
    let handle = source_handle(engine, path);
    let token: String = random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let begin = match grow {
        Some((revision, len)) => Begin::Grow { revision, len },
        None => Begin::New {
            after: newest,
            handle: codec::revision_handle(&engine.tenant.key, handle, newest + 1),
        },
    };
    let write = Write::Source {
        tenant: engine.tenant.no,
        key: path.to_string_lossy().into_owned(),
        handle,
        format: format.to_owned(),
        begin,
        owner: owner(&token, engine.now()),
        now: engine.now(),
        takes_over: locked,
    };
    let Some(Written::Source(source, revision)) = engine.storage.commit(vec![write]).await?.pop() else {
        return Err(unexpected());
    };
    Ok(Claim { source, revision, token, len: grow.map_or(0, |(_, len)| len) })
}

/// Gives a revision back that is not whole, so that nobody has to wait for it.
pub(super) async fn give_back(engine: &Engine, claim: &Claim) {
    let Claim { source, revision, token, .. } = claim;
    let write = Write::Disown { source: *source, revision: *revision, token: token.clone() };
    // Where even that fails, the lease runs out.
    let _ = engine.storage.commit(vec![write]).await;
}
