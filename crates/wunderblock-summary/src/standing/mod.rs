//! Standing rules: typed sentences that apply to all later work, as quotes from the turns that contain them.
//!
//! ```text
//! turns of a view ─ typed ─► sentences ─ weigh ─► candidates ─ replace ─► what still holds ─► quotes, best first
//! ```
//! Code, quotations, pasted pages, output and text from a harness were not typed by a person, so no rule is taken
//! from them. Whether a typed sentence is a rule is a matter of weight, not of certainty: the sentences with the most
//! weight enter the request first, up to the share of the request that is reserved for rules.
//!
//! In ten sessions of 56 to 88 turns with 27 rules each, 9 of which contain no cue word (in English, in Chinese, and
//! in English with German; one session is not about software), 212 of 270 rules are found, and 257 of 301 sentences found
//! are rules, though some were replaced later. Real sessions contain far fewer rules, so the words and forms were
//! chosen on both.

mod replace;
mod sentences;
mod weigh;

use replace::{Content, replaced};
use wunderblock_core::decision::{PartPosition, Quote};
use wunderblock_core::message::{Message, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;

/// Maximum weight that counts: more weight does not make a rule more certain. In a measurement, 2 % of a request of
/// 32,000 tokens held 143 of 162 rules. Without this limit, this share held 136 rules; with the shorter rules first
/// instead of the newest, it held 137.
const SURE: i32 = 4;
/// Maximum number of rules considered, counted from the newest.
const RULES_MAX: usize = 1_024;

/// Returns the typed sentences of a person's text that are rules.
pub(crate) fn rules_of_text(text: &str) -> Vec<&str> {
    let sentences = sentences::typed_sentences(&[(0, text)]).into_iter();
    sentences.filter_map(|(_, sentence)| sentence.get(weigh::rule(sentence)?.0..)).collect()
}

/// Returns the sentences of a person's text that the person typed, without output, code and pasted pages.
pub(crate) fn typed(text: &str) -> impl Iterator<Item = &str> {
    sentences::typed_sentences(&[(0, text)]).into_iter().map(|(_, sentence)| sentence)
}

struct Candidate<'a> {
    quote: Quote,
    text: &'a str,
    weight: i32,
}

/// Returns the user's standing rules in a view, in the order in which they enter a request: by weight, then newest
/// first. Leaves out rules that a later rule replaces.
pub fn standing_rules(view: &View, bodies: &dyn Bodies) -> Vec<Quote> {
    let turns = view.entries().filter(|entry| {
        entry.message.is_persons() && !view.hidden().contains(&entry.seq) && !view.lane().is_ours(entry.seq)
    });
    let mut all: Vec<Candidate<'_>> =
        turns.flat_map(|entry| candidates(entry.seq, &entry.message, bodies)).collect();
    all.drain(..all.len().saturating_sub(RULES_MAX));
    let contents: Vec<Content> = all.iter().map(|rule| Content::of(rule.text)).collect();
    let gone = replaced(&contents);
    let mut left: Vec<(usize, Candidate<'_>)> =
        all.into_iter().enumerate().filter(|(index, _)| !gone.contains(index)).collect();
    left.sort_by_key(|(index, rule)| (-rule.weight.min(SURE), std::cmp::Reverse(*index)));
    left.into_iter().map(|(_, rule)| rule.quote).collect()
}

/// Returns whether a turn contains a rule.
pub fn has_rules(said: &Message, bodies: &dyn Bodies) -> bool {
    said.is_persons() && !candidates(Seq::START, said, bodies).is_empty()
}

/// A sentence of a message that states a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedRule<'t> {
    /// The sentence, from where the rule begins.
    pub text: &'t str,
    /// How sure it is that the sentence is a rule: 4 and more is sure.
    pub weight: i32,
}

/// Returns the typed sentences of a person's message that state rules; none of other messages.
pub fn stated_rules<'t>(said: &'t Message, bodies: &'t dyn Bodies) -> Vec<StatedRule<'t>> {
    let all = if said.is_persons() { candidates(Seq::START, said, bodies) } else { Vec::new() };
    all.into_iter().map(|rule| StatedRule { text: rule.text, weight: rule.weight }).collect()
}

