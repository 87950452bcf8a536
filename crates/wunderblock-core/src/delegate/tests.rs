//! Golden tables of the rules, and what holds for any input.

use super::definition::{AgentDefinition, Layer, Origin};
use super::filter::{Conditions, Withheld, check};
use super::listing::{ListingDelta, line, lines};
use super::model::{ModelFamily, ModelTable, ModelVersion};
use super::registry::{Found, Registry};
use super::route::{ModelSwitch, Route, RouteNotice, RouteQuestion, RouteRule, RuleOutcome, route};
use super::tools::{ToolPattern, ToolRules};
use proptest::prelude::*;

fn version(id: &str, bedrock: Option<&str>, vertex: Option<&str>) -> ModelVersion {
    ModelVersion { id: id.into(), bedrock: bedrock.map(Into::into), vertex: vertex.map(Into::into) }
}

fn table() -> ModelTable {
    let family = |name: &str, vendor: &str, tier: &str, pattern: &str, versions| ModelFamily {
        name: name.into(),
        vendor: vendor.into(),
        tier: tier.into(),
        pattern: pattern.into(),
        versions,
    };
    let opus = vec![
        version("claude-opus-5-5", None, Some("claude-opus-5-5")),
        version("claude-opus-4-8", Some("anthropic.claude-opus-4-8"), Some("claude-opus-4-8")),
    ];
    let sonnet = vec![version(
        "claude-sonnet-4-5-20250929",
        Some("anthropic.claude-sonnet-4-5-20250929-v1:0"),
        Some("claude-sonnet-4-5@20250929"),
    )];
    let haiku = vec![version("claude-haiku-4-5", Some("anthropic.claude-haiku-4-5-20251001-v1:0"), None)];
    ModelTable {
        families: vec![
            family("opus", "anthropic", "large", "*claude*opus*", opus),
            family("sonnet", "anthropic", "medium", "*claude*sonnet*", sonnet),
            family("haiku", "anthropic", "small", "*claude*haiku*", haiku),
            family("flash", "google", "small", "*gemini*flash*", vec![version("gemini-3-flash", None, None)]),
        ],
        aliases: [("quick".into(), "haiku".into())].into(),
    }
}

fn ask(question: &RouteQuestion<'_>) -> Route {
    route(question, &table(), |model| model.contains("haiku").then_some(200_000))
}

fn named(name: &str, parent: &str) -> Option<String> {
    table().named(name, parent).map(|named| named.id.into())
}

#[test]
fn names_become_ids_at_the_parents_provider() {
    let bedrock = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
    let arn = "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-8";
    for (name, parent, expected) in [
        ("inherit", "claude-opus-4-6", Some("claude-opus-4-6")),
        ("Inherit", "x", Some("x")),
        ("opus", "claude-opus-4-6", Some("claude-opus-4-6")),
        ("opus", "claude-opus-4-6[1m]", Some("claude-opus-4-6[1m]")),
        ("opus[1m]", "claude-opus-4-6", Some("claude-opus-5-5[1m]")),
        ("opus", "claude-sonnet-4-5-20250929", Some("claude-opus-5-5")),
        ("OPUS", "claude-sonnet-4-5-20250929", Some("claude-opus-5-5")),
        ("opus", bedrock, Some("eu.anthropic.claude-opus-4-8")),
        ("sonnet", bedrock, Some(bedrock)),
        ("haiku", arn, Some("us.anthropic.claude-haiku-4-5-20251001-v1:0")),
        ("opus", arn, Some(arn)),
        ("anthropic.claude-opus-4-8", bedrock, Some("eu.anthropic.claude-opus-4-8")),
        ("us.anthropic.claude-opus-4-8", bedrock, Some("us.anthropic.claude-opus-4-8")),
        (arn, bedrock, Some(arn)),
        ("sonnet", "claude-opus-4-8@20260101", Some("claude-sonnet-4-5@20250929")),
        ("haiku", "claude-opus-4-8@20260101", None),
        ("opus", "anthropic/claude-sonnet-4-5", Some("anthropic/claude-opus-5-5")),
        ("large", "claude-haiku-4-5", Some("claude-opus-5-5")),
        ("small", "gemini-3-pro", None),
        ("opus", "gemini-2.5-flash", None),
        ("opus", "unknown", Some("claude-opus-5-5")),
        ("flash", "router/anthropic/claude-opus-4-8", Some("router/google/gemini-3-flash")),
        ("flash", "router/x/claude-opus-4-8", None),
        ("small", "gemini-2.5-flash", Some("gemini-2.5-flash")),
        ("quick", "claude-opus-4-6", Some("claude-haiku-4-5")),
        ("claude-opus-4-1", "claude-opus-4-6", Some("claude-opus-4-1")),
        ("gpt-5.6", "claude-opus-4-6", Some("gpt-5.6")),
    ] {
        assert_eq!(named(name, parent).as_deref(), expected, "{name} under {parent}");
    }
}

