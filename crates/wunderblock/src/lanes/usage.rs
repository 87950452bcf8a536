//! Evaluates the usage that a session recorded for one model.

use crate::base::future::BoxFuture;
use crate::compaction::drive::run_build;
use crate::ledger::session::Session;
use crate::request::build::Build;
use crate::request::input::options::ContextOptions;
use wunderblock_core::message::{MessageOrigin, Role};
use wunderblock_core::usage::{Anchor, Calibration};
use wunderblock_core::view::View;

/// Recorded usage of one model in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Name of the model, as given in the options or in the transcript.
    pub model: String,
    /// Latest size of the context by the provider's count, plus our estimate of later entries. `None` if nothing was
    /// measured for this model since the context was last rebuilt.
    pub anchor: Option<Anchor>,
    /// Factor for our estimates of this model's texts. `None` if too little usage is recorded, or if the model's own
    /// vocabulary is part of the program.
    pub calibration: Option<Calibration>,
}

impl Session {
    /// Evaluates the recorded usage of a model for the lane and position given in the options. The model is the one
    /// given in the options, or otherwise the last one in the transcript. `None` if neither the options nor the
    /// transcript name a model.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be used.
    pub fn usage<'a>(&'a self, options: &'a ContextOptions) -> BoxFuture<'a, Option<Usage>> {
        Box::pin(async move {
            let weighed = run_build(self, Build::weighed(self.house().job(options))).await??;
            let named = options.model.is_some() || names_model(&weighed.snapshot.view);
            let anchor = weighed.anchor(&self.engine.config.catalog);
            let (model, calibration) = (weighed.target.model, weighed.calibration);
            Ok(named.then_some(Usage { model, anchor, calibration }))
        })
    }
}

/// Returns whether an assistant message in a view names its model.
fn names_model(view: &View) -> bool {
    let mut said = view.entries().map(|entry| &entry.message);
    said.any(|said| {
        said.role == Role::Assistant && said.standing == MessageOrigin::Said && said.model.is_some()
    })
}
