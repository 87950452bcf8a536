//! A ledger whose programs are killed, and a record of what it must contain.

use super::command::{KillTime, KilledCommand};
use crate::program::{ChoreResult, Sandbox};
use crate::prove::random::{Random, marker};
use crate::prove::record::{TranscriptFile, file, records, text};
use crate::prove::scan;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LIVE: &str = "live";
/// Number of messages in a new transcript: enough that a kill can hit its import.
const MESSAGES: usize = 400;

static ACKNOWLEDGED: AtomicU64 = AtomicU64::new(0);

/// Number of events acknowledged so far, in all tests.
pub(super) fn acknowledged() -> u64 {
    ACKNOWLEDGED.load(Ordering::Relaxed)
}

/// Content that was acknowledged.
#[derive(Clone, Default)]
struct Acknowledged {
    /// Live events by position: id and text.
    live: BTreeMap<u64, (String, String)>,
    /// Original bytes of the files whose import has finished, by session.
    files: BTreeMap<String, Vec<u8>>,
}

pub(super) struct CrashTest {
    /// Folder of the test, deleted when this value is dropped.
    _home: tempfile::TempDir,
    program: Sandbox,
    held: Acknowledged,
    transcripts: Vec<TranscriptFile>,
    backup: Option<(String, Acknowledged)>,
    backups: u32,
    next: u64,
    gone: Vec<String>,
}

impl CrashTest {
    pub(super) fn new(binary: &Path, folder: &Path) -> ChoreResult<Self> {
        let home = tempfile::tempdir_in(folder)?;
        let program = Sandbox::new(binary, home.path())?;
        Ok(Self {
            _home: home,
            program,
            held: Acknowledged::default(),
            transcripts: Vec::new(),
            backup: None,
            backups: 0,
            next: 1,
            gone: Vec::new(),
        })
    }

    /// Measures how long it takes on this machine to create a ledger and import a file.
    pub(super) fn usual(&self, random: &mut Random) -> ChoreResult<Duration> {
        self.program.write("usual.jsonl", file(&records(random, "usual", None, MESSAGES)))?;
        let begun = Instant::now();
        self.program.bytes(&["import", "usual.jsonl", "-q"])?;
        Ok(begun.elapsed())
    }

    /// Creates a ledger on which a command can run.
    pub(super) fn prepared(
        act: KilledCommand,
        binary: &Path,
        folder: &Path,
        random: &mut Random,
    ) -> ChoreResult<Self> {
        let mut test = Self::new(binary, folder)?;
        let whole = KillTime::Never;
        if act > KilledCommand::CreateByContext {
            test.append(whole, random)?;
            test.import(&["import"], whole, random)?;
            test.back_up(whole)?;
        }
        Ok(test)
    }

    /// Imports a file if the command is going to erase one.
    pub(super) fn refill(&mut self, act: KilledCommand, random: &mut Random) -> ChoreResult<()> {
        if act == KilledCommand::EraseAll {
            self.import(&["import"], KillTime::Never, random)?;
        }
        Ok(())
    }

    /// Runs a command, kills it, and checks the ledger. Returns whether the command was cut short.
    pub(super) fn killed(
        &mut self,
        act: KilledCommand,
        when: KillTime,
        random: &mut Random,
    ) -> ChoreResult<bool> {
        let cut = match act {
            KilledCommand::CreateByAppend | KilledCommand::Append => self.append(when, random)?,
            KilledCommand::CreateByImport | KilledCommand::Import => {
                self.import(&["import"], when, random)?
            }
            KilledCommand::ImportUnindexed => self.import(&["import", "--no-index"], when, random)?,
            KilledCommand::CreateByContext | KilledCommand::ContextOfPath => {
                let args = ["context", "--window", "8000", "--out", "/dev/null"];
                self.import(&args, when, random)?
            }
            KilledCommand::Context => {
                self.plain(&["context", LIVE, "--window", "4000", "--out", "/dev/null"], when)?
            }
            KilledCommand::Compact => self.plain(&["compact", LIVE, "--window", "4000"], when)?,
            KilledCommand::Repair => self.plain(&["doctor", "--repair"], when)?,
            KilledCommand::Erase => self.erase(when, random)?,
            KilledCommand::EraseAll => self.erase_all(when)?,
            KilledCommand::Backup => self.back_up(when)?,
            KilledCommand::Restore => return self.restore(when, random),
        };
        self.works(random)?;
        self.lost(&self.held)?.map_or(Ok(cut), |lost| Err(lost.into()))
    }

