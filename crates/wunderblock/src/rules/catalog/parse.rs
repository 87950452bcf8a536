//! Parses a catalog in TOML, fills in defaults, and checks the result.

use super::price::{Long, MicroDollars, Price, Rates};
use super::{CacheMode, CacheRule, CatalogError, ModelRow};
use crate::rules::tokens::{Family, Vocabulary};
use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Bytes, Millis, Tokens};

const DAY: i64 = 86_400_000;

/// Maximum plausible price in dollars per million tokens. A higher price is a mistake in the file.
const DEAREST: f64 = 1_000_000.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    #[serde(default)]
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    family: Family,
    tokenizer: Tokenizer,
    dialect: WireDialect,
    max_bytes: u64,
    #[serde(default)]
    cache: Cache,
    models: Vec<ModelToml>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelToml {
    name: Spanned<String>,
    window: u64,
    max_output: u64,
    max_input: Option<u64>,
    dialect: Option<WireDialect>,
    #[serde(default)]
    cache: Cache,
    #[serde(default)]
    prices: Vec<Dated>,
}

/// Cache settings of a group, or the settings in which a model differs from its group.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cache {
    mode: Option<CacheMode>,
    minimum: Option<u64>,
    step: Option<u64>,
    lifetime: Option<u64>,
    long_lifetime: Option<u64>,
    lost_after: Option<u64>,
}

/// Prices from a given day on, in dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dated {
    since: String,
    input: f64,
    cached: Option<f64>,
    write: Option<f64>,
    write_long: Option<f64>,
    output: f64,
    long: Option<Above>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Above {
    above: u64,
    input: f64,
    cached: Option<f64>,
    write: Option<f64>,
    write_long: Option<f64>,
    output: f64,
}

