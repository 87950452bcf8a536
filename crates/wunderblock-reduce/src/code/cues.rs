//! The signs by which a line tells its language.

use super::language::SourceLanguage;

/// The weight of a line, without its indentation, for a language: each strong sign counts three, a sign that others
/// share one.
pub(super) fn language_weight(language: SourceLanguage, line: &str) -> u32 {
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

fn starts_with_any(line: &str, with: &[&str]) -> bool {
    with.iter().any(|start| line.starts_with(start))
}

fn contains_any(line: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| line.contains(part))
}

fn ends_with_any(line: &str, with: &[char]) -> bool {
    line.ends_with(with)
}

fn rust(line: &str) -> u32 {
    3 * u32::from(
        starts_with_any(
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
        ) || (starts_with_any(line, &["fn "]) && line.contains('('))
            || (starts_with_any(line, &["use "]) && line.contains("::"))
            || contains_any(
                line,
                &[".unwrap()", "&mut ", "println!(", "&str", "-> Self", "=> {", "format!("],
            ) && !contains_any(line, &["<?", "function", "$"])
            || (starts_with_any(line, &["match "]) && ends_with_any(line, &['{'])),
    ) + u32::from(
        (starts_with_any(line, &["let ", "mod "]) && ends_with_any(line, &[';', '{']))
            || starts_with_any(line, &["/// "])
            || line.contains("::"),
    )
}

fn python(line: &str) -> u32 {
    let block = ends_with_any(line, &[':']) && !ends_with_any(line, &[';']);
    3 * u32::from(
        (starts_with_any(line, &["def ", "async def ", "class "])
            && (block || line.contains('('))
            && !ends_with_any(line, &['{', ';']))
            || (starts_with_any(line, &["from "])
                && line.contains(" import ")
                && !ends_with_any(line, &[';']))
            || (block && starts_with_any(line, &["elif ", "except", "with ", "try:", "finally:"]))
            || contains_any(line, &["self.", "__init__", "if __name__", "\"\"\""])
                && !ends_with_any(line, &[';', '{']),
    ) + u32::from(
        (starts_with_any(line, &["import ", "return ", "raise ", "assert ", "yield "])
            && !ends_with_any(line, &[';', '{']))
            || (block && starts_with_any(line, &["if ", "for ", "while ", "else:"]))
            || (starts_with_any(line, &["@"]) && !ends_with_any(line, &[';', '{']))
            || contains_any(line, &["None", "True", "False", " is not ", "print("]),
    )
}

fn javascript(line: &str) -> u32 {
    3 * u32::from(
        contains_any(line, &["require(", "module.exports", ") => ", "===", "!==", "typeof ", "console.log("])
            && !contains_any(line, &["<?php", "$this", ") -> ", "Some(", "::", "Err("])
            || starts_with_any(
                line,
                &["export default", "export function", "export const", "async function"],
            )
            || (starts_with_any(line, &["function "]) && line.contains('(') && ends_with_any(line, &['{']))
            || (starts_with_any(line, &["import "])
                && contains_any(line, &[" from '", " from \"", "import '", "import \""]))
            || (starts_with_any(line, &["const ", "var "])
                && line.contains(" = ")
                && !line.contains(": ")
                && ends_with_any(line, &[';', '{', '(', '['])),
    ) + u32::from(
        starts_with_any(line, &["});", "})", "} else", "return ", "this.", "if (", "let "])
            || line.contains(" => "),
    )
}

