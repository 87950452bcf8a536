use super::*;
use crate::readers::property;

fn essay(paragraphs: usize) -> String {
    let mut text = String::new();
    for n in 0..paragraphs {
        let words: Vec<String> = (0..60).map(|word| format!("word{}", (word * 7 + n * 13) % 40)).collect();
        text.push_str(&format!(
            "Topic {n} comes first. Then {} follow. It ends here. And more of it.\n\n",
            words.join(" ")
        ));
    }
    text
}

#[test]
fn nothing_is_left_out_but_what_was_said() {
    assert_eq!(property::fold(&essay(9), spans), essay(9));
    let repeated = essay(3).repeat(4);
    let folded = property::fold(&repeated, spans);
    assert!(folded.len() * 3 < repeated.len() && folded.contains("said before"), "{folded}");
    let run = format!("start\n{}end\n", "the same line over and over again\n".repeat(50));
    assert!(property::fold(&run, spans).len() < 220);
}

#[test]
fn first_sentences_and_rare_words_come_first() {
    let mut text = essay(20);
    text.push_str(
        "Filler words here. The password is Zanzibar42, which nobody else mentions in this text at all. ",
    );
    text.push_str(&"Then words again follow here. ".repeat(20));
    let short = property::within(&text, spans, text.len() / 4);
    assert!(short.contains("Topic 0") && short.contains("Zanzibar42"), "{short}");
    assert!(short.len() * 100 >= text.len() / 4 * 85, "{} of {}", short.len(), text.len() / 4);
}

#[test]
fn any_text_is_tiled() {
    property::tiles(
        &[
            &essay(2),
            "一句。两句！\n\n三句。".repeat(30).as_str(),
            &"same line of some length, yes\n".repeat(9),
        ],
        spans,
    );
}
