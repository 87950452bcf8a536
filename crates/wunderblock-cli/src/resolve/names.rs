//! Names for people: short ids and places.

use crate::drawing::terminal::clean;
use crate::output::exit::Failure;
use std::fmt::Display;
use wunderblock::{Engine, Session, ShortIds};
use wunderblock_core::id::StreamId;

/// Short forms of ids, unique in the ledger at this moment.
#[derive(Default)]
pub(crate) struct Names(ShortIds);

impl Names {
    /// Reads the ids of all sessions.
    pub(crate) async fn all(engine: &Engine) -> Result<Self, Failure> {
        let streams = engine.streams("", u64::from(u32::MAX)).await?;
        Ok(Self(ShortIds::among(streams.iter().map(|info| &info.id))))
    }

    /// The short form of an id.
    pub(crate) fn short(&self, id: &StreamId) -> String {
        clean(&self.0.short(id))
    }

    /// Formats a place in a session as people read and type it, for example: `7478b9f5~3#865`.
    pub(crate) fn place(&self, id: &StreamId, position: impl Display) -> String {
        format!("{}#{position}", self.short(id))
    }
}

/// Formats an address for people: positions of a session by its short id, anything else by its handle.
pub(crate) fn placed(session: &str, address: &str) -> String {
    let positions = address.split_once('#').map(|(_, place)| place);
    let positions = positions.filter(|place| place.starts_with(|c: char| c.is_ascii_digit()));
    positions.map_or_else(|| address.to_owned(), |place| format!("{session}#{place}"))
}

/// Returns the short form of a session's id. Only ids with the same beginning are read.
pub(crate) async fn short(session: &Session) -> Result<String, Failure> {
    Ok(Names(session.engine().ledger().short_ids(session.id()).await?).short(session.id()))
}
