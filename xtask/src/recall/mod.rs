//! Measures recall: on prompts over histories, and for questions whose evidence is known.

mod asked;
mod fit;
mod measure;
mod prompts;
mod searched;
mod sets;

use crate::program::ChoreResult;
use clap::Subcommand;
use searched::Ranking;
use std::path::PathBuf;
use wunderblock_index::{Arm, Profiles};

/// What to measure
#[derive(Subcommand)]
pub(crate) enum RecallChore {
    /// How often prompts get passages of their own project's past, and of others; each path is a file or a folder of
    /// transcripts
    Prompts {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Evidence that is found, by kind of question, and without each arm; each path is a file or a folder in LoCoMo's
    /// shape, a file of QMSum, or one of XQuAD
    Report {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Only every second file: `odd` or `even`, counted from one
        #[arg(long)]
        half: Option<sets::Half>,
        /// Leave out each arm in turn
        #[arg(long)]
        arms: bool,
        #[arg(long)]
        without: Option<LeftOut>,
        /// Other weights of both profiles, such as `similar=8`
        #[arg(long = "weight", value_parser = weight)]
        weights: Vec<Weight>,
    },
    /// Where the answers to questions of a person are among the hits of a search in the sessions of a folder
    Asked {
        /// The questions
        #[arg(long, default_value = "fixtures/recall/asked.toml")]
        questions: PathBuf,
        sessions: PathBuf,
    },
    /// Fit the weights of one profile on files in LoCoMo's shape
    Fit {
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[arg(long)]
        half: Option<sets::Half>,
        #[arg(long)]
        without: Option<LeftOut>,
        /// Fit only these arms, by name
        #[arg(long = "arm")]
        arms: Vec<String>,
    },
}

/// Another weight of an arm.
#[derive(Clone, Copy)]
pub(crate) struct Weight {
    arm: Arm,
    weight: i16,
}

fn weight(text: &str) -> Result<Weight, String> {
    let (name, weight) = text.split_once('=').ok_or("a weight is `ARM=NUMBER`")?;
    let arm = Arm::ALL.into_iter().find(|arm| arm.name() == name).ok_or(format!("unknown arm `{name}`"))?;
    Ok(Weight { arm, weight: weight.parse().map_err(|error| format!("`{weight}`: {error}"))? })
}

/// Part of the ranking that is left out.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LeftOut {
    /// Vectors
    Meaning,
}

/// Returns Markdown tables.
pub(crate) fn run(chore: &RecallChore) -> ChoreResult<String> {
    match chore {
        RecallChore::Prompts { paths } => prompts::table(paths),
        RecallChore::Report { paths, half, arms, without, weights } => {
            let left_out = if *arms { &Arm::ALL[..] } else { &[] };
            let mut by = ranking(*without);
            for Weight { arm, weight } in weights {
                by.profiles.chat.set(*arm, *weight);
                by.profiles.agent.set(*arm, *weight);
            }
            measure::report(&sets::read(paths, *half)?, &by, left_out)
        }
        RecallChore::Fit { paths, half, without, arms } => {
            let is_fitted = |arm: &Arm| arms.is_empty() || arms.iter().any(|name| name == arm.name());
            let fitted: Vec<Arm> = Arm::ALL.into_iter().filter(is_fitted).collect();
            fit::fit(&sets::read(paths, *half)?, &ranking(*without), &fitted)
        }
        RecallChore::Asked { questions, sessions } => asked::table(questions, sessions),
    }
}

fn ranking(without: Option<LeftOut>) -> Ranking {
    Ranking { profiles: Profiles::FITTED, by_meaning: without.is_none() }
}
