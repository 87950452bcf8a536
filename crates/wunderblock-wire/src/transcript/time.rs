//! Points in time as transcripts write them.

use super::object::{Object, string};
use serde_json::value::RawValue;
use wunderblock_core::units::Millis;

/// The largest number taken as seconds rather than milliseconds: the year 5138 in seconds, 1973 in milliseconds.
const MAX_SECONDS: f64 = 1e11;

/// The time a field holds: RFC 3339 text, or seconds or milliseconds since 1970 as a number or digits.
pub(crate) fn field(object: &Object<'_>, key: &str) -> Option<Millis> {
    object.get(key).and_then(value)
}

/// The time a value says; see [`field`].
pub(crate) fn value(value: &RawValue) -> Option<Millis> {
    match string(value) {
        Some(text) => rfc3339(&text).or_else(|| number(&text)),
        None => number(value.get()),
    }
}

fn number(text: &str) -> Option<Millis> {
    let number: f64 = text.parse().ok()?;
    if !(0.0..=MAX_SECONDS * 1e6).contains(&number) {
        return None;
    }
    let millis = if number <= MAX_SECONDS {
        number * 1e3
    } else if number <= MAX_SECONDS * 1e3 {
        number
    } else {
        number / 1e3
    };
    Some(Millis(millis.round() as i64))
}

/// Reads `YYYY-MM-DD[T ]HH:MM:SS[.fraction][Z|±HH[:]MM]`. A time without an offset is taken as UTC.
pub(crate) fn rfc3339(text: &str) -> Option<Millis> {
    let text = text.trim();
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let punctuated = byte(4) == Some(b'-')
        && byte(7) == Some(b'-')
        && matches!(byte(10), Some(b'T' | b't' | b' '))
        && byte(13) == Some(b':')
        && byte(16) == Some(b':');
    if !punctuated {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let (millis, zone) = fraction(text.get(19..)?)?;
    let offset = offset_minutes(zone)?;
    let minutes = days_since_1970(year, month, day) * 1440 + hour * 60 + minute - offset;
    Some(Millis((minutes * 60 + second) * 1000 + millis))
}

/// Milliseconds of a `.123456` at the beginning, and what follows it.
fn fraction(rest: &str) -> Option<(i64, &str)> {
    let Some(fraction) = rest.strip_prefix(['.', ',']) else { return Some((0, rest)) };
    let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
    let (digits, zone) = fraction.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let three: String = digits.chars().chain("00".chars()).take(3).collect();
    Some((three.parse().ok()?, zone))
}

fn offset_minutes(zone: &str) -> Option<i64> {
    let zone = zone.trim();
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = zone.chars().skip(1).filter(|c| *c != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    Some(sign * (number / 100 * 60 + number % 100))
}

/// Days of the proleptic Gregorian calendar; years are counted from March so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (month * 306 + 5) / 10 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form_seen() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:00:00.5Z", Some(951_825_600_500)),
            ("2024-08-05 19:33:02", Some(1_722_886_382_000)),
            ("2024-08-05T21:33:02.123456+02:00", Some(1_722_886_382_123)),
            ("2024-08-05T21:33:02,12+0200", Some(1_722_886_382_120)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2024-13-05T00:00:00Z", None),
            ("[trimmed for fixture]", None),
            ("2024-08-05T19:33:02 nonsense", None),
        ] {
            assert_eq!(rfc3339(text).map(|at| at.0), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds_by_their_size() {
        for (json, expected) in [
            ("1722886382", Some(1_722_886_382_000)),
            ("1722886382.25", Some(1_722_886_382_250)),
            ("1722886382123", Some(1_722_886_382_123)),
            ("\"1722886382123\"", Some(1_722_886_382_123)),
            ("1722886382123000", Some(1_722_886_382_123)),
            ("-5", None),
            ("1e300", None),
            ("{}", None),
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(value(raw).map(|at| at.0), expected, "{json}");
        }
    }
}
