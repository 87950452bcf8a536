//! A policy and its file are equivalent.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::LazyLock;
use wunderblock::policy::Policies;
use wunderblock_core::policy::{
    Action, Boundary, CompactionLimits, CutPoint, Division, DropOrder, Fill, FractionBase, KindName,
    Meanwhile, Optional, Permille, Policy, PolicyFault, Protect, Reduce, ReductionLevel, Severity, Split,
    Summary, SummaryFormat, Template, TemplateSection, TriggerLevel, Triggers,
};
use wunderblock_core::units::{Bytes, Tokens};
use wunderblock_reduce::Kind;

/// The presets, parsed once for all cases.
static PRESETS: LazyLock<Policies> = LazyLock::new(Policies::embedded);

/// Returns any share, plausible or not.
fn part() -> impl Strategy<Value = Permille> {
    prop_oneof![8 => 0..=1_000_u16, 1 => Just(0), 1 => 0..=65_000_u16].prop_map(Permille)
}

/// Returns a share that is usually in a plausible range, and occasionally any share.
fn within(range: std::ops::Range<u16>) -> impl Strategy<Value = Permille> {
    prop_oneof![24 => range.prop_map(Permille), 1 => part()]
}

/// Returns a number that TOML can represent, up to `i64::MAX`.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..300_000_u64, 1 => 0..=i64::MAX as u64]
}

fn amount() -> impl Strategy<Value = Tokens> {
    (1..300_000_u64).prop_map(Tokens)
}

fn shrunk() -> impl Strategy<Value = (Tokens, Tokens)> {
    (2..9_000_u64, 0..10_000_u64)
        .prop_map(|(over, to)| (Tokens(over), Tokens(if to < 9_000 { to % over } else { to })))
}

fn tokens() -> impl Strategy<Value = Tokens> {
    count().prop_map(Tokens)
}

fn name() -> impl Strategy<Value = Box<str>> {
    prop_oneof![9 => "[a-z][a-z0-9_-]{0,12}".prop_map(String::into_boxed_str), 1 => text()]
}

fn text() -> impl Strategy<Value = Box<str>> {
    prop_oneof![4 => "[a-z][a-z_-]{0,12}", 1 => ".{0,12}", 1 => "[\"'#=\\[\\]\n\r\t\\\\压缩]{0,8}"]
        .prop_map(String::into_boxed_str)
}

fn level(fraction: std::ops::Range<u16>) -> impl Strategy<Value = TriggerLevel> {
    let tokens = (400_000 + u64::from(fraction.start)..=i64::MAX as u64).prop_map(Tokens);
    let parts = (option::of(within(fraction)), option::of(tokens), option::of(amount()));
    let counts = (option::of(600..900_u64), option::of(count()), option::of(count()), option::of(amount()));
    (parts, counts).prop_map(|((fraction, tokens, free), (messages, age_s, cache_s, unsummarised))| {
        TriggerLevel { fraction, tokens, unsummarised, free, messages, age_s, cache_s }
    })
}

fn triggers() -> impl Strategy<Value = Triggers> {
    let of = prop_oneof![Just(FractionBase::Budget), Just(FractionBase::Window)];
    let boundary = prop_oneof![Just(Boundary::Exchange), Just(Boundary::Turn), Just(Boundary::Task)];
    (
        level(400..700),
        level(700..1_001),
        of,
        boundary,
        (within(0..400), within(0..1_001), within(400..1_001)),
        within(0..600),
    )
        .prop_map(|(soft, hard, of, boundary, (down_to, cold, idle), regrow)| Triggers {
            soft,
            hard,
            of,
            boundary,
            down_to: Optional::new(down_to),
            cold: Optional::new(cold),
            idle: Optional::new(idle),
            regrow,
        })
}

fn protect() -> impl Strategy<Value = Protect> {
    let counts = (0..300_u64, 0..300_u64, 0..9_u64, within(0..1_001));
    let amounts =
        (amount(), amount(), prop_oneof![Just(Tokens(0)), (300_000..900_000_u64).prop_map(Tokens)], tokens());
    let shares = (any::<bool>(), within(0..300), within(0..100), within(0..200), 0..9_u64);
    (counts, amounts, within(0..1_000), within(0..400), shares).prop_map(
        |(
            (first, messages, turns, at_most_share),
            (tokens, at_least, at_most, user_tokens),
            history,
            window,
            (to_newest_user, user_share, rules_share, work_share, files),
        )| {
            Protect {
                first,
                messages,
                turns,
                tokens,
                history,
                window,
                at_least,
                at_most: Optional::new(at_most),
                at_most_share: Optional::new(at_most_share),
                to_newest_user,
                user_tokens,
                user_share,
                rules_share,
                files,
                files_tokens: Tokens(files * 1_000),
                work_share,
            }
        },
    )
}

fn split() -> impl Strategy<Value = Split> {
    let at = prop_oneof![Just(CutPoint::User), Just(CutPoint::Exchange)];
    (at, any::<bool>(), any::<bool>()).prop_map(|(at, forward, two_summaries)| Split {
        at,
        forward,
        two_summaries,
    })
}

