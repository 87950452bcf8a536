//! Tests of summaries, with output for people and for programs.

use crate::desk::Desk;
use crate::output::{shown, snapshot};

/// A session with two summaries, a third one made from both, and a fourth one that another program set.
fn desk() -> Desk {
    let desk = Desk::new();
    let said = |id: &str, role: &str, text: &str| {
        format!("{{\"id\":\"{id}\",\"at\":1772357000000,\"role\":\"{role}\",\"content\":\"{text}\"}}\n")
    };
    let made = |id: &str, fields: &str| {
        format!("{{\"id\":\"{id}\",\"at\":1772357000000,\"kind\":\"session.compacted\",{fields}}}\n")
    };
    let lines = [
        said("1", "user", "Make the parser accept a trailing comma.\\nThe port is 4711."),
        said("2", "assistant", "I read src/parser.rs \\u001b[31mfirst\\u001b[0m."),
        said("3", "user", "数据库连接失败，请重试。"),
        said("4", "assistant", &format!("{}The port 4711 is taken.", "Nothing of note. ".repeat(700))),
    ];
    let nodes = [
        made(
            "5",
            "\"from_seq\":2,\"to_seq\":3,\"lane\":\"main\",\"producer\":\"extractive\",\"policy\":\"balanced\",\
             \"manner\":\"fallback\",\
             \"summary\":\"## Intent\\n- trailing comma (#2)\",\"tokens_before\":40,\"tokens_after\":9,\
             \"check\":{\"grounded\":0.985,\"kept\":2,\"demanded\":2,\"answered\":1.0}",
        ),
        made(
            "6",
            "\"from_seq\":4,\"to_seq\":5,\"lane\":\"main\",\"producer\":\"claude-sonnet-4\",\"manner\":\"aggressive\",\
             \"summary\":\"- the database did not answer \\u001b[2J\",\"tokens_before\":3900,\"tokens_after\":12,\
             \"focus\":\"the port\"",
        ),
        made(
            "7",
            "\"from_seq\":2,\"to_seq\":5,\"lane\":\"main\",\"producer\":\"extractive\",\"level\":1,\
             \"sources\":[6,7],\"summary\":\"all of it\",\"tokens_before\":21,\"tokens_after\":3",
        ),
        made("8", "\"from_seq\":2,\"to_seq\":4,\"producer\":\"claude-code\""),
        "{\"id\":\"9\",\"at\":1772357000000,\"kind\":\"view.trimmed\",\"lane\":\"main\",\"reason\":\"compacted\",\
         \"trim\":{\"drop_before\":6,\"stub_before\":6,\"nodes\":[{\"at\":8,\"from\":2,\"to\":5}]}}\n"
            .to_owned(),
    ];
    desk.feed(&["append", "work"], &lines.concat()).exits(0);
    desk.forge("work", &nodes.concat());
    desk.feed(&["append", "quiet"], &said("1", "user", "hi")).exits(0);
    desk
}

fn handle(desk: &Desk) -> String {
    let nodes = desk.run(&["describe", "work", "--json"]).exits(0).json();
    nodes["nodes"][0]["address"].as_str().unwrap().split('#').next().unwrap().to_owned()
}

#[test]
fn summaries_are_described() {
    let desk = desk();
    let work = handle(&desk);
    let at = |range: &str| format!("{work}#{range}");
    let (all, leaf, none, range) = (at("8"), at("7"), at("3"), at("3-5"));
    let runs: [&[&str]; 10] = [
        &["describe", "work"],
        &["describe", &all],
        &["describe", &leaf],
        &["describe", &leaf, "--json"],
        &["describe", &at("9")],
        &["describe", &none],
        &["describe", &range],
        &["describe", &at("900")],
        &["describe", "nosuch"],
        &["describe", "quiet"],
    ];
    snapshot("describe", &shown(&desk, &runs));
}

#[test]
fn summaries_are_expanded() {
    let desk = desk();
    let work = handle(&desk);
    let at = |range: &str| format!("{work}#{range}");
    let (all, range) = (at("8"), at("2-5"));
    let runs: [&[&str]; 12] = [
        &["expand", &all],
        &["expand", &at("6")],
        &["expand", &at("6"), "--json"],
        &["expand", &all, "--events", "--tokens", "400", "--page", "2"],
        &["expand", &all, "--query", "port 4711"],
        &["expand", &at("2-5"), "--query", "连接", "--json"],
        &["expand", &range, "--query", "nowhere"],
        &["expand", &range, "--page", "99"],
        &["expand", &range, "--tokens", "9"],
        &["expand", &range, "--query", "x", "--page", "2"],
        &["expand", "work"],
        &["expand", &at("10")],
    ];
    snapshot("expand", &shown(&desk, &runs));
}

#[test]
fn a_program_can_put_the_pages_together() {
    let desk = desk();
    let address = format!("{}#8", handle(&desk));
    let mut texts = std::collections::BTreeMap::new();
    let mut page = Some(1);
    while let Some(number) = page {
        let number = number.to_string();
        let args = ["expand", &address, "--events", "--tokens", "300", "--page", &number, "--json"];
        let found = desk.run(&args).exits(0).json();
        for item in found["items"].as_array().unwrap() {
            let text: &mut String = texts.entry((item["seq"].as_u64(), item["part"].as_u64())).or_default();
            assert_eq!(item["from_byte"], text.len());
            text.push_str(item["text"].as_str().unwrap());
        }
        page = found["next"].as_u64();
    }
    let joined: Vec<String> = texts.into_values().collect();
    let said = desk
        .run(&["export", "work"])
        .exits(0)
        .lines()
        .into_iter()
        .filter_map(|event| Some(event["message"]["parts"][0]["text"].as_str()?.to_owned()));
    assert_eq!(joined, said.collect::<Vec<_>>());
}
