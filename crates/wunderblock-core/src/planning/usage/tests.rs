//! Tests of anchors and calibrations, with marks written by hand.

use super::*;
use proptest::prelude::*;

const MODEL: &str = "m";

fn weight(scaled: u64) -> Weight {
    Weight { fixed: Tokens(0), scaled: Tokens(scaled) }
}

fn reply(api_id: Option<&str>, scaled: u64) -> UsageMark<'_> {
    UsageMark::Reply { api_id, weight: weight(scaled), failed: false }
}

fn failed(api_id: Option<&str>) -> UsageMark<'_> {
    UsageMark::Reply { api_id, weight: Weight::ZERO, failed: true }
}

fn other(scaled: u64) -> UsageMark<'static> {
    UsageMark::Other(weight(scaled))
}

fn told<'a>(seq: u64, model: &'a str, api_id: Option<&'a str>, (input, output): (u64, u64)) -> UsageMark<'a> {
    let (input, output) = (Tokens(input), Tokens(output));
    UsageMark::Measured(Measured { seq: Seq(seq), model, api_id, input, output, live: true, sent: true })
}

/// Turns a mark into the usage of a request that was made by another program.
fn heard(mark: UsageMark<'_>) -> UsageMark<'_> {
    match mark {
        UsageMark::Measured(measured) => UsageMark::Measured(Measured { sent: false, ..measured }),
        other => other,
    }
}

#[test]
fn only_a_request_of_ours_is_an_anchor() {
    let others = [other(5), reply(Some("a"), 40), heard(told(1, MODEL, Some("a"), (1_000, 30)))];
    assert_eq!(anchor(others, MODEL), None, "nobody knows what it held");
    let ours = [built(MODEL, 900), reply(Some("b"), 9), heard(told(2, MODEL, Some("b"), (950, 8))), other(4)];
    let after = anchor([&others[..], &ours[..]].concat(), MODEL).unwrap();
    assert_eq!((after.seq, after.measured, after.since), (Seq(2), Tokens(958), Tokens(4)));
    let elsewhere = [built("", 900), reply(None, 9), heard(told(3, MODEL, None, (70, 8)))];
    assert_eq!(
        anchor([&ours[..], &elsewhere[..]].concat(), MODEL).unwrap().seq,
        Seq(2),
        "another lane's request"
    );
}

#[test]
fn what_others_add_is_told_by_the_first_replies_to_their_requests() {
    let id = |at: u64| ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][usize::try_from(at).unwrap()];
    // The program adds 12,000 tokens. Each reply weighs 150 tokens together with what follows it, and the measurement
    // of one reply includes a file that nobody recorded.
    let session = |count: u64, from: u64| -> Vec<UsageMark<'static>> {
        let turn = |at: u64| {
            let file = if at == 3 { 9_000 } else { 0 };
            let input = 12_000 + 30 + at * 150 + file;
            [reply(Some(id(at)), 50), heard(told(at, MODEL, Some(id(at)), (input, 40))), other(100)]
        };
        std::iter::once(other(30)).chain((from..count).flat_map(turn)).collect()
    };
    let found =
        |marks: Vec<UsageMark<'static>>| overhead(marks, MODEL).map(|added| (added.tokens.0, added.replies));
    assert_eq!(found(session(10, 0)), Some((12_000, 8)), "the first eight");
    assert_eq!(found(session(1, 0)), Some((12_000, 1)), "one is enough");
    let mut reset = session(2, 0);
    reset.push(UsageMark::Reset);
    reset.extend(session(10, 4));
    assert_eq!(found(reset), Some((12_000, 2)), "what follows a compaction had another beginning");
    let mut blurred = vec![UsageMark::Blur];
    blurred.extend(session(4, 0));
    assert_eq!(found(blurred), None, "a picture weighs nobody knows what");
    let ours = vec![other(30), built(MODEL, 90), reply(Some("a"), 9), told(1, MODEL, Some("a"), (12_030, 8))];
    assert_eq!(found(ours), None, "ours has nothing added");
    let bare = vec![other(30), reply(Some("a"), 9), heard(told(1, MODEL, Some("a"), (180, 8)))];
    assert_eq!(found(bare), None, "an estimate is not better");
    assert_eq!(overhead(session(4, 0), "m2"), None, "another model");
}

