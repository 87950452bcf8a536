//! The language of a source, by its lines alone.

use super::listing;
use crate::lines::Lines;

/// A language whose sources can be outlined by their syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Bash,
}

/// Lines looked at when a language is guessed.
const SAMPLED: usize = 400;

impl Language {
    /// In the order in which equal guesses are decided.
    const ALL: [Self; 13] = [
        Self::Rust,
        Self::Python,
        Self::Go,
        Self::C,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Java,
        Self::CSharp,
        Self::Cpp,
        Self::Ruby,
        Self::Php,
        Self::Bash,
    ];

    /// The grammar, if it was built in.
    #[cfg(feature = "syntax")]
    pub(crate) fn grammar(self) -> Option<tree_sitter::Language> {
        match self {
            #[cfg(feature = "rust")]
            Self::Rust => Some(tree_sitter_rust::LANGUAGE.into()),
            #[cfg(feature = "python")]
            Self::Python => Some(tree_sitter_python::LANGUAGE.into()),
            #[cfg(feature = "javascript")]
            Self::JavaScript => Some(tree_sitter_javascript::LANGUAGE.into()),
            #[cfg(feature = "typescript")]
            Self::TypeScript => Some(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
            #[cfg(feature = "typescript")]
            Self::Tsx => Some(tree_sitter_typescript::LANGUAGE_TSX.into()),
            #[cfg(feature = "go")]
            Self::Go => Some(tree_sitter_go::LANGUAGE.into()),
            #[cfg(feature = "java")]
            Self::Java => Some(tree_sitter_java::LANGUAGE.into()),
            #[cfg(feature = "c")]
            Self::C => Some(tree_sitter_c::LANGUAGE.into()),
            #[cfg(feature = "cpp")]
            Self::Cpp => Some(tree_sitter_cpp::LANGUAGE.into()),
            #[cfg(feature = "c-sharp")]
            Self::CSharp => Some(tree_sitter_c_sharp::LANGUAGE.into()),
            #[cfg(feature = "ruby")]
            Self::Ruby => Some(tree_sitter_ruby::LANGUAGE.into()),
            #[cfg(feature = "php")]
            Self::Php => Some(tree_sitter_php::LANGUAGE_PHP.into()),
            #[cfg(feature = "bash")]
            Self::Bash => Some(tree_sitter_bash::LANGUAGE.into()),
            #[allow(unreachable_patterns)]
            _ => None,
        }
    }

    /// The words by which an interpreter line names it.
    fn interpreters(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python"],
            Self::JavaScript => &["node"],
            Self::TypeScript => &["deno", "ts-node", "tsx", "bun"],
            Self::Ruby => &["ruby"],
            Self::Php => &["php"],
            Self::Bash => &["bash", "/sh", "env sh", "zsh", "dash", "ksh"],
            _ => &[],
        }
    }

