//! Loads instruction files: each once, only from allowed places, with its imports before it.

use super::ignored::Ignored;
use super::import::{Mention, mentions};
use super::rules::InstructionRules;
use crate::file::{TextFile, read, resolve, resolve_knowing};
use crate::limits::{
    MAX_FINDINGS, MAX_IMPORT_DEPTH, MAX_IMPORT_LOOKUPS, MAX_IMPORTS, MAX_SOURCE_BYTES, MAX_SOURCE_FILE,
    MAX_SOURCE_FILES,
};
use crate::workspace::{Workspace, normalised};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use wunderblock_core::authority::{Authority, InstructionLevel};
use wunderblock_core::instruction::{Finding, FindingKind, InstructionFile, LoadReason, pieces_in, spans};

/// Findings without repetition, up to a maximum number.
#[derive(Default)]
pub(crate) struct FindingList {
    list: Vec<Finding>,
    seen: HashSet<(String, Option<u64>, String)>,
    more: u64,
}

impl FindingList {
    pub(crate) fn add(&mut self, source: &str, line: Option<u64>, what: FindingKind, detail: String) {
        if self.list.len() >= MAX_FINDINGS {
            self.more += 1;
        } else if self.seen.insert((source.to_owned(), line, detail.clone())) {
            self.list.push(Finding { source: source.into(), line, what, detail: detail.into() });
        }
    }

    /// Adds a finding about something that cannot be used, with the reason.
    pub(crate) fn unusable(&mut self, source: &str, line: Option<u64>, why: String) {
        self.add(source, line, FindingKind::Unusable, why);
    }

    pub(crate) fn into_vec(mut self) -> Vec<Finding> {
        if self.more > 0 {
            let detail = format!("{} more findings are not listed; fix these first", self.more).into();
            let (source, what) = ("instructions".into(), FindingKind::Unusable);
            self.list.push(Finding { source, line: None, what, detail });
        }
        self.list
    }
}

/// Place of a file in the hierarchy, and the directories from which it may import.
#[derive(Clone)]
pub(super) struct ImportScope {
    pub(super) level: InstructionLevel,
    pub(super) reason: LoadReason,
    /// For a file named by the user or the operator, these are the directories that contain the file.
    own: Vec<PathBuf>,
}

impl ImportScope {
    pub(crate) fn new(level: InstructionLevel, reason: LoadReason) -> Self {
        Self { level, reason, own: Vec::new() }
    }
}

/// A file that was read.
pub(super) struct SourceFile {
    pub(crate) name: String,
    pub(crate) canonical: PathBuf,
    /// Directory of the path under which the file was found. For a link, the directory differs from that of
    /// `canonical`.
    directory: PathBuf,
    pub(crate) file: TextFile,
}

/// Text of a file after its front matter.
pub(super) struct FileBody<'t> {
    pub(super) text: &'t str,
    /// Number of lines that the front matter takes.
    pub(super) lines_before: u64,
}

impl<'t> FileBody<'t> {
    /// Returns the whole text of a file without front matter.
    fn of(source: &'t SourceFile) -> Self {
        Self { text: &source.file.text, lines_before: 0 }
    }
}

/// Reason why a file was not read.
pub(super) enum Denied {
    /// The file does not exist.
    Absent,
    /// The file was read before.
    Repeated,
    /// An ignore rule excludes the file.
    Ignored(String),
    /// The file cannot be used.
    Unusable(String),
}

