//! Dates that a question names.

use crate::passages::voice::Day;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Words after which `may` and `march` are months.
const BEFORE_MONTH: &[&str] = &[
    "in", "of", "since", "until", "by", "during", "last", "next", "this", "early", "late", "mid", "from",
    "between",
];
/// Maximum number of dates of a question.
const MAX_DATES: usize = 4;
/// Number of days after a day in which it is still talked about.
const AFTER_DAYS: u32 = 14;
const FULL: u16 = 1023;

/// A date, of which parts may not be named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedDate {
    year: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
}

impl NamedDate {
    /// Returns the dates of a question, in English or Chinese, or as `2031-05-08`.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        let tokens = tokens(text);
        let mut found: Vec<Self> = Vec::new();
        let mut at = 0;
        while at < tokens.len() && found.len() < MAX_DATES {
            let (date, taken) = Self::at(&tokens, at);
            found.extend(date);
            at += taken;
        }
        found
    }

    /// Returns the date at a token, and the number of tokens to go on by.
    fn at(tokens: &[Token<'_>], at: usize) -> (Option<Self>, usize) {
        let token = |offset: usize| tokens.get(at + offset).copied().unwrap_or_default();
        let (year, month, day) =
            (|n: usize| token(n).year(), |n: usize| token(n).month(), |n: usize| token(n).day());
        let is = |n: usize, words: &[&str]| words.iter().any(|word| token(n).text.eq_ignore_ascii_case(word));
        if let (Some(y), true) = (year(0), is(1, &["年"])) {
            let month = token(2).number.filter(|m| (1..=12).contains(m) && is(3, &["月"]));
            let day = month.and_then(|_| day(4)).filter(|_| is(5, &["日", "号"]));
            return (Some(Self { year: Some(y), month, day }), if month.is_some() { 4 } else { 2 });
        }
        if let (Some(m), true) = (token(0).number.filter(|m| (1..=12).contains(m)), is(1, &["月"])) {
            let day = day(2).filter(|_| is(3, &["日", "号"]));
            return (Some(Self { year: None, month: Some(m), day }), 2);
        }
        if let (Some(y), Some(m), Some(d)) = (year(0), token(2).number, day(4))
            && is(1, &["-"])
            && is(3, &["-"])
            && (1..=12).contains(&m)
        {
            return (Some(Self { year: Some(y), month: Some(m), day: Some(d) }), 5);
        }
        let skip_of = usize::from(is(1, &["of"]));
        if let (Some(d), Some(m)) = (day(0), month(1 + skip_of)) {
            let next = 2 + skip_of;
            let next = next + usize::from(is(next, &[","]));
            return (
                Some(Self { year: year(next), month: Some(m), day: Some(d) }),
                next + usize::from(year(next).is_some()),
            );
        }
        if let Some(m) = month(0) {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let named = before
                .is_some_and(|before| BEFORE_MONTH.iter().any(|word| before.text.eq_ignore_ascii_case(word)));
            let (d, next) = (day(1), usize::from(day(1).is_some()) + 1);
            let next = next + usize::from(is(next, &[","]));
            let y = year(next).or(year(1));
            // `may` and `march` are verbs, and `Jan` is a name, if nothing around them tells a date.
            if (token(0).text.len() == 3 || is(0, &["march"])) && !named && d.is_none() && y.is_none() {
                return (None, 1);
            }
            let taken =
                if year(next).is_some() { next + 1 } else { 1 + usize::from(d.or(year(1)).is_some()) };
            return (Some(Self { year: y, month: Some(m), day: d }), taken);
        }
        let is_year =
            year(0).is_some() && at.checked_sub(1).and_then(|b| tokens.get(b)).is_none_or(|b| b.text != "-");
        (year(0).filter(|_| is_year).map(|y| Self { year: Some(y), ..Self::default() }), 1)
    }

    /// Returns how well a day is the date itself: 1,023 if all that is named of the date is equal.
    pub(crate) fn equal(self, day: Day) -> u16 {
        if day == Day::UNKNOWN {
            return 0;
        }
        let (year, month, of_month) = day.date();
        let is = |named: Option<u32>, found: u32| named.is_none_or(|named| named == found);
        FULL * u16::from(is(self.year, year) && is(self.month, month) && is(self.day, of_month))
    }

    /// Returns how near a day is after the date: 1,023 within two weeks after a named day or in a named month, and half of
    /// it in the month after.
    pub(crate) fn near(self, day: Day) -> u16 {
        let (Some(named), false) = (self.month, day == Day::UNKNOWN) else { return 0 };
        let (year, month, _) = day.date();
        let from = match self.day {
            // Without a year, the last such day is meant.
            Some(of_month) => {
                let of = |year: u32| Day::of_date(year, named, of_month);
                let last = if of(year) <= day { year } else { year - 1 };
                Some(of(self.year.unwrap_or(last)))
            }
            None => None,
        };
        if let Some(from) = from {
            let is_near = from != Day::UNKNOWN && day >= from && day.0 - from.0 <= AFTER_DAYS;
            return FULL * u16::from(is_near);
        }
        let months = |year: u32, month: u32| year * 12 + month;
        let year_of = self.year.unwrap_or(if named <= month { year } else { year - 1 });
        match months(year, month).checked_sub(months(year_of, named)) {
            Some(0) => FULL,
            Some(1) => FULL / 2,
            _ => 0,
        }
    }
}