#[test]
fn each_rule_alone_and_each_pair_is_decided_by_the_stronger() {
    let rules = [
        RouteRule::Policy,
        RouteRule::Environment,
        RouteRule::Call,
        RouteRule::Definition,
        RouteRule::Default,
        RouteRule::Utility,
    ];
    let value = |rule: RouteRule| rule.name();
    for environment_is_default in [false, true] {
        let mut order = rules.to_vec();
        if environment_is_default {
            order.remove(1);
            order.insert(3, RouteRule::Environment);
        }
        for (at, strong) in order.iter().enumerate() {
            for weak in order.iter().skip(at) {
                let set = |rule| (*strong == rule || *weak == rule).then(|| value(rule));
                let got = ask(&RouteQuestion {
                    parent: "parent",
                    policy: set(RouteRule::Policy),
                    environment: set(RouteRule::Environment),
                    environment_is_default,
                    call: set(RouteRule::Call),
                    definition: set(RouteRule::Definition),
                    default: set(RouteRule::Default),
                    utility: set(RouteRule::Utility),
                    ..RouteQuestion::default()
                });
                assert_eq!((&*got.model, got.rule), (value(*strong), *strong), "{strong:?} and {weak:?}");
                let weaker = got.steps.iter().filter(|step| step.outcome == RuleOutcome::Weaker).count();
                assert_eq!(weaker, 1 + usize::from(strong != weak), "{:?}", got.steps);
            }
        }
    }
    let nothing =
        ask(&RouteQuestion { parent: "parent", environment: Some("inherit"), ..RouteQuestion::default() });
    assert_eq!((&*nothing.model, nothing.rule), ("parent", RouteRule::Inherit));
}

/// The four combinations of `/model` and the environment variable, and no variable, for the delegates of the article:
/// the built-in explorer, general-purpose, a reviewer that names sonnet, one that names opus, and calls that name a
/// model (`docs/design/0019-delegates.md`).
#[test]
fn the_environment_overrides_definitions_and_calls_but_not_the_main_model() {
    let (opus, sonnet) = ("claude-opus-4-6", "claude-sonnet-4-5-20250929");
    for (environment, parent, expected) in [
        (Some("opus"), opus, "opus opus opus opus opus"),
        (Some("opus"), sonnet, "opus opus opus opus opus"),
        (Some("sonnet"), opus, "sonnet sonnet sonnet sonnet sonnet"),
        (Some("sonnet"), sonnet, "sonnet sonnet sonnet sonnet sonnet"),
        (None, opus, "haiku opus sonnet opus haiku"),
        (None, sonnet, "haiku sonnet sonnet opus haiku"),
    ] {
        let delegates = [
            (Some("haiku"), None),
            (None, None),
            (Some("sonnet"), None),
            (Some("opus"), None),
            (Some("sonnet"), Some("haiku")),
        ];
        let families = delegates.map(|(definition, call)| {
            let got =
                ask(&RouteQuestion { parent, environment, definition, call, ..RouteQuestion::default() });
            table().family_of(&got.model).unwrap().name.to_string()
        });
        assert_eq!(families.join(" "), expected, "{environment:?} under {parent}");
    }
    let exact = ask(&RouteQuestion { parent: opus, definition: Some("opus"), ..RouteQuestion::default() });
    assert_eq!(&*exact.model, opus);
}

#[test]
fn what_is_not_permitted_is_replaced_within_its_family_and_else_inherited() {
    let parent = "claude-sonnet-4-5-20250929";
    let permitted = |list: &[&str], definition| {
        let list: Vec<Box<str>> = list.iter().map(|entry| Box::from(*entry)).collect();
        ask(&RouteQuestion {
            parent,
            definition: Some(definition),
            permitted: Some(&list),
            ..RouteQuestion::default()
        })
    };
    assert_eq!(&*permitted(&["opus"], "opus").model, "claude-opus-5-5");
    let older = permitted(&["claude-opus-4*"], "opus");
    assert_eq!(&*older.model, "claude-opus-4-8");
    assert!(matches!(&older.notices[..], [RouteNotice::NotPermitted { inherited: false, .. }]));
    let none = permitted(&["haiku"], "opus");
    assert_eq!(&*none.model, parent);
    assert!(matches!(&none.notices[..], [RouteNotice::NotPermitted { inherited: true, .. }]));
    assert_eq!(&*permitted(&[], "gpt-5").model, parent);
}