fn typescript(line: &str) -> u32 {
    let typed = contains_any(
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
            typed && !starts_with_any(line, &["#", "*", "//"])
                || starts_with_any(
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
                || (starts_with_any(line, &["interface ", "type ", "namespace "])
                    && contains_any(line, &["{", " = "])
                    && !line.contains("struct")),
        )
}

fn tsx(line: &str) -> u32 {
    let tag = (line.starts_with('<')
        && !starts_with_any(line, &["<?", "<<", "<!"])
        && (ends_with_any(line, &['>', '<']) || line.contains(' ')))
        || contains_any(line, &["/>", "className=", "return (<", "</"])
            && !starts_with_any(line, &["//", "*", "#"]);
    typescript(line) + 3 * u32::from(tag)
}

fn go(line: &str) -> u32 {
    3 * u32::from(
        contains_any(line, &[" := ", "err != nil", "interface{}", "chan ", "[]string", "[]byte", "fmt."])
            || (starts_with_any(line, &["func "]) && line.contains('('))
            || (starts_with_any(line, &["type "]) && contains_any(line, &[" struct {", " interface {"]))
            || (starts_with_any(line, &["package "]) && !ends_with_any(line, &[';']) && !line.contains('.'))
            || starts_with_any(line, &["import (", "defer ", "go func", "case <-"]),
    ) + u32::from(
        starts_with_any(line, &["return ", "if ", "for ", "var ", "const ", "switch "])
            && !ends_with_any(line, &[';', ':', ')']),
    )
}

fn java(line: &str) -> u32 {
    3 * u32::from(
        (starts_with_any(line, &["import ", "package "])
            && ends_with_any(line, &[';'])
            && line.contains('.')
            && !contains_any(line, &["'", "\""]))
            || starts_with_any(
                line,
                &["@Override", "@Test", "@Autowired", "@Nullable", "@Deprecated", "@SuppressWarnings"],
            )
            || contains_any(
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
            ) && ends_with_any(line, &['{', ';', ',', ')']),
    ) + u32::from(starts_with_any(
        line,
        &["public ", "private ", "protected ", "return ", "if (", "} else", "* @", "this.", "final ", "new "],
    ))
}

fn csharp(line: &str) -> u32 {
    3 * u32::from(
        (starts_with_any(line, &["using ", "namespace "])
            && (ends_with_any(line, &[';']) || !line.contains('('))
            && !line.contains(" = ")
            && !contains_any(line, &["::", "using namespace", "'", "\\"])
            && line.split_whitespace().count() < 4)
            || contains_any(
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
            ) && ends_with_any(line, &['{', ';', ')', '}'])
            || starts_with_any(line, &["/// <", "[assembly:", "#region", "#endregion"]),
    ) + u32::from(starts_with_any(
        line,
        &["public ", "private ", "protected ", "internal ", "var ", "return ", "if (", "foreach ("],
    ))
}

fn c(line: &str) -> u32 {
    3 * u32::from(
        starts_with_any(
            line,
            &[
                "#include", "#define ", "#ifdef ", "#ifndef ", "#endif", "#if ", "#undef ", "typedef ",
                "extern ",
            ],
        ) || (starts_with_any(
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
        ) && ends_with_any(line, &['{', ';', ',', ')'])
            && !contains_any(line, &[" class ", "::", "=>", "public", "String "]))
            || (contains_any(line, &["->", "sizeof(", "NULL", "malloc(", "printf("])
                && !contains_any(line, &["$", "std::", "=>", "fn "])
                && ends_with_any(line, &[';', '{', ')', ','])),
    ) + u32::from(
        starts_with_any(line, &["if (", "for (", "while (", "return ", "} else", "case ", "switch ("])
            && ends_with_any(line, &['{', ';', ')', ':']),
    )
}

fn cpp(line: &str) -> u32 {
    let own = starts_with_any(
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
    ) && !contains_any(line, &["function "])
        && ends_with_any(line, &['{', ';', ':', '>', ')', ','])
        || (contains_any(
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
        ) && !contains_any(line, &["use ", "fn ", "$", "let ", "impl", "pub "]))
        || (starts_with_any(line, &["#include <"]) && !line.contains(".h>"));
    c(line).min(2) + 3 * u32::from(own)
}

fn ruby(line: &str) -> u32 {
    3 * u32::from(
        line == "end"
            || starts_with_any(
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
            ) && !ends_with_any(line, &[';', '{', ':'])
            || (starts_with_any(line, &["def ", "class "]) && !ends_with_any(line, &[':', '{', ';']))
            || (contains_any(line, &[" do |", ".each do", ".nil?", ".empty?", " unless "])
                || line.ends_with(" do"))
                && !line.ends_with(';'),
    ) + u32::from(
        (starts_with_any(line, &["@", ":"]) || contains_any(line, &["#{", " => "]))
            && !ends_with_any(line, &[';', '{']),
    )
}

fn php(line: &str) -> u32 {
    3 * u32::from(
        starts_with_any(line, &["<?php", "<?="])
            || (starts_with_any(line, &["namespace ", "use "]) && line.contains('\\'))
            || (line
                .strip_prefix('$')
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
                && contains_any(line, &[" = ", "->", "["]))
            || contains_any(line, &["$this->", "function ($", "($", "->", "array("])
                && line.contains('$')
                && ends_with_any(line, &[';', '{', ',', '(', ')'])
            || starts_with_any(
                line,
                &["public function", "private function", "protected function", "public static function"],
            ),
    ) + u32::from(starts_with_any(line, &["return ", "foreach (", "if (", "* @"]))
}

fn bash(line: &str) -> u32 {
    3 * u32::from(
        matches!(line, "fi" | "done" | "esac" | "then" | ";;" | "do")
            || starts_with_any(
                line,
                &["if [", "elif [", "while [", "for ", "case ", "set -", "export ", "local ", "[ ", "[[ "],
            ) && !contains_any(line, &[" (", "{", " in range", ":="])
                && !ends_with_any(line, &[':', ';', ')'])
            || (line.ends_with("; then") || line.ends_with("; do") || line.ends_with("() {"))
            || contains_any(line, &["${", "\"$", "$(", "$1"])
                && !contains_any(line, &["`${", "= `", ");", "->"])
                && !line.ends_with(';'),
    ) + u32::from(starts_with_any(line, &["echo ", "printf ", "exit ", "cd ", "source ", "shift", "}"]))
}