fn built(model: &'static str, estimate: u64) -> UsageMark<'static> {
    UsageMark::Built { model, estimate: Some(Tokens(estimate)) }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn an_anchor_is_the_newest_good_measurement_and_what_came_after_its_reply() {
    let first = [other(5), reply(Some("a"), 40), told(1, MODEL, Some("a"), (1_000, 30)), other(7)];
    let after = |more: &[UsageMark<'static>]| [&first[..], more].concat();
    // Expected values: position, measured tokens and tokens since; position 0 if there is no anchor.
    type Case = (&'static str, Vec<UsageMark<'static>>, (u64, u64, u64));
    let table: Vec<Case> = vec![
        ("nothing", vec![], (0, 0, 0)),
        ("never measured", vec![other(3), reply(None, 4)], (0, 0, 0)),
        ("one reply", after(&[]), (1, 1_030, 7)),
        (
            "the newest wins",
            after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), other(3)]),
            (2, 1_109, 3),
        ),
        ("a measurement of nothing", after(&[reply(None, 20), told(2, MODEL, None, (0, 0))]), (1, 1_030, 27)),
        ("a failed reply", after(&[failed(Some("b")), told(2, MODEL, Some("b"), (1_050, 9))]), (1, 1_030, 7)),
        (
            "a failed reply without id",
            after(&[failed(None), told(2, MODEL, None, (1_050, 9))]),
            (1, 1_030, 7),
        ),
        (
            "said well after a failure",
            after(&[failed(None), reply(None, 20), told(2, MODEL, None, (1_100, 9))]),
            (2, 1_109, 0),
        ),
        (
            "said well after a failure, after a reply nobody measured",
            after(&[reply(None, 5), failed(None), reply(None, 20), told(2, MODEL, None, (1_100, 9))]),
            (2, 1_109, 0),
        ),
        (
            "broken off in its last piece",
            after(&[reply(Some("b"), 20), told(2, MODEL, Some("b"), (1_100, 9)), failed(Some("b"))]),
            (1, 1_030, 27),
        ),
        (
            "a turn cut short right after",
            after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), UsageMark::CutShort, other(4)]),
            (1, 1_030, 31),
        ),
        (
            "a turn cut short later on",
            after(&[reply(None, 20), told(2, MODEL, None, (1_100, 9)), other(4), UsageMark::CutShort]),
            (2, 1_109, 4),
        ),
        (
            "another model",
            after(&[reply(None, 20), told(2, "m2", None, (9_000, 9)), other(4)]),
            (1, 1_030, 31),
        ),
        ("a reset since", after(&[UsageMark::Reset, other(4)]), (0, 0, 0)),
        (
            "measured after a reset",
            after(&[UsageMark::Reset, reply(None, 20), told(2, MODEL, None, (300, 9)), other(4)]),
            (2, 309, 4),
        ),
        (
            "pieces of one reply, the last report counts",
            after(&[
                reply(Some("b"), 20),
                told(2, MODEL, Some("b"), (1_100, 1)),
                other(4),
                reply(Some("b"), 30),
                told(3, MODEL, Some("b"), (1_100, 55)),
            ]),
            (3, 1_155, 4),
        ),
        (
            "results before the report",
            after(&[reply(None, 20), other(4), told(2, MODEL, None, (1_100, 9))]),
            (2, 1_109, 4),
        ),
        (
            "a request of another lane",
            after(&[built("", 50), reply(None, 20), told(2, MODEL, None, (60, 9))]),
            (1, 1_030, 27),
        ),
    ];
    for (what, marks, expect) in table {
        let found = anchor(marks, MODEL).map_or((0, 0, 0), |found| {
            assert_eq!(&*found.model, MODEL);
            (found.seq.0, found.measured.0, found.since.0)
        });
        assert_eq!(found, expect, "{what}");
    }
}

