//! Providers of state: whoever knows something about the work that no event holds, and is asked at each build.

use crate::process;
use std::path::PathBuf;
use std::sync::Arc;

/// What a provider does when it is asked: a text, or why there is none.
type ProviderFn = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Someone to ask: a callback, or a command. What is answered is recorded with the request it went into.
#[derive(Clone)]
pub struct StateProvider {
    /// The name its text goes by; a later text of the same name replaces it.
    pub name: String,
    ask: ProviderFn,
}

impl std::fmt::Debug for StateProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StateProvider {
    /// A callback.
    pub fn new(
        name: impl Into<String>,
        ask: impl Fn() -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), ask: Arc::new(ask) }
    }

    /// A command and its arguments, run without a shell in a directory. It has [`PROVIDER_TIME`] milliseconds; of what it
    /// writes to stdout, [`PROVIDER_BYTES`] count.
    ///
    /// [`PROVIDER_TIME`]: crate::limits::PROVIDER_TIME
    /// [`PROVIDER_BYTES`]: crate::limits::PROVIDER_BYTES
    #[must_use]
    pub fn command(name: impl Into<String>, command: Vec<String>, cwd: PathBuf) -> Self {
        Self::new(name, move || process::head(&command, &cwd))
    }

    /// Asks.
    ///
    /// # Errors
    /// Why there is no answer, in words.
    pub fn ask(&self) -> Result<String, String> {
        (self.ask)()
    }
}
