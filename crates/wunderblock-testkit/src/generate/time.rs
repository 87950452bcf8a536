//! Points in time as text.

use jiff::Timestamp;

/// Earliest start of a generated session, in milliseconds since 1970: 2025-10-01T00:00:00Z.
pub(super) const BEGIN: u64 = 1_759_276_800_000;

/// Formats a time in the form `2025-10-01T08:30:00.123Z`.
pub(super) fn iso(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let cases = [
            (BEGIN, "2025-10-01T00:00:00.000Z"),
            (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (1_835_395_445_006, "2028-02-29T00:04:05.006Z"),
        ];
        for (millis, expected) in cases {
            assert_eq!(iso(millis), expected);
        }
    }
}
