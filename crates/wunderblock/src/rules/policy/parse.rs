//! Parses a policy file, completes it with the policy it extends, and checks the result.
//!
//! ```text
//! text ─ TOML ─ each value deserialized alone (all mistakes at once) ─ the file it extends, merged ─ Policy ─ Policy::faults
//! ```

use super::finding::{PolicyError, PolicyFinding};
use super::kinds;
use super::lines::Lines;
use super::mistake::mistakes;
use super::probe::EXTENDS;
use super::suggestion::{shortened, suggestion};
use crate::limits::MAX_POLICY;
use serde::Deserialize;
use toml::Table;
use toml::de::{DeTable, Deserializer};
use wunderblock_core::policy::{Policy, Severity};

/// A parsed policy, and warnings about its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The policy.
    pub policy: Policy,
    /// Findings that leave the policy usable but may not be intended.
    pub warnings: Vec<PolicyFinding>,
}

/// Policies that a file may extend: their names, and a lookup of their texts.
pub(super) struct Bases<'b> {
    pub(super) names: &'b [&'static str],
    pub(super) text: &'b dyn Fn(&str) -> Option<&'static str>,
}

/// Parses and checks a policy file.
pub(super) fn parse(text: &str, origin: &str, bases: &Bases<'_>) -> Result<Parsed, PolicyError> {
    let refused = |findings| PolicyError::new(origin, findings);
    let lines = Lines::of(text);
    if text.len() > MAX_POLICY {
        let what = format!("the file is too large: {} bytes, maximum {MAX_POLICY}", text.len());
        return Err(refused(vec![PolicyFinding::error(None, "", what)]));
    }
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| lines.at(&span));
        refused(vec![PolicyFinding::error(line, "", format!("invalid TOML: {}", error.message()))])
    })?;
    let mistakes = mistakes(document.get_ref(), &lines);
    if !mistakes.is_empty() {
        return Err(refused(mistakes));
    }
    let place = |key: &str| lines.of_key(document.get_ref(), key);
    let other =
        |error: toml::de::Error| refused(vec![PolicyFinding::error(None, "", error.message().to_owned())]);
    let own = Table::deserialize(Deserializer::from(document.clone())).map_err(other)?;
    let whole = extended(own, bases, &mut Vec::new())
        .map_err(|what| refused(vec![PolicyFinding::error(place(EXTENDS), EXTENDS, what)]))?;
    let policy: Policy = whole.try_into().map_err(other)?;
    let faults = policy.faults().into_iter().chain(kinds::fault(&policy));
    let found = faults.map(|fault| PolicyFinding { line: place(&fault.key), fault });
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.partition(|finding| finding.fault.severity == Severity::Error);
    if errors.is_empty() { Ok(Parsed { policy, warnings }) } else { Err(refused(errors)) }
}

/// Deserializes a file that is known to have no mistakes. Looking for them takes six times as long.
pub(super) fn trusted(text: &str, bases: &Bases<'_>) -> Option<Policy> {
    extended(toml::from_str(text).ok()?, bases, &mut Vec::new()).ok()?.try_into().ok()
}

/// Merges a file into the policy it extends: tables are merged, and any other value replaces that of the base.
fn extended(mut own: Table, bases: &Bases<'_>, chain: &mut Vec<String>) -> Result<Table, String> {
    let Some(value) = own.remove(EXTENDS) else {
        return Ok(own);
    };
    let name = value.as_str().unwrap_or_default().to_owned();
    if chain.contains(&name) {
        return Err(format!("`{}` extends `{name}` again: a loop", chain.join("` extends `")));
    }
    let Some(text) = (bases.text)(&name) else {
        return Err(format!("unknown policy `{}`{}", shortened(&name), suggestion(&name, bases.names)));
    };
    let base: Table =
        toml::from_str(text).map_err(|error| format!("`{name}` cannot be read: {}", error.message()))?;
    chain.push(name);
    let mut base = extended(base, bases, chain)?;
    merge(&mut base, own);
    Ok(base)
}

fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => merge(below, above),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn bases(name: &str) -> Option<&'static str> {
        match name {
            "base" => Some(
                "name = \"base\"\n[trigger]\ndown_to = 0.5\n[trigger.soft]\nfraction = 0.9\nmessages = 7\n[[step]]\n\
                 do = \"dedupe\"\n[[step]]\ndo = \"stub\"\n",
            ),
            "middle" => Some("name = \"middle\"\nextends = \"base\"\n[trigger.soft]\nmessages = 9\n"),
            "a" => Some("name = \"a\"\nextends = \"b\"\n"),
            "b" => Some("name = \"b\"\nextends = \"a\"\n"),
            _ => None,
        }
    }

    fn read(text: &str) -> Result<Parsed, PolicyError> {
        parse(text, "mine", &Bases { names: &["base", "middle", "a", "b"], text: &bases })
    }

    #[test]
    fn tables_are_merged_and_lists_replaced() {
        let parsed = read(
            "name = \"mine\"\nextends = \"middle\"\n[trigger.soft]\nfraction = 0.8\n[[step]]\ndo = \"summarise\"\n",
        );
        let expected = "name = \"mine\"\n[trigger]\ndown_to = 0.5\n[trigger.soft]\nfraction = 0.8\nmessages = 9\n\
                        [[step]]\ndo = \"summarise\"\n";
        assert_eq!(parsed.unwrap(), read(expected).unwrap());
        let about = read("name = \"mine\"\nextends = \"base\"\nabout = \"x\"\n").unwrap().policy;
        assert_eq!((about.steps.len(), about.trigger.soft.messages), (2, Some(7)));
    }

    #[test]
    fn a_loop_is_refused() {
        let error = read("name = \"mine\"\nextends = \"a\"\n").unwrap_err();
        assert_eq!(error.to_string(), "mine: line 2: extends: `a` extends `b` extends `a` again: a loop");
        let error = read("name = \"mine\"\nextends = \"mine\"\n").unwrap_err();
        let expected =
            "mine: line 2: extends: unknown policy `mine`; expected one of `base`, `middle`, `a`, `b`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_is_large_deep_or_wrong_many_times_is_refused_at_once() {
        let long = read(&"#".repeat(MAX_POLICY + 1)).unwrap_err();
        assert_eq!(long.to_string(), "mine: the file is too large: 65537 bytes, maximum 65536");
        let nested = read(&format!("name = {}", "[".repeat(MAX_POLICY - 7))).unwrap_err();
        assert_eq!(
            nested.to_string(),
            "mine: line 1: invalid TOML: cannot recurse further; max recursion depth met"
        );
        assert!(read(&format!("{} = 1", ["a"; 30_000].join("."))).is_err());
        let many: String = (0..5_000).map(|number| format!("k{number} = 1\n")).collect();
        let many = read(&many).unwrap_err();
        assert_eq!(many.findings.len(), 5_001);
        assert!(many.to_string().ends_with("\n  … and 4981 more"), "{many}");
    }
}
