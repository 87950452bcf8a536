//! Detects the kind of a text: every reader votes on the same sample, and the strongest vote wins.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::input::{ci_log, terminal};
use crate::kind::Kind;
use crate::readers::log;
use crate::text::sample::LineSample;
use crate::{code, html, json, readers};

/// A vote counts only if it exceeds this number. If no vote counts, the text is prose.
const MIN_VOTE: u32 = 30;

/// Returns the kind of a text as it is shown: colours, overwritten text and the columns of a CI service do not count.
pub(crate) fn detect_kind(text: &str) -> Kind {
    let mut text = Cow::Borrowed(text);
    if memchr::memchr2(0x1b, b'\r', text.as_bytes()).is_some() {
        text = Cow::Owned(terminal::visible_text(&text, &mut |_, _, _| ()).0);
    }
    if let Some((bare, _)) = ci_log::without_columns(&text, &mut |_, _, _| ()) {
        text = Cow::Owned(bare);
    }
    detect_plain(&text)
}

/// Returns the kind of a file that was read. No tool printed the file, so the pattern tables of tools are not loaded,
/// which saves 2 ms.
pub(crate) fn detect_file_kind(text: &str) -> Kind {
    let is_written = |kind: &Kind| {
        matches!(
            kind,
            Kind::Json | Kind::Diff | Kind::Html | Kind::Table | Kind::Blob | Kind::Code | Kind::Markdown
        )
    };
    detect_among(text, Kind::ALL.into_iter().filter(is_written))
}

fn detect_plain(text: &str) -> Kind {
    detect_among(text, Kind::ALL.into_iter())
}

fn detect_among(text: &str, kinds: impl Iterator<Item = Kind>) -> Kind {
    // A text that parses as JSON is JSON, whatever its strings contain.
    if json::is_document(text) {
        return Kind::Json;
    }
    let sample = LineSample::of(text);
    let mut best = (MIN_VOTE, usize::MAX, Kind::Prose);
    let mut before_log = MIN_VOTE;
    let mut kinds: Vec<(usize, Kind)> = kinds.enumerate().collect();
    // The sort is stable, so kinds with the same maximum vote keep their order.
    kinds.sort_by_key(|(_, kind)| Reverse(max_vote(*kind)));
    let log_rank = kinds.iter().find(|(_, kind)| *kind == Kind::Log).map_or(0, |(rank, _)| *rank);
    for (rank, kind) in kinds {
        // Between equal votes, the kind that comes first in the list wins. A vote that only equals the minimum loses.
        let least = best.0 + u32::from(rank > best.1 || best.1 == usize::MAX);
        if max_vote(kind) < least {
            continue;
        }
        let vote = match kind {
            Kind::Json => json::vote(&sample),
            Kind::Html => html::vote(&sample),
            Kind::Code => code::vote(&sample),
            kind => readers::vote(&sample, kind, least),
        };
        before_log = if rank < log_rank { before_log.max(vote) } else { before_log };
        if vote >= least {
            best = (vote, rank, kind);
        }
    }
    let (vote, _, kind) = best;
    // Repeated templates are weak evidence for a log, so they are examined only if no kind has stronger evidence.
    let weak = log::TEMPLATE_VOTE;
    if before_log < weak && vote <= weak && log::repeats_templates(&sample) { Kind::Log } else { kind }
}

