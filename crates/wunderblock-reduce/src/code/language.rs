//! The language of a source, by its lines alone.

use super::signs;
use crate::lines::TextLines;

/// A language whose sources can be outlined by their syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLanguage {
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
const SAMPLED: usize = 240;

impl SourceLanguage {
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
    pub(crate) fn grammar(self, text: &str) -> Option<tree_sitter::Language> {
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
            // A part of a file has no opening tag, and would be text to a page's grammar.
            #[cfg(feature = "php")]
            Self::Php if !text.contains("<?") => Some(tree_sitter_php::LANGUAGE_PHP_ONLY.into()),
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

    fn index(self) -> usize {
        self as usize
    }
}

/// The language a text is written in, if one is clearly ahead.
pub(crate) fn of(lines: &TextLines<'_>) -> Option<SourceLanguage> {
    // Three windows, as a file's head may be all comments.
    let count = lines.len();
    let third = SAMPLED / 3;
    let starts = if count <= SAMPLED { [0, count, count] } else { [0, count / 2, count - third] };
    let sizes = if count <= SAMPLED { count } else { third };
    let sampled =
        starts.into_iter().flat_map(|start| start..(start + sizes).min(count)).map(|at| lines.get(at));
    guess(sampled).map(|(language, _)| language)
}

/// The language whose lines weigh most, and the share (in per cent) of lines that speak for it.
pub(super) fn guess<'t>(lines: impl Iterator<Item = &'t str>) -> Option<(SourceLanguage, u32)> {
    let mut weights = [0u32; SourceLanguage::ALL.len()];
    let mut speaking = [0u32; SourceLanguage::ALL.len()];
    let mut strong = [0u32; SourceLanguage::ALL.len()];
    let mut said = 0u32;
    let mut block = BlockComment::default();
    for (at, line) in lines.enumerate() {
        let line = head(line.trim());
        if at == 0 && line.starts_with("#!") {
            let named =
                |language: &SourceLanguage| language.interpreters().iter().any(|name| line.contains(name));
            if let Some(language) = SourceLanguage::ALL.into_iter().find(named) {
                return Some((language, 100));
            }
        }
        // Data says nothing about a language either.
        if block.takes(line)
            || is_remark(line)
            || !line.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'$')
        {
            continue;
        }
        said += 1;
        for language in SourceLanguage::ALL {
            let weight = signs::weigh(language, line);
            if let Some(sum) = weights.get_mut(language.index()) {
                *sum += weight;
            }
            if let Some(sum) = strong.get_mut(language.index()) {
                *sum += u32::from(weight >= 3);
            }
            if let Some(sum) = speaking.get_mut(language.index()) {
                *sum += u32::from(weight > 0);
            }
        }
    }
    let of = |language: SourceLanguage| weights.get(language.index()).copied().unwrap_or(0);
    // A dialect is only taken where it says clearly more than the plain language.
    let clearly = |dialect: u32, plain: u32| dialect * 100 >= plain * 112 + 600;
    let mut best = (SourceLanguage::Rust, 0);
    for language in SourceLanguage::ALL {
        let weight = match language {
            SourceLanguage::TypeScript if !clearly(of(language), of(SourceLanguage::JavaScript)) => 0,
            SourceLanguage::Tsx if !clearly(of(language), of(SourceLanguage::TypeScript)) => 0,
            language => of(language),
        };
        if weight > best.1 {
            best = (language, weight);
        }
    }
    let share = speaking.get(best.0.index()).copied().unwrap_or(0) * 100 / said.max(1);
    let strong = strong.get(best.0.index()).copied().unwrap_or(0);
    (strong >= 2 && share >= 12).then_some((best.0, share))
}

/// A line that says nothing about a language: most of them have such comments.
fn is_remark(line: &str) -> bool {
    line.starts_with("// ")
        || line.starts_with("* ")
        || line.starts_with("/*")
        || line.starts_with("# ")
        || line == "*"
}

fn head(line: &str) -> &str {
    let mut end = line.len().min(200);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

/// A comment or a documenting string that goes over several lines.
#[derive(Default)]
pub(super) struct BlockComment {
    end: Option<&'static str>,
    lines: u32,
}

impl BlockComment {
    /// A block that is longer than this was no block, but began in the middle of one.
    const LINES_MAX: u32 = 150;

    /// Whether a line, without its indentation, is within such a block.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if let Some(end) = self.end {
            self.lines += 1;
            if line.contains(end) || self.lines > Self::LINES_MAX {
                self.end = None;
            }
            return true;
        }
        for (start, end) in [("/*", "*/"), ("\"\"\"", "\"\"\""), ("r\"\"\"", "\"\"\""), ("=begin", "=end")] {
            if let Some(rest) = line.strip_prefix(start) {
                (self.end, self.lines) = ((!rest.contains(end)).then_some(end), 0);
                return true;
            }
        }
        false
    }
}
