//! What a command says about its output.
//!
//! A command line is taken apart as a shell would do it (quotes, pipes, lists, redirections), but nothing in it is
//! expanded: what cannot be known counts as an unknown program.

mod shell;

use shell::{ShellStage, pipelines};

/// Maximum number of shells a command is wrapped in: `bash -c "sh -c '…'"`.
const MAX_WRAPPERS: usize = 4;

/// Whether the output was selected by someone already: by lines, fields, a count, a path into a document.
///
/// A list of commands is a selection if each of them that prints is one.
#[must_use]
pub fn is_selection(command: &str) -> bool {
    every_printing_pipeline(command, &|stages| stages.iter().rev().find_map(stage_selects).unwrap_or(false))
}

/// Whether the output is the text of a file, whole or in part, as it stands there: what one looks at to edit it.
#[must_use]
pub fn reads_file(command: &str) -> bool {
    let tool = command.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).next();
    if tool.is_some_and(|tool| READ_TOOLS.iter().any(|known| known.eq_ignore_ascii_case(tool))) {
        return true;
    }
    every_printing_pipeline(command, &|stages| {
        let Some((first, rest)) = stages.split_first() else { return false };
        shows_file(first)
            && rest.iter().all(|stage| {
                matches!(stage.program(), "cat" | "head" | "tail" | "nl" | "less" | "more")
                    || (stage.program() == "sed" && is_line_selection(stage))
            })
    })
}

/// Names under which agents have a tool that reads a file.
const READ_TOOLS: [&str; 10] = [
    "Read",
    "ReadFile",
    "read_file",
    "read-file",
    "view",
    "view_file",
    "open_file",
    "fs_read",
    "read_many_files",
    "get_file_contents",
];

/// Whether every pipeline of a command that prints anything is such, and there is one.
fn every_printing_pipeline(command: &str, such: &dyn Fn(&[ShellStage]) -> bool) -> bool {
    let mut pending = vec![(command.to_owned(), 0)];
    let mut found = false;
    while let Some((command, depth)) = pending.pop() {
        for mut stages in pipelines(&command) {
            stages.iter_mut().for_each(strip_wrappers);
            stages.retain(|stage| !stage.program().is_empty());
            let Some(last) = stages.last() else { continue };
            if let Some(script) = inner_script(last) {
                if depth == MAX_WRAPPERS {
                    return false;
                }
                pending.push((script.to_owned(), depth + 1));
                continue;
            }
            if last.to_file || is_silent(last.program()) {
                continue;
            }
            if !such(&stages) {
                return false;
            }
            found = true;
        }
    }
    found
}

