//! `expand`: shows the content that a summary or a gap replaces, verbatim, page by page.

use crate::args::{Expand, Global};
use crate::drawing::terminal::write_bytes;
use crate::output::console::{print_report, say};
use crate::output::exit::{Exit, FAILED};
use crate::resolve::lookup::lookup;
use std::process::ExitCode;
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Expand) -> Exit {
    let engine = settings.read_only().await?;
    let address = lookup(global).session_address(&engine, &wanted.node).await?;
    let options = wunderblock::summary_graph::Expand {
        query: wanted.query.clone(),
        page: wanted.page,
        page_tokens: wanted.tokens,
        children: !wanted.events,
        ..wunderblock::summary_graph::Expand::default()
    };
    let page = engine.recall().expand(address, &options).await?;
    let nothing = page.matches == Some(0);
    if global.json {
        print_report(&page)?;
    } else {
        write_bytes(page.text.as_bytes())?;
    }
    if nothing {
        say(global, "nothing there has any of these words; `wunderblock search` looks for others like them");
    }
    if let Some(next) = page.next {
        let (number, pages) = (grouped(page.page), grouped(page.pages));
        say(global, &format!("page {number} of {pages}; --page {next} goes on"));
    }
    Ok(if nothing { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
