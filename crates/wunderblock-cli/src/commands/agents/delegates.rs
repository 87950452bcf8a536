//! `agents`: the delegates, commands and skills that are defined here, and the models that they get.

mod called;
mod context;
mod list;
mod listing;
mod resolve;
mod show;
mod tree;

use crate::args::{Agents, AgentsCommand, Global};
use crate::output::exit::Exit;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Agents) -> Exit {
    match &wanted.command {
        AgentsCommand::List(wanted) => list::run(global, settings, wanted),
        AgentsCommand::Show(wanted) => show::run(global, wanted),
        AgentsCommand::Resolve(wanted) => resolve::run(global, settings, wanted).await,
        AgentsCommand::Listing(wanted) => listing::run(global, settings, wanted),
        AgentsCommand::Context(wanted) => context::run(global, settings, wanted).await,
        AgentsCommand::Tree(wanted) => tree::run(global, settings, wanted).await,
    }
}
