//! `run` where the system has neither signals nor terminals of Unix.

use crate::args::{Global, RunArgs};
use crate::output::exit::{Exit, FAILED, Failure};
use std::ffi::OsString;
use wunderblock_settings::Settings;

#[expect(clippy::unused_async, reason = "the same call as on Unix")]
pub(crate) async fn run(_: &Global, _: &Settings, _: &RunArgs) -> Exit {
    unavailable()
}

pub(crate) fn on_terminal(_: &[OsString]) -> Exit {
    unavailable()
}

fn unavailable() -> Exit {
    let text =
        "`run` needs a Unix system; `wunderblock reduce` shortens the output of a command that has ended";
    Err(Failure::Door(FAILED, text.to_owned()))
}