/// Returns `count` replies of a model, each adding 1,000 tokens by our estimate and `grows` by the provider's count.
fn growing(model: &'static str, count: u64, grows: u64) -> Vec<UsageMark<'static>> {
    let one =
        |number: u64| [reply(None, 400), told(number, model, None, (5_000 + number * grows, 10)), other(600)];
    (1..=count).flat_map(one).collect()
}

fn learned(marks: &[UsageMark<'_>]) -> Option<(u16, u64)> {
    calibrate(marks.iter().copied(), MODEL).map(|found| (found.per_mille, found.replies))
}

#[test]
fn growth_teaches_a_factor_within_bounds() {
    for (grows, per_mille) in
        [(1_000, 1_000), (1_250, 1_250), (700, 700), (501, 501), (300, 500), (9_000, 2_000)]
    {
        // The growth of the first reply is unknown.
        assert_eq!(learned(&growing(MODEL, 21, grows)), Some((per_mille, 20)), "{grows}");
    }
    assert_eq!(learned(&growing(MODEL, 500, 1_100)), Some((1_100, NEWEST as u64)));
}

#[test]
fn too_little_teaches_nothing() {
    let replies = LEAST_REPLIES as u64;
    assert_eq!(learned(&growing(MODEL, replies, 1_000)), None);
    assert_eq!(learned(&growing(MODEL, replies + 1, 1_000)), Some((1_000, replies)));
    let min = LEAST_GROWTH.0 / replies;
    assert_eq!(learned(&growing(MODEL, replies + 1, min - 1)), None);
    assert_eq!(learned(&growing(MODEL, replies + 1, min)), Some((500, replies)));
}

#[test]
fn no_model_learns_from_another() {
    assert_eq!(learned(&growing("m2", 30, 1_300)), None);
    let both = [growing(MODEL, 20, 1_100), growing("m2", 20, 1_900), growing(MODEL, 20, 1_100)].concat();
    assert_eq!(learned(&both), Some((1_100, 38)));
}

#[test]
fn what_cannot_be_compared_is_passed_over() {
    let breaks = [
        ("a reset", vec![UsageMark::Reset]),
        ("media", vec![UsageMark::Blur, other(3_300)]),
        ("another model's reply", vec![reply(None, 9), told(99, "m2", None, (90_000, 1))]),
    ];
    for (what, marks) in breaks {
        let mut all = growing(MODEL, 10, 1_200);
        all.extend(marks);
        // From here on, the context is a hundred thousand tokens larger or smaller.
        for (number, input) in (1..=10).map(|number| (number, 105_000 + number * 1_200)) {
            all.extend([reply(None, 400), told(100 + number, MODEL, None, (input, 10)), other(600)]);
        }
        assert_eq!(learned(&all), Some((1_200, 18)), "{what}");
    }
    let mut shrunk = growing(MODEL, 10, 1_200);
    shrunk.extend(growing(MODEL, 10, 1_200));
    assert_eq!(learned(&shrunk), Some((1_200, 18)), "the input has shrunk, unannounced");
}

#[test]
fn split_replies_count_once() {
    let one = |number: u64| {
        let id = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][number as usize];
        let usage = told(number, MODEL, Some(id), (5_000 + number * 1_000, 10));
        [reply(Some(id), 300), usage, other(300), reply(Some(id), 100), usage, other(300)]
    };
    let marks: Vec<_> = (0..10).flat_map(one).collect();
    assert_eq!(learned(&marks), Some((1_000, 9)));
}

#[test]
fn one_strange_reply_does_not_outweigh_the_others() {
    let mut marks = growing(MODEL, 33, 1_000);
    for mark in &mut marks[60..] {
        if let UsageMark::Measured(measured) = mark {
            measured.input += Tokens(150_000);
        }
    }
    assert_eq!(learned(&marks), Some((1_093, 32)));
}

#[test]
fn a_request_of_ours_is_compared_whole() {
    let one = |number: u64, live: bool| {
        let UsageMark::Measured(usage) = told(number, MODEL, None, (13_000 + number * 2_000, 10)) else {
            panic!()
        };
        let usage = UsageMark::Measured(Measured { live, ..usage });
        [built(MODEL, 10_000 + number * 1_500), reply(None, 400), usage, other(600)]
    };
    let live: Vec<_> = (0..LEAST_REPLIES as u64).flat_map(|number| one(number, true)).collect();
    assert_eq!(learned(&live), Some((1_312, 8)));
    // Requests in a transcript were made by another program, so only the growth counts.
    let imported: Vec<_> = (0..9).flat_map(|number| one(number, false)).collect();
    assert_eq!(learned(&imported), Some((2_000, 8)));
    // If another message follows a request, the next reply does not answer that request.
    let stale = |number| {
        let [built, reply, usage, other] = one(number, true);
        [built, other, reply, usage]
    };
    assert_eq!(learned(&(0..9).flat_map(stale).collect::<Vec<_>>()), Some((2_000, 8)));
}

#[test]
fn frames_are_constants() {
    let heavy = |mark: UsageMark<'static>| match mark {
        UsageMark::Other(_) => UsageMark::Other(Weight { fixed: Tokens(500), scaled: Tokens(600) }),
        mark => mark,
    };
    let marks: Vec<_> = growing(MODEL, 21, 1_500 + 250).into_iter().map(heavy).collect();
    assert_eq!(learned(&marks), Some((1_250, 20)));
}

