//! Names of memories and of proposals.

use crate::base::error::Error;
use std::fmt;
use std::str::FromStr;
use wunderblock_core::id::Handle;
use wunderblock_core::units::Seq;

/// Number of hexadecimal digits of the log in a name.
const DIGITS: usize = 6;

/// Name of a memory, or of a proposal: the first digits of the handle of its log, and its position there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(into = "String")]
pub struct MemoryName {
    /// First digits of the handle of the log.
    pub(super) log: String,
    /// Position in the log.
    pub(super) seq: Seq,
}

impl MemoryName {
    pub(super) fn new(log: Handle, seq: Seq) -> Self {
        let mut digits = format!("{:016x}", log.0);
        digits.truncate(DIGITS);
        Self { log: digits, seq }
    }

    /// Returns whether a log has the name's digits.
    pub(super) fn is_in(&self, log: Handle) -> bool {
        format!("{:016x}", log.0).starts_with(&self.log)
    }
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.log, self.seq)
    }
}

impl From<MemoryName> for String {
    fn from(name: MemoryName) -> Self {
        name.to_string()
    }
}

impl FromStr for MemoryName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::NoMemory(text.to_owned());
        let (log, seq) = text.trim().split_once('-').ok_or_else(wrong)?;
        let is_hex = !log.is_empty() && log.len() <= 16 && log.bytes().all(|byte| byte.is_ascii_hexdigit());
        let seq = seq.parse().ok().filter(|_| is_hex).ok_or_else(wrong)?;
        Ok(Self { log: log.to_ascii_lowercase(), seq: Seq(seq) })
    }
}
