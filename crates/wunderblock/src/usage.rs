//! What a session's recorded usage says of one model.

use crate::drive::{context_job, run_build};
use crate::future::BoxFuture;
use crate::request::build::Build;
use crate::request::options::ContextOptions;
use crate::session::Session;
use wunderblock_core::message::{MessageOrigin, Role};
use wunderblock_core::usage::{Anchor, Calibration};
use wunderblock_core::view::View;

/// What a session's recorded usage says of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The model, as it was asked for or as the transcript names it.
    pub model: String,
    /// The newest size of the context by the provider's own count, and what has come since by our estimate; none if
    /// nothing of this model was measured since the context was last made anew.
    pub anchor: Option<Anchor>,
    /// What our estimates of its texts are multiplied by; none while too little is recorded, and for a model whose own
    /// vocabulary is part of the program.
    pub calibration: Option<Calibration>,
}

impl Session {
    /// What recorded usage says of the model the options name, else of the transcript's last one, in the options' lane and
    /// as of their position. `None` if there is no such model.
    ///
    /// # Errors
    /// When there is no such session, or the ledger cannot be used.
    pub fn usage<'a>(&'a self, options: &'a ContextOptions) -> BoxFuture<'a, Option<Usage>> {
        Box::pin(async move {
            let weighed = run_build(self, Build::weighed(context_job(self, options))).await??;
            let named = options.model.is_some() || names_model(&weighed.snapshot.view);
            let anchor = weighed.anchor(&self.engine.config.catalog);
            let (model, calibration) = (weighed.target.model, weighed.calibration);
            Ok(named.then_some(Usage { model, anchor, calibration }))
        })
    }
}

/// Whether an assistant's message in a view names the model that said it.
fn names_model(view: &View) -> bool {
    let mut said = view.entries().map(|entry| &entry.message);
    said.any(|said| {
        said.role == Role::Assistant && said.standing == MessageOrigin::Said && said.model.is_some()
    })
}