fn any_mark() -> impl Strategy<Value = UsageMark<'static>> {
    let id = proptest::sample::select(vec![None, Some("a"), Some("b")]);
    let model = proptest::sample::select(vec![MODEL, "m2", ""]);
    prop_oneof![
        (id.clone(), 0..1_000_u64, any::<bool>()).prop_map(|(api_id, scaled, failed)| UsageMark::Reply {
            api_id,
            weight: weight(scaled),
            failed
        }),
        (0..9_000_u64).prop_map(other),
        (model.clone(), id, any::<u64>(), 0..90_000_u64).prop_map(|(model, id, odd, input)| told(
            odd,
            model,
            id,
            (if odd % 9 == 0 { odd } else { input }, odd % 99)
        )),
        (model, 0..90_000_u64).prop_map(|(model, estimate)| built(model, estimate)),
        Just(UsageMark::CutShort),
        Just(UsageMark::Blur),
        Just(UsageMark::Reset),
    ]
}

proptest! {
    #[test]
    fn whatever_is_told_the_factor_is_within_bounds_and_the_anchor_is_the_models(
        marks in proptest::collection::vec(any_mark(), 0..200),
    ) {
        if let Some(found) = calibrate(marks.iter().copied(), MODEL) {
            prop_assert!((PER_MILLE.0..=PER_MILLE.1).contains(&found.per_mille));
            prop_assert!((LEAST_REPLIES..=NEWEST).contains(&(found.replies as usize)));
        }
        if let Some(found) = anchor(marks.iter().copied(), MODEL) {
            let source = marks.iter().any(|mark| matches!(mark, UsageMark::Measured(measured)
                if measured.seq == found.seq && measured.model == MODEL
                    && measured.input + measured.output == found.measured));
            prop_assert!(source);
            let resets: Vec<_> = marks.iter().copied().chain([UsageMark::Reset, other(1)]).collect();
            prop_assert_eq!(anchor(resets, MODEL), None);
        }
    }

    #[test]
    fn a_corrected_estimate_is_monotone(estimate in 0..u64::from(u32::MAX), more in 0..1_000_u64, per_mille in 500..=2_000_u16) {
        let calibration = Calibration { per_mille, replies: 8 };
        let (small, large) = (calibration.of(Tokens(estimate)), calibration.of(Tokens(estimate + more)));
        prop_assert!(small <= large);
        prop_assert!(small.0 * 1_000 >= estimate * u64::from(per_mille));
        prop_assert!(small.0 * 1_000 < estimate * u64::from(per_mille) + 1_000);
    }
}
