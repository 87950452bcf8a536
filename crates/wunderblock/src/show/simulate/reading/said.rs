//! Names in texts that the engine writes, grouped by whether their line says something about them or only lists them.

use crate::show::simulate::reading::names::{EntityNames, Name, each_once};
use crate::show::simulate::reading::needs;
use std::collections::HashSet;
use wunderblock_core::literal::{Literal, LiteralKind, literals};
use wunderblock_summary::content_words;

/// Minimum number of content words besides the names in a line. A line with fewer content words only lists its names.
pub(in crate::show::simulate) const WORDS: usize = 4;

/// Names of a text. Each name is in exactly one of the lists.
pub(in crate::show::simulate) struct NamedInLines {
    /// Names in lines that say something about them, and lines that some call replaces.
    pub(in crate::show::simulate) said: Vec<Name>,
    /// Names in other lines only.
    pub(in crate::show::simulate) listed: Vec<Name>,
}

/// Returns the names in the lines of a summary, a work log or a block of rules.
pub(in crate::show::simulate) fn named_in_lines(
    text: &str,
    names: &EntityNames,
    wanted: &HashSet<u64>,
) -> NamedInLines {
    let (mut said, mut listed) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let into = if words_beside_names(line) < WORDS { &mut listed } else { &mut said };
        into.extend(entities(line).map(|literal| literal.key()));
    }
    needs::lines(text, wanted, &mut said);
    let said = names.known(&said);
    let mut listed = each_once(names.known(&listed));
    listed.retain(|name| said.binary_search(name).is_err());
    NamedInLines { said, listed }
}

/// Returns the entities of a line that the engine wrote. The number in a reference such as `#1206` is a position, not
/// a name of the session.
fn entities(line: &str) -> impl Iterator<Item = Literal<'_>> {
    literals(line).filter(|literal| literal.is_entity() && !is_position(line, literal))
}

fn is_position(line: &str, literal: &Literal<'_>) -> bool {
    line.get(..literal.at).is_some_and(|before| before.ends_with('#'))
}

/// Counts the different content words of a line outside its names. Words inside names are not counted, because a list
/// of identifiers would otherwise be full of words.
pub(in crate::show::simulate) fn words_beside_names(line: &str) -> usize {
    let mut plain = String::with_capacity(line.len());
    let mut from = 0;
    for name in literals(line).filter(|literal| literal.kind != LiteralKind::Quotation) {
        plain.push_str(line.get(from..name.at).unwrap_or_default());
        plain.push(' ');
        from = from.max(name.at + name.text.len());
    }
    plain.push_str(line.get(from..).unwrap_or_default());
    content_words(&plain).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::simulate::reading::names::keys;

    /// Returns how many of the names a line says something about, and how many it only lists, for a session in which
    /// `known` was said.
    fn split(line: &str, known: &str) -> (usize, usize) {
        let mut all = Vec::new();
        keys(known, &mut all);
        let mut names = EntityNames::default();
        names.intern(&all);
        let found = named_in_lines(line, &names, &HashSet::new());
        (found.said.len(), found.listed.len())
    }

    #[test]
    fn a_list_says_nothing_of_its_names() {
        let known = "src/queue/worker.rs max_retry_4711 parse_header 1206";
        for (line, want) in [
            ("- `max_retry_4711 ×4 · parse_header ×2 · src/queue/worker.rs` #12", (0, 3)),
            ("- changed `src/queue/worker.rs` ×17 #1206", (0, 1)),
            ("- the queue gives up after max_retry_4711 attempts per message #12", (1, 0)),
            (
                "- read: `src/queue/worker.rs` #5\n- src/queue/worker.rs drops messages during slow shutdown",
                (1, 0),
            ),
            ("the user decided and said that max_retry_4711 was done", (0, 1)),
            ("队列在重试次数达到 max_retry_4711 之后放弃消息", (1, 0)),
        ] {
            assert_eq!(split(line, known), want, "{line}");
        }
    }

    #[test]
    fn a_position_is_not_counted_as_a_number_of_the_session() {
        assert_eq!(split("the budget of the rewrite went over its limit #1206", "1206"), (0, 0));
        assert_eq!(split("the budget of the rewrite went over 1206 dollars #3", "1206"), (1, 0));
    }
}
