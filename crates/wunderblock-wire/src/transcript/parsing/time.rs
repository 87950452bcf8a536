//! Timestamps in the forms that transcripts use.

use super::object::{Object, string};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde_json::value::RawValue;
use std::borrow::Cow;
use wunderblock_core::units::Millis;

/// Largest number that counts as seconds, not milliseconds: the year 5138 in seconds, 1973 in milliseconds.
const MAX_SECONDS: f64 = 1e11;

/// Returns the time in a field: RFC 3339 text, or seconds or milliseconds since 1970 as a number or digits.
pub(crate) fn field(object: &Object<'_>, key: &str) -> Option<Millis> {
    object.get(key).and_then(value)
}

/// Returns the time in a value. See [`field`].
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
    // Even larger numbers are microseconds.
    } else {
        number / 1e3
    };
    Some(Millis(millis.round() as i64))
}

/// Returns the time that a text states. Reads `YYYY-MM-DD[T ]HH:MM:SS[.fraction][Z|±HH[:]MM]`. A time without an offset is taken as UTC.
#[must_use]
pub fn rfc3339(text: &str) -> Option<Millis> {
    let text = text.trim();
    // jiff accepts more forms of ISO 8601, including bare digits, which are a number of seconds here.
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let is_extended = [4, 7].iter().all(|at| byte(*at) == Some(b'-'))
        && matches!(byte(10), Some(b'T' | b't' | b' '))
        && [13, 16].iter().all(|at| byte(*at) == Some(b':'));
    let (clock, zone) = text.split_at_checked(19).filter(|_| is_extended)?;
    // git writes a space before the offset.
    let text = match zone.split_once([' ', '\t']) {
        Some((fraction, zone)) => Cow::Owned(format!("{clock}{fraction}{}", zone.trim_start())),
        None => Cow::Borrowed(text),
    };
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
    };
    // Rounds down, also before 1970.
    Some(Millis(at.as_nanosecond().div_euclid(1_000_000).try_into().ok()?))
}

/// Returns a time as RFC 3339 text with milliseconds, in UTC. A time that has no such text becomes the beginning of
/// 1970.
#[must_use]
pub fn written_time(at: Millis) -> String {
    let time = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
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
            ("1969-12-31T23:59:59.9995Z", Some(-1)),
            ("0001-01-01T00:00:00Z", Some(-62_135_596_800_000)),
            ("9999-12-30T22:00:00Z", Some(253_402_207_200_000)),
            (" 2024-08-05t19:33:02z ", Some(1_722_886_382_000)),
            ("2024-08-05 21:33:02 +0200", Some(1_722_886_382_000)),
            ("2024-08-05 21:33:02.5 +02:00", Some(1_722_886_382_500)),
            ("2024-08-05T14:33:02.123456789-05:00", Some(1_722_886_382_123)),
            ("2024-08-05T19:33:02.1", Some(1_722_886_382_100)),
            ("2023-02-29T00:00:00Z", None),
            ("2024-08-05T25:00:00Z", None),
            ("2024-08-05T19:60:00Z", None),
            ("2024-08-05T19:33:02.Z", None),
            ("2024-08-05T19:33:02+2", None),
            ("2024-08-05T19:33", None),
            ("2024-08-05", None),
            ("20240805T193302Z", None),
            ("20240805", None),
            ("2024-08-05T19:33:0\u{0661}Z", None),
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
