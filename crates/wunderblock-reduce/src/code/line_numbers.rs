//! Listings with line numbers, as printed by tools that show files.

use crate::text::lines::TextLines;

/// Splits a line into its number and the text after the number, for example: `   12\tcode` and `   12→code`.
pub(crate) fn split_number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let rest = rest.strip_prefix('\t').or_else(|| rest.strip_prefix('→'))?;
    Some((number.parse().ok()?, rest))
}

/// Returns whether lines are a numbered listing: at least nine in ten have a number, and the numbers rise.
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

/// Returns the text without its line numbers, or `None` if it is not a numbered listing.
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
