use super::*;
use crate::readers::property;

fn long(files: usize) -> String {
    let mut text = String::from("./src:\ntotal 400\n");
    for n in 0..files {
        let size = if n == 70 { 9_999_999 } else { 1_000 + n };
        let time = if n == 33 { "Nov 20 11:00" } else { "Mar  3  2021" };
        text.push_str(&format!("-rw-r--r-- 1 ann staff {size} {time} frame_{n:04}.png\n"));
    }
    text.push_str("-rw-r--r-- 1 ann staff 12 Mar  3  2021 README.md\n\n./doc:\ntotal 4\n-rw-r--r-- 1 ann staff 12 Mar  3  2021 index.md\n");
    text
}

fn found() -> String {
    let mut text =
        String::from("./Cargo.toml\n./src/main.rs\n./src/lib.rs\n./node_modules\n./node_modules/a\n");
    (0..200).for_each(|n| text.push_str(&format!("./node_modules/a/part{n}/index.js\n")));
    (0..60).for_each(|n| text.push_str(&format!("./tests/case_{n}.rs\n")));
    text.push_str("./tests/notes.txt\n");
    text
}

fn processes() -> String {
    let mut text =
        String::from("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n");
    for n in 1..120 {
        let (cpu, name) = if n == 90 {
            ("87.5", "/usr/bin/rustc --crate x".to_owned())
        } else {
            ("0.0", format!("[kworker/{n}:0]"))
        };
        text.push_str(&format!(
            "root        {n:>4}  {cpu}  0.0      0     0 ?        S    08:25   0:00 {name}\n"
        ));
    }
    text
}

fn tree() -> String {
    let mut text = String::from("app v0.1.0\n");
    for n in 0..30 {
        text.push_str(&format!("├── dep{n} v1.0.{n}\n│   ├── serde v1.0.1\n│   │   └── serde_derive v1.0.1 (proc-macro)\n│   └── own{n} v2.0.0\n"));
    }
    text
}

#[test]
fn listings_of_each_form_are_recognised() {
    let du = "4.0K\t./a/b\n8.0K\t./a\n12K\t./c\n24K\t.\n";
    let df = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1 10G 9G 1G 90% /\ntmpfs 1G 0 1G 0% /run\ntmpfs 1G 0 1G 0% /x\n";
    let dpkg = "Desired=Unknown/Install\n||/ Name   Version  Architecture Description\n+++-======-====\n"
        .to_owned()
        + &"ii  adduser   3.118   all   add and remove users\n".repeat(30);
    for text in [long(40).as_str(), &found(), &processes(), &tree(), du, df, &dpkg] {
        assert!(vote(&LineSample::of(text)) >= 80, "{} {text}", vote(&LineSample::of(text)));
    }
    for text in [
        "one\ntwo\nthree\nfour\nfive\n",
        "It is /usr/bin.\nNot so.\nWords here are many.\nAnd more.\n",
        "fn a() {\n    b/c\n}\nx\n",
    ] {
        assert!(vote(&LineSample::of(text)) < 30, "{text}");
    }
}

#[test]
fn what_stands_out_stays() {
    let cases = [
        (
            long(90),
            vec!["./src:", "frame_0000.png", "9999999", "frame_0033.png", "README.md", "./doc:", "index.md"],
        ),
        (
            found(),
            vec!["./Cargo.toml", "./src/main.rs", "./node_modules", "./tests/case_0.rs", "./tests/notes.txt"],
        ),
        (processes(), vec!["USER ", "rustc --crate x"]),
    ];
    for (text, atoms) in cases {
        let folded = property::fold(&text, spans);
        assert!(folded.len() * 2 < text.len(), "{} of {}: {folded}", folded.len(), text.len());
        let short = property::within(&text, spans, text.len() / 4);
        for atom in atoms {
            assert!(folded.contains(atom), "{atom} in {folded}");
            assert!(short.contains(atom), "{atom} in {short}");
        }
    }
    assert!(property::fold(&long(90), spans).contains("like frame_"));
    assert!(property::fold(&found(), spans).contains("in vendored folders"));
    let folded = property::fold(&tree(), spans);
    assert!(folded.contains("dep29") && folded.matches("serde v1.0.1").count() < 30, "{folded}");
}

#[test]
fn a_folder_without_a_slash_has_its_size() {
    let mut text: String = (0..60).map(|n| format!("{}\tdocs/part{n}/page_{n}.md\n", n + 4)).collect();
    text.push_str("9000\tdocs\n");
    (0..60).for_each(|n| text.push_str(&format!("{}\tcrates/x/src/unit_{n}.rs\n", n % 9 + 1)));
    let folded = property::fold(&text, spans);
    assert!(folded.contains("9000\tdocs\n") && folded.contains("smaller"), "{folded}");
}

#[test]
fn a_mark_counts_the_rows_that_are_like_one() {
    let mut text = String::from("/etc:\ntotal 400\n");
    for n in 0..40 {
        let name = if n % 5 == 2 {
            format!("rc{n}.d")
        } else {
            format!("{}conf", "abcdefg".repeat(n % 7 + 1)) + &"x".repeat(n)
        };
        text.push_str(&format!("drwxr-xr-x 1 root root 4096 Mar  3  2021 {name}\n"));
    }
    let folded = property::fold(&text, spans);
    assert!(folded.contains("30 lines, 6 like rc12.d⟩"), "{folded}");
}

#[test]
fn a_listing_of_a_vendored_folder_alone_was_asked_for() {
    let text: String = (0..9).map(|n| format!("./node_modules/p{n}/index.js\n")).collect();
    assert_eq!(property::fold(&text, spans), text);
}

#[test]
fn any_text_is_tiled() {
    property::tiles(&[&long(30), &found(), &processes(), &tree(), "4K\t./a\n8K\t./b/c\n"], spans);
}
