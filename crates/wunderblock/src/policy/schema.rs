//! Which keys a policy file may have, and of what kind. Serde knows the same, but stops at the first mistake and has no
//! line for what stands in a step; a test holds the two together.

/// What a key may be given.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A part of a whole: 0.92.
    Part,
    /// A whole number up to so many.
    Count(u64),
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// A table.
    Table(&'static [Key]),
    /// A list of tables.
    Tables(&'static [Key]),
    /// A list of tables whose keys depend on `do`.
    Steps,
}

/// A key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, is_required: false }
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, is_required: true }
}

/// As many as TOML can say.
const COUNT: Kind = Kind::Count(i64::MAX as u64);
const SMALL: Kind = Kind::Count(u32::MAX as u64);

/// The keys of a file.
pub(super) const POLICY: &[Key] = &[
    required("name", Kind::Text),
    key("about", Kind::Text),
    key("extends", Kind::Text),
    key("trigger", Kind::Table(TRIGGER)),
    key("protect", Kind::Table(PROTECT)),
    key("split", Kind::Table(SPLIT)),
    key("reduce", Kind::Table(REDUCE)),
    key("step", Kind::Steps),
    key("summary", Kind::Table(SUMMARY)),
    key("limits", Kind::Table(LIMITS)),
];

const TRIGGER: &[Key] = &[
    key("soft", Kind::Table(LEVEL)),
    key("hard", Kind::Table(LEVEL)),
    key("of", Kind::Word(&["budget", "window"])),
    key("boundary", Kind::Word(&["exchange", "turn", "task"])),
    key("down_to", Kind::Part),
    key("regrow", Kind::Part),
];

const LEVEL: &[Key] = &[
    key("fraction", Kind::Part),
    key("tokens", COUNT),
    key("free", COUNT),
    key("messages", COUNT),
    key("age_s", COUNT),
    key("cache_s", COUNT),
];

const PROTECT: &[Key] = &[
    key("first", COUNT),
    key("messages", COUNT),
    key("turns", COUNT),
    key("tokens", COUNT),
    key("history", Kind::Part),
    key("window", Kind::Part),
    key("at_least", COUNT),
    key("at_most", COUNT),
    key("to_newest_user", Kind::Flag),
    key("user_tokens", COUNT),
];

const SPLIT: &[Key] = &[
    key("at", Kind::Word(&["user", "exchange"])),
    key("forward", Kind::Flag),
    key("two_summaries", Kind::Flag),
];

const REDUCE: &[Key] = &[
    key("level", Kind::Word(&["off", "lossless", "fold"])),
    key("least", COUNT),
    key("except", Kind::Words(TEXTS)),
];

/// The reducers' kinds of text.
const TEXTS: &[&str] = &[
    "json", "diff", "html", "tests", "build", "infra", "trace", "search", "log", "table", "listing", "blob",
    "code", "markdown", "prose",
];

const SUMMARY: &[Key] = &[
    key("template", Kind::Table(TEMPLATE)),
    key("model", Kind::Text),
    key("target", COUNT),
    key("share", Kind::Part),
    key("at_least", COUNT),
    key("condensed", COUNT),
    key("overage", Kind::Part),
    key("second", Kind::Part),
    key("floor", COUNT),
    key("input", COUNT),
    key("margin", Kind::Part),
    key("grounded", Kind::Part),
];

const TEMPLATE: &[Key] = &[
    key("form", Kind::Word(&["markdown", "numbered", "xml"])),
    key("root", Kind::Text),
    key("section", Kind::Tables(SECTION)),
];

const SECTION: &[Key] = &[
    required("name", Kind::Text),
    required("fill", Kind::Words(FILL)),
    key("about", Kind::Text),
    key("weight", Kind::Count(u16::MAX as u64)),
];

