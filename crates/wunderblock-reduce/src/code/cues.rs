//! The signs by which a line tells its language.

use super::language::SourceLanguage;

/// How sure a line, without its indentation, makes it that this is the language: each strong sign counts three, a sign
/// that others share one.
pub(super) fn weigh(language: SourceLanguage, line: &str) -> u32 {
    match language {
        SourceLanguage::Rust => rust(line),
        SourceLanguage::Python => python(line),
        SourceLanguage::JavaScript => javascript(line),
        SourceLanguage::TypeScript => typescript(line),
        SourceLanguage::Tsx => tsx(line),
        SourceLanguage::Go => go(line),
        SourceLanguage::Java => java(line),
        SourceLanguage::CSharp => csharp(line),
        SourceLanguage::C => c(line),
        SourceLanguage::Cpp => cpp(line),
        SourceLanguage::Ruby => ruby(line),
        SourceLanguage::Php => php(line),
        SourceLanguage::Bash => bash(line),
    }
}

fn starts(line: &str, with: &[&str]) -> bool {
    with.iter().any(|start| line.starts_with(start))
}

fn has(line: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| line.contains(part))
}

fn ends(line: &str, with: &[char]) -> bool {
    line.ends_with(with)
}

fn rust(line: &str) -> u32 {
    3 * u32::from(
        starts(
            line,
            &[
                "pub fn ",
                "pub(crate) ",
                "impl ",
                "impl<",
                "#[",
                "#![",
                "let mut ",
                "pub struct ",
                "pub enum ",
                "pub mod ",
                "pub use ",
                "macro_rules!",
                "//! ",
            ],
        ) || (starts(line, &["fn "]) && line.contains('('))
            || (starts(line, &["use "]) && line.contains("::"))
            || has(line, &[".unwrap()", "&mut ", "println!(", "&str", "-> Self", "=> {", "format!("])
                && !has(line, &["<?", "function", "$"])
            || (starts(line, &["match "]) && ends(line, &['{'])),
    ) + u32::from(
        (starts(line, &["let ", "mod "]) && ends(line, &[';', '{']))
            || starts(line, &["/// "])
            || line.contains("::"),
    )
}

fn python(line: &str) -> u32 {
    let block = ends(line, &[':']) && !ends(line, &[';']);
    3 * u32::from(
        (starts(line, &["def ", "async def ", "class "])
            && (block || line.contains('('))
            && !ends(line, &['{', ';']))
            || (starts(line, &["from "]) && line.contains(" import ") && !ends(line, &[';']))
            || (block && starts(line, &["elif ", "except", "with ", "try:", "finally:"]))
            || has(line, &["self.", "__init__", "if __name__", "\"\"\""]) && !ends(line, &[';', '{']),
    ) + u32::from(
        (starts(line, &["import ", "return ", "raise ", "assert ", "yield "]) && !ends(line, &[';', '{']))
            || (block && starts(line, &["if ", "for ", "while ", "else:"]))
            || (starts(line, &["@"]) && !ends(line, &[';', '{']))
            || has(line, &["None", "True", "False", " is not ", "print("]),
    )
}

fn javascript(line: &str) -> u32 {
    3 * u32::from(
        has(line, &["require(", "module.exports", ") => ", "===", "!==", "typeof ", "console.log("])
            && !has(line, &["<?php", "$this", ") -> ", "Some(", "::", "Err("])
            || starts(line, &["export default", "export function", "export const", "async function"])
            || (starts(line, &["function "]) && line.contains('(') && ends(line, &['{']))
            || (starts(line, &["import "]) && has(line, &[" from '", " from \"", "import '", "import \""]))
            || (starts(line, &["const ", "var "])
                && line.contains(" = ")
                && !line.contains(": ")
                && ends(line, &[';', '{', '(', '['])),
    ) + u32::from(
        starts(line, &["});", "})", "} else", "return ", "this.", "if (", "let "]) || line.contains(" => "),
    )
}