/// Returns the maximum vote of a kind. A kind that can no longer win is not tested. Kinds whose pattern tables take
/// longest to load have a lower maximum, so that they are tested last: on the output of `grep`, the vote for builds
/// took a third of the detection time.
const fn max_vote(kind: Kind) -> u32 {
    match kind {
        Kind::Build => readers::build::MAX_VOTE,
        Kind::Code => 92,
        Kind::Trace => 90,
        Kind::Markdown => 86,
        _ => 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(|nth| line(nth) + "\n").collect()
    }

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
    fn kinds_near_to_each_other_are_told_apart() {
        let cases = [
            (
                "linter",
                Kind::Build,
                many(30, |n| format!("shop/a{}.py:{}:1: E501 line too long (9{n} > 79)", n / 9, n + 3)),
            ),
            (
                "vet",
                Kind::Build,
                "# shop.test/cart\n".to_owned()
                    + &many(20, |n| format!("./cart.go:{}:2: x{n} declared and not used", n + 2)),
            ),
            (
                "vimgrep",
                Kind::Search,
                many(30, |n| format!("shop/a{}.py:{}:5:    total = sum(x{n})", n / 9, n % 9 + 3)),
            ),
            (
                "grep",
                Kind::Search,
                many(30, |n| format!("shop/a{}.py:{}:def total_{n}(rows):", n / 9, n % 9 + 3)),
            ),
            ("count", Kind::Search, many(30, |n| format!("shop/a{n}.py:{}", n + 1))),
            (
                "coloured",
                Kind::Tests,
                many(20, |n| {
                    format!("\x1b[32m   \u{2713}\x1b[39m orders {n} books \x1b[33m3\x1b[2mms\x1b[0m")
                }) + "\x1b[2m Tests \x1b[22m 20 passed (20)\n",
            ),
            (
                "tap",
                Kind::Tests,
                "TAP version 13\n# seen shop\n".to_owned()
                    + &many(20, |n| {
                        format!("# Subtest: case {n}\nok {n} - case {n}\n  ---\n  duration_ms: 0.{n}\n  ...")
                    })
                    + "# tests 20\n# pass 20\n",
            ),
            (
                "ps",
                Kind::Listing,
                "USER  PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n".to_owned()
                    + &many(20, |n| {
                        format!("shop  {n}  0.1  0.2 123 45 ? Ss 10:00 0:0{} web: worker process", n % 9)
                    }),
            ),
            (
                "tar",
                Kind::Listing,
                many(20, |n| format!("-rw-r--r-- shop/shop      {n}12 2024-05-01 10:00 shop/a{n}.py")),
            ),
            (
                "find -ls",
                Kind::Listing,
                many(20, |n| {
                    format!("  1234{n}      8 -rw-r--r--   1 shop  shop    512 May  1 10:00 ./shop/a{n}.py")
                }),
            ),
            ("names", Kind::Listing, many(60, |n| format!("libshop-{n}.so.{}", n % 7))),
            (
                "strace",
                Kind::Log,
                many(60, |n| match n % 3 {
                    0 => format!("mmap(NULL, {n}96, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f0{n}"),
                    1 => format!("close({n}) = 0"),
                    _ => format!("write(1, \"x\", {n}) = {n}"),
                }),
            ),
            (
                "stat",
                Kind::Diff,
                many(20, |n| format!(" src/shop/a{n}.rs | {} +++--", n + 3))
                    + " 20 files changed, 90 insertions(+), 40 deletions(-)\n",
            ),
            (
                "columns",
                Kind::Table,
                "id   day         sum\n---  ----------  ---\n".to_owned()
                    + &many(40, |n| format!("{n:<4} 2024-05-{:02}  {n}", n % 28 + 1)),
            ),
            (
                "frames",
                Kind::Infra,
                many(3, |n| format!("\u{2577}\n\u{2502} Error: no such value {n}\n\u{2502}\n\u{2575}")),
            ),
            (
                "sanitizer",
                Kind::Trace,
                "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n".to_owned()
                    + &many(6, |n| format!("    #{n} 0x55f{n} in touch /srv/shop.c:{n}"))
                    + &many(9, |n| format!("  0x0c047fff7f{n}0: fa fa fd fd fa fa")),
            ),
        ];
        for (name, wanted, text) in cases {
            assert_eq!(detect_kind(&text), wanted, "{name}");
        }
    }

    #[test]
    fn words_sentences_and_numbers_are_not_detected_as_a_log() {
        for text in [
            many(40, |n| format!("word{n}")),
            "The shop sells books. It is open on Mondays, and closed on Sundays.\n\n".repeat(2),
            many(30, |n| format!("    {n}")),
        ] {
            assert_ne!(detect_kind(&text), Kind::Log, "{text}");
        }
    }
}
