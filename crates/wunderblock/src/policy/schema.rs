//! Keys of a policy file, and the kind of value of each. Serde makes the same checks, but it stops at the first
//! mistake and has no line numbers for values within a step. A test keeps this schema and the types in agreement.

/// Kind of value that a key accepts.
#[derive(Clone, Copy)]
pub(super) enum ValueKind {
    /// A ratio: a part or a multiple of a whole, such as 0.92 or 2.
    Part,
    /// A whole number from 0 to this maximum.
    Count(u64),
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of words, each of which must be in this list.
    Words(&'static [&'static str]),
    /// A table.
    Table(&'static [PolicyKey]),
    /// A list of tables.
    Tables(&'static [PolicyKey]),
    /// A list of tables whose keys depend on the value of `do`.
    Steps,
}

/// A key of a table, and the values it accepts.
#[derive(Clone, Copy)]
pub(super) struct PolicyKey {
    pub(super) name: &'static str,
    pub(super) kind: ValueKind,
    pub(super) is_required: bool,
}

const fn key(name: &'static str, kind: ValueKind) -> PolicyKey {
    PolicyKey { name, kind, is_required: false }
}

const fn required(name: &'static str, kind: ValueKind) -> PolicyKey {
    PolicyKey { name, kind, is_required: true }
}

/// A number up to the largest that TOML can express.
const COUNT: ValueKind = ValueKind::Count(i64::MAX as u64);
const SMALL: ValueKind = ValueKind::Count(u32::MAX as u64);

/// Keys of a policy file.
pub(super) const POLICY: &[PolicyKey] = &[
    required("name", ValueKind::Text),
    key("about", ValueKind::Text),
    key("extends", ValueKind::Text),
    key("trigger", ValueKind::Table(TRIGGER)),
    key("protect", ValueKind::Table(PROTECT)),
    key("split", ValueKind::Table(SPLIT)),
    key("reduce", ValueKind::Table(REDUCE)),
    key("step", ValueKind::Steps),
    key("summary", ValueKind::Table(SUMMARY)),
    key("limits", ValueKind::Table(LIMITS)),
];

const TRIGGER: &[PolicyKey] = &[
    key("soft", ValueKind::Table(LEVEL)),
    key("hard", ValueKind::Table(LEVEL)),
    key("of", ValueKind::Word(&["budget", "window"])),
    key("boundary", ValueKind::Word(&["exchange", "turn", "task"])),
    key("down_to", ValueKind::Part),
    key("cold", ValueKind::Part),
    key("idle", ValueKind::Part),
    key("regrow", ValueKind::Part),
];

const LEVEL: &[PolicyKey] = &[
    key("fraction", ValueKind::Part),
    key("tokens", COUNT),
    key("unsummarised", COUNT),
    key("free", COUNT),
    key("messages", COUNT),
    key("age_s", COUNT),
    key("cache_s", COUNT),
];

const PROTECT: &[PolicyKey] = &[
    key("first", COUNT),
    key("messages", COUNT),
    key("turns", COUNT),
    key("tokens", COUNT),
    key("history", ValueKind::Part),
    key("window", ValueKind::Part),
    key("at_least", COUNT),
    key("at_most", COUNT),
    key("at_most_share", ValueKind::Part),
    key("to_newest_user", ValueKind::Flag),
    key("user_tokens", COUNT),
    key("user_share", ValueKind::Part),
    key("rules_share", ValueKind::Part),
    key("files", COUNT),
    key("files_tokens", COUNT),
    key("work_share", ValueKind::Part),
];

const SPLIT: &[PolicyKey] = &[
    key("at", ValueKind::Word(&["user", "exchange"])),
    key("forward", ValueKind::Flag),
    key("two_summaries", ValueKind::Flag),
];

const REDUCE: &[PolicyKey] = &[
    key("level", ValueKind::Word(&["off", "lossless", "fold"])),
    key("least", COUNT),
    key("except", ValueKind::Words(TEXTS)),
];

/// Kinds of text that the reducers know.
const TEXTS: &[&str] = &[
    "json", "diff", "html", "tests", "build", "infra", "trace", "search", "log", "table", "listing", "blob",
    "code", "markdown", "prose",
];

const SUMMARY: &[PolicyKey] = &[
    key("template", ValueKind::Table(TEMPLATE)),
    key("model", ValueKind::Text),
    key("last", ValueKind::Flag),
    key("target", COUNT),
    key("share", ValueKind::Part),
    key("at_least", COUNT),
    key("condensed", COUNT),
    key("room", ValueKind::Part),
    key("by_model", COUNT),
    key("overage", ValueKind::Part),
    key("second", ValueKind::Part),
    key("floor", COUNT),
    key("input", COUNT),
    key("margin", ValueKind::Part),
    key("grounded", ValueKind::Part),
];

const TEMPLATE: &[PolicyKey] = &[
    key("form", ValueKind::Word(&["markdown", "numbered", "xml", "log"])),
    key("root", ValueKind::Text),
    key("section", ValueKind::Tables(SECTION)),
];

const SECTION: &[PolicyKey] = &[
    required("name", ValueKind::Text),
    required("fill", ValueKind::Words(FILL)),
    key("about", ValueKind::Text),
    key("weight", ValueKind::Count(u16::MAX as u64)),
];

const FILL: &[&str] = &[
    "intent",
    "outcomes",
    "constraints",
    "concepts",
    "decisions",
    "files-read",
    "files-modified",
    "commands",
    "errors",
    "findings",
    "user-messages",
    "todos",
    "done",
    "current",
    "next",
    "recent",
    "identifiers",
    "statistics",
];

const LIMITS: &[PolicyKey] = &[
    key("rounds", SMALL),
    key("cooldown_s", COUNT),
    key("calls_per_hour", SMALL),
    key("sweep_nodes", SMALL),
    key("meanwhile", ValueKind::Word(&["go-on", "wait"])),
];

/// Keys of each step, by the value of its `do`.
pub(super) const STEPS: &[(&str, &[PolicyKey])] = &[
    ("curate", CURATE),
    ("dedupe", &[DO, key("min_bytes", COUNT), GAIN, SAVES]),
    ("stub", STUB),
    ("shrink", SHRINK),
    ("summarise", SUMMARISE),
    ("condense", CONDENSE),
    ("archive", ARCHIVE),
    ("drop", &[DO, key("by", ValueKind::Word(&["age", "importance"])), key("keep", COUNT), GAIN, SAVES]),
];

const CURATE: &[PolicyKey] = &[
    DO,
    key("thinking_after", COUNT),
    key("invalid_runs", ValueKind::Flag),
    key("placeholder", ValueKind::Flag),
    key("repeated", ValueKind::Flag),
    GAIN,
    SAVES,
];

const STUB: &[PolicyKey] = &[
    DO,
    key("keep", COUNT),
    key("keep_tokens", COUNT),
    key("over", COUNT),
    key("arguments", ValueKind::Flag),
    GAIN,
    SAVES,
];

const SHRINK: &[PolicyKey] = &[
    DO,
    required("over", COUNT),
    required("to", COUNT),
    key("head", ValueKind::Part),
    key("keep", COUNT),
    GAIN,
    SAVES,
];

const SUMMARISE: &[PolicyKey] = &[
    DO,
    key("by", ValueKind::Word(&["length", "task"])),
    key("chunk", COUNT),
    key("chunk_share", ValueKind::Part),
    key("chunk_least", ValueKind::Part),
    key("anchored", ValueKind::Flag),
    key("oldest", ValueKind::Part),
    key("as_needed", ValueKind::Flag),
    key("all", ValueKind::Flag),
    key("ahead", ValueKind::Flag),
    key("catalogue", ValueKind::Flag),
    GAIN,
    SAVES,
];

const CONDENSE: &[PolicyKey] = &[
    DO,
    required("leaves", COUNT),
    required("nodes", COUNT),
    key("chunk", COUNT),
    key("most", SMALL),
    key("above", ValueKind::Part),
    key("above_tokens", COUNT),
    GAIN,
    SAVES,
];

const ARCHIVE: &[PolicyKey] = &[
    DO,
    required("above", ValueKind::Part),
    key("above_tokens", COUNT),
    required("keep", ValueKind::Part),
    key("keep_tokens", COUNT),
    required("catalogue_tokens", COUNT),
    GAIN,
    SAVES,
];

/// Values of the key `do`.
pub(super) const DOES: &[&str] =
    &["curate", "dedupe", "stub", "shrink", "summarise", "condense", "archive", "drop"];

const DO: PolicyKey = required("do", ValueKind::Word(DOES));
const GAIN: PolicyKey = key("min_gain", ValueKind::Part);
const SAVES: PolicyKey = key("min_tokens", COUNT);

/// Returns the path of the table that has a key of this name, if only one table has it. For a key that both levels
/// have, such as `fraction`, returns `trigger.soft`, because the levels have the same keys.
pub(super) fn home(name: &str) -> Option<String> {
    let mut homes = Vec::new();
    collect(POLICY, "", name, &mut homes);
    match homes.as_slice() {
        [home] => Some(home.clone()),
        [soft, hard] if soft == "trigger.soft" && hard == "trigger.hard" => Some(soft.clone()),
        _ => None,
    }
}

fn collect(keys: &[PolicyKey], path: &str, name: &str, homes: &mut Vec<String>) {
    for key in keys {
        if key.name == name && !path.is_empty() {
            homes.push(path.to_owned());
        }
        if let ValueKind::Table(inner) = key.kind {
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            collect(inner, &path, name, homes);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wunderblock_core::policy::Policy;

    /// Returns each table of a policy: the header to write before its keys, and the keys it may have.
    fn tables() -> Vec<(String, &'static [PolicyKey])> {
        let mut tables = vec![(String::new(), POLICY)];
        let mut waiting = vec![("", POLICY)];
        while let Some((path, keys)) = waiting.pop() {
            for key in keys {
                let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
                match key.kind {
                    ValueKind::Table(inner) => {
                        tables.push((format!("[{path}]"), inner));
                        waiting.push((path.leak(), inner));
                    }
                    ValueKind::Tables(inner) => tables.push((format!("[[{path}]]"), inner)),
                    ValueKind::Steps => {
                        let step = |(name, keys): &(&str, &'static [PolicyKey])| {
                            (format!("[[step]]\ndo = \"{name}\""), *keys)
                        };
                        tables.extend(STEPS.iter().map(step));
                    }
                    _ => {}
                }
            }
        }
        tables
    }

    /// Returns the words that an error message offers in place of the rejected one.
    fn offered(text: &str) -> BTreeSet<String> {
        let error = toml::from_str::<Policy>(text).unwrap_err();
        error.message().split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_keys_are_those_that_are_read() {
        for (header, keys) in tables() {
            let own = keys.iter().map(|key| key.name.to_owned());
            // `extends` is removed before a policy is read, and `do` is read before the other keys.
            let own: BTreeSet<String> = own.filter(|name| name != "extends" && name != "do").collect();
            assert_eq!(offered(&format!("{header}\nno_such_key = 1\n")), own, "{header}");
        }
        assert_eq!(DOES, STEPS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn the_kinds_are_those_that_are_read() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
        for (header, keys) in tables() {
            for key in keys.iter().filter(|key| key.name != "extends") {
                let rest =
                    |other: &&PolicyKey| other.is_required && other.name != key.name && other.name != "do";
                let rest: String = keys
                    .iter()
                    .filter(rest)
                    .map(|other| format!("{} = {}\n", other.name, sample(other.kind)))
                    .collect();
                let root = if header.is_empty() { "" } else { "name = \"x\"\n" };
                let header = if key.name == "do" { "[[step]]" } else { &header };
                let file = |value: &str| format!("{root}{header}\n{rest}{} = {value}\n", key.name);
                let read = |value: &str| toml::from_str::<Policy>(&file(value));
                assert!(read(&sample(key.kind)).is_ok() || key.name == "do", "{}", file(&sample(key.kind)));
                match key.kind {
                    ValueKind::Count(most) => {
                        assert!(read("0").is_ok() && read("-1").is_err(), "{}", file("0"));
                        // For numbers above TOML's maximum, Serde may accept values that a TOML table cannot contain.
                        assert!(most > u64::from(u32::MAX) || read(&(most + 1).to_string()).is_err());
                    }
                    ValueKind::Part => {
                        assert!(read("0.5").is_ok() && read("66").is_err() && read("nan").is_err())
                    }
                    ValueKind::Word(known) => assert_eq!(offered(&file("\"no such word\"")), words(known)),
                    ValueKind::Words(known) => assert_eq!(offered(&file("[\"no such word\"]")), words(known)),
                    _ => assert!(read("1979-05-27").is_err(), "{}", file("1979-05-27")),
                }
            }
        }
    }

    #[test]
    fn the_documented_file_has_every_key() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies.md");
        let document = std::fs::read_to_string(path).unwrap();
        let example = document.split("```toml\n").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
        let example: toml::Table = toml::from_str(example).unwrap();
        let has = |table: &toml::Table, keys: &[PolicyKey]| -> Vec<&str> {
            keys.iter().map(|key| key.name).filter(|name| !table.contains_key(*name)).collect()
        };
        let mut waiting = vec![(&example, POLICY)];
        let gains = ["min_gain", "min_tokens"];
        while let Some((table, keys)) = waiting.pop() {
            let is_hard = keys.len() == LEVEL.len() && table.len() < keys.len();
            assert!(has(table, keys).is_empty() || is_hard, "{:?}", has(table, keys));
            for key in keys {
                match (key.kind, table.get(key.name)) {
                    (ValueKind::Table(inner), Some(value)) => {
                        waiting.push((value.as_table().unwrap(), inner))
                    }
                    (ValueKind::Tables(inner), Some(value)) => {
                        waiting.push((value[0].as_table().unwrap(), inner))
                    }
                    (ValueKind::Steps, Some(value)) => {
                        let steps = value.as_array().unwrap().iter().map(|step| step.as_table().unwrap());
                        for (step, (name, keys)) in steps.zip(STEPS) {
                            assert_eq!(step["do"].as_str(), Some(*name));
                            let keys: Vec<PolicyKey> =
                                keys.iter().filter(|key| !gains.contains(&key.name)).copied().collect();
                            assert!(has(step, &keys).is_empty(), "{name}: {:?}", has(step, &keys));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns a valid value of a kind, as TOML.
    fn sample(kind: ValueKind) -> String {
        match kind {
            ValueKind::Part => "1".to_owned(),
            ValueKind::Count(most) => most.to_string(),
            ValueKind::Flag => "true".to_owned(),
            ValueKind::Text => "\"x\"".to_owned(),
            ValueKind::Word(words) => format!("\"{}\"", words[0]),
            ValueKind::Words(words) => format!("[\"{}\"]", words[0]),
            ValueKind::Table(_) => "{}".to_owned(),
            ValueKind::Tables(_) | ValueKind::Steps => "[]".to_owned(),
        }
    }
}
