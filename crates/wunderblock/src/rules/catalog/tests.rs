//! Tests of the embedded catalog and of overrides.

use super::*;

#[test]
fn the_embedded_catalog_is_sound() {
    let rows = parse(EMBEDDED).unwrap();
    assert!(rows.len() >= 150);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(*row.name, *row.name.to_lowercase(), "{}", row.name);
        let read = row.prices.iter().all(|price| price.rates.cached <= price.rates.input);
        let written = row.prices.iter().all(|price| price.rates.write >= price.rates.input);
        assert!(read && written, "{}: reading costs more than input, or writing less", row.name);
        assert!(rows.iter().skip(at + 1).all(|other| other.name != row.name), "{} is there twice", row.name);
    }
}

#[test]
fn the_longest_name_wins() {
    let catalog = Catalog::embedded();
    let table = [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5*", 200_000),
        ("claude-sonnet-4-20250514", "claude-sonnet-4*", 200_000),
        ("claude-opus-4-8", "claude-opus-4-8*", 1_000_000),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", "claude-3-7-sonnet*", 200_000),
        ("anthropic/claude-opus-5", "claude-opus-5*", 1_000_000),
        ("GPT-4o-mini", "gpt-4o-mini*", 128_000),
        ("gpt-4", "gpt-4*", 8192),
        ("gpt-4-0613", "gpt-4*", 8192),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo*", 128_000),
        ("gpt-5.1-codex", "gpt-5.1-codex*", 400_000),
        ("gpt-5.6-sol", "gpt-5.6-sol*", 1_050_000),
        ("gpt-5.9", "gpt-5*", 400_000),
        ("gemini-2.0-flash-preview-image-generation", "gemini-2.0-flash-preview-image-generation", 32_000),
        ("openai/o3-mini", "o3-mini*", 200_000),
        ("models/gemini-2.5-pro", "gemini-2.5-pro*", 1_048_576),
        ("deepseek-ai/DeepSeek-V3", "deepseek-*", 131_072),
    ];
    for (model, name, window) in table {
        let found = catalog.lookup(model);
        assert!(found.known, "{model}");
        assert_eq!((&*found.row.name, found.row.window), (name, Tokens(window)), "{model}");
    }
}

#[test]
fn models_have_the_format_that_their_provider_takes() {
    let catalog = Catalog::embedded();
    for (model, dialect) in [
        ("claude-opus-5", Dialect::Anthropic),
        ("gpt-5", Dialect::OpenaiChat),
        ("gpt-5.1-codex", Dialect::OpenaiResponses),
        ("o3-pro", Dialect::OpenaiResponses),
        ("gemini-3.1-pro-preview", Dialect::Gemini),
    ] {
        assert_eq!(catalog.lookup(model).row.dialect, dialect, "{model}");
    }
}

#[test]
fn unknown_models_get_the_default_and_are_called_unknown() {
    let catalog = Catalog::embedded();
    for model in ["", "my-model", "claude", "gpt", "*", "claude-opus-40", "text/"] {
        let found = catalog.lookup(model);
        assert!(!found.known, "{model} is {:?}", found.row.name);
        assert_eq!(found.row.window, Tokens(128_000));
        assert_eq!(found.row.family, Family::Unknown);
    }
}

#[test]
fn overrides_win() {
    let text = r#"
        [[group]]
        family = "llama"
        tokenizer = "none"
        dialect = "openai-chat"
        max_bytes = 1000
        models = [
          { name = "gpt-4o*", window = 7, max_output = 3 },
          { name = "House-Model", window = 9, max_output = 3, max_input = 8 },
        ]
    "#;
    let catalog = Catalog::embedded().with_overrides(text).unwrap();
    assert_eq!(catalog.lookup("gpt-4o").row.window, Tokens(7));
    assert_eq!(catalog.lookup("house-model").row.max_input, Some(Tokens(8)));
    assert_eq!(catalog.lookup("gpt-4").row.window, Tokens(8192));
    assert_eq!(catalog.rows().len(), Catalog::embedded().rows().len() + 1);
    assert_eq!(catalog.lookup("gpt-4o").row.price_at(Millis(0)), None, "a row is replaced whole");
    assert_eq!(catalog.lookup("gpt-4o").row.cache, CacheRule::NONE);
}

const DAY: i64 = 86_400_000;
/// Start of 2026-11-21.
const NOW: Millis = Millis(20_778 * DAY);