fn typescript(line: &str) -> u32 {
    let typed = has(
        line,
        &[
            ": string",
            ": number",
            ": boolean",
            ": void",
            ": Promise<",
            ": any",
            " as const",
            "unknown",
            ": Record<",
            "?: ",
            "[];",
            "[] =",
        ],
    );
    javascript(line)
        + 2 * u32::from(
            typed && !starts(line, &["#", "*", "//"])
                || starts(
                    line,
                    &[
                        "export interface ",
                        "export type ",
                        "import type ",
                        "export enum ",
                        "declare ",
                        "readonly ",
                        "export abstract ",
                        "private readonly ",
                    ],
                )
                || (starts(line, &["interface ", "type ", "namespace "])
                    && has(line, &["{", " = "])
                    && !line.contains("struct")),
        )
}

fn tsx(line: &str) -> u32 {
    let tag = (line.starts_with('<')
        && !starts(line, &["<?", "<<", "<!"])
        && (ends(line, &['>', '<']) || line.contains(' ')))
        || has(line, &["/>", "className=", "return (<", "</"]) && !starts(line, &["//", "*", "#"]);
    typescript(line) + 3 * u32::from(tag)
}

fn go(line: &str) -> u32 {
    3 * u32::from(
        has(line, &[" := ", "err != nil", "interface{}", "chan ", "[]string", "[]byte", "fmt."])
            || (starts(line, &["func "]) && line.contains('('))
            || (starts(line, &["type "]) && has(line, &[" struct {", " interface {"]))
            || (starts(line, &["package "]) && !ends(line, &[';']) && !line.contains('.'))
            || starts(line, &["import (", "defer ", "go func", "case <-"]),
    ) + u32::from(
        starts(line, &["return ", "if ", "for ", "var ", "const ", "switch "])
            && !ends(line, &[';', ':', ')']),
    )
}

fn java(line: &str) -> u32 {
    3 * u32::from(
        (starts(line, &["import ", "package "])
            && ends(line, &[';'])
            && line.contains('.')
            && !has(line, &["'", "\""]))
            || starts(
                line,
                &["@Override", "@Test", "@Autowired", "@Nullable", "@Deprecated", "@SuppressWarnings"],
            )
            || has(
                line,
                &[
                    "public static void",
                    " throws ",
                    "System.out.",
                    " final ",
                    " instanceof ",
                    " extends ",
                    "implements ",
                    "boolean ",
                    "String ",
                ],
            ) && ends(line, &['{', ';', ',', ')']),
    ) + u32::from(starts(
        line,
        &["public ", "private ", "protected ", "return ", "if (", "} else", "* @", "this.", "final ", "new "],
    ))
}

fn csharp(line: &str) -> u32 {
    3 * u32::from(
        (starts(line, &["using ", "namespace "])
            && (ends(line, &[';']) || !line.contains('('))
            && !line.contains(" = ")
            && !has(line, &["::", "using namespace", "'", "\\"])
            && line.split_whitespace().count() < 4)
            || has(
                line,
                &[
                    "{ get;",
                    "get;",
                    " async Task",
                    "=> new",
                    "string ",
                    "?? throw",
                    "nameof(",
                    "internal ",
                    " override ",
                    "readonly ",
                ],
            ) && ends(line, &['{', ';', ')', '}'])
            || starts(line, &["/// <", "[assembly:", "#region", "#endregion"]),
    ) + u32::from(starts(
        line,
        &["public ", "private ", "protected ", "internal ", "var ", "return ", "if (", "foreach ("],
    ))
}

