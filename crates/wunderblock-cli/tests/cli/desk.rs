//! A separate folder for each test, in which the program runs isolated from the machine's environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock_core::id::StreamId;

/// Tenant key that gives the same handles in every run.
const KEY: [u8; 32] = [7; 32];

/// The folder of a test.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

/// Masks all matches of a form (`d` is a digit, `h` a hexadecimal digit), except those that start with `but`.
fn without(text: &str, form: &str, but: &str) -> String {
    let fits = |from: usize| {
        let part = text.as_bytes().get(from..from + form.len())?;
        let same = part.iter().zip(form.bytes()).all(|(byte, want)| match want {
            b'd' => byte.is_ascii_digit(),
            b'h' => byte.is_ascii_hexdigit(),
            want => *byte == want,
        });
        // Digits inside a longer word, such as a handle, do not count as a number.
        let beside = [from.checked_sub(1), Some(from + form.len())];
        let mut beside = beside.into_iter().flatten().filter_map(|at| text.as_bytes().get(at));
        let alone = form.contains(|c| c != 'd') || !beside.any(u8::is_ascii_alphanumeric);
        (same && alone && !part.starts_with(but.as_bytes())).then_some(form.len())
    };
    let (mut out, mut at) = (String::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        if let Some(len) = fits(at) {
            out.push_str(if form.contains('h') { "[path]" } else { "[now]" });
            out.push_str(if form.ends_with('\n') { "\n" } else { "" });
            at += len;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    out
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn new(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr.clone()).expect("stderr is UTF-8"),
        }
    }

    /// Fails the test unless the run ended with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// Parses stdout as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Parses stdout as JSON lines.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(parse).collect()
    }
}

use serde_json::Value;

impl Desk {
    /// Creates a folder without a ledger. The folder's settings exclude the machine's managed policy, and the user's
    /// files are looked up in the folder itself.
    pub(crate) fn bare() -> Self {
        let desk = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        desk.write("config/wunderblock/config.toml", "[instructions]\nmanaged = []\n");
        desk
    }

    /// Creates a folder with an empty ledger whose handles are the same in every run. The transcript of
    /// [`crate::fixture`] is in `session.jsonl`, but is not imported.
    pub(crate) fn new() -> Self {
        let desk = Self::bare();
        desk.run(&["append", "nothing"]).exits(0);
        let ledger = desk.sql();
        let changed = ledger.execute("UPDATE tenants SET key = ?1", [&KEY[..]]).expect("the tenant");
        assert_eq!(changed, 1);
        desk.write("session.jsonl", crate::fixture::transcript());
        // The file gets an old modification time. A file written a moment ago could change without getting a new
        // modification time, so every import would read it again.
        let file = std::fs::File::options().write(true).open(desk.path("session.jsonl")).expect("the file");
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3_600))
            .expect("a time");
        desk
    }

    /// Creates the same folder as `new`, and imports the transcript.
    pub(crate) fn with_session() -> Self {
        let desk = Self::new();
        desk.run(&["import", "session.jsonl", "-q"]).exits(0);
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, content).expect("a file can be written");
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file can be read")
    }

    /// Opens the ledger's file directly with SQLite.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path("ledger.db")).expect("the ledger opens")
    }

    /// Writes events, given as lines of `append`, to a session, bypassing the live door.
    pub(crate) fn forge(&self, session: &str, lines: &str) {
        let ledger = Sqlite::open(&self.path("ledger.db"), Access::Write).expect("the ledger opens");
        let event = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let stream = StreamId::new(session).expect("an id");
        wunderblock_testkit::backdoor::put(&ledger, "local", &stream, lines.lines().map(event).collect());
    }

    /// Prepares a run of the program in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.dress(Command::new(env!("CARGO_BIN_EXE_wunderblock")), args)
    }

    /// Runs a shell script in this folder. `$WB` is the program.
    pub(crate) fn shell(&self, script: &str) -> Done {
        let mut shell = self.dress(Command::new("sh"), &["-c", script]);
        shell.env("WB", env!("CARGO_BIN_EXE_wunderblock"));
        Done::new(&shell.output().expect("sh runs"))
    }

    fn dress(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("WUNDERBLOCK_DB", self.path("ledger.db"))
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .env("TZ", "UTC")
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::new(&self.command(args).output().expect("the program runs"))
    }

    /// Runs the program and returns its output, which need not be UTF-8.
    pub(crate) fn run_bytes(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Runs the program with this text on stdin.
    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Done {
        let mut child = self.start(args);
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_owned();
        let feeder = std::thread::spawn(move || {
            // A program that fails early closes the pipe; its output still counts.
            let _ = stdin.write_all(input.as_bytes());
        });
        let output = child.wait_with_output().expect("the program ends");
        feeder.join().expect("the feeder ends");
        Done::new(&output)
    }

    /// Calls the hook of an agent. Returns what it answers to the event, if anything.
    pub(crate) fn hook(&self, agent: &str, input: &Value, options: &[&str]) -> Option<Value> {
        let args: Vec<&str> = ["hook", agent].into_iter().chain(options.iter().copied()).collect();
        let done = self.feed(&args, &input.to_string()).exits(0);
        assert_eq!(done.err, "");
        (!done.out.is_empty()).then(|| done.json()["hookSpecificOutput"].clone())
    }

    /// Starts the program with pipes for stdin, stdout and stderr.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    /// Returns a text in which everything that differs between runs is masked.
    pub(crate) fn settled(&self, text: &str) -> String {
        let folder = self.folder().canonicalize().expect("the folder is there");
        let text = text
            .replace(&*folder.to_string_lossy(), "[folder]")
            .replace(&*self.folder().to_string_lossy(), "[folder]");
        // The fixture's clock is in March 2026; every other time is the time of the run.
        let text = without(&text, "dddd-dd-dd dd:dd", "2026-03-01");
        let text = without(&text, "ddddddddddddd", "17723");
        // These values follow from the path of the file, which differs in every run.
        let text = without(&text, "\"source\":\"wb:hhhhhhhhhhhhhhhh\"", "never");
        let text = without(&text, "le\":\"wb:hhhhhhhhhhhhhhhh\",\"bytes\":14277,\"w", "never");
        without_ages(&without(&text, "-hhhhhhhh\n", "never"))
    }
}

/// Replaces ages (`9mo ago`), which differ from day to day.
fn without_ages(text: &str) -> String {
    let mut pieces = text.split(" ago");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let unit = out.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let number = unit.trim_end_matches(|c: char| c.is_ascii_digit());
        if number.len() < unit.len() && unit.len() < out.len() {
            out.truncate(number.len());
            out.push_str("[age]");
        } else {
            out.push_str(" ago");
        }
        out.push_str(piece);
    }
    out
}
