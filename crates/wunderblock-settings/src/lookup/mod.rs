//! Finds the session and the place that a text refers to: an id, a short id, the path of a transcript, or a place of
//! the form `ID#12-80`.
//!
//! ```text
//! text ─► id or short id? ─► Session
//!           └► transcript? ─► imported already, or by the host ─► conversation of the file ─► Session
//! ```

mod conversation;
mod error;
mod host;
mod place;
mod reading;

pub use error::FindError;
pub use host::{Conversations, LookupHost, LookupNotice};
pub use place::{Positions, holds_many, is_place, is_transcript, range};

use place::{Place, has_ending, is_path, split_file, split_place};
use std::path::Path;
use wunderblock::{Address, Engine, Error, Session, Slice};

/// Finds sessions for a program.
#[derive(Clone, Copy)]
pub struct Lookup<'h> {
    host: &'h dyn LookupHost,
}

impl std::fmt::Debug for Lookup<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Lookup").finish_non_exhaustive()
    }
}

impl<'h> Lookup<'h> {
    /// Creates a lookup for a program, which imports transcripts and learns what a person should know.
    #[must_use]
    pub const fn new(host: &'h dyn LookupHost) -> Self {
        Self { host }
    }

    /// Returns the session that a text refers to. A transcript given by its path is imported first.
    ///
    /// # Errors
    /// Fails if the text refers to no session, or to several.
    pub async fn session(&self, engine: &Engine, text: &str) -> Result<Session, FindError> {
        let reference = split_file(text);
        let session = self.session_of_file(engine, reference.file).await?;
        self.conversation(session, reference).await
    }

    /// Like [`session`](Self::session), but also returns the positions that follow a `#`. An id may itself contain a
    /// `#`, so the whole text is tried first.
    ///
    /// # Errors
    /// See [`session`](Self::session).
    pub async fn session_at(&self, engine: &Engine, text: &str) -> Result<(Session, Positions), FindError> {
        let found = self.session(engine, text).await;
        let Some(place) = place_instead(&found, text) else { return Ok((found?, None)) };
        Ok((self.session(engine, place.session).await?, Some(place.range)))
    }

    /// Returns the session that a text refers to, without writing. A path refers to the session that was imported from
    /// it.
    ///
    /// # Errors
    /// Fails if the text refers to no session or to several, or to a transcript that has not been imported.
    pub async fn known(&self, engine: &Engine, text: &str) -> Result<Session, FindError> {
        let reference = split_file(text);
        let path = Path::new(reference.file);
        if let Some(session) = self.by_id(engine, reference.file).await? {
            return Ok(session);
        }
        if is_transcript(path)? {
            let missing = || FindError::NotImported(reference.file.to_owned());
            let (id, _) = engine.imported(path).await?.ok_or_else(missing)?;
            return self.conversation(engine.session_by_id(id), reference).await;
        }
        find(engine, reference.file).await
    }

    /// Like [`known`](Self::known), but also returns the positions that follow a `#`.
    ///
    /// # Errors
    /// See [`known`](Self::known).
    pub async fn known_at(&self, engine: &Engine, text: &str) -> Result<(Session, Positions), FindError> {
        let found = self.known(engine, text).await;
        let Some(place) = place_instead(&found, text) else { return Ok((found?, None)) };
        Ok((self.known(engine, place.session).await?, Some(place.range)))
    }

    /// Like [`known_at`](Self::known_at), but takes no beginning of an id except the short id that lists print: a
    /// mistyped id must not select another session for what cannot be undone.
    ///
    /// # Errors
    /// Fails as [`known`](Self::known), or if the text is only the beginning of an id.
    pub async fn named_at(&self, engine: &Engine, text: &str) -> Result<(Session, Positions), FindError> {
        let (session, place) = self.known_at(engine, text).await?;
        let name = if place.is_some() { split_place(text).map_or(text, |place| place.session) } else { text };
        let file = split_file(name).file;
        let is_file = is_transcript(Path::new(file))? && hidden(engine, file).await?.is_none();
        let ids = engine.ledger().short_ids(session.id()).await?;
        if is_file || ids.names(session.id(), name) {
            return Ok((session, place));
        }
        let (name, id, short) = (name.to_owned(), session.id().clone(), ids.short(session.id()));
        Err(FindError::OnlyBeginning { name, id, short })
    }