/// A word, a number or a sign of a question.
#[derive(Clone, Copy, Debug, Default)]
struct Token<'t> {
    text: &'t str,
    number: Option<u32>,
    /// Whether the number is part of a time, an amount or a version.
    is_bound: bool,
}

impl Token<'_> {
    fn year(self) -> Option<u32> {
        self.number.filter(|year| self.text.len() == 4 && (1900..2200).contains(year))
    }

    fn day(self) -> Option<u32> {
        self.number.filter(|day| !self.is_bound && (1..=31).contains(day))
    }

    fn month(self) -> Option<u32> {
        let is = |month: &str| {
            self.text.eq_ignore_ascii_case(month)
                || self.text.len() == 3 && month.starts_with(&self.text.to_lowercase())
        };
        MONTHS.iter().position(|month| is(month)).and_then(|at| u32::try_from(at + 1).ok())
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let of_kind = |c: char| match first {
            '0'..='9' => c.is_ascii_digit(),
            'a'..='z' | 'A'..='Z' => c.is_ascii_alphabetic(),
            _ => false,
        };
        let len = rest.find(|c| !of_kind(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, tail) = rest.split_at_checked(len).unwrap_or((rest, ""));
        let number = token.parse().ok();
        let before = text.get(..text.len() - rest.len()).and_then(|before| before.chars().next_back());
        let is_joint = |c: Option<char>| c.is_some_and(|c| matches!(c, ':' | '.' | '$' | '€' | '%' | '_'));
        let mut after = tail.chars();
        let is_joined = is_joint(after.next()) && after.next().is_some_and(|c| c.is_ascii_digit());
        let half = tail
            .trim_start()
            .get(..2)
            .is_some_and(|half| half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"));
        let is_ordinal = ["st", "nd", "rd", "th"].contains(&token)
            && found.last().is_some_and(|last| last.number.is_some());
        if !first.is_whitespace() && !is_ordinal {
            let is_bound = number.is_some() && (is_joint(before) || is_joined || half);
            found.push(Token { text: token, number, is_bound });
        }
        rest = tail;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: u32, month: u32, day: u32) -> NamedDate {
        let some = |part: u32| (part > 0).then_some(part);
        NamedDate { year: some(year), month: some(month), day: some(day) }
    }

    #[test]
    fn dates_are_read_and_times_and_verbs_are_not() {
        for (text, expected) in [
            ("on 8 May, 2031?", vec![date(2031, 5, 8)].as_slice()),
            ("on May 8th 2031", &[date(2031, 5, 8)]),
            ("on the 21st of June", &[date(0, 6, 21)]),
            ("in May", &[date(0, 5, 0)]),
            ("in May 2031", &[date(2031, 5, 0)]),
            ("May I come at 7:30 pm in 2031?", &[date(2031, 0, 0)]),
            ("may we march on", &[]),
            ("between March and 3 April 2030", &[date(0, 3, 0), date(2030, 4, 3)]),
            ("2031-05-08T10:00", &[date(2031, 5, 8)]),
            ("2031年5月8日", &[date(2031, 5, 8)]),
            ("5月8号之后", &[date(0, 5, 8)]),
            ("version 3.12 for 20 people at 5 pm", &[]),
            ("0000-00-00", &[]),
            ("", &[]),
        ] {
            assert_eq!(NamedDate::all(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_equal_to_dates_and_near_after_them() {
        let day = Day::of_date;
        for (named, found, expected) in [
            (date(2031, 5, 8), day(2031, 5, 8), (1023, 1023)),
            (date(2031, 5, 8), day(2031, 5, 20), (0, 1023)),
            (date(2031, 5, 8), day(2031, 5, 7), (0, 0)),
            (date(0, 12, 30), day(2032, 1, 2), (0, 1023)),
            (date(0, 5, 0), day(2031, 5, 30), (1023, 1023)),
            (date(2031, 12, 0), day(2032, 1, 30), (0, 511)),
            (date(2031, 0, 0), day(2031, 1, 30), (1023, 0)),
            (date(2031, 2, 30), day(2031, 3, 1), (0, 0)),
            (date(2031, 5, 8), Day::UNKNOWN, (0, 0)),
        ] {
            assert_eq!((named.equal(found), named.near(found)), expected, "{named:?} {found:?}");
        }
    }
}
