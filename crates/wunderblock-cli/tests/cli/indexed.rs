//! Documents of one's own: `index`, `unindex`, what `search` and `read` say of them, and erasing them.

use crate::desk::Desk;
use std::time::{Duration, SystemTime};

/// Returns a PDF of one page. With `encrypted`, only an unknown password opens it.
fn pdf(text: &str, encrypted: bool) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R
           /Resources << /Font << /F1 3 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let (mut out, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(&objects) {
        places.push(out.len());
        out.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (start, keys) = (out.len(), "00".repeat(32));
    out.push_str("xref\n0 6\n0000000000 65535 f \n");
    places.iter().for_each(|place| out.push_str(&format!("{place:010} 00000 n \n")));
    let encrypt =
        format!("/Encrypt << /Filter /Standard /V 1 /R 2 /O <{keys}> /U <{keys}> /P -4 >> /ID [<00> <00>]");
    let encrypt = if encrypted { encrypt } else { String::new() };
    out.push_str(&format!("trailer\n<< /Size 6 /Root 1 0 R {encrypt} >>\nstartxref\n{start}\n%%EOF\n"));
    out.into_bytes()
}

/// Writes a file that is as old as the fixture.
fn write(desk: &Desk, name: &str, content: impl AsRef<[u8]>) {
    write_after(desk, 0, name, content);
}

fn write_after(desk: &Desk, minutes: u64, name: &str, content: impl AsRef<[u8]>) {
    desk.write(name, content);
    let file = std::fs::File::options().write(true).open(desk.path(name)).unwrap();
    // From 2026-03-01 09:00:00 UTC.
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_355_600 + 60 * minutes)).unwrap();
}

const GUIDE: &str = "# Pump guide\n\nThe pump lifts water.\n\n## Care\n\nOil the bearings every season.\n\n\
                     ## Repair\n\nReplace the gasket, then prime the pump.\n";

