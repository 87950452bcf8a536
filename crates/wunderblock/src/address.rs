//! What is to be read: a handle, with a range of positions where it names a session.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use wunderblock_core::id::Handle;
use wunderblock_core::units::Seq;

/// What is to be read: a handle, for a session's with a range of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The handle.
    pub handle: Handle,
    /// Positions of a session.
    pub range: Option<(Seq, Seq)>,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range {
            None => self.handle.fmt(f),
            Some((from, to)) => f.write_str(&self.handle.range(from, to)),
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((handle, range)) = text.split_once('#') else {
            return Ok(Self { handle: text.parse()?, range: None });
        };
        let wrong = || Error::Address(format!("`{range}` is no range of positions; a range is 12 or 12-80"));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u64, u64) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
        if from > to {
            return Err(wrong());
        }
        Ok(Self { handle: handle.parse()?, range: Some((Seq(from), Seq(to))) })
    }
}
