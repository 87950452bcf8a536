//! `search`: what was said, best first.

use super::{print, print_json, say, time};
use crate::args::{Global, Search};
use crate::exit::{FAILED, Failure};
use crate::paint::Paint;
use crate::report::fit;
use crate::settings::Settings;
use crate::terminal::{clean, width};
use serde_json::json;
use std::process::ExitCode;
use wunderblock::{SearchOptions, SearchOrder};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Search) -> Result<ExitCode, Failure> {
    let engine = settings.either().await?;
    let session = match &wanted.session {
        Some(text) => Some(super::known_session(&engine, text).await?.id().clone()),
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
        if global.json {
            print_json(&json!({
                "session": hit.session.as_str(), "seq": hit.seq.0, "at": hit.at.0, "score": hit.score,
                "matched": hit.matched, "snippet": hit.snippet,
            }))?;
        } else {
            print(&format!(
                "{}  {}\n    {}\n",
                paint.bold(&clean(&format!("{}#{}", hit.session, hit.seq))),
                paint.dim(&time(hit.at)),
                fit(&clean(&hit.snippet), (width() - 4) * 2)
            ))?;
        }
    }
    Ok(if found.hits.is_empty() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
