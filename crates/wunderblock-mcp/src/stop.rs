//! The end of a server: stopped from outside, or never begun.

use tokio_util::sync::CancellationToken;

/// Reason why a server could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The operating system refused a thread or a timer.
    #[error("the server cannot be started: {0}")]
    System(#[from] std::io::Error),
    /// The first message of the client began no session.
    #[error("the client began no session: {0}")]
    Protocol(String),
}

/// Stops a server from another thread, as the end of its input does.
#[derive(Clone, Debug, Default)]
pub struct Stopper(pub(crate) CancellationToken);

impl Stopper {
    /// Creates a stopper for one server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the server. Calls in progress are cancelled, and commands are ended.
    pub fn stop(&self) {
        self.0.cancel();
    }
}
