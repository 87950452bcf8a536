//! Listings with line numbers, as tools that show files print them.

use crate::lines::TextLines;

/// The number a line starts with, and what follows it: `   12\tcode` and `   12→code`.
pub(crate) fn split_number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let rest = rest.strip_prefix('\t').or_else(|| rest.strip_prefix('→'))?;
    Some((number.parse().ok()?, rest))
}

/// Whether lines are such a listing: nearly all numbered, and the numbers go up.
pub(crate) fn is_listing<'t>(lines: impl Iterator<Item = &'t str>) -> bool {
    let (mut all, mut such, mut last) = (0u32, 0u32, 0u64);
    for line in lines.filter(|line| !line.trim().is_empty()) {
        all += 1;
        if let Some((number, _)) = split_number(line)
            && number > last
        {
            such += 1;
            last = number;
        }
    }
    such >= 3 && such * 10 >= all * 9
}

/// The text without its line numbers, line by line. None where there are none.
pub(crate) fn strip_numbers(lines: &TextLines<'_>) -> Option<String> {
    if !is_listing(lines.iter()) {
        return None;
    }
    let mut bare = String::with_capacity(lines.text().len());
    for line in lines.iter() {
        bare.push_str(split_number(line).map_or(line, |(_, rest)| rest));
        bare.push('\n');
    }
    Some(bare)
}