#[test]
fn prices_are_those_of_the_model_and_of_the_day() {
    let catalog = Catalog::embedded();
    let day = |days: i64| Millis(days * DAY);
    // Prices of input, cached input, writing and output, in dollars.
    let table = [
        ("claude-opus-5", NOW, [5.0, 0.5, 6.25, 25.0]),
        ("claude-opus-5[1m]", NOW, [5.0, 0.5, 6.25, 25.0]),
        ("claude-opus-5-5", NOW, [4.0, 0.2, 5.0, 20.0]),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", NOW, [3.0, 0.3, 3.75, 15.0]),
        ("claude-3-5-haiku@20241022", NOW, [0.8, 0.08, 1.0, 4.0]),
        // The last day before the price fell, and the day on which it fell.
        ("claude-sonnet-5-5", day(20_732), [2.0, 0.2, 2.5, 10.0]),
        ("claude-sonnet-5-5", day(20_733), [2.0, 0.1, 2.5, 10.0]),
        ("claude-sonnet-5-5", Millis(20_733 * DAY - 1), [2.0, 0.2, 2.5, 10.0]),
        // Before the first known price, the first price applies.
        ("claude-sonnet-5-5", Millis(0), [2.0, 0.2, 2.5, 10.0]),
        ("o3", day(20_248), [10.0, 2.5, 10.0, 40.0]),
        ("o3-2025-04-16", NOW, [2.0, 0.5, 2.0, 8.0]),
        ("gpt-5.6-luna", NOW, [0.2, 0.02, 0.25, 1.2]),
        ("gemini-3.8-flash", NOW, [0.75, 0.075, 0.75, 3.75]),
        ("gemini-3.8-flash", day(20_819), [1.5, 0.15, 1.5, 7.5]),
        ("models/gemini-3.1-pro-preview", NOW, [2.0, 0.2, 2.0, 12.0]),
    ];
    for (model, at, expected) in table {
        let price = catalog.lookup(model).row.price_at(at).unwrap_or_else(|| panic!("{model}"));
        let Rates { input, cached, write, output, .. } = price.rates;
        let dollars = [input, cached, write, output].map(|micro| micro.0 as f64 / 1e6);
        assert_eq!(dollars, expected, "{model}");
    }
}

#[test]
fn a_price_nobody_knows_is_not_one() {
    let catalog = Catalog::embedded();
    let unknown = [
        "my-model",
        "gpt-5.9",
        "gpt-5-turbo",
        "claude-opus-5-7",
        "claude-opus-4-2",
        "gpt-4o-audio-preview",
        "deepseek-v4-pro",
        "llama-3.3-70b",
    ];
    for model in unknown {
        assert_eq!(catalog.lookup(model).row.price_at(NOW), None, "{model}");
    }
    assert_eq!(catalog.lookup("claude-opus-5-7").row.cache.mode, CacheMode::Explicit);
}

#[test]
fn caches_have_the_rules_of_their_models() {
    let catalog = Catalog::embedded();
    let table = [
        ("claude-opus-5", CacheMode::Explicit, 512, 1, 300, Some(3600)),
        ("claude-fable-5-1", CacheMode::Explicit, 512, 1, 300, Some(3600)),
        ("claude-opus-4-8", CacheMode::Explicit, 1024, 1, 300, Some(3600)),
        ("claude-sonnet-4-6", CacheMode::Explicit, 1024, 1, 300, Some(3600)),
        ("claude-opus-4-1", CacheMode::Explicit, 1024, 1, 300, Some(3600)),
        ("claude-opus-4-7", CacheMode::Explicit, 2048, 1, 300, Some(3600)),
        ("claude-3-5-haiku", CacheMode::Explicit, 2048, 1, 300, Some(3600)),
        ("claude-opus-4-6", CacheMode::Explicit, 4096, 1, 300, Some(3600)),
        ("claude-haiku-4-5", CacheMode::Explicit, 4096, 1, 300, Some(3600)),
        ("gpt-5", CacheMode::Automatic, 1024, 128, 300, Some(86_400)),
        ("gpt-6.2-sol", CacheMode::Automatic, 1024, 128, 1800, Some(43_200)),
        ("gemini-2.5-flash", CacheMode::Automatic, 2048, 1, 300, None),
        ("gemini-3.1-pro", CacheMode::Automatic, 4096, 1, 300, None),
        ("deepseek-chat", CacheMode::Automatic, 64, 64, 3600, None),
    ];
    for (model, mode, minimum, step, lifetime, long) in table {
        let rule = CacheRule {
            mode,
            minimum: Tokens(minimum),
            step: Tokens(step),
            lifetime: Millis(lifetime * 1000),
            long_lifetime: long.map(|seconds: i64| Millis(seconds * 1000)),
            lost_after: Millis(if model.starts_with("gemini") { 86_400 } else { lifetime } * 1000),
        };
        assert_eq!(catalog.lookup(model).row.cache, rule, "{model}");
    }
    for model in ["gpt-4", "gpt-5-pro", "my-model", "llama-3.3-70b"] {
        assert_eq!(catalog.lookup(model).row.cache, CacheRule::NONE, "{model}");
    }
}

