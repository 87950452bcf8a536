//! Looks up sessions for the commands: shows the progress of imports and the conversations of a file, and puts what
//! went wrong into the words of this program.

use crate::args::Global;
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::say;
use crate::output::exit::{Failure, USAGE, wrong};
use crate::resolve::conversation::list;
use crate::resolve::importing::{ImportOptions, import};
use std::path::Path;
use wunderblock::{BoxFuture, Engine, Imported};
use wunderblock_core::units::Seq;
use wunderblock_settings::lookup::{Conversations, FindError, Lookup, LookupHost, LookupNotice, Positions};

/// Returns the lookup of sessions for a command.
pub(crate) fn lookup(global: &Global) -> Lookup<'_> {
    Lookup::new(global)
}

impl LookupHost for Global {
    fn import<'a>(&'a self, engine: &'a Engine, path: &'a Path) -> BoxFuture<'a, Imported> {
        Box::pin(import(self, engine, path, ImportOptions::DEFAULT))
    }

    fn list<'a>(&'a self, engine: &'a Engine, found: Conversations<'a>) -> BoxFuture<'a, ()> {
        Box::pin(list(self, engine, found))
    }

    fn tell(&self, notice: LookupNotice<'_>) {
        match notice {
            LookupNotice::HidesFile { name, id } => {
                let (name, id) = (clean(name), clean(id.as_str()));
                say(self, &format!("`{name}` is the session {id}; for the file of that name write ./{name}"));
            }
            LookupNotice::Outdated => {
                say(self, "the transcript has grown, but the ledger cannot be written: shown as imported");
            }
            LookupNotice::Skipped(error) => {
                say(self, &format!("skipped: {}", Failure::from(error).text()));
            }
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Engine(error) => error.into(),
            FindError::Empty(text) => wrong(format!("{text} contains no session")),
            FindError::NoFile(path) => Self::Door(
                USAGE,
                format!("no such file `{path}`; `wunderblock sessions` lists what is imported"),
            ),
            FindError::NotImported(text) => {
                wrong(format!("{text} has not been imported yet; `wunderblock import {text}` imports it"))
            }
            FindError::Special(path) => {
                let why = "not a file, but a pipe, a socket or a device; write its output to a file and import the file";
                wrong(format!("{}: {why}", path.display()))
            }
            FindError::NoConversation { wanted, file, count } => {
                let all = plural(count as u64, "conversation", "conversations");
                wrong(format!(
                    "unknown conversation `{wanted}`: {file} has {all}; give a number from 1 to {count}"
                ))
            }
            FindError::PlaceInText { text, address } => {
                wrong(format!("`{text}` is a place in the text {address}: read it with `wunderblock read`"))
            }
            FindError::OnlyBeginning { name, id, short } => {
                let short = clean(&short);
                let or_short = if short == id.as_str() { String::new() } else { format!(" or {short}") };
                wrong(format!(
                    "`{name}` is only the beginning of {id}: give {id}{or_short}, if you mean this session"
                ))
            }
        }
    }
}

/// Returns the single position that an option or a place gives.
pub(crate) fn one_position(option: Option<u64>, place: Positions) -> Result<Option<Seq>, Failure> {
    match (option, place) {
        (Some(_), Some(_)) => Err(wrong("give the position once: as SESSION#12, or by itself")),
        (None, Some((from, to))) if from != to => {
            Err(wrong(format!("one position is needed, and #{from}-{to} is a range; give SESSION#{to}")))
        }
        (option, place) => Ok(option.map(Seq).or(place.map(|(_, to)| to))),
    }
}
