use proptest::prelude::*;

use super::guess::guess_by_lines;
use super::language::SourceLanguage;
use super::*;
use crate::result::segment;
use crate::spans::select::{KeepLimit, select};

/// Returns a source in each language: a constant, a type, and an exported and a hidden function with long bodies.
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn samples() -> Vec<(SourceLanguage, String)> {
    let body = |line: &str| (0..12).map(|n| line.replace('#', &n.to_string())).collect::<String>();
    vec![
        (
            SourceLanguage::Rust,
            format!(
                "use std::fmt;\n\n/// The limit.\nconst LIMIT: usize = 5;\n\n/// A pump.\npub struct Pump {{\n    litres: u32,\n}}\n\n\
                 impl Pump {{\n    /// Fills it.\n    pub fn fill(&mut self) -> u32 {{\n{}        self.litres\n    }}\n}}\n\n\
                 fn hidden(a: u32) -> u32 {{\n{}    a\n}}\n",
                body("        self.litres += #;\n"),
                body("    let a = a + #;\n")
            ),
        ),
        (
            SourceLanguage::Python,
            format!(
                "import os\n\nLIMIT = 5\n\nclass Pump:\n    \"\"\"A pump.\"\"\"\n\n    def fill(self, by):\n        \"\"\"Fills it.\"\"\"\n{}\n\
                 def hidden(a):\n{}    return a\n",
                body("        self.litres += #\n"),
                body("    a = a + #\n")
            ),
        ),
        (
            SourceLanguage::JavaScript,
            format!(
                "import fs from 'fs';\n\nconst LIMIT = 5;\n\nexport class Pump {{\n  fill(by) {{\n{}  }}\n}}\n\n\
                 export function hidden(a) {{\n{}  return a;\n}}\n\nconst later = (a) => {{\n{}  return a === 5;\n}};\n",
                body("    this.litres += #;\n"),
                body("  a = a + #;\n"),
                body("  a = a - #;\n")
            ),
        ),
        (
            SourceLanguage::TypeScript,
            format!(
                "import {{ a }} from './a';\n\nconst LIMIT: number = 5;\n\nexport interface Tank {{\n  litres: number;\n  name?: string;\n}}\n\n\
                 export class Pump implements Tank {{\n  private readonly name: string;\n  fill(by: number): number {{\n{}    return by;\n  }}\n}}\n\n\
                 function hidden(a: number): number {{\n{}  return a;\n}}\n",
                body("    this.litres += #;\n"),
                body("  a = a + #;\n")
            ),
        ),
        (
            SourceLanguage::Go,
            format!(
                "package pump\n\nimport \"fmt\"\n\nconst Limit = 5\n\ntype Pump struct {{\n\tLitres int\n}}\n\n\
                 func (p *Pump) Fill(by int) error {{\n{}\treturn nil\n}}\n\nfunc hidden(a int) int {{\n{}\treturn a\n}}\n",
                body("\tp.Litres += #\n"),
                body("\ta = a + #\n")
            ),
        ),
        (
            SourceLanguage::Java,
            format!(
                "package org.example.pump;\n\nimport java.util.List;\n\npublic class Pump extends Tank {{\n    private static final int LIMIT = 5;\n\n\
                 \x20   @Override\n    public int fill(int by) {{\n{}        return by;\n    }}\n\n    private int hidden(int a) {{\n{}        return a;\n    }}\n}}\n",
                body("        this.litres += #;\n"),
                body("        a = a + #;\n")
            ),
        ),
        (
            SourceLanguage::C,
            format!(
                "#include <stdio.h>\n\n#define LIMIT 5\n\nstruct pump {{\n\tint litres;\n}};\n\nint fill(struct pump *p)\n{{\n{}\treturn 0;\n}}\n\n\
                 static int hidden(int a)\n{{\n{}\treturn a;\n}}\n",
                body("\tp->litres += #;\n"),
                body("\ta = a + #;\n")
            ),
        ),
        (
            SourceLanguage::Cpp,
            format!(
                "#include <vector>\n\nnamespace pump {{\n\nconstexpr int limit = 5;\n\nclass Pump {{\npublic:\n  int fill(std::vector<int> by) {{\n{}    return 0;\n  }}\n\
                 private:\n  int litres;\n}};\n\ntemplate <typename T>\nT hidden(T a) {{\n{}  return a;\n}}\n\n}}\n",
                body("    litres += #;\n"),
                body("  a = a + #;\n")
            ),
        ),
        (
            SourceLanguage::CSharp,
            format!(
                "using System;\nusing System.Linq;\n\nnamespace Pumps\n{{\n    public class Pump\n    {{\n        private readonly string name;\n        public int Litres {{ get; set; }}\n\n\
                 \x20       public int Fill(int by)\n        {{\n{}            return by;\n        }}\n\n        private int Hidden(int a)\n        {{\n{}            return a;\n        }}\n    }}\n}}\n",
                body("            Litres += #;\n"),
                body("            a = a + #;\n")
            ),
        ),
        (
            SourceLanguage::Ruby,
            format!(
                "require 'set'\n\nmodule Pumps\n  LIMIT = 5\n\n  class Pump\n    attr_reader :litres\n\n    # Fills it.\n    def fill(by)\n{}      by\n    end\n\n    def hidden(a)\n{}      a\n    end\n  end\nend\n",
                body("      @litres += #\n"),
                body("      a = a + #\n")
            ),
        ),
        (
            SourceLanguage::Php,
            format!(
                "<?php\n\nnamespace Pumps;\n\nuse Pumps\\Tank;\n\nclass Pump extends Tank\n{{\n    const LIMIT = 5;\n\n    public function fill(int $by): int\n    {{\n{}        return $by;\n    }}\n\n\
                 \x20   private function hidden($a)\n    {{\n{}        return $a;\n    }}\n}}\n",
                body("        $this->litres += #;\n"),
                body("        $a = $a + #;\n")
            ),
        ),
        (
            SourceLanguage::Bash,
            format!(
                "#!/usr/bin/env bash\nset -eu\n\nLIMIT=5\n\nfill() {{\n{}  echo \"$litres\"\n}}\n\nhidden() {{\n{}  echo \"$a\"\n}}\n\nfill \"$1\"\n",
                body("  litres=$((litres + #))\n"),
                body("  a=$((a + #))\n")
            ),
        ),
    ]
}

