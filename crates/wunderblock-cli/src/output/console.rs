//! Output to stdout and stderr.

use crate::args::Global;
use crate::drawing::terminal::clean_json;
use crate::output::exit::{Exit, Failure, wrong};
use crate::output::output_file::OutputFile;
use jiff::tz::TimeZone;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Prints one JSON value on a line of stdout.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{}", clean_json(&value.to_string()))?;
    Ok(())
}

/// Prints a text to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Prints a line for people to stderr, unless `--quiet` is given.
pub(crate) fn say(global: &Global, text: &str) {
    if !global.quiet {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// Formats a point in time for people, in the local time zone.
pub(crate) fn time(at: wunderblock_core::units::Millis) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) if at.0 > 0 => time.to_zoned(zone()).strftime("%Y-%m-%d %H:%M").to_string(),
        _ => "—".to_owned(),
    }
}

/// Formats how long ago something happened, in at most eight columns.
pub(crate) fn age(at: wunderblock_core::units::Millis) -> String {
    at.ago(wunderblock_core::units::Millis(jiff::Timestamp::now().as_millisecond()))
}

/// The user's local time zone.
///
/// The default zone is read from its file. `TimeZone::system` would also search the whole time zone database for the
/// zone's name, which takes 2 ms. A zone that `TZ` names is looked up in the database.
pub(crate) fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let default = || TimeZone::tzif("", &std::fs::read("/etc/localtime").ok()?).ok();
    let zone = || std::env::var_os("TZ").map_or_else(default, |_| None);
    ZONE.get_or_init(|| zone().unwrap_or_else(TimeZone::system)).clone()
}

/// Prints a report as one JSON line on stdout.
pub(crate) fn print_report(report: &impl serde::Serialize) -> Result<(), Failure> {
    print_json(&serde_json::to_value(report)?)
}

/// Prints the result of a command: a report as JSON, or a text for people.
pub(crate) fn answer(
    global: &Global,
    report: &impl serde::Serialize,
    words: impl FnOnce() -> String,
) -> Exit {
    if global.json {
        print_report(report)?
    } else {
        print(&words())?
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks whether to go on. Without a terminal, nobody can answer, and `refusal` is the error.
pub(crate) fn is_agreed(question: &str, refusal: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(wrong(refusal.to_owned()));
    }
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{question} [Y/n] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    // An input that ends without a line is no answer.
    Ok(answer.ends_with('\n') && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

/// Writes a request to `--out`, and its report to stdout. If the request goes to stdout, the report goes to stderr.
pub(crate) fn deliver(out: Option<OutputFile>, request: &[u8], report: &str) -> Result<(), Failure> {
    let Some(out) = out else { return print(report) };
    if out.is_stdout() {
        std::io::stderr().lock().write_all(report.as_bytes())?;
        return out.finish_with(request);
    }
    out.finish_with(request)?;
    print(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_the_systems() {
        let (ours, system) = (zone(), TimeZone::system());
        for day in (0..25_000).step_by(50) {
            let time = jiff::Timestamp::from_second(day * 86_400).unwrap();
            assert_eq!(ours.to_offset(time), system.to_offset(time), "{time}");
        }
    }
}
