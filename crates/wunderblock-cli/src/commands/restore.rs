//! `restore`: a backup in the ledger's place.

use super::{print, print_json};
use crate::args::{Global, Restore};
use crate::columns::plural;
use crate::exit::{Failure, REFUSED};
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock::Engine;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Restore) -> Result<ExitCode, Failure> {
    if !wanted.replace && settings.db.metadata().is_ok_and(|meta| meta.len() > 0) {
        let why = format!("{} is there; --replace keeps it beside the restored one", settings.db.display());
        return Err(Failure::Door(REFUSED, why));
    }
    let done = Engine::restore(&wanted.from, &settings.db, wanted.replace, settings.config()).await?;
    let kept = done.kept.as_ref().map(|path| path.to_string_lossy().into_owned());
    if global.json {
        print_json(
            &json!({ "path": settings.db.to_string_lossy(), "kept": kept, "erased_again": done.erased_again }),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("restored {}\n", clean(&settings.db.to_string_lossy()));
    if let Some(kept) = kept {
        out.push_str(&format!("the ledger that was there is now {}\n", clean(&kept)));
    }
    if done.erased_again > 0 {
        let events = plural(done.erased_again, "event has", "events have");
        out.push_str(&format!("{events} been erased again, as since the backup\n"));
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}
