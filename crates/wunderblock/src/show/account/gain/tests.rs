use super::*;
use proptest::prelude::*;
use wunderblock_core::units::Tokens;

fn texts() -> impl Strategy<Value = Vec<(u64, u64, u64, u8)>> {
    prop::collection::vec((0..9_000u64, 0..9_000u64, 0..900u64, 0..4u8), 0..20)
}

fn of((verbatim, sent, read, _): (u64, u64, u64, u8)) -> Gain {
    Gain::of_text(Tokens(verbatim), Tokens(sent)).with_reads(u64::from(read > 0), Tokens(read))
}

proptest! {
    #[test]
    fn the_sum_over_groups_equals_the_total(texts in texts()) {
        let (mut groups, mut all): ([Gain; 4], Gain) = Default::default();
        for text in &texts {
            groups[usize::from(text.3)] += &of(*text);
            all += &of(*text);
        }
        let mut sum = Gain::default();
        groups.iter().for_each(|group| sum += group);
        prop_assert_eq!(&sum, &all);
        prop_assert_eq!(all.saved(), groups.iter().map(Gain::saved).sum::<i64>());
        // Losses are part of the sum, and not hidden by gains.
        let losses: i64 = texts.iter().map(|text| of(*text).saved().min(0)).sum();
        prop_assert_eq!(i64::try_from(all.lost.0).unwrap(), -losses);
    }

    #[test]
    fn a_verbatim_text_gains_nothing_and_a_read_costs_what_it_took(tokens in 0..9_000u64, read in 1..900u64) {
        let shown = Gain::of_text(Tokens(tokens), Tokens(tokens));
        prop_assert_eq!((shown.saved(), shown.losses, shown.lost), (0, 0, Tokens::ZERO));
        let shown = shown.with_reads(1, Tokens(read));
        prop_assert_eq!(shown.saved(), -i64::try_from(read).unwrap());
        prop_assert_eq!((shown.losses, shown.lost), (1, Tokens(read)));
    }
}

#[test]
fn a_read_names_our_tool_or_our_program_and_a_handle() {
    use wunderblock_core::message::{Message, Part, Role};
    let call = |name: &str, input: &str| {
        let part = Part::ToolCall {
            call: "c".into(),
            name: name.into(),
            input: input.into(),
            gist: None,
            extra: None,
        };
        reads::reading_calls(
            &Message::new(Role::Assistant, vec![part]),
            &crate::ledger::texts::Texts::default(),
        )
        .len()
    };
    assert_eq!(call("mcp__wunderblock__read", r#"{"address":"wb:0123abcd"}"#), 1);
    assert_eq!(call("Bash", r#"{"command":"wunderblock read wb:0123abcd --lines 1-9"}"#), 1);
    assert_eq!(call("Bash", r#"{"command":"wunderblock expand wb:0123abcd#4-9"}"#), 1);
    assert_eq!(call("mcp__wunderblock__search", r#"{"query":"wb:0123abcd"}"#), 0);
    assert_eq!(call("Bash", r#"{"command":"echo wb:0123abcd"}"#), 0);
    assert_eq!(call("Read", r#"{"file_path":"wb:0123abcd"}"#), 0);
    assert_eq!(call("mcp__wunderblock__read", r#"{"address":"wb:"}"#), 0);
}
