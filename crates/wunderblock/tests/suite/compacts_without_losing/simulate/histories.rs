//! Random sessions under every preset, in windows of every size.

use crate::compacts_without_losing::simulate::scene::{
    Step, events, every_preset, of, options, played, presets, simulate, steps,
};
use proptest::prelude::*;

fn cases(number: u32) -> ProptestConfig {
    let factor = std::env::var("PROPTEST_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u32);
    ProptestConfig { cases: number * factor, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(1))]

    /// No request exceeds its limit, every token is counted as either cached or fresh, and every request is accounted
    /// for.
    #[test]
    fn no_request_is_over_budget(
        steps in steps(),
        window in prop_oneof![4_000..16_000_u64, 16_000..64_000_u64, 64_000..1_000_000_u64],
    ) {
        let played = played(events(&steps));
        let found = simulate(&played.session, &options(window, None, every_preset()));
        for policy in &found.policies {
            let name = &policy.name;
            prop_assert_eq!(policy.over_budget, 0, "{}", name);
            prop_assert_eq!(policy.cached_tokens + policy.fresh_tokens, policy.tokens_sent, "{}", name);
            prop_assert_eq!(policy.series.iter().sum::<u64>(), policy.tokens_sent, "{}", name);
            prop_assert_eq!(policy.requests + policy.refused, found.requests, "{}", name);
            prop_assert!(policy.peak_tokens <= found.histories[0].limits[0], "{}", name);
            for (recall, all) in [(&policy.far, found.far_references), (&policy.near, found.near_references)] {
                let counts = recall.counts;
                prop_assert_eq!(counts.references, all, "{}", name);
                prop_assert!(counts.recalled <= counts.reached && counts.reached <= all, "{}", name);
                prop_assert!(counts.recalled + counts.in_lists <= all, "{}", name);
            }
            prop_assert!(policy.user_words_shown <= policy.user_words, "{}", name);
            prop_assert!(policy.repeated_reads <= found.rereads, "{}", name);
            prop_assert!(policy.literals_lost <= found.histories[0].literals, "{}", name);
            prop_assert!(!policy.dominates.contains(name) && !policy.dominated_by.contains(name));
        }
    }

    /// The same session gives the same figures.
    #[test]
    fn twice_is_the_same(steps in steps(), window in 6_000..40_000_u64) {
        let played = played(events(&steps));
        let options = options(window, None, presets(&["balanced", "lossless", "layered", "off"]));
        prop_assert_eq!(simulate(&played.session, &options), simulate(&played.session, &options));
    }
}

/// Cuts the outputs of tools in a step to fewer than `bytes` bytes.
fn with_outputs_below(bytes: usize, step: Step) -> Step {
    match step {
        Step::Reply(text, calls) => {
            let cut = |output: Option<usize>| output.map(|output| output.min(bytes - 1));
            Step::Reply(text, calls.into_iter().map(|(output, is_late)| (cut(output), is_late)).collect())
        }
        step => step,
    }
}

proptest! {
    #![proptest_config(cases(6))]

    /// If everything fits, every reference is recalled and nothing is lost.
    #[test]
    fn with_room_for_all_nothing_is_missed(steps in steps()) {
        // A call that waits for its result is not shown yet, so a turn of the user follows the last call. `balanced`
        // shortens outputs of 6,000 tokens and more when they enter, whatever the room; a token is at least a byte.
        let mut steps: Vec<Step> = steps.into_iter().map(|step| with_outputs_below(6_000, step)).collect();
        steps.insert(steps.len() - 1, Step::User(20));
        let played = played(events(&steps));
        let found = simulate(&played.session, &options(100_000_000, Some(1_000), presets(&["off", "balanced"])));
        for policy in &found.policies {
            prop_assert_eq!(policy.far.counts.recalled, found.far_references, "{}", &policy.name);
            prop_assert_eq!(policy.repeated_reads, 0, "{}", &policy.name);
            prop_assert_eq!(policy.literals_lost, 0, "{}", &policy.name);
            prop_assert_eq!(policy.user_words_share, 1.0, "{}", &policy.name);
            prop_assert_eq!(policy.compactions + policy.steps + policy.refused, 0, "{}", &policy.name);
        }
        // Under `off` and `balanced` alike, a call whose result arrives only after the reply is not shown.
        prop_assert_eq!(of(&found, "off").near, of(&found, "balanced").near);
        prop_assert_eq!(of(&found, "off").cost, of(&found, "balanced").cost);
    }
}

/// A text that was cut and then pinned stays cut, wherever the lane's frontiers are, because the plan weighed the
/// text in its cut form.
#[test]
fn what_was_cut_and_is_pinned_stays_cut() {
    let mut stubbed = vec![Step::User(120)];
    stubbed.extend((0..8).map(|_| Step::Reply(300, vec![(Some(400), true)])));
    stubbed.extend([
        Step::Reply(19_492, vec![(Some(1_629), true)]),
        Step::Pin(254),
        Step::Reply(200, Vec::new()),
    ]);
    stubbed.extend([
        Step::Reply(28_234, vec![(Some(773), true)]),
        Step::Reply(200, Vec::new()),
        Step::User(50),
    ]);
    // The newest turn does not fit beside the pinned text, even if everything else is left out.
    let mut alone = vec![Step::User(120), Step::Reply(6_331, vec![(Some(160), false), (Some(8), true)])];
    alone.extend([Step::Reply(2_448, Vec::new()), Step::Reply(58, Vec::new()), Step::Pin(232)]);
    alone.extend([Step::User(3_279), Step::Reply(185, vec![(Some(42), false)]), Step::Reply(40, Vec::new())]);
    // The newest exchange is longer than the window, and pinned afterwards.
    let newest = vec![
        Step::User(120),
        Step::Reply(19_492, vec![(Some(9_000), false)]),
        Step::Reply(40, Vec::new()),
        Step::Pin(200),
        Step::User(50),
        Step::Reply(40, Vec::new()),
    ];
    let cases = [
        (stubbed, 10_474, "manus"),
        (alone, 5_400, "always"),
        (newest.clone(), 6_000, "off"),
        (newest, 6_000, "balanced"),
    ];
    for (steps, window, policy) in cases {
        let played = played(events(&steps));
        let found = simulate(&played.session, &options(window, None, presets(&[policy])));
        let played = of(&found, policy);
        assert_eq!(
            (played.over_budget, played.refused),
            (0, 0),
            "{:?} of {:?}",
            played.series,
            found.histories[0].limits
        );
    }
}
