//! `restore`: a backup in the ledger's place.

use crate::args::{Global, Restore};
use crate::columns::plural;
use crate::console::{print, print_report};
use crate::exit::Failure;
use crate::settings::Settings;
use crate::terminal::clean;
use std::process::ExitCode;
use wunderblock::Ledger;
use wunderblock::report::RestoreReport;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Restore) -> Result<ExitCode, Failure> {
    let done = Ledger::restore(&wanted.from, &settings.db, wanted.replace, settings.config()).await?;
    if global.json {
        print_report(&RestoreReport { path: &settings.db, restored: &done })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!("restored {}\n", clean(&settings.db.to_string_lossy()));
    if let Some(kept) = &done.kept {
        out.push_str(&format!("the ledger that was there is now {}\n", clean(&kept.to_string_lossy())));
    }
    if done.erased_again > 0 {
        let events = plural(done.erased_again, "event has", "events have");
        out.push_str(&format!("{events} been erased again, as since the backup\n"));
    }
    if done.erasures_unread {
        out.push_str(
            "the ledger that was there is damaged and cannot tell all that was erased from it: erase that again\n",
        );
    }
    out.push_str("other copies of the backup keep what was erased: no erasure reaches them\n");
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}