fn short(text: &str, room: KeepLimit) -> String {
    let lines = TextLines::of(text);
    let spans = spans(&lines);
    let tiled: String = spans.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(tiled, text, "spans tile the text");
    let segments = select(&lines, &spans, room);
    assert!(segment::tiles_source(&segments, text.len()));
    segment::write_segments(&segments, text, None)
}

#[test]
fn each_language_is_known_by_its_lines() {
    for (language, text) in samples() {
        assert_eq!(guess_by_lines(text.lines()).map(|(language, _)| language), Some(language), "{text}");
        assert!(vote(&LineSample::of(&text)) >= 50, "{language:?}: {}\n{text}", vote(&LineSample::of(&text)));
    }
    let component = "import React from 'react';\n\ninterface Props {\n  name: string;\n}\n\nexport function Pump({ name }: Props) {\n  return (\n    <div className=\"pump\">\n      <b>{name}</b>\n    </div>\n  );\n}\n";
    assert_eq!(guess_by_lines(component.lines()).map(|(language, _)| language), Some(SourceLanguage::Tsx));
}

#[test]
fn a_definition_that_is_asked_for_stands_with_its_body() {
    let function = |n: usize| {
        let lines: String = (0..8).map(|at| format!("    total += {at} * scale_{n};\n")).collect();
        format!("pub fn measure_{n}(mut total: u32, scale_{n}: u32) -> u32 {{\n{lines}    total\n}}\n\n")
    };
    let text: String = (0..60).map(function).collect();
    let lines = TextLines::of(&text);
    let mut spans = spans(&lines);
    let query = crate::spans::query::QueryTerms::of(Some("what does measure_41 do"));
    query.promote(&text, &mut spans);
    crate::spans::select::raise_under_query(&mut spans);
    let short = crate::result::segment::write_segments(
        &crate::spans::select::select(&lines, &spans, KeepLimit::Bytes(text.len() / 3)),
        &text,
        None,
    );
    for line in function(41).lines() {
        assert!(short.contains(line), "{line} in {short}");
    }
    assert!((0..60).all(|n| short.contains(&format!("fn measure_{n}("))), "{short}");
}

