//! A compaction before a request is sent: once, where the lane is due, and the build begins anew.

use super::reduce::Reduced;
use super::{ContextOptions, Draft};
use crate::compact::{CompactOptions, Compacted, Compactor, Outcome};
use crate::error::Error;
use crate::limits;
use crate::session::Session;
use crate::store::StoreError;
use wunderblock_core::compact::{Due, Level};
use wunderblock_core::id::LaneId;
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;

/// What has been done about a lane that is due.
#[derive(Default)]
pub(super) struct Relief {
    tried: bool,
    pub(super) compacted: Option<Box<Compacted>>,
    pub(super) due: Option<Due>,
}

impl Relief {
    /// What was done so that a request might fit, in words; it depends on the policy and on what does not fit alone.
    pub(super) fn course(&self, compactor: Option<&Compactor>) -> String {
        match compactor.filter(|compactor| !compactor.policy.is_off()) {
            None => "no policy compacts the lane".to_owned(),
            Some(compactor) if self.tried => {
                format!("a compaction by `{}` was due and could not make room", compactor.policy.name)
            }
            Some(_) => "no compaction could make room: they do not stand in the conversation".to_owned(),
        }
    }

    /// Whether a compaction may still be tried.
    pub(super) const fn is_open(&self) -> bool {
        !self.tried
    }
}

impl Session {
    /// Compacts the lane if what was built says that it is due. Whether the build is to begin anew.
    pub(super) async fn relieve(
        &self,
        options: &ContextOptions,
        (drafted, reduced): (&Result<Draft, Error>, Reduced),
        relief: &mut Relief,
    ) -> Result<bool, Error> {
        let Some(compactor) = &options.compactor else { return Ok(false) };
        let due = match drafted {
            Ok(draft) => self.is_due(compactor, &draft.sized(self.engine.now())).await?,
            // Where what cannot be left out does not fit by itself, no compaction can help.
            Err(Error::OverBudget(refusal)) => {
                let stands = |part: &&wunderblock_core::plan::Fixed| part.section != Section::Transcript;
                let fixed: Tokens = refusal.parts.iter().filter(stands).map(|part| part.cost.tokens).sum();
                let why = refusal.to_string();
                let helps = fixed < refusal.limit.tokens && !compactor.policy.is_off();
                helps.then_some(Due { level: Level::Overflow, why })
            }
            Err(_) => None,
        };
        let Some(due) = due else { return Ok(false) };
        relief.tried = true;
        let mut compactor = compactor.clone();
        if compactor.background {
            if due.level < Level::Overflow {
                relief.due = Some(due);
                return Ok(false);
            }
            // Nobody waits for a model here.
            compactor.summariser = None;
        }
        // The compaction is to find the lane as the request would: what enters it shorter goes on record first.
        let shortens = !reduced.events.is_empty();
        if shortens {
            match self.engine.append(&self.id, Some(reduced.through), reduced.events).await {
                // Somebody else was faster, with the same or something newer.
                Ok(_) | Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let room = drafted.as_ref().map_or(Tokens::ZERO, |draft| {
            let sized = draft.sized(self.engine.now());
            sized.limit.saturating_sub(sized.tokens)
        });
        let lane = options.lane.clone().unwrap_or_else(LaneId::main);
        // What a person would wait for, no model would be paid for, and there is room for.
        let sweeps = compactor.summariser.is_none()
            && self.info().await?.text <= limits::SWEEP_AT_ONCE
            && !self.is_short_of(&lane, room).await?;
        let wanted = CompactOptions {
            context: ContextOptions { compactor: None, ..options.clone() },
            compactor,
            due: Some(due),
            focus: None,
            dry_run: false,
            sweep: sweeps,
            progress: None,
        };
        let compacted = self.compact(&wanted).await?;
        let again = shortens || compacted.outcome == Outcome::Compacted;
        relief.compacted = Some(Box::new(compacted));
        Ok(again)
    }
}
