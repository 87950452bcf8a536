//! The pipelines of a command line, and their stages.

use wunderblock_text::shell::{Flow, Redirect, ShellToken, tokens};

/// One program of a pipeline, and its words.
#[derive(Debug, Default)]
pub(crate) struct ShellStage {
    pub(crate) words: Vec<String>,
    /// Whether the stage reads the output of another stage.
    pub(crate) piped: bool,
    /// Whether the output of the stage goes to a file.
    pub(crate) to_file: bool,
}

impl ShellStage {
    /// Returns the name of the program without its directory.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(word)
    }

    /// Returns whether the stage has one of these options, alone or with `=` and a value.
    pub(crate) fn has(&self, options: &[&str]) -> bool {
        self.words.iter().skip(1).any(|word| {
            let name = word.split('=').next().unwrap_or(word);
            options.contains(&name)
        })
    }

    /// Returns whether the stage has one of these one-letter options, alone or in a cluster, for example: `-rno`.
    pub(crate) fn has_letter(&self, letters: &[char]) -> bool {
        self.words.iter().skip(1).any(|word| {
            let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
            cluster.is_some_and(|cluster| {
                cluster.chars().take_while(char::is_ascii_alphabetic).any(|letter| letters.contains(&letter))
            })
        })
    }
}

/// Returns the pipelines of a command line, in order. The output of a command within a word is unknown, so `$` stands
/// for it.
pub(crate) fn pipelines(command: &str) -> Vec<Vec<ShellStage>> {
    let (mut pipelines, mut stages, mut stage) = (Vec::new(), Vec::new(), ShellStage::default());
    for token in tokens(command).chain([ShellToken::End]) {
        match token {
            ShellToken::Word(word) => stage.words.push(word.outline()),
            ShellToken::Redirect(redirect) => stage.to_file |= is_file(&redirect),
            ShellToken::Pipe => {
                end_stage(&mut stage, &mut stages);
                stage.piped = true;
            }
            _ => {
                end_stage(&mut stage, &mut stages);
                pipelines.extend(Some(std::mem::take(&mut stages)).filter(|stages| !stages.is_empty()));
            }
        }
    }
    pipelines
}

fn end_stage(stage: &mut ShellStage, stages: &mut Vec<ShellStage>) {
    stages.extend(Some(std::mem::take(stage)).filter(|stage| !stage.words.is_empty()));
}

/// Returns whether a redirection takes the printed output away. Descriptor 1 is the printed output, and output to
/// these two devices is still printed.
fn is_file(redirect: &Redirect) -> bool {
    matches!(redirect.flow, Flow::Out | Flow::Append)
        && redirect.descriptor.as_deref().is_none_or(|descriptor| descriptor == "1")
        && !matches!(redirect.target.text(), "/dev/stdout" | "/dev/stderr")
}