#[test]
fn a_long_request_has_prices_of_its_own() {
    let catalog = Catalog::embedded();
    let price = catalog.lookup("claude-haiku-5-5").row.price_at(NOW).unwrap();
    let at = |tokens| {
        price.cost(BilledTokens { cache_read: Tokens(tokens), ..BilledTokens::default() }).to_string()
    };
    assert_eq!((at(100_000), at(100_001)), ("$0.0010".to_owned(), "$0.005001".to_owned()));
}

#[test]
fn wrong_catalogs_are_refused_with_the_reason() {
    let group = |models: &str| {
        format!(
            "[[group]]\nfamily = \"glm\"\ntokenizer = \"none\"\ndialect = \"anthropic\"\nmax_bytes = 1\nmodels = [{models}]"
        )
    };
    let priced = |cache: &str, prices: &str| {
        group(&format!(
            "\n{{ name = \"a\", window = 9, max_output = 1, cache = {{ {cache} }}, prices = [{prices}] }}"
        ))
    };
    let one = r#"{ since = "2026-01-01", input = 1, cached = 1, write = 1, output = 1 }"#;
    let auto = "mode = \"automatic\", minimum = 1, lifetime = 1";
    let explicit = "mode = \"explicit\", minimum = 1, lifetime = 1";
    let table = [
        ("[[group]", "invalid model catalog"),
        ("groups = 1", "unknown field"),
        (&group("{ name = \"a*b\", window = 1, max_output = 1 }"), "one `*` at the end"),
        (&group("{ name = \"\", window = 1, max_output = 1 }"), "one `*` at the end"),
        (&group("{ name = \"a\", window = 0, max_output = 1 }"), "above 0"),
        (
            &group("{ name = \"a\", window = 1, max_output = 1, max_input = 2 }"),
            "`max_input` must not exceed `window`",
        ),
        (&group("{ name = \"a\", window = 1, max_output = 2 }"), "`max_output` must not exceed `window`"),
        (&group("{ name = \"a\", window = -1, max_output = 1 }"), "invalid model catalog"),
        (&group("{ name = \"a\", window = 1, max_output = 1, price = 2 }"), "unknown field"),
        (&priced("", &one.replace("input = 1", "input = -1")), "`a` in line 7 of the catalog: a price of -1"),
        (&priced("", &one.replace("input = 1", "input = nan")), "a price of NaN"),
        (&priced("", &one.replace("input = 1", "input = inf")), "a price of inf"),
        (&priced("", &one.replace("output = 1", "output = 2_000_000")), "from 0 to 1000000"),
        (&priced("", &one.replace("cached = 1", "cached = 0.0000001")), "more than six decimals"),
        (&priced("", &one.replace("output", "out")), "unknown field"),
        (&priced("", &one.replace("2026-01-01", "2026-02-30")), "YYYY-MM-DD"),
        (&priced("", &one.replace("2026-01-01", "1 May")), "YYYY-MM-DD"),
        (&priced("", &format!("{one}, {one}")), "in the order of their days: `2026-01-01`"),
        (
            &priced(
                "",
                &one.replace("}", ", long = { above = 0, input = 1, cached = 1, write = 1, output = 1 } }"),
            ),
            "above 0",
        ),
        (
            &priced("", &one.replace("}", ", long = { above = 9, input = 1, output = 1 } }")),
            "must be those of the price",
        ),
        (&priced(auto, &one.replace("cached = 1,", "")), "missing `cached`"),
        (&priced(explicit, &one.replace("write = 1,", "")), "missing `write`"),
        (&priced("mode = \"magic\"", ""), "invalid model catalog"),
        (&priced("mode = \"automatic\"", ""), "missing `minimum` or `lifetime`"),
        (&priced("minimum = 3", ""), "must have no other fields"),
        (
            &priced(&auto.replace("minimum = 1", "minimum = 10"), ""),
            "`minimum` of 10 must not exceed the `window` of 9",
        ),
        (&priced(&auto.replace("lifetime = 1", "lifetime = 0"), ""), "above 0"),
        (&priced(&format!("{auto}, step = 0"), ""), "above 0"),
        (&priced(&format!("{auto}, long_lifetime = 1"), ""), "longer than its `lifetime`"),
    ];
    for (text, expect) in table {
        let error = Catalog::embedded().with_overrides(text).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn every_version_of_a_family_has_a_window() {
    let (catalog, table) = (Catalog::embedded(), wunderblock_sources::definitions::model_table());
    for version in table.families.iter().flat_map(|family| &family.versions) {
        assert!(catalog.lookup(&version.id).known, "{} has no window", version.id);
    }
}
