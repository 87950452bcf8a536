//! What requests are for, without building one: the model, its budget, its prices.

use super::decide::fixed;
use super::target::Target;
use super::{ContextOptions, model_line};
use crate::catalog::Row;
use crate::error::Error;
use crate::gauge::Scales;
use crate::session::Session;
use wunderblock_core::budget::Budget;
use wunderblock_core::id::LaneId;
use wunderblock_core::line::Line;
use wunderblock_core::plan::Fixed;
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;
use wunderblock_core::view::View;

/// What a lane's requests are for.
pub(crate) struct Aim {
    target: Target,
    /// What is not fixed takes at most so much.
    pub(crate) transcript: Tokens,
}

impl Session {
    /// What a lane's requests are for.
    pub(crate) async fn aim(&self, lane: &LaneId, options: &ContextOptions) -> Result<Aim, Error> {
        let (_, target) = self.fitting(lane, options).await?;
        let transcript = options.shares.most(Section::Transcript, target.budget.limit().tokens);
        Ok(Aim { target, transcript })
    }
}

impl Aim {
    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        &self.target.model
    }

    /// What is known of the model.
    pub(crate) fn row(&self) -> &Row {
        &self.target.row
    }

    /// What must fit.
    pub(crate) fn budget(&self) -> Budget {
        self.target.budget
    }

    /// A gauge that knows no bodies yet.
    pub(crate) fn scales(&self) -> Scales {
        Scales::new(self.target.row.counter(), self.target.dialect)
    }

    /// What a request says of its model, and what that costs.
    pub(crate) fn line(&self, gauge: &Scales) -> Line {
        model_line(&self.target, gauge)
    }

    /// What a request of a view holds whatever is left out of the conversation.
    pub(crate) fn fixed(&self, view: &View, gauge: &Scales) -> Vec<Fixed> {
        fixed(self.line(gauge), view, gauge)
    }
}