    /// How sure a line, without its indentation, makes it that this is the language: 0 to 3.
    fn weighs(self, line: &str) -> u32 {
        let starts = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
        let has = |with: &[&str]| with.iter().any(|part| line.contains(part));
        let ends = |with: &[char]| line.ends_with(with);
        match self {
            Self::Rust => {
                3 * u32::from(
                    starts(&["pub fn ", "pub(crate) ", "impl ", "impl<", "#[", "#![", "let mut ", "pub struct ", "pub enum ", "pub mod ", "pub use ", "macro_rules!", "//! "])
                        || (starts(&["fn "]) && line.contains('('))
                        || (starts(&["use "]) && line.contains("::"))
                        || has(&[".unwrap()", "&mut ", "println!(", "&str", "-> Self", "=> {", "format!("]) && !has(&["<?", "function", "$"])
                        || (starts(&["match "]) && ends(&['{'])),
                ) + u32::from((starts(&["let ", "mod "]) && ends(&[';', '{'])) || starts(&["/// "]) || line.contains("::"))
            }
            Self::Python => {
                let block = ends(&[':']) && !ends(&[';']);
                3 * u32::from(
                    (starts(&["def ", "async def ", "class "]) && (block || line.contains('(')) && !ends(&['{', ';']))
                        || (starts(&["from "]) && line.contains(" import ") && !ends(&[';']))
                        || (block && starts(&["elif ", "except", "with ", "try:", "finally:"]))
                        || has(&["self.", "__init__", "if __name__", "\"\"\""]) && !ends(&[';', '{']),
                ) + u32::from(
                    (starts(&["import ", "return ", "raise ", "assert ", "yield "]) && !ends(&[';', '{']))
                        || (block && starts(&["if ", "for ", "while ", "else:"]))
                        || (starts(&["@"]) && !ends(&[';', '{']))
                        || has(&["None", "True", "False", " is not ", "print("]),
                )
            }
            Self::JavaScript => {
                3 * u32::from(
                    has(&["require(", "module.exports", "=> {", "===", "!==", "=> ", "typeof ", "console.log("])
                        && !has(&["<?php", "$this", ") -> "])
                        || starts(&["export default", "export function", "export const", "async function"])
                        || (starts(&["function "]) && line.contains('(') && ends(&['{']))
                        || (starts(&["import "]) && has(&[" from '", " from \"", "import '", "import \""]))
                        || (starts(&["const ", "var ", "let "]) && line.contains(" = ") && !line.contains(": ")),
                ) + u32::from(starts(&["});", "})", "} else", "return ", "this.", "if ("]))
            }
            Self::TypeScript => {
                let typed = has(&[": string", ": number", ": boolean", ": void", ": Promise<", ": any", " as const", "unknown", ": Record<", "?: ", "[];", "[] ="]);
                Self::JavaScript.weighs(line)
                    + 2 * u32::from(
                        typed && !starts(&["#", "*", "//"])
                            || starts(&["export interface ", "export type ", "import type ", "export enum ", "declare ", "readonly ", "export abstract ", "private readonly "])
                            || (starts(&["interface ", "type ", "namespace "]) && has(&["{", " = "]) && !line.contains("struct")),
                    )
            }
            Self::Tsx => {
                let tag = (line.starts_with('<') && !starts(&["<?", "<<", "<!"]) && (ends(&['>', '<']) || line.contains(' ')))
                    || has(&["/>", "className=", "return (<", "</"]) && !starts(&["//", "*", "#"]);
                Self::TypeScript.weighs(line) + 3 * u32::from(tag)
            }
            Self::Go => {
                3 * u32::from(
                    has(&[" := ", "err != nil", "interface{}", "chan ", "[]string", "[]byte", "fmt."])
                        || (starts(&["func "]) && line.contains('('))
                        || (starts(&["type "]) && has(&[" struct {", " interface {"]))
                        || (starts(&["package "]) && !ends(&[';']) && !line.contains('.'))
                        || starts(&["import (", "defer ", "go func", "case <-"]),
                ) + u32::from(starts(&["return ", "if ", "for ", "var ", "const ", "switch "]) && !ends(&[';', ':', ')']))
            }
            Self::Java => {
                3 * u32::from(
                    (starts(&["import ", "package "]) && ends(&[';']) && line.contains('.') && !has(&["'", "\""]))
                        || starts(&["@Override", "@Test", "@Autowired", "@Nullable", "@Deprecated", "@SuppressWarnings"])
                        || has(&["public static void", " throws ", "System.out.", " final ", " instanceof ", " extends ", "implements ", "boolean ", "String "]) && ends(&['{', ';', ',', ')'])
                ) + u32::from(starts(&["public ", "private ", "protected ", "return ", "if (", "} else", "* @", "this.", "final ", "new "]))
            }
            Self::CSharp => {
                3 * u32::from(
                    (starts(&["using ", "namespace "]) && (ends(&[';']) || !line.contains('(')) && !line.contains(" = ") && !has(&["::", "using namespace", "'", "\\"]) && line.split_whitespace().count() < 4)
                        || has(&["{ get;", "get;", " async Task", "=> new", "string ", "?? throw", "nameof(", "internal ", " override ", "readonly "]) && ends(&['{', ';', ')', '}'])
                        || starts(&["/// <", "[assembly:", "#region", "#endregion"]),
                ) + u32::from(starts(&["public ", "private ", "protected ", "internal ", "var ", "return ", "if (", "foreach ("]))
            }
            Self::C => {
                3 * u32::from(
                    starts(&["#include", "#define ", "#ifdef ", "#ifndef ", "#endif", "#if ", "#undef ", "typedef ", "extern "])
                        || (starts(&["static ", "struct ", "void ", "int ", "char ", "const char", "unsigned ", "size_t ", "uint", "enum ", "long "]) && ends(&['{', ';', ',', ')']) && !has(&[" class ", "::", "=>", "public", "String "]))
                        || (has(&["->", "sizeof(", "NULL", "malloc(", "printf("]) && !has(&["$", "std::", "=>", "fn "]) && ends(&[';', '{', ')', ','])),
                ) + u32::from(starts(&["if (", "for (", "while (", "return ", "} else", "case ", "switch ("]) && ends(&['{', ';', ')', ':']))
            }
            Self::Cpp => {
                let own = starts(&["template", "namespace ", "public:", "private:", "protected:", "virtual ", "using namespace", "explicit ", "class ", "constexpr ", "inline "])
                    && !has(&["function "]) && ends(&['{', ';', ':', '>', ')', ','])
                    || (has(&["std::", "nullptr", "const auto", "auto ", "static_cast<", "::", "override", "noexcept", "unique_ptr", "operator", "_GLIBCXX"]) && !has(&["use ", "fn ", "$", "let ", "impl", "pub "]))
                    || (starts(&["#include <"]) && !line.contains(".h>"));
                Self::C.weighs(line).min(2) + 3 * u32::from(own)
            }
            Self::Ruby => {
                3 * u32::from(
                    line == "end"
                        || starts(&["require '", "require \"", "require_relative ", "attr_", "module ", "elsif ", "unless ", "rescue", "puts ", "end."]) && !ends(&[';', '{', ':'])
                        || (starts(&["def ", "class "]) && !ends(&[':', '{', ';']))
                        || (has(&[" do |", ".each do", ".nil?", ".empty?", " unless "]) || line.ends_with(" do")) && !line.ends_with(';'),
                ) + u32::from((starts(&["@", ":"]) || has(&["#{", " => "])) && !ends(&[';', '{']))
            }
            Self::Php => {
                3 * u32::from(
                    starts(&["<?php", "$", "namespace ", "use "]) && (has(&["$", "\\", "<?"]))
                        || has(&["$this->", "function ($", "($", "->", "array("]) && line.contains('$') && ends(&[';', '{', ',', '(', ')'])
                        || starts(&["public function", "private function", "protected function", "public static function"]),
                ) + u32::from(starts(&["return ", "foreach (", "if (", "* @"]))
            }
            Self::Bash => {
                3 * u32::from(
                    matches!(line, "fi" | "done" | "esac" | "then" | ";;" | "do")
                        || starts(&["if [", "elif [", "while [", "for ", "case ", "set -", "export ", "local ", "[ ", "[[ "]) && !has(&[" (", "{", " in range", ":="]) && !ends(&[':', ';', ')'])
                        || (line.ends_with("; then") || line.ends_with("; do") || line.ends_with("() {"))
                        || has(&["${", "\"$", "$(", "$1"]) && !has(&["`${", "= `", ");", "->"]) && !line.ends_with(';'),
                ) + u32::from(starts(&["echo ", "printf ", "exit ", "cd ", "source ", "shift", "}"]))
            }
        }
    }