pub(super) struct Loader<'a> {
    pub(crate) workspace: &'a Workspace,
    rules: &'a InstructionRules,
    ignored: &'a Ignored,
    /// Files that were read.
    taken: HashSet<PathBuf>,
    /// Chain of imports that leads to the current file.
    chain: Vec<PathBuf>,
    roots: Vec<PathBuf>,
    /// Resolved paths of directories.
    known: HashMap<PathBuf, PathBuf>,
    lookups: usize,
    bytes: u64,
    pub(crate) findings: FindingList,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(
        workspace: &'a Workspace,
        rules: &'a InstructionRules,
        ignored: &'a Ignored,
        findings: FindingList,
    ) -> Self {
        // A root that does not exist allows no imports.
        let roots = rules.roots.iter().filter_map(|root| resolve(root).ok().flatten()).collect();
        let (taken, chain, known) = (HashSet::new(), Vec::new(), HashMap::new());
        Self { workspace, rules, ignored, taken, chain, roots, known, lookups: 0, bytes: 0, findings }
    }

    /// Reads a file named by the user or the operator, regardless of its place. A missing file is ignored.
    pub(crate) fn named(&mut self, path: &Path, level: InstructionLevel, out: &mut Vec<InstructionFile>) {
        let mut place = ImportScope::new(level, LoadReason::SessionStart);
        place.own.extend(path.parent().map(normalised));
        if let Ok(Some(canonical)) = resolve(path) {
            place.own.extend(canonical.parent().map(Path::to_owned));
        }
        match self.open(path, &place) {
            Ok(source) => self.take(&source, place, FileBody::of(&source), out),
            Err(denied) => self.tell(path, denied),
        }
    }

    /// Reads a file of the project. Returns whether the file exists and is not ignored.
    pub(crate) fn found(&mut self, path: &Path, place: ImportScope, out: &mut Vec<InstructionFile>) -> bool {
        match self.open(path, &place) {
            Ok(source) => {
                self.take(&source, place, FileBody::of(&source), out);
                true
            }
            Err(Denied::Absent) => false,
            Err(denied) => {
                let is_there = !matches!(denied, Denied::Ignored(_));
                self.tell(path, denied);
                is_there
            }
        }
    }

    pub(super) fn tell(&mut self, path: &Path, denied: Denied) {
        let name = self.workspace.name(path);
        match denied {
            Denied::Absent | Denied::Repeated => {}
            Denied::Ignored(why) => self.findings.add(&name, None, FindingKind::Ignored, why),
            Denied::Unusable(why) => self.findings.unusable(&name, None, why),
        }
    }

    /// Opens and reads a file if the place allows it.
    pub(crate) fn open(&mut self, path: &Path, place: &ImportScope) -> Result<SourceFile, Denied> {
        let canonical =
            resolve_knowing(path, &mut self.known).map_err(Denied::Unusable)?.ok_or(Denied::Absent)?;
        // Files named by the user or the operator may be anywhere, and no ignore rule applies to them.
        let is_named = place.reason == LoadReason::SessionStart && !place.own.is_empty();
        if !is_named {
            self.may(path, &canonical, place)?;
        }
        if self.taken.contains(&canonical) {
            return Err(Denied::Repeated);
        }
        if self.taken.len() >= MAX_SOURCE_FILES {
            let why = format!("is left out: {MAX_SOURCE_FILES} instruction files are enough");
            return Err(Denied::Unusable(why));
        }
        let file = read(&canonical, MAX_SOURCE_FILE).map_err(Denied::Unusable)?;
        self.bytes += u64::try_from(file.text.len()).unwrap_or(u64::MAX);
        if self.bytes > MAX_SOURCE_BYTES {
            let most =
                format!("is left out: instruction files have more than {MAX_SOURCE_BYTES} bytes together");
            return Err(Denied::Unusable(most));
        }
        let name = self.workspace.name(path);
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(SourceFile { name, canonical, directory, file })
    }

    /// Returns an error unless a file is allowed at a place. The file's resolved target must be in an allowed
    /// directory, and no ignore rule may exclude the path or the target.
    fn may(&self, path: &Path, canonical: &Path, place: &ImportScope) -> Result<(), Denied> {
        let mut allowed = self.roots.iter().chain(&place.own).chain([&self.workspace.root]);
        if !allowed.any(|root| canonical.starts_with(root)) {
            let why = "leads outside of the project and the roots that may be imported from; add its directory to \
                       `roots` if it is meant";
            return Err(Denied::Unusable(why.to_owned()));
        }
        let names = [Some(path), Some(canonical).filter(|canonical| *canonical != path)];
        for path in names.into_iter().flatten() {
            let why =
                path.strip_prefix(&self.workspace.root).ok().and_then(|inside| self.ignored.why(inside));
            if let Some(why) = why {
                return Err(Denied::Ignored(why));
            }
        }
        Ok(())
    }

    /// Adds a file: first its imports, then the file itself. `body` is the text of the file after its front matter.
    pub(crate) fn take(
        &mut self,
        source: &SourceFile,
        place: ImportScope,
        body: FileBody<'_>,
        out: &mut Vec<InstructionFile>,
    ) {
        let FileBody { text: body, lines_before: lines } = body;
        self.taken.insert(source.canonical.clone());
        self.chain.push(source.canonical.clone());
        let spans = spans(body);
        let mentions = mentions(body, &spans);
        if mentions.len() == MAX_IMPORTS {
            let detail = format!("only the first {MAX_IMPORTS} words with an @ are looked up");
            self.findings.unusable(&source.name, None, detail);
        }
        for mention in mentions {
            let mention = Mention { line: mention.line.saturating_add(lines), ..mention };
            self.import(source, &place, &mention, out);
        }
        self.chain.pop();
        let (mut pieces, problems) = pieces_in(body, &spans);
        for piece in &mut pieces {
            piece.line = piece.line.saturating_add(lines);
        }
        for problem in problems {
            let line = Some(problem.line.saturating_add(lines));
            self.findings.unusable(&source.name, line, problem.detail);
        }
        out.push(InstructionFile {
            path: source.name.as_str().into(),
            level: place.level,
            reason: place.reason,
            digest: source.file.digest.as_str().into(),
            pieces,
        });
    }

    fn import(
        &mut self,
        by: &SourceFile,
        place: &ImportScope,
        mention: &Mention,
        out: &mut Vec<InstructionFile>,
    ) {
        match self.imported(by, place, mention) {
            Ok(None) => {}
            Ok(Some((source, place))) => self.take(&source, place, FileBody::of(&source), out),
            Err((what, why)) => {
                let shown: String = mention.path.chars().take(200).collect();
                self.findings.add(&by.name, Some(mention.line), what, format!("@{shown} {why}"));
            }
        }
    }

    /// Opens the file that a mention refers to. Returns `None` if there is no such file, or if the file has already
    /// been read.
    fn imported(
        &mut self,
        by: &SourceFile,
        place: &ImportScope,
        mention: &Mention,
    ) -> Result<Option<(SourceFile, ImportScope)>, (FindingKind, String)> {
        let unusable = |why: String| (FindingKind::Unusable, why);
        let Some(path) = self.target(by, mention).map_err(unusable)? else {
            let lost = mention.means_a_text().then(|| unusable("does not exist".to_owned()));
            return lost.map_or(Ok(None), Err);
        };
        let canonical = resolve(&path).map_err(unusable)?.unwrap_or_else(|| path.clone());
        if self.chain.contains(&canonical) {
            let why = "is what leads here: the imports go in a circle, which ends here";
            return Err(unusable(why.to_owned()));
        }
        let depth = self.rules.depth.min(MAX_IMPORT_DEPTH);
        if self.chain.len() > usize::from(depth) {
            let why = format!("is more than {depth} imports away from where they begin, and is left out");
            return Err(unusable(why));
        }
        let level = self.level(place, &canonical);
        // A project file must not gain access to the user's directories because one of the user's files imports it.
        let own = if level == place.level { place.own.clone() } else { Vec::new() };
        let inner = ImportScope { level, reason: LoadReason::Import(by.name.as_str().into()), own };
        // The ignore rules apply to a link's own path as well, but the file is shown under the path of its target.
        let opened = self.may(&path, &canonical, &inner).and_then(|()| self.open(&canonical, &inner));
        match opened {
            Ok(source) => Ok(Some((source, inner))),
            Err(Denied::Absent | Denied::Repeated) => Ok(None),
            Err(Denied::Ignored(why)) => Err((FindingKind::Ignored, format!("is {why}"))),
            Err(Denied::Unusable(why)) => Err(unusable(why)),
        }
    }

    /// Returns the path that a mention refers to, or `None` if no file has that path.
    fn target(&mut self, by: &SourceFile, mention: &Mention) -> Result<Option<PathBuf>, String> {
        for reading in mention.readings() {
            let near =
                [Some(by.directory.as_path()), by.canonical.parent().filter(|dir| *dir != by.directory)];
            let tried: Vec<PathBuf> = match reading.strip_prefix("~/") {
                None => near.into_iter().flatten().map(|directory| directory.join(reading)).collect(),
                Some(rest) => match &self.rules.home {
                    Some(home) => vec![home.join(rest)],
                    None => return Err("begins with ~, and no home directory is configured".to_owned()),
                },
            };
            for path in tried {
                self.lookups += 1;
                if self.lookups > MAX_IMPORT_LOOKUPS {
                    return Err(format!("is not looked up: {MAX_IMPORT_LOOKUPS} words with an @ are enough"));
                }
                match resolve(&path) {
                    Ok(None) => {}
                    // A mention of a directory is not an import.
                    Ok(Some(canonical)) if canonical.is_dir() => return Ok(None),
                    Ok(Some(_)) => return Ok(Some(path)),
                    Err(why) => return Err(why),
                }
            }
        }
        Ok(None)
    }

    /// Returns the level of an imported file: at most that of the importing file, and at most that of the directory
    /// that contains it.
    fn level(&self, by: &ImportScope, canonical: &Path) -> InstructionLevel {
        let root = &self.workspace.root;
        if by.level.authority() <= Authority::Project || !canonical.starts_with(root) {
            return by.level;
        }
        let is_own = |own: &PathBuf| own != root && own.starts_with(root) && canonical.starts_with(own);
        if by.own.iter().any(is_own) {
            return by.level;
        }
        if canonical.parent() == Some(root) { InstructionLevel::Project } else { InstructionLevel::Directory }
    }
}