#[derive(Deserialize)]
enum Tokenizer {
    #[serde(rename = "o200k")]
    O200k,
    #[serde(rename = "cl100k")]
    Cl100k,
    #[serde(rename = "none")]
    None,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireDialect {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
}

/// Reads all rows of a catalog.
pub(super) fn parse(text: &str) -> Result<Vec<ModelRow>, CatalogError> {
    let file: CatalogFile = toml::from_str(text)?;
    let mut rows = Vec::new();
    for group in &file.group {
        for model in &group.models {
            let row = row(group, model).map_err(|what| CatalogError::Row {
                name: model.name.get_ref().clone(),
                line: line_of(text, model.name.span().start),
                what,
            })?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn row(group: &Group, model: &ModelToml) -> Result<ModelRow, String> {
    let name = model.name.get_ref();
    let stars = name.matches('*').count();
    if name.is_empty() || (stars > 0 && (stars > 1 || !name.ends_with('*'))) {
        return Err("`name` must be a model's name, or a prefix with one `*` at the end".to_owned());
    }
    let sizes = [model.window, model.max_output, group.max_bytes, model.max_input.unwrap_or(1)];
    if sizes.contains(&0) {
        return Err("`window`, `max_input`, `max_output` and `max_bytes` must be above 0".to_owned());
    }
    if model.max_input.is_some_and(|input| input > model.window) {
        return Err("`max_input` must not exceed `window`".to_owned());
    }
    if model.max_output > model.window {
        return Err("`max_output` must not exceed `window`".to_owned());
    }
    let cache = cache(&group.cache, &model.cache, model.window)?;
    let prices = prices(&model.prices, cache)?;
    Ok(ModelRow {
        name: name.to_ascii_lowercase().into(),
        family: group.family,
        vocabulary: match group.tokenizer {
            Tokenizer::O200k => Some(Vocabulary::O200k),
            Tokenizer::Cl100k => Some(Vocabulary::Cl100k),
            Tokenizer::None => None,
        },
        window: Tokens(model.window),
        max_input: model.max_input.map(Tokens),
        max_output: Tokens(model.max_output),
        dialect: match model.dialect.unwrap_or(group.dialect) {
            WireDialect::Anthropic => Dialect::Anthropic,
            WireDialect::OpenaiChat => Dialect::OpenaiChat,
            WireDialect::OpenaiResponses => Dialect::OpenaiResponses,
            WireDialect::Gemini => Dialect::Gemini,
        },
        max_bytes: Bytes(group.max_bytes),
        cache,
        prices,
    })
}

fn cache(group: &Cache, own: &Cache, window: u64) -> Result<CacheRule, String> {
    let mode = own.mode.or(group.mode).unwrap_or(CacheMode::None);
    let seconds = |own: Option<u64>, group: Option<u64>| {
        own.or(group).map(|seconds| Millis(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000)))
    };
    let long_lifetime = seconds(own.long_lifetime, group.long_lifetime);
    let given = [own.minimum, own.step, own.lifetime, own.long_lifetime, own.lost_after];
    if mode == CacheMode::None {
        // Inherited settings do not count here: a model without a cache may be in a group with one.
        return if given.iter().any(Option::is_some) {
            Err("a cache with mode `none` must have no other fields".to_owned())
        } else {
            Ok(CacheRule::NONE)
        };
    }
    let (Some(minimum), Some(lifetime)) =
        (own.minimum.or(group.minimum), seconds(own.lifetime, group.lifetime))
    else {
        return Err("missing `minimum` or `lifetime` of a cache".to_owned());
    };
    let step = own.step.or(group.step).unwrap_or(1);
    if step == 0 || lifetime.0 == 0 {
        return Err("`step` and `lifetime` of a cache must be above 0".to_owned());
    }
    if minimum > window {
        return Err(format!("the cache's `minimum` of {minimum} must not exceed the `window` of {window}"));
    }
    if long_lifetime.is_some_and(|long| long <= lifetime) {
        return Err("the cache's `long_lifetime` must be longer than its `lifetime`".to_owned());
    }
    let lost_after = seconds(own.lost_after, group.lost_after).unwrap_or(lifetime);
    if lost_after < lifetime {
        return Err("the cache's `lost_after` must be at least its `lifetime`".to_owned());
    }
    Ok(CacheRule { mode, minimum: Tokens(minimum), step: Tokens(step), lifetime, long_lifetime, lost_after })
}

fn prices(dated: &[Dated], cache: CacheRule) -> Result<Vec<Price>, String> {
    let mut prices: Vec<Price> = Vec::with_capacity(dated.len());
    for price in dated {
        let since = day(&price.since)
            .ok_or_else(|| format!("invalid `since`: `{}` must be a day, written YYYY-MM-DD", price.since))?;
        if prices.last().is_some_and(|before| before.since >= since) {
            return Err(format!(
                "prices must be in the order of their days: `{}` is not after the day before it",
                price.since
            ));
        }
        if cache.mode != CacheMode::None && price.cached.is_none() {
            return Err(format!("missing `cached` in the price since `{}`", price.since));
        }
        if cache.mode == CacheMode::Explicit && price.write.is_none() {
            return Err(format!("missing `write` in the price since `{}`", price.since));
        }
        let Dated { input, cached, write, write_long, output, .. } = *price;
        let own = rates([Some(input), cached, write, write_long, Some(output)])?;
        let long = price.long.as_ref().map(|long| {
            let Above { above, input, cached, write, write_long, output } = *long;
            let complete = cached.is_some() == price.cached.is_some()
                && write.is_some() == price.write.is_some()
                && write_long.is_some() == price.write_long.is_some();
            if above == 0 || !complete {
                return Err(format!(
                    "invalid `long` in the price since `{}`: `above` must be above 0, and the fields must be those of the price",
                    price.since
                ));
            }
            let rates = rates([Some(input), cached, write, write_long, Some(output)])?;
            Ok(Long { above: Tokens(above), rates })
        });
        prices.push(Price { since, rates: own, long: long.transpose()? });
    }
    Ok(prices)
}

/// Converts the prices of input, cached, write, write_long and output from dollars.
fn rates(dollars: [Option<f64>; 5]) -> Result<Rates, String> {
    let [input, cached, write, write_long, output] = dollars;
    let input = micro(input.unwrap_or_default())?;
    let or_input = |dollars: Option<f64>| dollars.map_or(Ok(input), micro);
    Ok(Rates {
        input,
        cached: or_input(cached)?,
        write: or_input(write)?,
        write_long: write_long.map(micro).transpose()?,
        output: micro(output.unwrap_or_default())?,
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn micro(dollars: f64) -> Result<MicroDollars, String> {
    if !(0.0..=DEAREST).contains(&dollars) {
        return Err(format!("a price of {dollars} dollars must be from 0 to {DEAREST}"));
    }
    let micro = dollars * 1e6;
    if (micro - micro.round()).abs() > 1e-3 {
        return Err(format!("a price of {dollars} dollars has more than six decimals"));
    }
    Ok(MicroDollars(micro.round() as u64))
}

/// Returns the start of a day in UTC. The day is written `YYYY-MM-DD` and belongs to the Gregorian calendar.
fn day(text: &str) -> Option<Millis> {
    let Datetime { date: Some(date), time: None, .. } = text.parse().ok()? else { return None };
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    // Years are counted from March, so that the leap day is the last day of its year.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(Millis((days + (month * 306 + 5) / 10 + day - 1 - 719_468) * DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let table = [
            ("1970-01-01", Some(0)),
            ("1970-01-02", Some(1)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("2000-03-01", Some(11_017)),
            ("2026-11-21", Some(20_778)),
            ("2100-02-29", None),
            ("2026-02-29", None),
            ("2026-04-31", None),
            ("2026-13-01", None),
            ("2026-00-10", None),
            ("2026-1-1", None),
            ("2026-11-2", None),
            ("21.11.2026", None),
            ("+026-11-21", None),
            ("2026-11-21T00:00", None),
            ("", None),
            ("2026-1é-1", None),
        ];
        for (text, days) in table {
            assert_eq!(day(text), days.map(|days: i64| Millis(days * DAY)), "{text}");
        }
    }

    #[test]
    fn prices_are_read_to_the_micro_dollar() {
        let table = [
            (0.0, 0),
            (0.0028, 2800),
            (0.003_625, 3625),
            (0.075, 75_000),
            (6.25, 6_250_000),
            (600.0, 600_000_000),
        ];
        for (dollars, expected) in table {
            assert_eq!(micro(dollars), Ok(MicroDollars(expected)));
        }
    }
}