const FILL: &[&str] = &[
    "intent",
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

const LIMITS: &[Key] = &[
    key("rounds", SMALL),
    key("cooldown_s", COUNT),
    key("calls_per_hour", SMALL),
    key("sweep_nodes", SMALL),
    key("meanwhile", Kind::Word(&["go-on", "wait"])),
];

/// The steps by the word of their `do`.
pub(super) const STEPS: &[(&str, &[Key])] = &[
    (
        "curate",
        &[
            DO,
            key("thinking_after", COUNT),
            key("invalid_runs", Kind::Flag),
            key("placeholder", Kind::Flag),
            key("repeated", Kind::Flag),
            GAIN,
            SAVES,
        ],
    ),
    ("dedupe", &[DO, key("min_bytes", COUNT), GAIN, SAVES]),
    (
        "stub",
        &[
            DO,
            key("keep", COUNT),
            key("keep_tokens", COUNT),
            key("over", COUNT),
            key("arguments", Kind::Flag),
            GAIN,
            SAVES,
        ],
    ),
    (
        "shrink",
        &[
            DO,
            required("over", COUNT),
            required("to", COUNT),
            key("head", Kind::Part),
            key("keep", COUNT),
            GAIN,
            SAVES,
        ],
    ),
    (
        "summarise",
        &[
            DO,
            key("by", Kind::Word(&["length", "task"])),
            key("chunk", COUNT),
            key("chunk_share", Kind::Part),
            key("chunk_least", Kind::Part),
            key("anchored", Kind::Flag),
            key("oldest", Kind::Part),
            key("all", Kind::Flag),
            GAIN,
            SAVES,
        ],
    ),
    (
        "condense",
        &[
            DO,
            required("leaves", COUNT),
            required("nodes", COUNT),
            key("chunk", COUNT),
            key("most", SMALL),
            key("above", Kind::Part),
            key("above_tokens", COUNT),
            GAIN,
            SAVES,
        ],
    ),
    ("drop", &[DO, key("by", Kind::Word(&["age", "importance"])), key("keep", COUNT), GAIN, SAVES]),
];

/// The words of `do`.
pub(super) const DOES: &[&str] = &["curate", "dedupe", "stub", "shrink", "summarise", "condense", "drop"];

const DO: Key = required("do", Kind::Word(DOES));
const GAIN: Key = key("min_gain", Kind::Part);
const SAVES: Key = key("min_tokens", COUNT);

/// The one table a key stands in, if there is such a key and it stands in no other: `trigger.soft` for `fraction`, whose
/// levels are alike.
pub(super) fn home(name: &str) -> Option<String> {
    let mut homes = Vec::new();
    collect(POLICY, "", name, &mut homes);
    match homes.as_slice() {
        [home] => Some(home.clone()),
        [soft, hard] if soft == "trigger.soft" && hard == "trigger.hard" => Some(soft.clone()),
        _ => None,
    }
}

fn collect(keys: &[Key], path: &str, name: &str, homes: &mut Vec<String>) {
    for key in keys {
        if key.name == name && !path.is_empty() {
            homes.push(path.to_owned());
        }
        if let Kind::Table(inner) = key.kind {
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

    /// Each table of a policy: what to write before its keys, and which it may have.
    fn tables() -> Vec<(String, &'static [Key])> {
        let mut tables = vec![(String::new(), POLICY)];
        let mut waiting = vec![("", POLICY)];
        while let Some((path, keys)) = waiting.pop() {
            for key in keys {
                let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
                match key.kind {
                    Kind::Table(inner) => {
                        tables.push((format!("[{path}]"), inner));
                        waiting.push((path.leak(), inner));
                    }
                    Kind::Tables(inner) => tables.push((format!("[[{path}]]"), inner)),
                    Kind::Steps => {
                        let step = |(name, keys): &(&str, &'static [Key])| {
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

    /// The words in a refusal that stand after the refused one.
    fn offered(text: &str) -> BTreeSet<String> {
        let error = toml::from_str::<Policy>(text).unwrap_err();
        error.message().split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_keys_are_those_that_are_read() {
        for (header, keys) in tables() {
            let own = keys.iter().map(|key| key.name.to_owned());
            // The two keys that are gone before a policy is read, or are read before the rest.
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
                let rest = |other: &&Key| other.is_required && other.name != key.name && other.name != "do";
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
                    Kind::Count(most) => {
                        assert!(read("0").is_ok() && read("-1").is_err(), "{}", file("0"));
                        // Beyond what TOML can say, Serde may read what a table of TOML cannot hold.
                        assert!(most > u64::from(u32::MAX) || read(&(most + 1).to_string()).is_err());
                    }
                    Kind::Part => assert!(read("0.5").is_ok() && read("66").is_err() && read("nan").is_err()),
                    Kind::Word(known) => assert_eq!(offered(&file("\"no such word\"")), words(known)),
                    Kind::Words(known) => assert_eq!(offered(&file("[\"no such word\"]")), words(known)),
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
        let has = |table: &toml::Table, keys: &[Key]| -> Vec<&str> {
            keys.iter().map(|key| key.name).filter(|name| !table.contains_key(*name)).collect()
        };
        let mut waiting = vec![(&example, POLICY)];
        let gains = ["min_gain", "min_tokens"];
        while let Some((table, keys)) = waiting.pop() {
            let is_hard = keys.len() == LEVEL.len() && table.len() < keys.len();
            assert!(has(table, keys).is_empty() || is_hard, "{:?}", has(table, keys));
            for key in keys {
                match (key.kind, table.get(key.name)) {
                    (Kind::Table(inner), Some(value)) => waiting.push((value.as_table().unwrap(), inner)),
                    (Kind::Tables(inner), Some(value)) => waiting.push((value[0].as_table().unwrap(), inner)),
                    (Kind::Steps, Some(value)) => {
                        let steps = value.as_array().unwrap().iter().map(|step| step.as_table().unwrap());
                        for (step, (name, keys)) in steps.zip(STEPS) {
                            assert_eq!(step["do"].as_str(), Some(*name));
                            let keys: Vec<Key> =
                                keys.iter().filter(|key| !gains.contains(&key.name)).copied().collect();
                            assert!(has(step, &keys).is_empty(), "{name}: {:?}", has(step, &keys));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// A value of a kind.
    fn sample(kind: Kind) -> String {
        match kind {
            Kind::Part => "1".to_owned(),
            Kind::Count(most) => most.to_string(),
            Kind::Flag => "true".to_owned(),
            Kind::Text => "\"x\"".to_owned(),
            Kind::Word(words) => format!("\"{}\"", words[0]),
            Kind::Words(words) => format!("[\"{}\"]", words[0]),
            Kind::Table(_) => "{}".to_owned(),
            Kind::Tables(_) | Kind::Steps => "[]".to_owned(),
        }
    }
}
