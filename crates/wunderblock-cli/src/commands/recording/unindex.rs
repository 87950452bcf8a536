//! `unindex`: removes documents, so that search no longer finds them.

use crate::args::{Global, Unindex};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::{Exit, FAILED};
use std::process::ExitCode;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Unindex) -> Exit {
    let engine = settings.existing().await?;
    let mut removed = Vec::new();
    for path in &wanted.paths {
        removed.extend(engine.documents().unindex(path).await?);
    }
    let count = removed.len() as u64;
    answer(global, &serde_json::json!({ "removed": removed }), || {
        let mut out = format!("{} removed\n", plural(count, "document", "documents"));
        for document in removed.iter().filter(|_| global.verbose) {
            out.push_str(&format!("{}\n", clean(&document.path.to_string_lossy())));
        }
        out
    })?;
    Ok(if count == 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