/// Takes away what runs another program without a word in what it prints: `sudo`, `env X=1`, `timeout 5`, `do`.
fn strip_wrappers(stage: &mut ShellStage) {
    loop {
        let words = &stage.words;
        let program = stage.program().to_owned();
        let gone = match program.as_str() {
            "" => return,
            "do" | "then" | "else" | "elif" | "if" | "while" | "until" | "!" | "{" | "(" | "nohup"
            | "command" | "builtin" | "exec" | "time" => 1,
            "sudo" | "doas" => 1 + count_options(words, &["-u", "-g", "-C", "-h", "-p"]),
            "env" => 1 + count_options(words, &["-u", "-C", "-S"]),
            "nice" | "ionice" | "stdbuf" | "chrt" | "taskset" => {
                1 + count_options(words, &["-n", "-c", "-p", "-i", "-o", "-e"])
            }
            "xargs" => 1 + count_options(words, &["-n", "-P", "-I", "-L", "-d", "-s", "-a"]),
            "timeout" => 2 + count_options(words, &["-k", "-s"]),
            "wunderblock" if words.get(1).is_some_and(|word| word == "run") => {
                words.iter().position(|word| word == "--").map_or(words.len(), |at| at + 1)
            }
            word if is_assignment(word) => 1,
            _ => return,
        };
        stage.words.drain(..gone.min(stage.words.len()));
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or("");
    word.len() > name.len()
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The number of words after the first that are options, with the values of those that take one.
fn count_options(words: &[String], with_value: &[&str]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if with_value.contains(&word.as_str()) { 2 } else { 1 };
        if word == "--" {
            break;
        }
    }
    at - 1
}

/// The script that a shell is given: `bash -lc '…'`.
fn inner_script(stage: &ShellStage) -> Option<&str> {
    if !matches!(stage.program(), "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish") {
        return None;
    }
    let at = stage
        .words
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    stage.words.get(at + 1).map(String::as_str)
}

/// Programs that print nothing worth counting, and the words of loops.
fn is_silent(program: &str) -> bool {
    const SILENT: [&str; 36] = [
        "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "true", "false", ":", "test", "[",
        "[[", "mkdir", "touch", "rm", "cp", "mv", "ln", "chmod", "chown", "sleep", "wait", "echo", "printf",
        "for", "done", "fi", "esac", "case", "}", ")", "select", "local", "readonly",
    ];
    SILENT.contains(&program)
}

/// Whether a stage selects; None where it hands on what it reads, so that the stage before it decides.
fn stage_selects(stage: &ShellStage) -> Option<bool> {
    let found = match stage.program() {
        "head" | "cut" | "wc" | "uniq" | "awk" | "gawk" | "mawk" | "nawk" | "comm" | "shuf" | "csvcut"
        | "mlr" | "paste" => true,
        "tail" => !stage.has(&["-f", "-F", "--follow"]),
        "sed" if is_line_selection(stage) => true,
        "sed" | "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "sort" => {
            let counts = stage.program() != "sed" && stage.program() != "sort" && prints_counts(stage);
            return if counts {
                Some(true)
            } else if stage.piped {
                None
            } else {
                Some(false)
            };
        }
        "git" if stage.words.get(1).is_some_and(|word| word == "grep") => prints_counts(stage),
        "jq" | "yq" | "gojq" | "jaq" | "dasel" | "xq" => is_subdocument(stage),
        "xmllint" => stage.has(&["--xpath"]),
        "perl" | "ruby" => stage.has(&["-n", "-ne", "-nle", "-lne", "-ane", "-lane"]),
        "bat" | "batcat" => stage.has(&["-r", "--line-range"]),
        "xxd" => stage.has(&["-l", "-s"]),
        "hexdump" | "od" => stage.has(&["-n", "-N"]),
        "gh" => stage.has(&["-q", "--jq"]),
        "aws" | "az" => stage.has(&["--query"]),
        "kubectl" | "oc" => stage
            .words
            .iter()
            .any(|word| ["jsonpath", "custom-columns", "go-template"].iter().any(|way| word.contains(way))),
        "cat" | "tee" | "nl" | "tac" | "rev" | "column" | "fold" | "fmt" | "expand" | "tr" | "less"
        | "more" | "strings" => {
            return if stage.piped { None } else { Some(false) };
        }
        _ => false,
    };
    Some(found)
}

/// `grep` and its kin with an answer that is not a line of a file: counts, the matching part, names.
fn prints_counts(stage: &ShellStage) -> bool {
    const LONG: [&str; 8] = [
        "--count",
        "--count-matches",
        "--only-matching",
        "--files-with-matches",
        "--files-without-match",
        "--max-count",
        "--quiet",
        "--replace",
    ];
    stage.has(&LONG) || stage.has_letter(&['c', 'o', 'l', 'L', 'm', 'q'])
}

/// `sed -n`, or a script that ends early or takes lines away.
fn is_line_selection(stage: &ShellStage) -> bool {
    stage.has(&["--quiet", "--silent"])
        || stage.has_letter(&['n'])
        || stage.words.iter().skip(1).any(|word| {
            let script = word.trim_end_matches(['\'', '"', '}', ' ']);
            script.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '/'))
                && script.ends_with(['q', 'd', 'Q'])
                && !script.contains("s/")
        })
}

/// A program for a document that takes a part of it: all but `.`.
fn is_subdocument(stage: &ShellStage) -> bool {
    let program = stage
        .words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-') && !matches!(word.as_str(), "json" | "yaml" | "eval" | "e"));
    program.is_some_and(|program| !matches!(program.trim(), "." | "" | ". | ."))
}