    /// Returns the address that a handle or a place of the form `SESSION#12-80` names, and the part of its text.
    ///
    /// # Errors
    /// Fails if there is nothing of that name.
    pub async fn address(&self, engine: &Engine, text: &str) -> Result<(Address, Slice), FindError> {
        match split_place(text).filter(|_| !text.starts_with("wb:")) {
            Some(place) => {
                let info = self.known(engine, place.session).await?.info().await?;
                Ok((Address { handle: info.handle, range: Some(place.range) }, Slice::All))
            }
            None => Ok(Address::find(engine, text).await?),
        }
    }

    /// Returns the address that a text names, except places within a text.
    ///
    /// # Errors
    /// Fails if there is nothing of that name, or if it is a place within a text.
    pub async fn session_address(&self, engine: &Engine, text: &str) -> Result<Address, FindError> {
        match self.address(engine, text).await? {
            (address, Slice::All) => Ok(address),
            (address, _) => {
                Err(FindError::PlaceInText { text: text.to_owned(), address: address.to_string() })
            }
        }
    }

    /// Returns the main session of a path: its latest branch, or the first of several conversations.
    async fn session_of_file(&self, engine: &Engine, text: &str) -> Result<Session, FindError> {
        let path = Path::new(text);
        if let Some(session) = self.by_id(engine, text).await? {
            return Ok(session);
        }
        if is_transcript(path)? {
            let imported = self.host.import(engine, path).await?;
            let Some(first) = imported.sessions.first() else {
                return Err(FindError::Empty(text.to_owned()));
            };
            return Ok(engine.session_by_id(first.clone()));
        }
        find(engine, text).await
    }

    /// Returns the session that hides a file of the same name, and tells of it.
    async fn by_id(&self, engine: &Engine, text: &str) -> Result<Option<Session>, FindError> {
        let session = hidden(engine, text).await?;
        if let Some(session) = &session {
            self.host.tell(LookupNotice::HidesFile { name: text, id: session.id() });
        }
        Ok(session)
    }
}

/// Returns the place to try if no session has the whole text as its id.
fn place_instead<'t, T>(found: &Result<T, FindError>, text: &'t str) -> Option<Place<'t>> {
    matches!(found, Err(FindError::Engine(Error::NoSession(_)))).then(|| split_place(text)).flatten()
}

/// If there is also a file named `text`, returns the session whose id is `text`, or the only session whose id starts
/// with it. A file in the working directory must not hide a session. A text with a separator or a leading dot is
/// always a path.
async fn hidden(engine: &Engine, text: &str) -> Result<Option<Session>, FindError> {
    if is_path(text) || !Path::new(text).metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Ok(None);
    }
    match engine.find_session(text).await {
        Ok(session) => Ok(Some(session)),
        Err(Error::NoSession(_) | Error::Ambiguous { .. } | Error::Id(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the session with a given id or short id. A text that looks like a path is treated as a path.
async fn find(engine: &Engine, text: &str) -> Result<Session, FindError> {
    engine.find_session(text).await.map_err(|error| match error {
        Error::NoSession(_) if is_path(text) || has_ending(text) => FindError::NoFile(text.to_owned()),
        error => error.into(),
    })
}

/// Compiles only if the lookups can run on a server's threads.
#[cfg(test)]
#[allow(dead_code)]
fn lookups_can_be_sent(lookup: &Lookup<'_>, engine: &Engine, settings: &crate::Settings) {
    fn sent<T: Send>(_: T) {}
    sent(lookup.session_at(engine, ""));
    sent(lookup.named_at(engine, ""));
    sent(lookup.session_address(engine, ""));
    sent(lookup.reading_at(settings, ""));
    sent(lookup.histories(settings, &[], false));
}
