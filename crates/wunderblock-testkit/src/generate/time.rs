//! Points in time as text.

use super::random::push_number;

/// 2025-10-01T00:00:00Z, in milliseconds since 1970: when generated sessions begin.
pub(super) const BEGIN: u64 = 1_759_276_800_000;
const BEGIN_YEAR: u64 = 2025;
const BEGIN_MONTH: u64 = 10;
const DAY: u64 = 86_400_000;

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Writes a time not before [`BEGIN`] as `2025-10-01T08:30:00.123Z`.
pub(super) fn push_iso(out: &mut String, millis: u64) {
    let since = millis.saturating_sub(BEGIN);
    let (mut days, of_day) = (since / DAY, since % DAY);
    let (mut year, mut month) = (BEGIN_YEAR, BEGIN_MONTH);
    while days >= days_in(year, month) {
        days -= days_in(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    let parts = [
        (year, 4, "-"),
        (month, 2, "-"),
        (days + 1, 2, "T"),
        (of_day / 3_600_000, 2, ":"),
        (of_day / 60_000 % 60, 2, ":"),
        (of_day / 1000 % 60, 2, "."),
        (of_day % 1000, 3, "Z"),
    ];
    for (number, width, after) in parts {
        push_number(out, number, width);
        out.push_str(after);
    }
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
            let mut out = String::new();
            push_iso(&mut out, millis);
            assert_eq!(out, expected);
        }
    }
}
