//! Opens a source: a file, or the text of a session of several members.

use crate::base::error::{Error, file_error};
use crate::histories::rows_read::RowsRead;
use crate::histories::stamp::Stamp;
use crate::histories::{Place, database, export, text, tree};
use crate::import::transcripts::files::claim;
use crate::import::transcripts::files::opened::{Content, OpenedFile};
use crate::import::transcripts::files::saved::Saved;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::copy_source;
use std::fs::File;
use std::path::Path;
use wunderblock_store::SourceInfo;

impl Place {
    /// Opens the source: a file, or the stored text of the session with the lines that it lacks. If `whole` is false,
    /// the text may begin where the import continues.
    pub(in crate::import::transcripts) async fn open<'p>(
        &self,
        engine: &Engine,
        (key, stamp): (&'p Path, Stamp),
        old: Option<&SourceInfo>,
        whole: bool,
    ) -> Result<OpenedFile<'p>, Error> {
        let name = key.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let members = match self {
            Self::File(path) => {
                let file = File::open(path).map_err(|error| file_error(path, &error))?;
                let locked = claim::lock(&file);
                let len = file.metadata().map_err(|error| file_error(path, &error))?.len();
                let file = Content::File(file);
                return Ok(OpenedFile { path: key, name, file, len, stamp, locked, rows: None });
            }
            Self::Tree(path) => (tree::members(path)?, None),
            Self::Row { database, session } => {
                if let Some(old) = old.filter(|_| !whole)
                    && let Some((text, from, rows)) = continued(engine, old, database, session).await?
                {
                    let len = from + text.len() as u64;
                    let (file, rows) = (Content::members(text, from), Some(rows));
                    return Ok(OpenedFile { path: key, name, file, len, stamp, locked: false, rows });
                }
                database::members(database, session)?
            }
            Self::Conversation { export, entry, .. } => (export::members(export, entry)?, None),
        };
        let (members, rows) = members;
        let mut stored = Vec::new();
        if let Some(old) = old {
            copy_source(engine, old, 0, old.revision.len, &mut stored).await?;
        }
        let erased = old.map(|old| old.revision.erased.clone()).unwrap_or_default();
        let text = text::grown(stored, &erased, &members);
        let len = text.len() as u64;
        Ok(OpenedFile { path: key, name, file: Content::members(text, 0), len, stamp, locked: false, rows })
    }
}

/// Returns the text of a session in a database from the place at which its import continues, with that place. `None`
/// if the whole text is needed.
async fn continued(
    engine: &Engine,
    old: &SourceInfo,
    database: &Path,
    session: &str,
) -> Result<Option<(Vec<u8>, u64, RowsRead)>, Error> {
    let revision = &old.revision;
    // An interrupted import may have cut the last line, and erased text has to be found in all lines.
    if !revision.whole || !revision.erased.is_empty() {
        return Ok(None);
    }
    let saved = revision.reader.as_deref().and_then(Saved::decode);
    let Some((from, rows)) = saved.and_then(|saved| Some((saved.at, saved.rows?))) else { return Ok(None) };
    let Some((members, rows)) = database::gained(database, session, &rows)? else { return Ok(None) };
    let mut text = Vec::new();
    copy_source(engine, old, from, revision.len, &mut text).await?;
    text.extend(members.iter().flat_map(|member| member.line.iter().copied().chain([b'\n'])));
    Ok(Some((text, from, rows)))
}
