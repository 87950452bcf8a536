//! Guesses the language of a source from its lines alone.

use super::cues;
use super::language::SourceLanguage;

/// Returns the language with the highest total weight, and the share of lines (in per cent) that have a sign of this
/// language.
pub(super) fn guess_by_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Option<(SourceLanguage, u32)> {
    // For each language: the total weight of its lines, the number of strong lines, and the number with any weight.
    let mut sums = SourceLanguage::ALL.map(|language| (language, [0u32; 3]));
    let mut said = 0u32;
    let mut block = BlockComment::default();
    for (at, line) in lines.enumerate() {
        let line = truncate(line.trim());
        if at == 0 && line.starts_with("#!") {
            let named = |language: &SourceLanguage| {
                cues::interpreters(*language).iter().any(|name| line.contains(name))
            };
            if let Some(language) = SourceLanguage::ALL.into_iter().find(named) {
                return Some((language, 100));
            }
        }
        // Comments reveal no language, and neither do lines without a letter or `$`, which are data.
        if block.takes(line)
            || is_remark(line)
            || !line.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'$')
        {
            continue;
        }
        said += 1;
        let signed = cues::SignedLine::of(line);
        for (language, [weights, strong, speaking]) in &mut sums {
            let weight = cues::language_weight(*language, &signed);
            *weights += weight;
            *strong += u32::from(weight >= 3);
            *speaking += u32::from(weight > 0);
        }
    }
    let of =
        |wanted| sums.iter().find(|(language, _)| *language == wanted).map_or(0, |(_, [weight, ..])| *weight);
    // A dialect shares the signs of the language it extends, so it wins only with a clearly higher weight.
    let clearly = |dialect: u32, plain: u32| dialect * 100 >= plain * 112 + 600;
    let (mut best, mut heaviest) = (None, 0);
    for (language, [weight, strong, speaking]) in sums {
        let weight = match language {
            SourceLanguage::TypeScript if !clearly(weight, of(SourceLanguage::JavaScript)) => 0,
            SourceLanguage::Tsx if !clearly(weight, of(SourceLanguage::TypeScript)) => 0,
            _ => weight,
        };
        if weight > heaviest {
            (best, heaviest) = (Some((language, strong, speaking * 100 / said.max(1))), weight);
        }
    }
    let (language, strong, share) = best?;
    (strong >= 2 && share >= 12).then_some((language, share))
}

/// Returns whether a line is a comment in a form that most languages have, so that it reveals no language.
fn is_remark(line: &str) -> bool {
    line.starts_with("// ")
        || line.starts_with("* ")
        || line.starts_with("/*")
        || line.starts_with("# ")
        || line == "*"
}

fn truncate(line: &str) -> &str {
    let mut end = line.len().min(200);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

/// Tracks a comment or a documentation string that spans several lines.
#[derive(Default)]
pub(super) struct BlockComment {
    end: Option<&'static str>,
    lines: u32,
}

impl BlockComment {
    /// Maximum number of lines in a block comment. A longer block means that the sample began inside a comment and
    /// that the end of this comment was mistaken for a start.
    const MAX_LINES: u32 = 150;

    /// Returns whether a line, without its indentation, belongs to a block comment. Lines must be passed in order.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if let Some(end) = self.end {
            self.lines += 1;
            if line.contains(end) || self.lines > Self::MAX_LINES {
                self.end = None;
            }
            return true;
        }
        for (start, end) in [("/*", "*/"), ("\"\"\"", "\"\"\""), ("r\"\"\"", "\"\"\""), ("=begin", "=end")] {
            if let Some(rest) = line.strip_prefix(start) {
                (self.end, self.lines) = ((!rest.contains(end)).then_some(end), 0);
                return true;
            }
        }
        false
    }
}
