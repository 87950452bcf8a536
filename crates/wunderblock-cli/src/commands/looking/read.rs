//! `read`: prints exactly the bytes that a handle names.

use crate::args::{Global, Read};
use crate::drawing::terminal::write_bytes;
use crate::output::console::{print_report, say};
use crate::output::exit::Exit;
use crate::resolve::lookup::lookup;
use crate::resolve::typed::range;
use std::process::ExitCode;
use wunderblock::Slice;
use wunderblock::report::ContentReport;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Read) -> Exit {
    let engine = settings.read_only().await?;
    let (address, named) = lookup(global).address(&engine, &wanted.handle).await?;
    let slice = if let Some(place) = &wanted.place {
        place.parse()?
    } else if let Some(lines) = &wanted.lines {
        let (from, to) = range(lines)?;
        Slice::Lines(from, to)
    } else if let Some(bytes) = &wanted.bytes {
        let (from, to) = range(bytes)?;
        Slice::Bytes(from, to)
    } else if let Some(path) = &wanted.json_path {
        Slice::JsonPath(path.clone())
    } else if let Some(pattern) = &wanted.grep {
        Slice::Grep { pattern: pattern.clone(), regex: wanted.regex }
    } else {
        wanted.page.map_or(named, Slice::Page)
    };
    let content = engine.recall().read(address, &slice).await?;
    if global.json {
        print_report(&ContentReport::new(&wanted.handle, &content))?;
        return Ok(ExitCode::SUCCESS);
    }
    write_bytes(&content.bytes)?;
    if let Some((page, pages)) = content.page.filter(|(_, pages)| *pages > 1) {
        say(global, &format!("page {page} of {pages}"));
    }
    Ok(ExitCode::SUCCESS)
}
