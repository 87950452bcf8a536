//! The protocol: versions, messages, and their transport. Only this folder knows `rmcp`.

mod handler;
mod message;
mod transport;

use crate::ledger::Served;
use crate::stop::{ServeError, Stopper};
use handler::Handler;
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use std::io::{Read, Write};
use std::time::Duration;
use transport::LineTransport;

/// Time that calls have to end after the end of the input: a command is ended, and what it has written is stored.
const LAST: Duration = Duration::from_millis(500);

/// Serves until the input ends, or until `stopper` stops it.
pub(crate) fn serve(
    served: Served,
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    stopper: &Stopper,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let handler = Handler::new(served)?;
    let stop = stopper.0.clone();
    let done = runtime.block_on(async move {
        handler.work_when_idle();
        let transport = LineTransport::new(input, output, stop.clone())?;
        match serve_server_with_ct(handler, transport, stop).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // The client may leave, or the server may be stopped, before a session begins.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(ServeError::Protocol(error.to_string())),
        }
    });
    runtime.shutdown_timeout(LAST);
    done
}
