//! A message for a person while an erasure waits.

use crate::args::Global;
use crate::output::console::say;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use wunderblock::Engine;

/// Prints a message if the engine waits for another process to stop reading the ledger.
pub(crate) struct Waiting(Option<(Sender<()>, std::thread::JoinHandle<()>)>);

impl Waiting {
    pub(crate) fn begin(global: &Global, engine: &Engine) -> Self {
        let (engine, global) = (engine.clone(), global.clone());
        let (end, ended) = channel::<()>();
        let told = std::thread::Builder::new().name("waiting".to_owned()).spawn(move || {
            // The message appears only after half a second of continuous waiting.
            let step = Duration::from_millis(100);
            let mut waited = 0;
            while waited < 5 && ended.recv_timeout(step) == Err(RecvTimeoutError::Timeout) {
                waited = if engine.ledger().is_waiting() { waited + 1 } else { 0 };
            }
            if waited == 5 {
                say(&global, "another process is reading the ledger: waiting up to 10 s for it");
            }
        });
        Self(told.ok().map(|thread| (end, thread)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