    fn index(self) -> usize {
        self as usize
    }
}

/// The language a text is written in, if one is clearly ahead.
pub(crate) fn of(lines: &Lines<'_>) -> Option<Language> {
    // Three windows, as a file's head may be all comments.
    let count = lines.len();
    let third = SAMPLED / 3;
    let starts = if count <= SAMPLED { [0, count, count] } else { [0, count / 2, count - third] };
    let sizes = if count <= SAMPLED { count } else { third };
    let sampled = starts.into_iter().flat_map(|start| start..(start + sizes).min(count)).map(|at| lines.get(at));
    guess(sampled).map(|(language, _)| language)
}

/// The language that a file of that name is written in.
#[allow(dead_code)]
pub(crate) fn of_path(path: &str) -> Option<Language> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "rs" => Language::Rust,
        "py" | "pyi" => Language::Python,
        "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        "c" => Language::C,
        "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Language::Cpp,
        "cs" => Language::CSharp,
        "rb" | "rake" | "gemspec" => Language::Ruby,
        "php" => Language::Php,
        "sh" | "bash" => Language::Bash,
        _ => return None,
    })
}

/// The language whose lines weigh most, and the share (in per cent) of lines that speak for it.
fn guess<'t>(lines: impl Iterator<Item = &'t str>) -> Option<(Language, u32)> {
    let mut weights = [0u32; Language::ALL.len()];
    let mut speaking = [0u32; Language::ALL.len()];
    let mut said = 0u32;
    for (at, line) in lines.enumerate() {
        let line = head(line.trim());
        if at == 0 && line.starts_with("#!") {
            let named = |language: &Language| language.interpreters().iter().any(|name| line.contains(name));
            if let Some(language) = Language::ALL.into_iter().find(named) {
                return Some((language, 100));
            }
        }
        if line.is_empty() || is_remark(line) {
            continue;
        }
        said += 1;
        for language in Language::ALL {
            let weight = language.weighs(line);
            if let Some(sum) = weights.get_mut(language.index()) {
                *sum += weight;
            }
            if let Some(sum) = speaking.get_mut(language.index()) {
                *sum += u32::from(weight > 0);
            }
        }
    }
    let of = |language: Language| weights.get(language.index()).copied().unwrap_or(0);
    // A dialect is only taken where it says clearly more than the plain language.
    let clearly = |dialect: u32, plain: u32| dialect * 100 >= plain * 112 + 600;
    let mut best = (Language::Rust, 0);
    for language in Language::ALL {
        let weight = match language {
            Language::TypeScript if !clearly(of(language), of(Language::JavaScript)) => 0,
            Language::Tsx if !clearly(of(language), of(Language::TypeScript)) => 0,
            language => of(language),
        };
        if weight > best.1 {
            best = (language, weight);
        }
    }
    let share = speaking.get(best.0.index()).copied().unwrap_or(0) * 100 / said.max(1);
    (best.1 >= 6 && share >= 12).then_some((best.0, share))
}