    /// Checks that `doctor` finds no problems. An unfinished import is not a problem.
    pub(super) fn examined(&self) -> ChoreResult<()> {
        let done = self.program.run(&["doctor", "--json"])?;
        let report: Value = serde_json::from_slice(&done.stdout)
            .map_err(|error| format!("doctor: {error}: {}", String::from_utf8_lossy(&done.stderr)))?;
        match report.get("problems").and_then(Value::as_array).map(Vec::as_slice) {
            Some([]) => Ok(()),
            Some([problem, ..]) => Err(format!("doctor: {problem}").into()),
            None => Err(format!("doctor: no list of problems: {report}").into()),
        }
    }

    /// Checks that a reading and a writing command work after a kill. The ledger may be missing if nothing has been
    /// acknowledged yet.
    fn works(&mut self, random: &mut Random) -> ChoreResult<()> {
        let read = self.program.run(&["sessions"])?;
        let said = String::from_utf8_lossy(&read.stderr);
        let may_miss = self.held.live.is_empty() && self.held.files.is_empty();
        let is_well = read.status.success() || may_miss && said.contains("there is no database");
        if !is_well {
            return Err(format!("next: `sessions`: {}", said.trim()).into());
        }
        let (lines, said) = self.lines(1, random);
        let answers = self.program.append("local", LIVE, &lines).map_err(|error| format!("next: {error}"))?;
        self.note(&answers, &said);
        Ok(())
    }

    fn lines(&mut self, count: u64, random: &mut Random) -> (String, BTreeMap<String, String>) {
        let mut said = BTreeMap::new();
        let mut lines = String::new();
        for _ in 0..count {
            let (id, marker) = (format!("m{}", self.next), marker(random));
            self.next += 1;
            let text = text(random, &marker);
            lines.push_str(&format!("{}\n", json!({ "id": id, "role": "user", "content": text })));
            said.insert(id, text);
        }
        (lines, said)
    }

