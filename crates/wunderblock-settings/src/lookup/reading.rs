//! Opens the ledger together with the sessions that texts refer to, for programs that only read.

use super::error::FindError;
use super::host::LookupNotice;
use super::place::{Positions, holds_many, is_transcript, split_file};
use super::{Lookup, find, place_instead};
use crate::settings::Settings;
use std::collections::HashSet;
use std::path::Path;
use wunderblock::store::StoreError;
use wunderblock::{Engine, Error, Session};

impl Lookup<'_> {
    /// Opens the ledger and the session for a program that only reads. A transcript that has not been imported, or has
    /// grown since its last import, is imported first. If the ledger cannot be written, the session is read as it was
    /// last imported.
    ///
    /// # Errors
    /// Fails if the ledger cannot be opened, or if the text refers to no session or to several.
    pub async fn reading(&self, settings: &Settings, text: &str) -> Result<(Engine, Session), FindError> {
        let reference = split_file(text);
        let (engine, session) = self.reading_file(settings, reference.file).await?;
        let session = self.conversation(session, reference).await?;
        Ok((engine, session))
    }

    /// Like [`reading`](Self::reading), but also returns the positions that follow a `#`. An id may itself contain a
    /// `#`, so the whole text is tried first.
    ///
    /// # Errors
    /// See [`reading`](Self::reading).
    pub async fn reading_at(
        &self,
        settings: &Settings,
        text: &str,
    ) -> Result<(Engine, Session, Positions), FindError> {
        let found = self.reading(settings, text).await;
        let place = place_instead(&found, text);
        let (engine, session) = match place {
            Some(place) => self.reading(settings, place.session).await?,
            None => found?,
        };
        Ok((engine, session, place.map(|place| place.range)))
    }

    /// Opens the ledger and the main session of a file, for a program that uses all its conversations.
    async fn reading_file(&self, settings: &Settings, text: &str) -> Result<(Engine, Session), FindError> {
        let path = Path::new(text);
        // A missing ledger is not an error yet: importing a transcript creates it.
        let engine = settings.read_only().await;
        if let Ok(engine) = &engine
            && let Some(session) = self.by_id(engine, text).await?
        {
            return Ok((engine.clone(), session));
        }
        if !is_transcript(path)? {
            let engine = engine?;
            let session = find(&engine, text).await?;
            return Ok((engine, session));
        }
        let known = match engine {
            Ok(engine) => {
                let found = engine.imported(path).await?;
                found.map(|(id, current)| (engine.session_by_id(id), current, engine))
            }
            Err(Error::Store(StoreError::Missing(_))) => None,
            Err(error) => return Err(error.into()),
        };
        match known {
            Some((known, true, engine)) => Ok((engine, known)),
            older => match (settings.write().await, older) {
                (Ok(engine), _) => {
                    let session = self.session_of_file(&engine, text).await?;
                    Ok((engine, session))
                }
                (Err(Error::Store(StoreError::ReadOnly | StoreError::Io(_))), Some((session, _, engine))) => {
                    self.host.tell(LookupNotice::Outdated);
                    Ok((engine, session))
                }
                (Err(error), _) => Err(error.into()),
            },
        }
    }

    /// Opens the ledger, and returns the histories that texts refer to: sessions, transcripts and folders of
    /// transcripts. Anything not in the ledger yet is imported first. If a file in a folder contains no session, the
    /// host learns that it is skipped. With `joined`, the conversations of a file are one history.
    ///
    /// # Errors
    /// Fails if the ledger cannot be opened, or if a text refers to nothing.
    pub async fn histories(
        &self,
        settings: &Settings,
        texts: &[String],
        joined: bool,
    ) -> Result<(Engine, Vec<Vec<Session>>), FindError> {
        if let [one] = texts
            && !holds_many(Path::new(one))
        {
            let (engine, session) = self.reading_file(settings, one).await?;
            let is_file = is_transcript(Path::new(one))?;
            let found =
                if is_file { wunderblock::histories(&session, joined).await? } else { vec![vec![session]] };
            return Ok((engine, found));
        }
        let engine = settings.write().await?;
        let mut found: Vec<Vec<Session>> = Vec::new();
        for text in texts {
            let path = Path::new(text);
            if !holds_many(path) {
                let session = self.session_of_file(&engine, text).await?;
                found.extend(if is_transcript(path)? {
                    wunderblock::histories(&session, joined).await?
                } else {
                    vec![vec![session]]
                });
                continue;
            }
            for file in wunderblock::transcripts(path)?.files {
                let file = file.path.to_string_lossy();
                match self.session_of_file(&engine, &file).await {
                    Ok(session) => found.extend(wunderblock::histories(&session, joined).await?),
                    Err(FindError::Engine(error)) if !matches!(error, Error::Import { .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => self.host.tell(LookupNotice::Skipped(error)),
                }
            }
        }
        // The same session may be named twice, by its id and by a file.
        let mut seen = HashSet::new();
        found.retain(|one| one.first().is_some_and(|session| seen.insert(session.id().clone())));
        Ok((engine, found))
    }
}
