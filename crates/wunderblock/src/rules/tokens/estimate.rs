//! Token estimates for models without an embedded vocabulary, scaled from the o200k count.
//!
//! An estimate is `ceil(o200k × factor / 1000)`, but never less than the o200k count. The factor depends on the
//! family of models and the [`Class`] of the text. Sources of the factors:
//!
//! - **Claude up to 4.6** (prose, code, JSON): the factors were fitted by non-negative least squares to the usage
//!   reported in one recorded coding session with Claude Sonnet 4.5. The session has 407 pairs of consecutive calls,
//!   which added 170,492 tokens (126,050 by o200k: 22,471 prose, 88,904 code, 14,675 JSON). For the tokens that a
//!   call adds beyond the model's own output, the fit gives 1.269 for prose, 1.249 for code, 1.184 for JSON and 10.7
//!   tokens per message, with a mean error of 11.6 tokens (95th percentile 39.1) or 11.7 % (53.9 %, mostly for
//!   results of a few words). For the model's own output, the fit gives factors of 1.00 to 1.09, 6.9 tokens per
//!   message and 49.5 per tool call, with a mean error of 7.2 % (17.8 %). The factors here are those for the tokens
//!   beyond the model's own output, rounded up. With [`Framing`], these factors give 1.022 times the tokens that
//!   calls added beyond output, 1.099 times the tokens of the whole session, and at least 1.028 times the tokens that
//!   any prefix of over 3,000 tokens had added. For stretches of 20 calls, the ratio is between 0.84 and 1.23 (5th
//!   percentile 0.91), and a margin has to cover this spread. Hex and CJK did not occur, so the factors for these two
//!   classes are high guesses. Other models up to 4.6 are assumed to have the same vocabulary. No recording confirms
//!   this assumption.
//! - **Claude from Opus 4.7 on**: these models have a new vocabulary. According to Anthropic's release notes, the new
//!   vocabulary gives 1.0 to 1.35 times as many tokens. Measurements that others made against the counting endpoint
//!   and published in April 2026 reach 1.46 (English prose), 1.39 (code), 1.31 (JSON), 1.07 (identifiers) and 1.01
//!   (CJK). The factors are those for Claude up to 4.6, multiplied by these measurements.
//! - **DeepSeek, Qwen, Llama, Kimi, GLM, Mistral**: the factors come from the ratio of the published vocabularies
//!   (DeepSeek V3, Qwen 2, Llama 3, Kimi K2, GLM 4 and 5, Mistral V3) to o200k, measured over 2,198 texts of up to
//!   3,000 characters (2.0 million tokens of source code, tool output, documents and Chinese prose). Each factor is
//!   the 90th percentile of the ratio, rounded up. Ratios of sums are lower. The measurement does not cover a
//!   server's chat template, and newer models of a family may have another vocabulary.
//! - **Gemini and unknown models**: the factors are high guesses. The factors for unknown models are the highest of
//!   all except for those of the newest Claude models.
//!
//! Of these groups, only Claude up to 4.6 has been checked against usage that a provider reported, so only that group
//! is [`Certainty::Estimated`]. All other groups are [`Certainty::Unverified`].

use crate::rules::tokens::class::Class;
use serde::{Deserialize, Serialize};
use wunderblock_core::budget::Certainty;
use wunderblock_core::ports::Framing;
use wunderblock_core::units::Tokens;

/// Family of models that share a vocabulary or are assumed to share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// OpenAI. OpenAI tokens are counted rather than estimated, except for cl100k models whose texts were counted
    /// only in o200k.
    Openai,
    /// Claude 3 to 4.6.
    Claude,
    /// Claude from Opus 4.7 on.
    ClaudeNext,
    /// Gemini.
    Gemini,
    /// DeepSeek.
    Deepseek,
    /// Qwen.
    Qwen,
    /// Llama.
    Llama,
    /// Kimi.
    Kimi,
    /// GLM.
    Glm,
    /// Mistral.
    Mistral,
    /// Family of a model about which nothing is known.
    Unknown,
}

