//! `search`: what was said, best first.

use crate::args::{Global, Search};
use crate::columns::{fit, wrap};
use crate::console::{answer, say, time};
use crate::exit::{Exit, FAILED};
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, width};
use std::io::IsTerminal;
use std::process::ExitCode;
use wunderblock::{SearchOptions, SearchOrder};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Search) -> Exit {
    let engine = settings.either().await?;
    let session = match &wanted.session {
        Some(text) => Some(crate::lookup::known_session(&engine, global, text).await?.id().clone()),
        None => None,
    };
    let order = if wanted.newest { SearchOrder::Newest } else { SearchOrder::Ranked };
    let options = SearchOptions { session, order, limit: wanted.limit, ..SearchOptions::default() };
    let found = engine.search(&wanted.query.join(" "), &options).await?;
    if found.scanned > 0 {
        say(global, &format!("{} events are not indexed yet and were scanned", found.scanned));
    }
    let paint = Paint::stdout();
    for hit in &found.hits {
        answer(global, hit, || {
            format!(
                "{} {}  {}\n{}",
                paint.bold(&clean(hit.session.as_str())),
                paint.bold(&hit.seq.to_string()),
                paint.dim(&time(hit.at)),
                wrap(&fit(&clean(&hit.snippet), (width() - 4) * 3), width(), 4)
            )
        })?;
    }
    match found.hits.first() {
        Some(hit) if std::io::stdout().is_terminal() && !global.json => {
            let session = clean(hit.session.as_str());
            say(global, &format!("\nwunderblock show {session} --at {} shows the first", hit.seq));
        }
        Some(_) => {}
        None => say(global, "nothing found; grep looks for exact text, secrets included"),
    }
    Ok(if found.hits.is_empty() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
