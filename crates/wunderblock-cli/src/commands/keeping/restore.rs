//! `restore`: replaces the ledger with a backup.

use crate::args::{Global, Restore};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::Exit;
use std::path::Path;
use wunderblock::report::RestoreReport;
use wunderblock::{Ledger, Restored};
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Restore) -> Exit {
    let done = Ledger::restore(&wanted.from, &settings.db, wanted.replace, settings.config()).await?;
    let path = &settings.db;
    answer(global, &RestoreReport { path, restored: &done }, || picture(path, &done))
}

fn picture(path: &Path, done: &Restored) -> String {
    let mut out = format!("restored {}\n", clean(&path.to_string_lossy()));
    if let Some(kept) = &done.kept {
        out.push_str(&format!("the ledger that was there is now {}\n", clean(&kept.to_string_lossy())));
    }
    if done.erased_again > 0 {
        let events = plural(done.erased_again, "event has", "events have");
        out.push_str(&format!("{events} been erased again, as since the backup\n"));
    }
    if done.erasures_unread {
        out.push_str(
            "the ledger that was there is damaged, so some of its erasures are unknown: repeat them\n",
        );
    }
    if done.erased_again > 0 || done.erasures_unread {
        out.push_str(
            "other copies of the backup still contain the erased content: no erasure reaches them\n",
        );
    }
    out
}