fn desk() -> Desk {
    let desk = Desk::with_session();
    write(&desk, "docs/guide.md", GUIDE);
    write(
        &desk,
        "docs/page.html",
        "<html><title>Hoses</title><main><h1>Hoses</h1><p>A hose of 3 m.</main></html>",
    );
    write(&desk, "docs/manual.pdf", pdf("The pump has a bearings cover.", false));
    write(
        &desk,
        "docs/src/pump.rs",
        "/// Primes the pump.\npub fn prime(pump: &mut Pump) {\n    pump.fill();\n}\n",
    );
    write(&desk, "docs/empty.txt", "");
    write(&desk, "docs/photo.PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    write(&desk, "docs/.gitignore", "build/\n");
    write(&desk, "docs/build/out.md", "# Pump, built\n");
    desk
}

/// Runs commands, and returns what they print, without handles, ids and sizes: they follow from the path of the folder.
fn told(desk: &Desk, commands: &[&[&str]]) -> String {
    let mut out = String::new();
    for command in commands {
        let done = desk.run(command);
        out.push_str(&format!(
            "$ wunderblock {}  → {}\n{}{}\n",
            command.join(" "),
            done.code,
            done.out,
            done.err
        ));
    }
    let out = desk.settled(&out);
    let out = masked(&out, "wb:", |c| c.is_ascii_hexdigit());
    let out = masked(&out, "document-", |c| c.is_ascii_hexdigit());
    masked(&out, "ledger.db: ", |c| c.is_ascii_digit() || c == ',')
}

/// Masks what follows a word.
fn masked(text: &str, word: &str, is_masked: impl Fn(char) -> bool) -> String {
    let parts: Vec<&str> = text.split(word).collect();
    let rest = parts[1..].iter().map(|part| format!("{word}…{}", part.trim_start_matches(&is_masked)));
    parts[0].to_owned() + &rest.collect::<String>()
}

#[test]
fn documents_are_found_cited_and_brought_up_to_date() {
    let desk = desk();
    let before = told(
        &desk,
        &[
            &["index", "docs"],
            &["index", "docs"],
            &["search", "bearings"],
            &["search", "hose", "--json"],
            &["search", "gasket", "--path", "docs/guide.md"],
            &["search", "parser", "--in", "documents"],
            &["search", "pump", "--in", "sessions"],
            &["search", "pump", "--in", "documents", "--newest", "-n", "1"],
            &["sessions"],
            &["doctor"],
        ],
    );
    write_after(&desk, 5, "docs/guide.md", GUIDE.replace("gasket", "washer"));
    std::fs::remove_file(desk.path("docs/page.html")).unwrap();
    write(&desk, "docs/locked.pdf", pdf("secret", true));
    write(&desk, "docs/blank.pdf", pdf("", false));
    let after = told(
        &desk,
        &[
            &["index", "docs", "--json"],
            &["index", "docs/locked.pdf"],
            &["search", "gasket"],
            &["search", "washer"],
            &["unindex", "docs/src", "-v"],
            &["unindex", "docs/src"],
            &["unindex", "docs/none"],
            &["index", "nowhere"],
        ],
    );
    insta::assert_snapshot!("documents", before + &after);
}

#[test]
fn the_address_of_a_hit_is_read_as_the_original() {
    let desk = desk();
    desk.run(&["index", "docs", "-q"]).exits(0);
    for (query, text) in [
        ("gasket", "## Repair\n\nReplace the gasket, then prime the pump.\n"),
        ("cover", "The pump has a bearings cover."),
        ("hose", "# Hoses\n\nA hose of 3 m."),
        ("prime +fill", "/// Primes the pump.\npub fn prime(pump: &mut Pump) {\n    pump.fill();\n}\n"),
    ] {
        let hit = &desk.run(&["search", query, "--json"]).exits(0).lines()[0];
        let address = hit["document"]["address"].as_str().unwrap();
        assert_eq!(desk.run(&["read", address]).exits(0).out, text, "{query}");
    }
    // The whole file, byte for byte.
    let hit = &desk.run(&["search", "gasket", "--json"]).exits(0).lines()[0];
    let address = hit["document"]["address"].as_str().unwrap().split_once('#').unwrap().0.to_owned();
    assert_eq!(desk.run_bytes(&["read", &address]).stdout, desk.bytes("docs/guide.md"));
}

#[test]
fn erasing_reaches_all_versions_and_the_bytes() {
    let secret = "qVx7Zk3Jw9Lp2Rt5Yb8Nc4";
    let desk = desk();
    write(&desk, "docs/key.md", format!("# Key\n\nIt is {secret}.\n\n# Other\n\nStays here.\n"));
    desk.run(&["index", "docs", "-q"]).exits(0);
    desk.run(&["backup", "copy.db"]).exits(0);
    let anywhere =
        |name: &str| desk.bytes(name).windows(secret.len()).any(|bytes| bytes == secret.as_bytes());
    assert!(anywhere("ledger.db") && anywhere("copy.db"));
    let asked =
        told(&desk, &[&["erase", "--document", "docs/src"], &["erase", "--document", "docs/none", "--yes"]]);
    let done = told(
        &desk,
        &[
            &["erase", "--text", secret],
            &["erase", "--text", secret, "--yes"],
            &["index", "docs"],
            &["erase", "--document", "docs/key.md", "--with-kept", "--yes"],
            &["index", "docs"],
            &["doctor"],
        ],
    );
    insta::assert_snapshot!("documents_erased", asked + &done);
    assert!(!anywhere("ledger.db") && !anywhere("copy.db"));
    for log in ["ledger.db-wal", "copy.db-wal"] {
        assert!(!desk.path(log).exists() || !anywhere(log));
    }
}

#[test]
fn a_project_has_its_own_documents() {
    let desk = desk();
    desk.shell("mkdir -p garden/.git shed/.git && cp docs/guide.md garden && cp docs/guide.md shed").exits(0);
    desk.shell("cd garden && $WB index guide.md -q && cd ../shed && $WB index guide.md -q").exits(0);
    let found = |project: &str| desk.run(&["search", "gasket", "--project", project, "--json"]).lines();
    for project in ["garden", "shed"] {
        let hits = found(project);
        assert_eq!(hits.len(), 1);
        assert!(hits[0]["document"]["path"].as_str().unwrap().ends_with(&format!("{project}/guide.md")));
    }
    assert_eq!(desk.run(&["search", "gasket", "--json"]).exits(0).lines().len(), 2);
    let none = desk.run(&["search", "gasket", "--project", "docs", "--json"]).exits(1);
    assert_eq!(none.out, "");
}