#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn action() -> impl Strategy<Value = Action> {
    let gain = || (within(0..1_000), tokens());
    prop_oneof![
        (option::of(count()), any::<bool>(), any::<bool>(), any::<bool>(), gain()).prop_map(
            |(thinking_after, invalid_runs, placeholder, repeated, (min_gain, min_tokens))| Action::Curate {
                thinking_after,
                invalid_runs,
                placeholder,
                repeated,
                min_gain,
                min_tokens
            }
        ),
        (count(), gain()).prop_map(|(min_bytes, (min_gain, min_tokens))| Action::Dedupe {
            min_bytes: Bytes(min_bytes),
            min_gain,
            min_tokens
        }),
        (count(), tokens(), tokens(), any::<[bool; 2]>(), gain()).prop_map(
            |(keep, keep_tokens, over, [arguments, as_needed], (min_gain, min_tokens))| Action::Stub {
                keep,
                keep_tokens,
                over,
                arguments,
                as_needed,
                min_gain,
                min_tokens
            }
        ),
        (shrunk(), within(0..1_001), count(), gain()).prop_map(
            |((over, to), head, keep, (min_gain, min_tokens))| {
                Action::Shrink { over, to, head, keep, min_gain, min_tokens }
            }
        ),
        (
            any::<bool>(),
            tokens(),
            within(500..1_001),
            within(0..500),
            within(1..1_001),
            any::<bool>(),
            gain()
        )
            .prop_map(
                |(by_task, chunk, chunk_share, chunk_least, oldest, all, (min_gain, min_tokens))| {
                    Action::Summarise {
                        by: if by_task { Division::Task } else { Division::Length },
                        chunk: Optional::new(chunk),
                        chunk_share: Optional::new(chunk_share),
                        chunk_least: Optional::new(chunk_least),
                        oldest,
                        all,
                        anchored: !all,
                        as_needed: !all && by_task,
                        ahead: all && chunk > Tokens::ZERO,
                        catalogue: all,
                        min_gain,
                        min_tokens,
                    }
                }
            ),
        (1..30_u64, 2..20_u64, (any::<u32>(), tokens()), within(0..1_000), tokens(), gain()).prop_map(
            |(leaves, nodes, (most, chunk), above, above_tokens, (min_gain, min_tokens))| Action::Condense {
                leaves,
                nodes,
                chunk: Optional::new(chunk),
                most: Optional::new(most),
                above,
                above_tokens: Optional::new(above_tokens),
                min_gain,
                min_tokens
            }
        ),
        (within(500..1_000), tokens(), within(0..500), tokens(), amount(), gain()).prop_map(
            |(above, above_tokens, keep, keep_tokens, catalogue_tokens, (min_gain, min_tokens))| {
                Action::Archive {
                    above,
                    above_tokens: Optional::new(above_tokens),
                    keep,
                    keep_tokens: Optional::new(keep_tokens),
                    catalogue_tokens,
                    min_gain,
                    min_tokens,
                }
            }
        ),
        (any::<bool>(), 0..700_u64, gain()).prop_map(|(by_age, keep, (min_gain, min_tokens))| Action::Drop {
            by: if by_age { DropOrder::Age } else { DropOrder::Importance },
            keep: Optional::new(keep),
            min_gain,
            min_tokens
        }),
    ]
}

fn template() -> impl Strategy<Value = Template> {
    let fill = prop_oneof![
        Just(Fill::Intent),
        Just(Fill::FilesRead),
        Just(Fill::UserMessages),
        Just(Fill::Statistics)
    ];
    let section = (name(), prop::collection::vec(fill, 1..4), text());
    let sections = prop::collection::vec(
        section.prop_map(|(name, fill, about)| TemplateSection {
            weight: u16::try_from(name.len() % 5).unwrap() + 1,
            name,
            fill,
            about,
        }),
        1..4,
    );
    let form = select(vec![
        SummaryFormat::Markdown,
        SummaryFormat::Numbered,
        SummaryFormat::Xml,
        SummaryFormat::Log,
    ]);
    (form, name(), sections).prop_map(|(form, root, sections)| Template { form, root, sections })
}

fn summary() -> impl Strategy<Value = Summary> {
    let least = prop_oneof![9 => (0..500_u64).prop_map(Tokens), 1 => tokens()];
    let input =
        prop_oneof![4 => Just(Tokens(0)), 4 => (400_000..900_000_u64).prop_map(Tokens), 1 => tokens()];
    let amounts = ((500..300_000_u64).prop_map(Tokens), least, amount(), amount(), tokens(), input);
    let parts = (
        within(1..1_000),
        within(1..1_001),
        990..4_000_u16,
        within(1..1_001),
        990..2_000_u16,
        within(0..1_001),
    );
    (template(), name(), any::<bool>(), amounts, parts).prop_map(
        |(
            template,
            model,
            last,
            (target, at_least, condensed, by_model, floor, input),
            (share, room, overage, second, margin, grounded),
        )| {
            Summary {
                template,
                model,
                last,
                target,
                share,
                room,
                at_least,
                condensed,
                by_model,
                overage: Permille(overage),
                second,
                floor,
                input: Optional::new(input),
                margin: Permille(margin),
                grounded,
            }
        },
    )
}