/// A line that says nothing about a language: most of them have such comments.
fn is_remark(line: &str) -> bool {
    line.starts_with("// ") || line.starts_with("* ") || line.starts_with("/*") || line.starts_with("# ") || line == "*"
}

fn head(line: &str) -> &str {
    let mut end = line.len().min(200);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

/// How sure it is that lines are source code, 0 to 100.
pub(crate) fn vote(lines: &[&str]) -> u32 {
    let numbered = listing::is_listing(lines.iter().copied());
    let bare: Vec<&str> =
        lines.iter().map(|line| if numbered { listing::numbered(line).map_or(*line, |(_, rest)| rest) } else { line }).collect();
    let (mut said, mut shaped, mut foreign, mut remarks) = (0u32, 0u32, 0u32, 0u32);
    for line in &bare {
        let line = line.trim_end();
        let inner = line.trim_start();
        if inner.is_empty() {
            continue;
        }
        said += 1;
        if is_foreign(line) {
            foreign += 1;
        } else if is_comment(inner) {
            remarks += 1;
        } else if is_shaped(line, inner) {
            shaped += 1;
        }
    }
    if said < 3 || foreign * 6 > said {
        return 0;
    }
    let coded = said - remarks;
    let Some((_, speaking)) = guess(bare.iter().copied()) else {
        return 0;
    };
    let shape = shaped * 100 / coded.max(1);
    let interpreted = bare.first().is_some_and(|line| line.starts_with("#!"));
    if coded * 12 < said && !interpreted {
        return 0;
    }
    // Half of what code consists of has a shape of its own: brackets, calls, assignments, keywords.
    let sure = (shape.min(80) * 6 + speaking.min(60) * 4) / 8;
    let sure = if interpreted { sure.max(80) } else { sure };
    if shape < 35 && !interpreted { 0 } else { sure.min(92) }
}

/// Lines of logs, diffs, searches and diagnostics, which may quote code.
fn is_foreign(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let dated = digits >= 2 && matches!(bytes.get(digits), Some(b'-' | b':' | b'/'));
    let diff = ["@@ -", "diff --git", "+++ ", "--- a/", "index "].iter().any(|start| line.starts_with(start));
    let diagnosed = ["error[", "error:", "warning:", "  --> ", "   |", "    at ", "Traceback "]
        .iter()
        .any(|start| line.starts_with(start));
    // A line of a diff: a sign, and no space that would make it an operator.
    let signed = matches!(bytes.first(), Some(b'+' | b'-')) && bytes.get(1).is_some_and(|byte| *byte != b'-' && *byte != b'+');
    dated || diff || diagnosed || signed || is_found(line)
}

/// `path:12:` at the start, as searches and compilers print places.
fn is_found(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    !path.contains(' ') && path.contains(['.', '/']) && digits > 0 && matches!(rest.as_bytes().get(digits), Some(b':'))
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "*/", "* ", "# ", "--", "\"\"\""].iter().any(|start| line.starts_with(start)) || line == "*" || line == "#"
}

/// Whether a line has the shape of code in any language.
fn is_shaped(line: &str, inner: &str) -> bool {
    let ends = inner.ends_with(['{', '}', ';', '(', '[', ')', ']'])
        || inner.ends_with("},")
        || inner.ends_with("),")
        || inner.ends_with("):");
    let indented = line.len() > inner.len();
    let keyword = [
        "if ", "for ", "while ", "return", "import ", "from ", "def ", "class ", "fn ", "func ", "let ", "const ", "var ",
        "else", "elif ", "end", "fi", "done", "case ", "use ", "pub ", "#include", "#define", "#if", "#endif", "@", "try:",
        "except", "then", "echo ", "local ", "export ", "elsif", "when ", "require", "raise ", "with ", "assert",
    ]
    .iter()
    .any(|start| inner.starts_with(start));
    let assigns = [" = ", " := ", " == ", " => ", " -> ", "::", "!=", " += ", "()", "[]"].iter().any(|sign| inner.contains(sign));
    let sentence = inner.ends_with('.') && inner.starts_with(char::is_uppercase);
    let member = indented && (inner.ends_with(',') || inner.ends_with(':')) && inner.split(' ').count() <= 5;
    let called = inner.find('(').is_some_and(|at| at > 0 && !inner.get(..at).is_some_and(|before| before.ends_with(' ')));
    !sentence && (ends && (indented || inner.len() < 4 || called || assigns || keyword || inner.ends_with(['{', ';', '}'])) || (keyword && (called || indented || assigns || inner.len() < 40)) || assigns || member)
}