fn candidates<'a>(seq: Seq, said: &'a Message, bodies: &'a dyn Bodies) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for (index, part) in said.parts.iter().enumerate() {
        let Part::Text { text: body, .. } = part else { continue };
        let at: PartPosition = (seq, index);
        let own = said.own_pieces(index, bodies.of(body).unwrap_or_default());
        for (from, text) in sentences::typed_sentences(&own) {
            let Some((at_rule, weight)) = weigh::rule(text) else { continue };
            let (from, text) = (from + at_rule, text.get(at_rule..).unwrap_or_default());
            let (from, to) = (Bytes(from as u64), Bytes((from + text.len()) as u64));
            found.push(Candidate { quote: Quote { at, from, to, blob: body.handle() }, text, weight });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock_core::author;

    #[test]
    fn pasted_text_is_not_read_as_a_rule() {
        let pasted = "Two things. Never push to main.\n\n```\nAlways use tabs.\n```\n> You must chmod it.\n\nTheir docs say:\n\n\
                      Clients must always send a digest.\n\nIs that true?\n\
                      error: you must use `dyn`\nyou must always use it\n\n- Tests live in tests/.\n- commit subjects are lowercase";
        assert_eq!(
            rules_of_text(pasted),
            ["Never push to main.", "Tests live in tests/.", "commit subjects are lowercase"]
        );
        for (from, sentence) in sentences::typed_sentences(&author::typed(pasted)) {
            assert_eq!(pasted.get(from..from + sentence.len()), Some(sentence));
        }
    }

    #[test]
    fn words_of_rules_that_rule_nothing() {
        for text in [
            "i always forget how the dry run flag is called here",
            "it should be green now",
            "should we always squash?",
            "thanks, that must have been hard",
            "yes, second option",
            "I have the suspicion that the reader takes dates that do not exist, like February 30th.",
            "all the tooltips show 0 lines",
            "no, that's not it, both use the dark theme.",
            "add tests for --map-tokens: use with --model gpt-4o and --map-tokens 0",
            "My user ID is anna_garcia_1177.",
            "i want to use mixpanel to collect events from users",
            "ok, the thinking level colors are too intense, adjust.",
            "needs to be set to 1 for true colors",
            "we need to fix the parser first",
            "but we still need to look at that log",
            "would it be good to add a flag here?",
            "我刚拉取了别人的两个提交。",
            "请找出原因，先不要改代码。",
        ] {
            assert_eq!(rules_of_text(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn wishes_and_needs_of_the_work_are_rules() {
        for (text, rule) in [
            ("it would also be good if the reader kept the order of its lines", None),
            ("we should keep the old names of the columns", None),
            ("we need to support the old format as well", None),
            ("Other columns, e.g. dates, totals etc should be hidden", None),
            ("this is too much also don't suggest anything bold", Some("don't suggest anything bold")),
        ] {
            assert_eq!(rules_of_text(text), [rule.unwrap_or(text)], "{text}");
        }
    }

    #[test]
    fn documents_and_copied_paragraphs_are_not_typed() {
        for text in [
            "Implement this plan:\n\n# Billing\n\nWe never store cards.\n\nI must always ask first.",
            "Goal\nThe importer should tolerate rows that have no date at all.\nExpected result\nEvery row must keep its number, and errors must be listed.",
            "1. The parser must never follow links that leave the folder, because a\n  link may lead to a file of another project; tests should cover it.",
            "me@box shop % make check\nYou must always run configure first",
        ] {
            assert_eq!(rules_of_text(text), [""; 0], "{text}");
        }
        assert_eq!(
            rules_of_text("Hello Ada\nnever push to the main branch without asking me"),
            ["never push to the main branch without asking me"]
        );
    }

    /// Each session has 27 rules, of which nine contain no cue word and six replace earlier rules, as well as six
    /// sentences that only look like rules.
    #[test]
    fn rules_of_sessions_are_found_and_little_else() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rules");
        let [mut rules, mut found, mut right, mut all] = [0; 4];
        for file in std::fs::read_dir(folder).unwrap() {
            let session: serde_json::Value =
                serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
            for turn in session["turns"].as_array().unwrap().iter().filter(|turn| turn["kind"] == "typed") {
                let own = author::typed(turn["text"].as_str().unwrap());
                let typed = sentences::typed_sentences(&own);
                let kept = typed.iter().filter_map(|(_, text)| text.get(weigh::rule(text)?.0..));
                let kept: Vec<&str> = kept.collect();
                let of = |name: &str| {
                    let texts = turn[name].as_array().into_iter().flatten();
                    texts
                        .filter_map(|text| Some(text.as_str()?.trim_end_matches(['.', '。'])))
                        .collect::<Vec<_>>()
                };
                for decoy in of("decoys") {
                    assert!(!typed.iter().any(|(_, text)| text.contains(decoy)), "{decoy}");
                }
                rules += of("rules").len();
                found +=
                    of("rules").iter().filter(|rule| kept.iter().any(|text| text.contains(**rule))).count();
                let known = [of("rules"), of("superseded")].concat();
                let is_rule = |text: &&&str| {
                    known.iter().any(|rule| {
                        text.contains(rule) || rule.contains(text.trim_end_matches(['.', '。', '!']))
                    })
                };
                right += kept.iter().filter(is_rule).count();
                all += kept.len();
            }
        }
        assert_eq!(rules, 270);
        assert!(found >= 212 && right * 100 >= all * 83, "{found} of {rules} found, {right} of {all} right");
    }

    #[test]
    fn a_later_rule_on_the_same_object_replaces_an_earlier_one() {
        let pairs = [
            ("Frontend tests are written with Jest.", "The frontend tests are written in Vitest now.", true),
            ("keep your answers under ten lines", "answers can be longer than ten lines now", true),
            ("Never push to main.", "Commits never hold generated files.", false),
            (
                "以后日志用标准库的 slog，不要再引入 zap",
                "测试断言只能用标准库 testing，testify 就不要再用了",
                false,
            ),
        ];
        for (earlier, later, is_replaced) in pairs {
            let gone = replaced(&[Content::of(earlier), Content::of(later)]);
            assert_eq!(gone.contains(&0), is_replaced, "{earlier} / {later}");
        }
    }
}