#[test]
fn an_outline_has_signatures_and_not_bodies() {
    // The methods of a class in a namespace are at the third level, where a block may also be a statement.
    for (language, text) in samples().into_iter().filter(|(language, _)| *language != SourceLanguage::CSharp)
    {
        let outline = short(&text, KeepLimit::Bytes(text.len() * 8 / 10));
        let lower = outline.to_lowercase();
        for wanted in ["fill(", "hidden(", "limit"] {
            // A sample that lacks this text passes without a check.
            assert!(
                lower.contains(wanted) || !text.to_lowercase().contains(wanted),
                "{language:?} {wanted}\n{outline}"
            );
        }
        // A definition that begins with a word such as `fn` has a name that its body is described by.
        let is_named =
            matches!(language, SourceLanguage::Rust | SourceLanguage::Python | SourceLanguage::Ruby);
        assert!(lower.contains("body of") || !is_named, "{language:?}\n{outline}");
        assert!(outline.len() < text.len(), "{language:?}");
    }
}

#[test]
fn folding_changes_only_licences_in_code() {
    for (language, text) in samples() {
        assert_eq!(short(&text, KeepLimit::Fold), text, "{language:?}");
    }
    let terms = "# You may do with this what you want, and so may others.\n".repeat(8);
    let licensed = format!(
        "# Copyright A. Nobody\n#\n# Licensed to all under these terms:\n{terms}# No warranty is given.\n#\n# What this file is for.\nimport os\n\ndef main():\n    print(os.name)\n"
    );
    let folded = short(&licensed, KeepLimit::Fold);
    assert!(
        folded.contains("licence⟩") && folded.contains("A. Nobody") && folded.contains("is for"),
        "{folded}"
    );
}

#[test]
fn a_numbered_listing_is_read_by_what_it_lists() {
    let (_, text) = samples().swap_remove(1);
    for sign in ["\t", "→"] {
        let listing: String =
            text.lines().enumerate().map(|(at, line)| format!("{:>6}{sign}{line}\n", at + 41)).collect();
        assert!(vote(&LineSample::of(&listing)) >= 50);
        let outline = short(&listing, KeepLimit::Bytes(listing.len() / 2));
        for wanted in ["48", "def fill(self, by):", "body of fill"] {
            assert!(outline.contains(wanted), "{wanted} in {outline}");
        }
    }
}

#[test]
fn other_texts_are_not_detected_as_code() {
    for text in [
        "The quick brown fox jumps over the lazy dog. It did so for years.\nThen it returned home (late).\nWith no regrets; none at all.\n",
        "2024-05-01 12:00:00 INFO starting\n2024-05-01 12:00:01 INFO fn main() { started }\n2024-05-01 12:00:02 ERROR let x = 5;\n",
        "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    let a = 1;\n+    let a = 2;\n }\n",
        "src/a.rs:12:    let a = 1;\nsrc/a.rs:19:    let b = a.unwrap();\nsrc/b.rs:4:use std::fmt;\n",
        "- one\n- two\n- three\n\nSee https://example.org for more.\n",
        "name: build\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    runs-on: ubuntu\n",
        "error[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\n3  |     let a: u32 = \"\";\n   |                  ^^ expected\n",
        "",
        "\n\n\n",
    ] {
        assert_eq!(vote(&LineSample::of(text)), 0, "{text}");
    }
}

#[test]
fn depth_and_size_overflow_nothing() {
    let n = 10_000;
    for text in [
        format!("fn main() {{\n{}{}\n}}\n", "let a = (\n".repeat(n), ")".repeat(n)),
        format!("const a = {}5;\n", "() => {\nreturn ".repeat(n / 4)),
        "mod a {\nimpl B {\n".repeat(n / 4),
        "def f(a):\n    return [".repeat(n / 4),
        format!("let x = {}{};\n", "[".repeat(n), "]".repeat(n)),
        (0..n).map(|n| " ".repeat(n % 300) + "a:\n").collect(),
    ] {
        let folded = short(&text, KeepLimit::Fold);
        assert!(!folded.is_empty());
    }
}

proptest! {
    #[test]
    fn broken_sources_tile(which in 0usize..12, from in 0usize..700, to in 0usize..700, with in "[{}()\"'/*#:;a-z\n⟨ ]{0,6}", room in 100usize..600) {
        let (_, text) = samples().swap_remove(which);
        let (from, to) = (from.min(text.len()), to.min(text.len()));
        let broken = format!("{}{with}{}", &text[..from], &text[to..]);
        short(&broken, KeepLimit::Fold);
        short(&broken, KeepLimit::Bytes(room));
    }

    #[test]
    fn any_text_tiles(text in "\\PC{0,60}|[{}()\"'/*#:;a-z \t\n]{0,200}") {
        short(&text, KeepLimit::Fold);
        vote(&LineSample::of(&text));
    }
}
