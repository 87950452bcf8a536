//! Rows of the catalog for the models of many replies.

use crate::rules::catalog::{Catalog, ModelRow};
use std::collections::HashMap;

/// Rows of the catalog by the name of the model. A lookup compares a name with all patterns of the catalog, and the
/// replies of a ledger name few models.
pub(super) struct ModelRows<'r> {
    catalog: &'r Catalog,
    known: HashMap<&'r str, &'r ModelRow>,
}

impl<'r> ModelRows<'r> {
    pub(super) fn new(catalog: &'r Catalog) -> Self {
        Self { catalog, known: HashMap::new() }
    }

    /// Returns the row of a model, or the default row.
    pub(super) fn of(&mut self, model: &'r str) -> &'r ModelRow {
        self.known.entry(model).or_insert_with(|| self.catalog.lookup(model).row)
    }
}
