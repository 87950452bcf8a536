//! `reduce`: shortens texts by their structure, and stores their bytes in the ledger.

use crate::args::{Global, HowArgs, LevelArg, ReduceArgs};
use crate::drawing::terminal::{clean, write_bytes};
use crate::output::console::{print, print_json, print_report, say};
use crate::output::exit::refused;
use crate::output::exit::{Exit, Failure, failed, wrong};
use serde_json::json;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::report::OutputReport;
use wunderblock::tokens::Counted;
use wunderblock::{Engine, Error, Keep, Output, OutputOptions, ShortenedOutput};
use wunderblock_core::id::StreamId;
use wunderblock_core::stub::grouped;
use wunderblock_reduce::{Kind, Level};
use wunderblock_settings::{Settings, outputs_session};

/// Maximum length of a text, in bytes; it is limited because the text and its lines are held in memory.
pub(in crate::commands) const MAX_BYTES: u64 = 1 << 30;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &ReduceArgs) -> Exit {
    let how = How::of(&wanted.how)?;
    let mut request =
        ReduceRequest { global, settings, how, command: wanted.command.as_deref(), engine: None };
    if let [file] = wanted.files.as_slice() {
        let code = request.shorten(file, &text(file)?).await?;
        return Ok(ExitCode::from(code));
    }
    let (mut worst, mut gap) = (0, "");
    for file in &wanted.files {
        // An unreadable file does not stop the processing of the other files.
        let bytes = match text(file) {
            Ok(bytes) => bytes,
            Err(failure) => {
                worst = worst.max(failure.code());
                failed(&failure, global.json);
                continue;
            }
        };
        if !global.json {
            print(&format!("{gap}==> {} <==\n", clean(&file.to_string_lossy())))?;
            gap = "\n";
        }
        worst = worst.max(request.shorten(file, &bytes).await?);
    }
    Ok(ExitCode::from(worst))
}

/// Describes, in one line of the form `12,431 → 812 tokens · wb:3f9c1a7b`, how an output was shortened. `shown` is
/// the number of tokens that have already been shown.
pub(in crate::commands) fn outcome(kept: &ShortenedOutput, about: &str, shown: u64) -> String {
    let reduced = &kept.reduced;
    let (before, after) = (grouped(shown + reduced.tokens_before), grouped(shown + reduced.tokens_after));
    let handle = kept.handle.map(|handle| format!(" · {}", handle.short())).unwrap_or_default();
    match reduced.untouched {
        None => format!("{about}{before} → {after} tokens{handle}"),
        Some(why) => format!("{about}{before} tokens, unchanged: {}{handle}", why.name()),
    }
}

/// State shared by all files of one call, so that the ledger is opened only once.
struct ReduceRequest<'a> {
    global: &'a Global,
    settings: &'a Settings,
    how: How<'a>,
    command: Option<&'a str>,
    engine: Option<Engine>,
}

impl ReduceRequest<'_> {
    /// Shortens and prints a text. Returns the exit code.
    async fn shorten(&mut self, file: &Path, bytes: &[u8]) -> Result<u8, Failure> {
        let input = json!({ "file": file.to_string_lossy() }).to_string();
        let output = Output { bytes, tool: "reduce", input: &input, failed: false, call: None };
        match self.kept(&output).await {
            Ok(kept) => {
                if self.global.json {
                    print_report(&OutputReport::new(&kept))?;
                } else {
                    write_bytes(kept.reduced.text.as_bytes())?;
                }
                say(self.global, &outcome(&kept, "", 0));
            }
            // The text is printed in full, because text from a pipe exists nowhere else.
            Err(failure) => {
                if self.global.json {
                    print_json(&json!({ "text": String::from_utf8_lossy(bytes), "handle": null }))?;
                } else {
                    write_bytes(bytes)?;
                }
                say(self.global, "wunderblock: the text is not kept, and shown in full");
                failed(&failure, false);
                return Ok(failure.code());
            }
        }
        Ok(0)
    }

    async fn kept(&mut self, output: &Output<'_>) -> Result<ShortenedOutput, Failure> {
        let wish = self.how.wanted(self.command, &exact);
        if self.engine.is_none() {
            self.engine = Some(self.settings.write().await?);
        }
        let engine = self.engine.as_ref().ok_or_else(|| wrong("the ledger is not open"))?;
        let cwd = self.settings.config().cwd;
        let session = outputs_session(engine, self.how.session, cwd.as_deref()).await?;
        Ok(output.shorten(&session, Keep::IfReduced, &wish).await?)
    }
}

/// Returns the exact number of tokens in the o200k vocabulary.
pub(in crate::commands) fn exact(text: &str) -> u64 {
    u64::from(Counted::of(text).o200k)
}

/// The parsed options of a reduction.
pub(in crate::commands) struct How<'a> {
    pub(in crate::commands) session: &'a str,
    level: Level,
    kind: Option<Kind>,
    query: Option<&'a str>,
}

impl<'a> How<'a> {
    pub(in crate::commands) fn of(typed: &'a HowArgs) -> Result<Self, Failure> {
        let level = match (typed.level, typed.budget) {
            (LevelArg::Lossless, None) => Level::Lossless,
            (LevelArg::Fold, None) => Level::Fold,
            (LevelArg::Budget, Some(tokens)) => Level::Budget(tokens),
            (LevelArg::Budget, None) => {
                return Err(wrong("--level budget requires --budget TOKENS, the maximum size of the text"));
            }
            (_, Some(_)) => {
                return Err(wrong("--budget requires --level budget; add it, or leave --budget out"));
            }
        };
        StreamId::new(typed.session.clone()).map_err(Error::from)?;
        let session = typed.session.as_str();
        Ok(Self { session, level, kind: Kind::named(&typed.kind), query: typed.query.as_deref() })
    }

    /// Returns whether the text has a maximum size.
    pub(in crate::commands) const fn is_budget(&self) -> bool {
        matches!(self.level, Level::Budget(_))
    }

    pub(in crate::commands) fn wanted<'w>(
        &self,
        command: Option<&'w str>,
        count: &'w (dyn Fn(&str) -> u64 + Sync),
    ) -> OutputOptions<'w>
    where
        'a: 'w,
    {
        OutputOptions { level: self.level, kind: self.kind, command, query: self.query, shown: 0, count }
    }
}

fn text(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    if let Err(error) = read {
        let next = if error.kind() == std::io::ErrorKind::NotFound { "; check the path" } else { "" };
        return Err(refused(file, &format!("cannot be read: {error}{next}")));
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refused(file, "has more than 1 GiB; split it, or name the part you need"));
    }
    Ok(bytes)
}