    fn note(&mut self, answers: &[Value], said: &BTreeMap<String, String>) {
        for answer in answers {
            let is_there =
                matches!(answer.get("status").and_then(Value::as_str), Some("appended" | "duplicate"));
            let (seq, id) =
                (answer.get("seq").and_then(Value::as_u64), answer.get("id").and_then(Value::as_str));
            if let (true, Some(seq), Some(id)) = (is_there, seq, id)
                && let Some(text) = said.get(id)
            {
                self.held.live.insert(seq, (id.to_owned(), text.clone()));
                ACKNOWLEDGED.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn append(&mut self, when: KillTime, random: &mut Random) -> ChoreResult<bool> {
        let (lines, said) = self.lines(300, random);
        let mut command = armed(self.program.command(&["append", LIVE]), when);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (mut stdin, stdout) =
            (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        let feeder = std::thread::spawn(move || {
            let _ = lines.split_inclusive('\n').try_for_each(|line| stdin.write_all(line.as_bytes()));
            // Keeps the pipe open, so that the program waits for more input until it is killed.
            if matches!(when, KillTime::After(_)) { Some(stdin) } else { None }
        });
        // A line that the kill cut off is not valid JSON and is skipped.
        let reader = std::thread::spawn(move || -> Vec<Value> {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
        });
        let cut = kill(child, when)?;
        let answers = reader.join().map_err(|_| "the reader of answers failed")?;
        drop(feeder.join());
        self.note(&answers, &said);
        Ok(cut)
    }

    /// Imports a new or grown file with the given command. An import that was cut short must succeed when repeated.
    fn import(&mut self, args: &[&str], when: KillTime, random: &mut Random) -> ChoreResult<bool> {
        if self.transcripts.is_empty() || random.below(3) == 0 {
            self.transcripts.push(TranscriptFile::new(random));
        }
        let place = random.below(self.transcripts.len());
        let Some(transcript) = self.transcripts.get_mut(place) else { return Ok(false) };
        let count = if transcript.records.is_empty() { MESSAGES } else { 1 + random.below(50) };
        transcript.grow(random, count);
        let (name, session) = (file_name(place), transcript.session.clone());
        let bytes = file(&transcript.records);
        self.program.write(&name, &bytes)?;
        let all = [args, &[&name, "-q"]].concat();
        let cut = self.plain(&all, when)?;
        if cut && random.below(3) > 0 {
            // In two of three cases, the import is not repeated: a later import of the file completes it, or none
            // does.
            self.held.files.remove(&session);
            return Ok(cut);
        }
        if cut {
            self.program.bytes(&["import", &name, "-q"]).map_err(|error| format!("again: {error}"))?;
        }
        self.held.files.insert(session, bytes);
        Ok(cut)
    }

    fn erase(&mut self, when: KillTime, random: &mut Random) -> ChoreResult<bool> {
        let all: Vec<u64> = self.held.live.keys().copied().collect();
        let Some(seq) = all.get(random.below(all.len())) else { return Ok(false) };
        let text = self.held.live.remove(seq).map(|(_, text)| text).unwrap_or_default();
        let at = seq.to_string();
        let args = ["erase", LIVE, "--at", &at, "--yes"];
        let cut = self.plain(&args, when)?;
        self.gone.extend(text.split(' ').nth(2).map(ToOwned::to_owned));
        self.erased(&args)?;
        Ok(cut)
    }

    fn erase_all(&mut self, when: KillTime) -> ChoreResult<bool> {
        let finished = |place: &usize| {
            self.transcripts.get(*place).is_some_and(|one| self.held.files.contains_key(&one.session))
        };
        let Some(place) = (0..self.transcripts.len()).find(finished) else { return Ok(false) };
        let Some(next) = self.transcripts.get_mut(place) else { return Ok(false) };
        // The erased session's name is not reused.
        let session = format!("{}-next", next.session);
        let transcript = std::mem::replace(next, TranscriptFile { session, records: Vec::new() });
        self.held.files.remove(&transcript.session);
        std::fs::remove_file(self.program.path(&file_name(place)))?;
        let args = ["erase", &transcript.session, "--yes"];
        let cut = self.plain(&args, when)?;
        self.gone.extend(transcript.records.into_iter().map(|record| record.marker));
        self.erased(&args)?;
        Ok(cut)
    }

    /// Repeats an erasure that may have been cut short, then checks that the content is gone.
    fn erased(&self, args: &[&str]) -> ChoreResult<()> {
        self.program.bytes(args).map_err(|error| format!("again: {error}"))?;
        self.nowhere()
    }

    /// Checks that no erased word is in the ledger's bytes.
    fn nowhere(&self) -> ChoreResult<()> {
        match scan::found(&self.program.path("ledger.db"), &self.gone)?.first() {
            Some(first) => Err(format!("erased content is still there: {first}").into()),
            None => Ok(()),
        }
    }

    /// Backs up the ledger. A file with the backup's name must be complete, even after a kill.
    fn back_up(&mut self, when: KillTime) -> ChoreResult<bool> {
        self.backups += 1;
        let name = format!("backup-{}.db", self.backups);
        let cut = self.plain(&["backup", &name], when)?;
        if !self.program.path(&name).exists() {
            if cut {
                return Ok(cut);
            }
            return Err("backup: reported as done, but there is no file".into());
        }
        let elsewhere = format!("elsewhere-{}.db", self.backups);
        let restored = self.program.bytes(&["--db", &elsewhere, "restore", &name]);
        restored.map_err(|error| format!("the backup: {error}"))?;
        if let Some(lost) = self.lost_from(&elsewhere, &self.held)? {
            return Err(format!("the backup: {lost}").into());
        }
        self.backup = Some((name, self.held.clone()));
        Ok(cut)
    }

    /// Restores a backup. After the restore, the ledger must be either the old one or the restored one, and must be
    /// usable.
    fn restore(&mut self, when: KillTime, random: &mut Random) -> ChoreResult<bool> {
        let Some((name, backed)) = self.backup.clone() else { return self.back_up(when) };
        let cut = self.plain(&["restore", &name, "--replace"], when)?;
        let before = self.held.clone();
        let count = before.live.len();
        // Appends to whichever ledger now exists at the path.
        self.works(random)?;
        let mut restored = backed;
        let is_whole = |text: &str| !self.gone.iter().any(|marker| text.contains(marker.as_str()));
        restored.live.retain(|_, (_, text)| is_whole(text));
        restored.files.retain(|_, bytes| is_whole(&String::from_utf8_lossy(bytes)));
        let newest = self.held.live.iter().find(|(seq, said)| before.live.get(seq) != Some(said));
        let newest = newest.map(|(seq, said)| (*seq, said.clone()));
        let (old, new) = (self.lost(&before)?, self.lost(&restored)?);
        match (cut, old, new) {
            (true, None, _) => self.held = before,
            (_, _, None) => self.held = restored,
            (_, Some(old), Some(new)) => {
                let told = format!("neither the old ledger of {count} events ({old}) nor the backup ({new})");
                return Err(format!("restore: {told}").into());
            }
            (false, None, Some(new)) => return Err(format!("restore: done, and {new}").into()),
        }
        self.held.live.extend(newest);
        self.nowhere().map_err(|error| format!("restore: {error}"))?;
        Ok(cut)
    }

    /// Runs a command and kills it.
    fn plain(&self, args: &[&str], when: KillTime) -> ChoreResult<bool> {
        let mut command = armed(self.program.command(args), when);
        kill(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?, when)
    }

    /// Describes the first acknowledged content that is missing from the ledger, if any.
    fn lost(&self, held: &Acknowledged) -> ChoreResult<Option<String>> {
        self.lost_from("ledger.db", held)
    }

    fn lost_from(&self, ledger: &str, held: &Acknowledged) -> ChoreResult<Option<String>> {
        let db = self.program.path(ledger).to_string_lossy().into_owned();
        let mut there: BTreeMap<u64, Value> = BTreeMap::new();
        if !held.live.is_empty() {
            for event in self.program.lines(&["--db", &db, "export", LIVE])? {
                there.insert(event.get("seq").and_then(Value::as_u64).unwrap_or_default(), event);
            }
        }
        for (seq, (id, said)) in &held.live {
            let event = there.get(seq);
            let found = event.and_then(|event| event.get("id")).and_then(Value::as_str);
            let text = event.and_then(|event| event.pointer("/message/parts/0/text")).and_then(Value::as_str);
            if (found, text) != (Some(id), Some(said)) {
                return Ok(Some(format!("lost: event {id} at position {seq}")));
            }
        }
        for (session, bytes) in &held.files {
            // An unfinished import cannot be exported as an original, so its file is reported as lost.
            let original = match self.program.bytes(&["--db", &db, "export", session, "--original"]) {
                Ok(original) => original,
                Err(error) => return Ok(Some(format!("lost: the original: {error}"))),
            };
            if original != *bytes {
                let told = format!("{} of {} bytes of {session}", original.len(), bytes.len());
                return Ok(Some(format!("lost: the original has {told}")));
            }
        }
        Ok(None)
    }
}

fn file_name(place: usize) -> String {
    format!("file-{place}.jsonl")
}

/// Wraps a command in strace if it is to be killed at a system call.
fn armed(command: Command, when: KillTime) -> Command {
    let KillTime::At(call, which) = when else { return command };
    let mut tracer = Command::new("strace");
    let inject = format!("inject={call}:signal=KILL:when={which}");
    tracer.args(["-f", "-qqq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject]);
    tracer.arg(command.get_program()).args(command.get_args()).env_clear();
    tracer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        tracer.current_dir(folder);
    }
    tracer.env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    tracer
}

/// Waits until a program has been killed, or kills it. Returns whether the program was cut short.
fn kill(mut child: Child, when: KillTime) -> ChoreResult<bool> {
    if let KillTime::After(delay) = when {
        std::thread::sleep(delay);
        child.kill()?;
    }
    // A process that a signal ended has no exit code.
    Ok(child.wait()?.code().is_none())
}
