//! Files that the user names for output. A file is replaced only once its new content is complete, and never if it is
//! a ledger or was imported.
//!
//! ```text
//! create: refuse ─► the command's work ─► write … ─► finish: replace the file
//! ```

use crate::drawing::terminal::stdout;
use crate::output::atomic_file::AtomicFile;
use crate::output::exit::{FAILED, Failure, REFUSED, unwritten};
use std::fs::{Metadata, OpenOptions};
use std::io::{BufWriter, Error, ErrorKind, Write};
use std::path::{Path, PathBuf, is_separator};
use wunderblock::store::sqlite::is_of_ledger;
use wunderblock::{Engine, was_imported};
use wunderblock_settings::{Settings, spool};

/// Maximum number of links that lead to a file.
const LINKS: usize = 40;
/// Names of stdout.
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Output for a path that the user gave.
pub(crate) struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Stdout(Box<dyn Write + Send>),
    /// A pipe, a device, or a file that the caller has open: the bytes pass as they come.
    Special(Box<dyn Write + Send>),
    File(NewContent),
}

/// Content of a file, until it is complete.
struct NewContent {
    target: PathBuf,
    /// `None` until the first byte, so that a command that is killed during its work leaves no file.
    file: Option<BufWriter<AtomicFile>>,
    /// Whether the file was imported, so that only the same content may replace it.
    is_source: bool,
}

impl NewContent {
    fn file(&mut self) -> std::io::Result<&mut BufWriter<AtomicFile>> {
        let file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::new(AtomicFile::create(&self.target)?),
        };
        Ok(self.file.insert(file))
    }
}

impl OutputFile {
    /// Opens the output, if a path is given, for content that differs from every imported file. `-` is stdout.
    ///
    /// # Errors
    /// Refuses a ledger, a file that belongs to one, and an imported file. Fails if the path cannot be written.
    pub(crate) async fn create(
        settings: &Settings,
        engine: &Engine,
        path: Option<&Path>,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let output = Self::create_copy(settings, engine, path).await?;
        match &output.sink {
            Sink::File(content) if content.is_source => Err(refused(path, "was imported into the ledger")),
            _ => Ok(Some(output)),
        }
    }

    /// Opens the output for content that may be that of an imported file.
    ///
    /// # Errors
    /// Refuses a ledger and a file that belongs to one. Fails if the path cannot be written.
    pub(crate) async fn create_copy(
        settings: &Settings,
        engine: &Engine,
        path: &Path,
    ) -> Result<Self, Failure> {
        let sink = match destination(path) {
            Destination::Stdout => Sink::Stdout(stdout()),
            Destination::Open(target) => {
                guard(settings, path, &target)?;
                if was_imported(engine, &target).await? {
                    return Err(refused(path, "was imported into the ledger"));
                }
                // The file may already hold output of others.
                let file = OpenOptions::new().append(true).open(&target);
                Sink::Special(Box::new(BufWriter::new(file.map_err(|error| unwritten(path, &error))?)))
            }
            Destination::File(target) => {
                guard(settings, path, &target)?;
                file_sink(engine, path, target).await?
            }
        };
        Ok(Self { path: path.to_owned(), sink })
    }

    /// Completes the output: the file gets its content.
    ///
    /// # Errors
    /// Refuses other content for an imported file. Fails if the content cannot be stored.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { path, sink } = self;
        let failed = |error: Error| unwritten(&path, &error);
        let mut content = match sink {
            Sink::Stdout(mut sink) | Sink::Special(mut sink) => return Ok(sink.flush()?),
            Sink::File(content) => content,
        };
        content.file().map_err(failed)?;
        let Some(file) = content.file else { return Ok(()) };
        let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        if !content.is_source {
            return file.replace().map_err(failed);
        }
        if file.is_same().map_err(failed)? {
            return Ok(());
        }
        Err(refused(&path, "was imported into the ledger, and its content would change"))
    }

    /// Writes the whole content, and completes the output.
    ///
    /// # Errors
    /// See [`OutputFile::finish`].
    pub(crate) fn finish_with(mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_all(bytes).map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => unwritten(&self.path, &error),
        })?;
        self.finish()
    }

    /// Returns whether the output goes to stdout, so that reports must not.
    pub(crate) const fn is_stdout(&self) -> bool {
        matches!(self.sink, Sink::Stdout(_))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(sink) | Sink::Special(sink) => sink.write(bytes),
            Sink::File(content) => content.file()?.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(sink) | Sink::Special(sink) => sink.flush(),
            Sink::File(content) => content.file.as_mut().map_or(Ok(()), Write::flush),
        }
    }
}

/// What a path names.
enum Destination {
    Stdout,
    /// A file that the caller has open, such as `/dev/fd/3`.
    Open(PathBuf),
    /// Any other file, with all links resolved.
    File(PathBuf),
}

/// Follows the links of a path. A link to stdout leads to our own stdout: opening it again would lose the place at
/// which the caller wants the output.
fn destination(path: &Path) -> Destination {
    if path == Path::new("-") {
        return Destination::Stdout;
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if STDOUT.iter().any(|name| path == Path::new(name)) {
            return Destination::Stdout;
        }
        if is_descriptor(&path) {
            return Destination::Open(path);
        }
        match path.read_link() {
            Ok(to) => path = folder(&path).join(to),
            Err(_) => break,
        }
    }
    let resolved = dunce::canonicalize(folder(&path)).ok().zip(path.file_name());
    Destination::File(resolved.map_or_else(|| path.clone(), |(folder, name)| folder.join(name)))
}

/// Returns whether a path names a file that the caller has open, such as `/dev/fd/3` or `/proc/self/fd/3`. Other paths
/// below `/proc` may lead to any file.
fn is_descriptor(path: &Path) -> bool {
    let Some(words) = path.iter().map(|word| word.to_str()).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    match words.as_slice() {
        ["/", "dev", "fd", number]
        | ["/", "proc", _, "fd", number]
        | ["/", "proc", _, "task", _, "fd", number] => number.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses the open ledger, any other ledger, and files that belong to one.
fn guard(settings: &Settings, path: &Path, target: &Path) -> Result<(), Failure> {
    if is_of_ledger(&settings.db, target) || spool::holds(&settings.db, target) {
        return Err(refused(path, "belongs to a ledger"));
    }
    Ok(())
}

fn refused(path: &Path, why: &str) -> Failure {
    let text = format!("{} {why}: nothing is written to it; name another file", path.display());
    Failure::Door(REFUSED, text)
}

async fn file_sink(engine: &Engine, path: &Path, target: PathBuf) -> Result<Sink, Failure> {
    let failed = |error: Error| unwritten(path, &error);
    let is_named_folder = path.to_string_lossy().ends_with(is_separator);
    let meta = target.metadata().ok();
    if is_named_folder || meta.as_ref().is_some_and(Metadata::is_dir) {
        return Err(Failure::Door(FAILED, format!("{} is a folder; name a file in it", path.display())));
    }
    if meta.is_some_and(|meta| !meta.is_file()) {
        let file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return Ok(Sink::Special(Box::new(BufWriter::new(file))));
    }
    let is_source = was_imported(engine, &target).await?;
    // An error now is better than one after the work. An imported file is not replaced, so it need not be writable.
    if !is_source {
        drop(AtomicFile::create(&target).map_err(failed)?);
    }
    Ok(Sink::File(NewContent { target, file: None, is_source }))
}
