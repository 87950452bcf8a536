use super::*;
use crate::readers::property;

fn manual(sections: usize) -> String {
    let mut text = String::from(
        "# Manual\n\n[![build](https://ci.example.org/badge.svg)](https://ci.example.org)\n[![docs](https://docs.example.org/badge.svg)](https://docs.example.org)\n\n",
    );
    (0..sections).for_each(|n| text.push_str(&format!("- [Section number {n}](#section-number-{n})\n")));
    for n in 0..sections {
        text.push_str(&format!(
            "\n## Section number {n}\n\nThis explains `option_{n}` in words. It goes on for a while, so that there is something to leave out. More of the same words stand here.\n\n- first **item** of {n}\n- second item\n\n```sh\nrun --option-{n}\n```\n"
        ));
    }
    text
}

#[test]
fn markdown_is_recognised() {
    assert!(vote(&LineSample::of(&manual(5))) >= 80);
    for text in [
        "# a comment\nx = 1\ny = 2\n",
        "Words.\nMore words.\n",
        "#!/bin/sh\n# does it\necho a\n# then\necho b\n",
        "- a\n- b\n",
        "",
    ] {
        assert!(vote(&LineSample::of(text)) < 50, "{text}");
    }
}

#[test]
fn only_badges_contents_and_repeats_are_folded() {
    let text = manual(12);
    let folded = property::fold(&text, spans);
    assert!(folded.contains("lines of contents") && folded.contains("badges"), "{folded}");
    let after = |text: &str| text[text.find("\n## Section number 0").unwrap()..].to_owned();
    assert_eq!(after(&folded), after(&text));
}

#[test]
fn a_budget_shows_every_heading_and_is_filled() {
    let text = manual(12);
    let short = property::within(&text, spans, text.len() / 2);
    assert_eq!(short.matches("## Section").count(), 12, "{short}");
    assert!(short.len() * 100 >= text.len() / 2 * 85, "{} of {}", short.len(), text.len() / 2);
}

#[test]
fn any_text_is_tiled() {
    property::tiles(&[&manual(3), "```\nnever ends\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n"], spans);
}
