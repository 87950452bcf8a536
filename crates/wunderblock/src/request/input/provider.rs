//! Providers of state: they know facts about the work that no event holds, and are asked at each build.

use crate::rules::process;
use std::path::PathBuf;
use std::sync::Arc;

/// Function that answers for a provider: a text, or the reason why the provider has none.
type ProviderFn = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Provider of state: a callback or a command. The provider's answer is recorded with the request that contains it.
#[derive(Clone)]
pub struct StateProvider {
    /// Name of the provider's text. A later text with the same name replaces it.
    pub name: String,
    ask: ProviderFn,
}

impl std::fmt::Debug for StateProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

impl StateProvider {
    /// Creates a provider from a callback.
    pub fn new(
        name: impl Into<String>,
        ask: impl Fn() -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), ask: Arc::new(ask) }
    }

    /// Creates a provider from a command and its arguments; the command runs in a directory, without a shell. The
    /// command must finish within [`PROVIDER_TIME`] milliseconds, and only the first [`PROVIDER_BYTES`] bytes of its
    /// output are used.
    ///
    /// [`PROVIDER_TIME`]: crate::limits::PROVIDER_TIME
    /// [`PROVIDER_BYTES`]: crate::limits::PROVIDER_BYTES
    #[must_use]
    pub fn command(name: impl Into<String>, command: Vec<String>, cwd: PathBuf) -> Self {
        Self::new(name, move || process::head(&command, &cwd))
    }

    /// Asks the provider.
    ///
    /// # Errors
    /// Returns, in words, the reason why there is no answer.
    pub fn ask(&self) -> Result<String, String> {
        (self.ask)()
    }
}