#[test]
fn planning_size_and_windows_change_the_model_and_say_so() {
    let switches = [
        ModelSwitch { plan: true, above: None, from: Some("sonnet".into()), to: "opus".into() },
        ModelSwitch { plan: false, above: Some(500_000), from: None, to: "sonnet[1m]".into() },
    ];
    let parent = "claude-sonnet-4-5-20250929";
    let base = RouteQuestion { parent, switches: &switches, ..RouteQuestion::default() };
    let plan = ask(&RouteQuestion { plan: true, ..base });
    assert_eq!((&*plan.model, plan.rule), ("claude-opus-5-5", RouteRule::Inherit));
    assert!(matches!(&plan.notices[..], [RouteNotice::Switched { plan: true, .. }]));
    assert_eq!(&*ask(&base).model, parent);
    assert_eq!(
        &*ask(&RouteQuestion { context: Some(600_000), ..base }).model,
        "claude-sonnet-4-5-20250929[1m]"
    );
    // A definition that names another model is not switched.
    assert_eq!(
        &*ask(&RouteQuestion { plan: true, definition: Some("haiku"), ..base }).model,
        "claude-haiku-4-5"
    );
    let small = ask(&RouteQuestion { context: Some(300_000), definition: Some("haiku"), ..base });
    assert_eq!(&*small.model, parent);
    assert!(matches!(&small.notices[..], [RouteNotice::TooSmall { inherited: true, window: 200_000, .. }]));
}

#[test]
fn an_id_that_nobody_knows_is_used_and_said() {
    let parent = "claude-sonnet-4-5-20250929";
    let ask = |definition, known: Option<u64>| {
        let question = RouteQuestion { parent, definition: Some(definition), ..RouteQuestion::default() };
        route(&question, &table(), move |_| known)
    };
    let got = ask("made-up-9", None);
    assert_eq!((&*got.model, got.notices), ("made-up-9", vec![RouteNotice::UnknownId("made-up-9".into())]));
    assert_eq!(ask("made-up-9", Some(9)).notices, []);
    assert_eq!(ask("inherit", None).notices, []);
}

#[test]
fn an_alias_without_a_known_id_leaves_the_decision_to_weaker_rules() {
    let got = ask(&RouteQuestion {
        parent: "claude-opus-4-8@20260101",
        definition: Some("haiku"),
        default: Some("sonnet"),
        ..RouteQuestion::default()
    });
    assert_eq!((&*got.model, got.rule), ("claude-sonnet-4-5@20250929", RouteRule::Default));
    assert_eq!(got.notices, [RouteNotice::UnknownName("haiku".into())]);
}

fn rules(allow: Option<&[&str]>, deny: &[&str]) -> ToolRules {
    let parse = |list: &[&str]| list.iter().map(|text| ToolPattern::parse(text)).collect();
    ToolRules { allow: allow.map(parse), deny: parse(deny) }
}

#[test]
fn denied_tools_go_first_and_wildcards_name_servers() {
    let there = ["Read", "Bash", "mcp__git__log", "mcp__git__show", "mcp__github__pull"];
    for (allow, deny, expected) in [
        (None, &[][..], "Read Bash mcp__git__log mcp__git__show mcp__github__pull"),
        (None, &["Bash"], "Read mcp__git__log mcp__git__show mcp__github__pull"),
        (Some(&["Read", "Bash"][..]), &["Bash(rm:*)"], "Read"),
        (Some(&["*"]), &["mcp__*"], "Read Bash"),
        (Some(&["mcp__git"]), &[], "mcp__git__log mcp__git__show"),
        (Some(&["mcp__git__*"]), &["mcp__git__show"], "mcp__git__log"),
        (Some(&["mcp_git*"]), &[], ""),
        (Some(&["Write"]), &[], ""),
        (Some(&[]), &[], ""),
    ] {
        let granted = rules(allow, deny).grant(&there);
        let names: Vec<&str> = granted.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names.join(" "), expected, "{allow:?} {deny:?}");
    }
    let limited = rules(Some(&["Bash(git:*)", "Bash(ls:*)", "Edit"]), &[]).grant(&there);
    assert_eq!(limited.tools[0].only, ["git:*".into(), "ls:*".into()]);
    assert_eq!(limited.unmatched, [ToolPattern::parse("Edit")]);
    assert!(rules(Some(&["Bash(git:*)", "Bash"]), &[]).grant(&there).tools[0].only.is_empty());
}

