//! `sessions`: what there is.

use super::{print, print_json, time};
use crate::args::{Global, Sessions};
use crate::exit::Failure;
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock_core::stub::grouped;

pub(crate) async fn run(
    global: &Global,
    settings: &Settings,
    wanted: &Sessions,
) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    let streams = engine.streams(&wanted.prefix, wanted.limit).await?;
    if global.json {
        for info in &streams {
            print_json(&json!({
                "session": info.id.as_str(),
                "head": info.head.0,
                "messages": info.messages,
                "text_bytes": info.text.0,
                "opened_at": info.opened_at.0,
                "updated_at": info.updated_at.0,
                "forked_from": info.fork.as_ref().map(|(parent, at)| json!({ "session": parent.as_str(), "at_seq": at.0 })),
                "parent": info.parent.as_ref().map(|parent| parent.as_str()),
                "imported": info.source.is_some(),
                "indexed": info.indexed.0,
            }))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if streams.is_empty() {
        print("no sessions; `wunderblock import PATH` adds a transcript\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    for info in &streams {
        let mut from = String::new();
        if let Some((parent, at)) = &info.fork {
            from = format!("  fork of {} at {at}", clean(parent.as_str()));
        } else if let Some(parent) = &info.parent {
            from = format!("  sub-agent of {}", clean(parent.as_str()));
        }
        out.push_str(&format!(
            "{}  {:>7} messages  {:>12} bytes  {}{from}\n",
            time(info.updated_at),
            grouped(info.messages),
            grouped(info.text.0),
            clean(info.id.as_str()),
        ));
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}
