//! Settings of a command that must run whatever they hold.

use crate::args::Global;
use crate::output::console::say;
use crate::output::exit::Failure;
use wunderblock_settings::Settings;

/// Reads the settings. Without them, nothing is kept, unless the command line names the ledger and the tenant: an
/// erasure would not find what is in another ledger. A message reports that the defaults are used.
pub(crate) fn settings_or_defaults(global: &Global) -> Result<Settings, Failure> {
    let overrides = global.overrides();
    let failure = match Settings::read(&overrides) {
        Ok(settings) => return Ok(settings),
        Err(error) => Failure::from(error),
    };
    let defaults = Settings::defaults(&overrides)?;
    let text = failure.text();
    if global.db.is_some() && global.tenant.is_some() {
        say(global, &format!("wunderblock: the defaults are used, because the settings cannot be: {text}"));
        return Ok(defaults);
    }
    Ok(defaults.keeping_nothing(format!("the settings cannot be used: {text}")))
}