fn defined(name: &str, layer: Layer, distance: u32, place: &str) -> AgentDefinition {
    let origin = Origin { layer, distance, product: "claude-code".into(), place: place.into() };
    AgentDefinition::new(name, "Does it.", "You do it.", origin)
}

#[test]
fn the_strongest_layer_counts_and_the_closest_folder_of_a_project() {
    let all = [
        defined("a", Layer::User, 0, "user/a"),
        defined("a", Layer::Project, 2, "root/a"),
        defined("a", Layer::Project, 0, "here/a"),
        defined("a", Layer::BuiltIn, 0, "built-in"),
        defined("b", Layer::User, 0, "user/b"),
        defined("b", Layer::User, 0, "user/b2"),
        defined("b", Layer::BuiltIn, 0, "built-in"),
        defined("c", Layer::Plugin, 0, "p/c"),
        defined("c", Layer::Plugin, 0, "q/c"),
        defined("c", Layer::Policy, 0, "policy/c"),
    ];
    let registry = Registry::new(all);
    let Found::One(found) = registry.find("a") else { panic!("a is defined") };
    assert_eq!(&*found.origin.place, "here/a");
    let weaker: Vec<&str> = registry.overridden("a").map(|origin| &*origin.place).collect();
    assert_eq!(weaker, ["root/a", "user/a", "built-in"]);
    assert!(matches!(registry.find("b"), Found::Several([_, _])));
    assert!(matches!(registry.find("c"), Found::One(one) if one.origin.layer == Layer::Policy));
    assert_eq!(registry.find("A"), Found::Nothing);
    let conflicts: Vec<usize> = registry.conflicts().map(<[AgentDefinition]>::len).collect();
    assert_eq!(conflicts, [2, 2]);
    assert_eq!(registry.in_force().count(), 2);
}

#[test]
fn a_delegate_is_withheld_for_servers_then_denial_then_permission_then_tools() {
    let mut one = defined("p:x:review", Layer::Plugin, 0, "p");
    one.requires = vec!["GitHub".into()];
    one.tools = rules(Some(&["Write"]), &[]);
    let (servers, denied, allowed) = (["my-github".into()], ["p:*".into()], ["p:x:*".into()]);
    let none = Conditions { servers: Some(&[]), denied: &denied, ..Conditions::default() };
    assert_eq!(check(&one, &none), Err(Withheld::MissingServers(vec!["GitHub".into()])));
    let met = Conditions { servers: Some(&servers), ..Conditions::default() };
    assert_eq!(
        check(&one, &Conditions { denied: &denied, allowed: Some(&allowed), ..met }),
        Err(Withheld::Denied("p:*".into()))
    );
    assert_eq!(check(&one, &Conditions { allowed: Some(&["q".into()]), ..met }), Err(Withheld::NotAllowed));
    assert_eq!(check(&one, &Conditions { tools: Some(&["Read"]), ..met }), Err(Withheld::NoTools));
    assert_eq!(check(&one, &Conditions { tools: Some(&["Write"]), allowed: Some(&allowed), ..met }), Ok(()));
    // Rules that leave no tool refuse, whatever tools there are.
    for (allow, deny) in [(None, &["*"][..]), (Some(&[][..]), &[])] {
        one.tools = rules(allow, deny);
        assert_eq!(check(&one, &met), Err(Withheld::NoTools));
    }
}

#[test]
fn a_listing_grows_by_what_changed() {
    let mut one = defined("b", Layer::User, 0, "b");
    one.description = "Reviews\n code.".into();
    one.tools = rules(Some(&["Read", "Bash(git:*)"]), &["Write"]);
    assert_eq!(line(&one), "- b: Reviews code. (Tools: Read, Bash(git:*) except Write)");
    let old = lines([&one, &defined("a", Layer::User, 0, "a"), &defined("c", Layer::User, 0, "c")]);
    one.tools = ToolRules::default();
    let mut hidden = defined("a", Layer::User, 0, "a");
    hidden.hidden = true;
    let new = lines([&defined("d", Layer::User, 0, "d"), &one, &hidden, &defined("c", Layer::User, 0, "c")]);
    let delta = ListingDelta::between(&old, &new);
    assert_eq!(
        delta.text(),
        "New agent types:\n- d: Does it. (Tools: all tools)\nChanged agent types:\n- b: Reviews code. (Tools: all tools)\nNo longer available: a\n"
    );
    assert!(ListingDelta::between(&new, &new).is_empty());
}