fn c(line: &str) -> u32 {
    3 * u32::from(
        starts(
            line,
            &[
                "#include", "#define ", "#ifdef ", "#ifndef ", "#endif", "#if ", "#undef ", "typedef ",
                "extern ",
            ],
        ) || (starts(
            line,
            &[
                "static ",
                "struct ",
                "#  define",
                "# define",
                "#  include",
                "# include",
                "void ",
                "int ",
                "char ",
                "const char",
                "unsigned ",
                "size_t ",
                "uint",
                "enum ",
                "long ",
            ],
        ) && ends(line, &['{', ';', ',', ')'])
            && !has(line, &[" class ", "::", "=>", "public", "String "]))
            || (has(line, &["->", "sizeof(", "NULL", "malloc(", "printf("])
                && !has(line, &["$", "std::", "=>", "fn "])
                && ends(line, &[';', '{', ')', ','])),
    ) + u32::from(
        starts(line, &["if (", "for (", "while (", "return ", "} else", "case ", "switch ("])
            && ends(line, &['{', ';', ')', ':']),
    )
}

fn cpp(line: &str) -> u32 {
    let own = starts(
        line,
        &[
            "template",
            "namespace ",
            "public:",
            "private:",
            "protected:",
            "virtual ",
            "using namespace",
            "explicit ",
            "class ",
            "constexpr ",
            "inline ",
        ],
    ) && !has(line, &["function "])
        && ends(line, &['{', ';', ':', '>', ')', ','])
        || (has(
            line,
            &[
                "std::",
                "nullptr",
                "const auto",
                "auto ",
                "static_cast<",
                "::",
                "override",
                "noexcept",
                "unique_ptr",
                "operator",
                "_GLIBCXX",
            ],
        ) && !has(line, &["use ", "fn ", "$", "let ", "impl", "pub "]))
        || (starts(line, &["#include <"]) && !line.contains(".h>"));
    c(line).min(2) + 3 * u32::from(own)
}

fn ruby(line: &str) -> u32 {
    3 * u32::from(
        line == "end"
            || starts(
                line,
                &[
                    "require '",
                    "require \"",
                    "require_relative ",
                    "attr_",
                    "module ",
                    "elsif ",
                    "unless ",
                    "rescue",
                    "puts ",
                    "end.",
                ],
            ) && !ends(line, &[';', '{', ':'])
            || (starts(line, &["def ", "class "]) && !ends(line, &[':', '{', ';']))
            || (has(line, &[" do |", ".each do", ".nil?", ".empty?", " unless "]) || line.ends_with(" do"))
                && !line.ends_with(';'),
    ) + u32::from((starts(line, &["@", ":"]) || has(line, &["#{", " => "])) && !ends(line, &[';', '{']))
}

fn php(line: &str) -> u32 {
    3 * u32::from(
        starts(line, &["<?php", "<?="])
            || (starts(line, &["namespace ", "use "]) && line.contains('\\'))
            || (line
                .strip_prefix('$')
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
                && has(line, &[" = ", "->", "["]))
            || has(line, &["$this->", "function ($", "($", "->", "array("])
                && line.contains('$')
                && ends(line, &[';', '{', ',', '(', ')'])
            || starts(
                line,
                &["public function", "private function", "protected function", "public static function"],
            ),
    ) + u32::from(starts(line, &["return ", "foreach (", "if (", "* @"]))
}

fn bash(line: &str) -> u32 {
    3 * u32::from(
        matches!(line, "fi" | "done" | "esac" | "then" | ";;" | "do")
            || starts(
                line,
                &["if [", "elif [", "while [", "for ", "case ", "set -", "export ", "local ", "[ ", "[[ "],
            ) && !has(line, &[" (", "{", " in range", ":="])
                && !ends(line, &[':', ';', ')'])
            || (line.ends_with("; then") || line.ends_with("; do") || line.ends_with("() {"))
            || has(line, &["${", "\"$", "$(", "$1"])
                && !has(line, &["`${", "= `", ");", "->"])
                && !line.ends_with(';'),
    ) + u32::from(starts(line, &["echo ", "printf ", "exit ", "cd ", "source ", "shift", "}"]))
}