/// Whether a stage prints a file as it is.
fn shows_file(stage: &ShellStage) -> bool {
    let files = stage.words.iter().skip(1).filter(|word| !word.starts_with('-')).count();
    match stage.program() {
        "cat" | "less" | "more" | "bat" | "batcat" | "nl" | "view" | "Get-Content" | "type" => files > 0,
        "sed" => files > 1 && is_line_selection(stage),
        "head" | "tail" => files > 0 && !stage.has(&["-f", "-F", "--follow"]),
        "awk" => {
            files > 1
                && stage
                    .words
                    .get(1)
                    .is_some_and(|script| script.starts_with("NR") && !script.contains("print $"))
        }
        "git" => {
            let show = stage.words.get(1).is_some_and(|word| word == "show" || word == "cat-file");
            show && stage
                .words
                .iter()
                .skip(2)
                .any(|word| !word.starts_with('-') && word.contains(':') && !word.ends_with(':'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_stage_that_chooses_decides() {
        let selected = [
            "sed -n '10,40p' src/a.rs",
            "cat Cargo.lock | head -40",
            "cargo test 2>&1 | tail -n 50",
            "grep -c fn src/a.rs",
            "grep -rno 'unsafe.*' src",
            "rg --count foo",
            "rg foo | wc -l",
            "jq '.items[].name' pods.json",
            "curl -s https://example.org/x | jq -r .name",
            "yq eval '.a.b' f.yaml",
            "awk '{print $2}' f",
            "cut -d, -f1 data.csv",
            "sort names | uniq -c | sort -rn",
            "git show HEAD~2:src/a.rs | sed -n 1,20p",
            "xxd a.bin | head",
            "nl -ba a.rs | sed -n '5,9p'",
            "env RUST_LOG=debug X=1 timeout 5 sudo -u root head -5 /etc/passwd",
            "bash -lc 'cd /x && sed -n \"1,5p\" a'",
            "bash -lc \"zsh -c 'head a'\"",
            "cd /x && head a; tail b",
            "for f in a b; do sed -n 1,5p $f; done",
            "sed '1,5d' f",
            "sed 10q f",
            "echo --- ; head -3 f",
            "kubectl get pods -o jsonpath='{.items}'",
            "ls | grep x | head -3 | cat",
            "wunderblock run -- head -3 f",
            "FOO=1 head a",
            "find . -name '*.rs' | xargs wc -l",
            "head -c 20 <<< \"$(cat x | grep y)\"",
        ];
        for command in selected {
            assert!(is_selection(command), "{command}");
        }
        let whole = [
            "",
            "cargo build",
            "cat a | sort",
            "grep -rn fn src",
            "cat f",
            "jq . a.json",
            "yq . a",
            "sed s/a/b/ f",
            "head a && cargo build",
            "cargo test | tee out",
            "tail -f log",
            "head a > b",
            "ls | grep x",
            "echo 'a | head'",
            "kubectl get pods -o wide",
            "printf 'x' | cat",
            "head",
            "bash script.sh",
            "'",
            "a |",
            "| |",
            "head a | cargo x",
        ];
        for command in whole {
            assert!(!is_selection(command) || command == "head", "{command}");
        }
    }

    #[test]
    fn a_file_that_is_read_is_recognised() {
        for command in [
            "cat src/a.rs",
            "sed -n 1,50p src/a.rs",
            "bat -p a.rs",
            "less a",
            "git show HEAD:src/a.rs",
            "Read src/a.rs",
            "read_file {\"path\":\"a\"}",
            "head -100 a.rs",
            "cat -n a | head -20",
            "cd x && cat a b",
            "nl -ba a | sed -n '2,3p'",
        ] {
            assert!(reads_file(command), "{command}");
        }
        for command in [
            "cat a | grep x",
            "grep x a",
            "git show HEAD",
            "cargo build",
            "cat",
            "tail -f a",
            "cat > a <<E\nx\nE",
            "ls",
        ] {
            assert!(!reads_file(command), "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_string_has_an_answer(command in "[ -~\\n]{0,80}") {
            let _ = (is_selection(&command), reads_file(&command));
        }

        #[test]
        fn a_pipe_into_head_is_a_selection(command in "[a-z]{1,8}( -[a-z])?( [a-z.]{1,5})?") {
            let piped = format!("{command} | head -5");
            prop_assert!(is_selection(&piped));
        }
    }
}
