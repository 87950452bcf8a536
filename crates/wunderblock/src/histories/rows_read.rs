//! What is remembered of a reading of a session in a database.

use serde::{Deserialize, Serialize};

/// What is remembered of a reading, so that the next one reads only what has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowsRead {
    /// Latest update of a row, in milliseconds since 1970.
    pub(crate) updated: i64,
    /// Rows that were created or updated before: the number and the sum of creation times of messages, and of parts.
    pub(crate) before: [(i64, i64); 2],
    /// Members with a row of that update: the id of the message, or `None` for the session, and the checksum of the
    /// line.
    pub(crate) latest: Vec<(Option<String>, i64)>,
}