fn limits() -> impl Strategy<Value = CompactionLimits> {
    (prop_oneof![9 => 1..9_u32, 1 => Just(0)], count(), any::<u32>(), any::<u32>(), any::<bool>()).prop_map(
        |(rounds, cooldown_s, calls_per_hour, sweep_nodes, waits)| CompactionLimits {
            rounds,
            cooldown_s,
            calls_per_hour,
            sweep_nodes: Optional::new(sweep_nodes),
            meanwhile: if waits { Meanwhile::Wait } else { Meanwhile::GoOn },
        },
    )
}

fn reduce() -> impl Strategy<Value = Reduce> {
    let level = prop_oneof![1 => Just(ReductionLevel::Off), 1 => Just(ReductionLevel::Lossless), 2 => Just(ReductionLevel::Fold)];
    let all: Vec<KindName> = Kind::ALL.iter().map(|kind| KindName(kind.name().into())).collect();
    let some = prop::sample::subsequence(all.clone(), 0..4);
    let except = prop_oneof![9 => some, 1 => Just(all)];
    (level, count(), except).prop_map(|(level, least, except)| Reduce { level, least: Bytes(least), except })
}

fn policy() -> impl Strategy<Value = Policy> {
    let plain = prop_oneof![2 => Just(Summary::default()), 1 => summary()];
    let calm = prop_oneof![1 => Just(Protect::default()), 1 => protect()];
    let quiet = prop_oneof![1 => Just(Triggers::default()), 1 => triggers()];
    let steps = prop::collection::vec(action(), 0..4);
    (name(), text(), quiet, calm, (split(), reduce()), steps, plain, limits()).prop_map(
        |(name, about, trigger, protect, (split, reduce), steps, summary, limits)| Policy {
            name,
            about,
            trigger,
            protect,
            split,
            reduce,
            steps,
            summary,
            limits,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A policy that `faults` accepts is unchanged after it has been written to a file and read back. A policy that
    /// `faults` rejects is also rejected in a file, for the same reasons.
    #[test]
    fn a_policy_comes_back_from_its_file(policy in policy()) {
        let text = toml::to_string(&policy).unwrap();
        let mut errors: Vec<_> = policy.faults();
        errors.retain(|fault| fault.severity == Severity::Error);
        // Only the reader of files knows all kinds.
        if !policy.reduce.is_off() && policy.reduce.except.len() == Kind::ALL.len() {
            let what = "no kind of text is left to reduce: set `level = \"off\"` instead".to_owned();
            errors.push(PolicyFault { severity: Severity::Error, key: "reduce.except".to_owned(), what });
        }
        match PRESETS.parse(&text, "a policy") {
            Ok(parsed) => {
                prop_assert_eq!(&errors, &[]);
                prop_assert_eq!(parsed.policy, policy, "{}", text);
            }
            Err(error) => {
                let mut found: Vec<_> = error.findings.iter().map(|finding| finding.fault.clone()).collect();
                let key = |fault: &PolicyFault| (fault.key.clone(), fault.what.clone());
                found.sort_by_key(key);
                errors.sort_by_key(key);
                prop_assert_eq!(found, errors, "{}", text);
            }
        }
    }

    /// Any text gives either a policy or an error message.
    #[test]
    fn no_text_stops_the_reader(lines in prop::collection::vec(line(), 0..20)) {
        if let Err(error) = PRESETS.parse(&lines.join("\n"), "a text") {
            prop_assert!(!error.findings.is_empty());
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

/// Returns lines that are typical of policy files, and other lines.
fn line() -> impl Strategy<Value = String> {
    let headers = [
        "[trigger]",
        "[trigger.soft]",
        "[[step]]",
        "[step]",
        "[summary.template]",
        "[protect]",
        "[[summary]]",
    ];
    let keys = [
        "name",
        "extends",
        "do",
        "fraction",
        "tokens",
        "keep",
        "at",
        "template",
        "fill",
        "step",
        "limits.rounds",
    ];
    let values = [
        "1",
        "0.9",
        "-3",
        "nan",
        "\"balanced\"",
        "\"stub\"",
        "[]",
        "{}",
        "true",
        "1979-05-27",
        "[[1]]",
        "0x7F",
    ];
    let pair = (prop::sample::select(keys.to_vec()), prop::sample::select(values.to_vec()));
    prop_oneof![
        3 => prop::sample::select(headers.to_vec()).prop_map(str::to_owned),
        6 => pair.prop_map(|(key, value)| format!("{key} = {value}")),
        1 => ".{0,30}",
    ]
}

#[test]
fn every_preset_comes_back_from_its_file() {
    let policies = Policies::embedded();
    for name in policies.names() {
        let policy = policies.preset(name).unwrap();
        let parsed = policies.parse(&toml::to_string(&*policy).unwrap(), name).unwrap();
        assert_eq!(parsed.policy, *policy);
    }
}
