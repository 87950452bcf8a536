//! What is written to stdout and stderr.

use crate::args::Global;
use crate::exit::Failure;
use crate::terminal::clean_json;
use std::io::Write;

/// One JSON value on a line of stdout.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{}", clean_json(&value.to_string()))?;
    Ok(())
}

/// A text on stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// A word to the person, on stderr.
pub(crate) fn say(global: &Global, text: &str) {
    if !global.quiet {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// A point in time for people, by the clock on their wall.
pub(crate) fn time(at: wunderblock_core::units::Millis) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) if at.0 > 0 => {
            time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
        }
        _ => "—".to_owned(),
    }
}

/// A report on a line of stdout.
pub(crate) fn print_report(report: &impl serde::Serialize) -> Result<(), Failure> {
    print_json(&serde_json::to_value(report)?)
}