fn any_definition() -> impl Strategy<Value = AgentDefinition> {
    ("[ab]", prop::sample::select(&Layer::ALL[..]), 0u32..3, "[xyz]")
        .prop_map(|(name, layer, distance, place)| defined(&name, layer, distance, &place))
}

fn any_name() -> impl Strategy<Value = Option<String>> {
    let names = &[
        "opus",
        "haiku",
        "small",
        "inherit",
        "quick",
        "us.anthropic.claude-opus-4-8",
        "gpt-5",
        " ",
        "flash",
    ];
    prop::option::of(prop::sample::select(&names[..]).prop_map(ToOwned::to_owned))
}

proptest! {
    #[test]
    fn a_policy_is_never_overridden(
        others in prop::collection::vec(any_name(), 5), first: bool, plan: bool, context in prop::option::of(0u64..900_000),
        parent in prop::sample::select(&["claude-opus-4-6", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "x"][..]),
        policy in prop::sample::select(&["opus", "gpt-5", "us.anthropic.claude-opus-4-8"][..]),
    ) {
        let question = RouteQuestion {
            parent, policy: Some(policy), environment: others[0].as_deref(), environment_is_default: first,
            call: others[1].as_deref(), definition: others[2].as_deref(), default: others[3].as_deref(),
            utility: others[4].as_deref(), plan, context, permitted: Some(&[]), ..RouteQuestion::default()
        };
        let got = ask(&question);
        prop_assert_eq!(got.rule, RouteRule::Policy);
        prop_assert_eq!(Some(got.model.to_string()), named(policy, parent));
        prop_assert_eq!(ask(&question), got);
    }

    #[test]
    fn every_question_has_an_answer(
        values in prop::collection::vec(any_name(), 6), first: bool, parent in "[a-z/.@:\\[\\]]{0,12}",
    ) {
        let got = ask(&RouteQuestion {
            parent: &parent, policy: values[0].as_deref(), environment: values[1].as_deref(),
            environment_is_default: first, call: values[2].as_deref(), definition: values[3].as_deref(),
            default: values[4].as_deref(), utility: values[5].as_deref(), ..RouteQuestion::default()
        });
        let decided = got.steps.iter().filter(|step| matches!(step.outcome, RuleOutcome::Decided(_))).count();
        prop_assert_eq!((decided, got.steps.len()), (1, 7));
        let chosen = got.steps.iter().find(|step| step.rule == got.rule).unwrap();
        prop_assert!(matches!(&chosen.outcome, RuleOutcome::Decided(named) if named.id == got.model));
    }

    #[test]
    fn a_denied_tool_is_never_granted(
        allow in prop::option::of(prop::collection::vec("[ab*]{1,3}", 0..4)),
        deny in prop::collection::vec("[ab*]{1,3}", 0..4), there in prop::collection::vec("[ab]{1,3}", 0..6),
    ) {
        let parse = |list: &[String]| list.iter().map(|text| ToolPattern::parse(text)).collect::<Vec<_>>();
        let rules = ToolRules { allow: allow.as_deref().map(parse), deny: parse(&deny) };
        let names: Vec<&str> = there.iter().map(String::as_str).collect();
        for tool in rules.grant(&names).tools {
            prop_assert!(!rules.deny.iter().any(|rule| rule.names(&tool.name)));
            prop_assert!(rules.allow.as_ref().is_none_or(|allow| allow.iter().any(|rule| rule.names(&tool.name))));
        }
    }

    #[test]
    fn a_weaker_definition_changes_nothing_above_it(
        all in prop::collection::vec(any_definition(), 0..8), one in any_definition(),
    ) {
        let before = Registry::new(all.clone());
        let after = Registry::new(all.iter().cloned().chain([one.clone()]));
        for name in ["a", "b"] {
            let weaker = match before.find(name) {
                Found::One(found) => found.origin.rank() > one.origin.rank(),
                Found::Several(found) => found[0].origin.rank() > one.origin.rank(),
                Found::Nothing => false,
            };
            if weaker || name != &*one.name {
                prop_assert_eq!(before.find(name), after.find(name));
            }
        }
    }
}
