//! The definitions of the last reading, as long as none of the files and folders that it looked at has changed.

use super::defined::Definitions;
use super::inputs::Inputs;
use super::places::DefinitionQuery;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Age below which a time of change does not tell whether a file has changed again: file systems count in ticks.
const TICK: Duration = Duration::from_millis(100);

/// Keeps the definitions that were read last. A process that reads definitions repeatedly keeps one cache.
#[derive(Debug, Default)]
pub struct DefinitionCache(Mutex<Option<KnownDefinitions>>);

#[derive(Debug)]
struct KnownDefinitions {
    query: DefinitionQuery,
    inputs: Inputs,
    definitions: Arc<Definitions>,
}

impl DefinitionCache {
    /// Returns the definitions of the last reading if they still hold for a query.
    pub(super) fn get(&self, query: &DefinitionQuery) -> Option<Arc<Definitions>> {
        let known = self.0.lock().ok()?;
        let known = known.as_ref().filter(|known| known.query == *query && known.inputs.are_unchanged())?;
        Some(Arc::clone(&known.definitions))
    }

    pub(super) fn keep(&self, query: &DefinitionQuery, inputs: Inputs, definitions: &Arc<Definitions>) {
        let settled = SystemTime::now().checked_sub(TICK).is_some_and(|time| inputs.are_older_than(time));
        if let (true, Ok(mut known)) = (settled, self.0.lock()) {
            let definitions = Arc::clone(definitions);
            *known = Some(KnownDefinitions { query: query.clone(), inputs, definitions });
        }
    }
}