/// Factors in thousandths, by class in the order of [`Class::ALL`]: prose, code, JSON, hex, CJK.
const fn factors(family: Family) -> [u64; 5] {
    match family {
        Family::Openai => [1015, 1015, 1010, 1055, 1250],
        Family::Claude => [1270, 1270, 1220, 1600, 1600],
        Family::ClaudeNext => [1860, 1770, 1600, 1720, 1620],
        Family::Gemini => [1150, 1200, 1200, 1700, 1100],
        Family::Deepseek => [1070, 1090, 1070, 1030, 1010],
        Family::Qwen => [1330, 1300, 1270, 1580, 1010],
        Family::Llama => [1015, 1015, 1010, 1055, 1030],
        Family::Kimi => [1005, 1015, 1015, 1000, 1045],
        Family::Glm => [1110, 1090, 1090, 1185, 1025],
        Family::Mistral => [1345, 1320, 1315, 1600, 1230],
        Family::Unknown => [1350, 1320, 1320, 1700, 1600],
    }
}

/// Returns the estimated number of tokens in a text for `family`, based on its o200k count and its class. Never less
/// than `o200k`.
#[must_use]
pub fn estimate(family: Family, o200k: u32, class: Class) -> Tokens {
    let [prose, code, json, hex, cjk] = factors(family);
    let factor = match class {
        Class::Prose => prose,
        Class::Code => code,
        Class::Json => json,
        Class::Hex => hex,
        Class::Cjk => cjk,
    };
    let count = u64::from(o200k);
    Tokens((count * factor).div_ceil(1000).max(count))
}

/// Returns the certainty of [`estimate`] for this family and class.
#[must_use]
pub const fn certainty(family: Family, class: Class) -> Certainty {
    match (family, class) {
        (Family::Claude, Class::Prose | Class::Code | Class::Json) => Certainty::Estimated,
        _ => Certainty::Unverified,
    }
}

/// Returns the framing of a family, that is, the number of tokens per message and per call. Claude's values are
/// fitted together with its factors (see the module documentation). OpenAI's value of 4 tokens per message follows
/// from its published recipe for counting chat messages (3 tokens, plus 1 for a role). The 8 tokens per call for
/// OpenAI, and the values for all other families, are our own estimates.
#[must_use]
pub const fn framing(family: Family) -> Framing {
    match family {
        Family::Claude | Family::ClaudeNext | Family::Unknown => {
            Framing { message: Tokens(12), call: Tokens(50) }
        }
        _ => Framing { message: Tokens(4), call: Tokens(8) },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) const FAMILIES: [Family; 11] = [
        Family::Openai,
        Family::Claude,
        Family::ClaudeNext,
        Family::Gemini,
        Family::Deepseek,
        Family::Qwen,
        Family::Llama,
        Family::Kimi,
        Family::Glm,
        Family::Mistral,
        Family::Unknown,
    ];

    #[test]
    fn estimates_round_up() {
        let table = [
            (Family::Claude, 0, Class::Prose, 0),
            (Family::Claude, 1, Class::Prose, 2),
            (Family::Claude, 1000, Class::Prose, 1270),
            (Family::Claude, 1001, Class::Json, 1222),
            (Family::Kimi, 7, Class::Hex, 7),
            (Family::Qwen, u32::MAX, Class::Hex, 6_786_048_327),
        ];
        for (family, o200k, class, expect) in table {
            assert_eq!(estimate(family, o200k, class), Tokens(expect), "{family:?} {class:?} {o200k}");
        }
    }

    #[test]
    fn only_what_usage_confirmed_is_called_estimated() {
        let confirmed: Vec<_> = FAMILIES
            .iter()
            .flat_map(|family| Class::ALL.map(|class| (*family, class)))
            .filter(|(family, class)| certainty(*family, *class) != Certainty::Unverified)
            .collect();
        let claude = Family::Claude;
        assert_eq!(confirmed, [(claude, Class::Prose), (claude, Class::Code), (claude, Class::Json)]);
    }

    proptest! {
        #[test]
        fn estimates_grow_with_the_count_and_never_fall_below_it(
            family in proptest::sample::select(&FAMILIES[..]), class in proptest::sample::select(&Class::ALL[..]),
            count in any::<u32>(), more in 0_u32..1000,
        ) {
            let larger = count.saturating_add(more);
            prop_assert!(estimate(family, count, class) >= Tokens(u64::from(count)));
            prop_assert!(estimate(family, count, class) <= estimate(family, larger, class));
            prop_assert!(estimate(family, larger, class).0 < 2 * u64::from(larger) + 1);
        }
    }
}
