use super::*;

fn found(text: &str) -> Vec<(LiteralKind, &str)> {
    literals(text).map(|literal| (literal.kind, literal.text)).collect()
}

#[test]
fn names_are_told_from_words() {
    use LiteralKind::{Code, Id, Identifier, Number, Path, Quotation, Url};
    let cases: &[(&str, &[(LiteralKind, &str)])] = &[
        ("Fix src/main.rs, please.", &[(Path, "src/main.rs")]),
        ("see ./a/b.txt:10-40.", &[(Path, "./a/b.txt:10-40")]),
        ("in /etc/hosts; and ~/notes/x", &[(Path, "/etc/hosts"), (Path, "~/notes/x")]),
        (r"at C:\Users\new\a.txt now", &[(Path, r"C:\Users\new\a.txt")]),
        (
            "修改src/主/main.rs文件，然后运行cargo_test。",
            &[(Path, "src/"), (Path, "/main.rs"), (Identifier, "cargo_test")],
        ),
        ("用parse_args函数和HttpClient类", &[(Identifier, "parse_args"), (Identifier, "HttpClient")]),
        ("Read https://example.com/a?b=1#c, then go.", &[(Url, "https://example.com/a?b=1#c")]),
        (
            "std::io::Error and self.inner.len",
            &[(Identifier, "std::io::Error"), (Identifier, "self.inner.len")],
        ),
        (
            "MAX_SIZE __init__ utf8 gpt-4o --no-fail-fast",
            &[
                (Identifier, "MAX_SIZE"),
                (Identifier, "__init__"),
                (Identifier, "utf8"),
                (Identifier, "gpt-4o"),
                (Identifier, "--no-fail-fast"),
            ],
        ),
        (
            "commit e1bea43 of 0191d6e4-58a1-7d3e-9a55-3f1c5c1b2a10",
            &[(Id, "e1bea43"), (Id, "0191d6e4-58a1-7d3e-9a55-3f1c5c1b2a10")],
        ),
        (
            "toolu_011906f782b2ba521982538c wb:3f9c1a7be2d04c58",
            &[(Id, "toolu_011906f782b2ba521982538c"), (Id, "wb:3f9c1a7be2d04c58")],
        ),
        (
            "error[E0308] and CVE-2024-3094, TS2345",
            &[(Code, "E0308"), (Code, "CVE-2024-3094"), (Code, "TS2345")],
        ),
        (
            "took 350ms at 12:30 on 2026-11-20, v1.95.0, 3.14",
            &[
                (Number, "350ms"),
                (Number, "12:30"),
                (Number, "2026-11-20"),
                (Number, "v1.95.0"),
                (Number, "3.14"),
            ],
        ),
        (
            "he said \"never do it\" and `cargo test`",
            &[(Quotation, "never do it"), (Quotation, "cargo test")],
        ),
        ("他说“不要改配置”，用「新的方案」", &[(Quotation, "不要改配置"), (Quotation, "新的方案")]),
        (r#"{"a":"x\nfoo_bar"}"#, &[(Identifier, "foo_bar"), (Quotation, r"x\nfoo_bar")]),
        (
            ".gitignore and Cargo.toml or 0005-compaction.md",
            &[(Path, ".gitignore"), (Path, "Cargo.toml"), (Path, "0005-compaction.md")],
        ),
        ("a@b.example wrote to @scope/package", &[(Identifier, "a@b.example"), (Path, "@scope/package")]),
        ("docs/café.md", &[(Path, "docs/café.md")]),
        ("80×24 and ×120", &[(Number, "80"), (Number, "24"), (Number, "120")]),
    ];
    for (text, expected) in cases {
        assert_eq!(found(text), *expected, "{text}");
    }
}

#[test]
fn plain_prose_has_no_literals() {
    for text in [
        "The quick brown fox, and/or the lazy dog (e.g. this one) is read-only; URLs and IDs are plural. \
         We'll see... N/A. It's 5 o'clock -- or 6 -- in the U.S. <b>bold</b> ends.Then it goes on. TODO: nothing.",
        "这是一个普通的句子，没有任何名字。",
        "    .unwrap()\n    .map(x)",
        "_emphasis_ and **strong** and *this*",
        "",
        "\\",
        "::::....----//__~~@@",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn the_same_name_has_the_same_key() {
    let key = |text: &str| literals(text).next().expect(text).key();
    for (one, other) in [
        ("./src/a.rs:10-40", "src/a.rs"),
        ("src/a.rs.", "see src/a.rs:7"),
        (r"C:\\x\\y.txt", r"C:\x\y.txt"),
        ("350ms", "350"),
        ("v1.2.3", "1.2.3"),
        ("src/store/", "a src/store/:"),
    ] {
        assert_eq!(key(one), key(other), "{one} {other}");
    }
    assert_ne!(key("src/a.rs"), key("src/b.rs"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_passed_once_and_every_literal_stands_where_it_says(
        text in "([a-zA-Z0-9_/.:\\\\ \n\"`@~#×“”「」«»中文é-]|\\PC){0,120}",
    ) {
        for literal in literals(&text) {
            let end = literal.at + literal.text.len();
            proptest::prop_assert_eq!(text.get(literal.at..end), Some(literal.text));
            proptest::prop_assert!(literal.text.contains(literal.normal()));
        }
    }
}

#[test]
fn extensions_are_in_order() {
    assert!(kind::KNOWN.is_sorted());
}
