//! Who says a text, and when.

use crate::passages::traits::Traits;

/// What is known of a text besides its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Voice<'a> {
    /// Role of the speaker.
    pub role: VoiceRole,
    /// Name of the speaker, if people are told apart by their names.
    pub name: Option<&'a str>,
    /// Day on which it was said; [`Day::UNKNOWN`] if that is not known.
    pub day: Day,
}

/// Role of a speaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VoiceRole {
    /// Person who talks to a model.
    User,
    /// Model.
    Assistant,
    /// Anyone else.
    #[default]
    Other,
}

impl Voice<'_> {
    pub(crate) fn traits(&self) -> Traits {
        match self.role {
            VoiceRole::User => Traits::USER,
            VoiceRole::Assistant => Traits::ASSISTANT,
            VoiceRole::Other => Traits::NONE,
        }
    }
}

/// Number of days since 1 January 1970, which itself counts as unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

/// Milliseconds of a day.
const MILLIS: u64 = 86_400_000;

impl Day {
    /// A day that is not known.
    pub const UNKNOWN: Self = Self(0);

    /// Returns the day of a time in milliseconds since 1970, in UTC.
    #[must_use]
    pub fn of_millis(millis: u64) -> Self {
        Self(u32::try_from(millis / MILLIS).unwrap_or(u32::MAX))
    }

    /// Returns the day of a date of the Gregorian calendar. A date before 1970, or one that does not exist, is unknown.
    #[must_use]
    pub fn of_date(year: u32, month: u32, day: u32) -> Self {
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil: years begin in March.
        if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Self::UNKNOWN;
        }
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year / 400, year % 400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        let found = Self(days.saturating_sub(719_468));
        if found.date().2 == day { found } else { Self::UNKNOWN }
    }

    /// Returns the date: year, month and day of the month.
    #[must_use]
    pub fn date(self) -> (u32, u32, u32) {
        let days = u64::from(self.0) + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        (year as u32, month as u32, (of_year - (153 * shifted + 2) / 5 + 1) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (day, date) in
            [(1, (1970, 1, 2)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1)), (22_280, (2031, 1, 1))]
        {
            assert_eq!((Day(day).date(), Day::of_date(date.0, date.1, date.2)), (date, Day(day)));
        }
        assert_eq!(Day::of_millis(86_400_000 * 7 + 1), Day(7));
        for none in [(2031, 2, 30), (0, 0, 0), (1969, 12, 31), (2031, 13, 1), (u32::MAX, 1, 1)] {
            assert_eq!(Day::of_date(none.0, none.1, none.2), Day::UNKNOWN);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_day_comes_back(day in 1u32..2_900_000) {
            let (y, m, d) = Day(day).date();
            assert_eq!(Day::of_date(y, m, d), Day(day));
        }
    }
}
