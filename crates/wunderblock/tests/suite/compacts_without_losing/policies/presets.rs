//! The presets built into the program, and their documentation.

use std::path::{Path, PathBuf};
use wunderblock::policy::{DEFAULT, OFF, Policies};
use wunderblock_core::policy::{Fill, Policy, SummaryFormat};

#[test]
fn every_preset_is_read_without_an_error_or_a_warning() {
    let policies = Policies::embedded();
    for name in policies.names() {
        let policy = policies.preset(name).unwrap_or_else(|| panic!("{name} does not parse"));
        assert_eq!(&*policy.name, name);
        assert!(!policy.about.is_empty(), "{name}");
        assert_eq!(policy.faults(), [], "{name}");
        assert_eq!(policies.text(name).is_none(), name == OFF);
        if let Some(text) = policies.text(name) {
            let parsed = policies.parse(text, name).unwrap();
            assert_eq!(parsed.policy, *policy);
            let keys: Vec<&str> = parsed.warnings.iter().map(|warning| &*warning.fault.key).collect();
            assert_eq!(keys, ["name"], "{name} warns of more than that it has a preset's name");
        }
    }
    assert_eq!(policies.named(DEFAULT).unwrap().name, DEFAULT.into());
    assert_eq!(*policies.named(OFF).unwrap(), Policy::never());
    assert_eq!(policies.named("thorough").unwrap(), policies.named("balanced").unwrap(), "an earlier name");
    let files = std::fs::read_dir(here("policies")).unwrap().count();
    assert_eq!(files + 1, policies.names().len(), "a file that is not a preset");
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest() {
    let names = "`balanced`, `frugal`, `observations`, `fresh-window`, `claude-code`, `gemini-cli`, `codex`, `pi`, `manus`, `openmanus`, `letta-static`, \
                 `letta-partial`, `hermes`, `openclaw`, `lossless`, `headroom`, `leon-summary`, `layered`, `selective`, \
                 `minimal`, `always`, `never`, `off`";
    let refused = |name: &str| Policies::embedded().named(name).unwrap_err().to_string();
    let near = |near: &str| format!("unknown policy; did you mean `{near}`? expected one of {names}");
    assert_eq!(refused("balanecd"), format!("`balanecd`: {}", near("balanced")));
    assert_eq!(refused("Claude_Code"), format!("`Claude_Code`: {}", near("claude-code")));
    assert_eq!(refused("zzz"), format!("`zzz`: unknown policy; expected one of {names}"));
}

#[test]
fn the_templates_are_those_of_their_systems() {
    let template = |name: &str| {
        let policy = Policies::embedded().preset(name).unwrap();
        let names: Vec<String> =
            policy.summary.template.sections.iter().map(|section| section.name.to_string()).collect();
        (policy.summary.template.form, names.join(" | "))
    };
    let expected = [
        (
            "claude-code",
            SummaryFormat::Numbered,
            "Primary Request and Intent | Key Technical Concepts | Files and Code Sections | Errors and fixes | \
             Problem Solving | All user messages | Pending Tasks | Current Work",
        ),
        (
            "gemini-cli",
            SummaryFormat::Xml,
            "overall_goal | key_knowledge | file_system_state | recent_actions | current_plan",
        ),
        (
            "codex",
            SummaryFormat::Markdown,
            "Active task | Progress so far | Next steps | Key context, constraints, preferences | Completed tasks",
        ),
    ];
    for (name, form, sections) in expected {
        assert_eq!(template(name), (form, sections.to_owned()), "{name}");
    }
    // Systems that promise the user's words verbatim have a section for them, so that they are never only
    // paraphrased.
    for name in ["claude-code", "hermes"] {
        let policy = Policies::embedded().preset(name).unwrap();
        assert!(policy.summary.template.sections.iter().any(|section| section.fill == [Fill::UserMessages]));
    }
}

/// Returns a path in this crate.
pub(super) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
