//! Finds the documents that hold all words of a text, for several texts at once.
//!
//! Nothing is scored: each posting that is needed is read once, whatever the number of texts that ask for its term.

use crate::searching::query::ParsedQuery;
use crate::searching::reader::{PostingsReader, PostingsSource};
use crate::searching::request::SearchError;
use crate::searching::scope::DocScope;
use crate::searching::search::sources;
use crate::searching::tail::Tail;
use crate::storing::docs::DocKey;
use crate::storing::header::Header;
use crate::storing::postings::Postings;

/// Texts to find, with the documents that the searcher may see.
#[derive(Clone, Debug)]
pub struct TextSearch {
    /// Terms of all texts, without clauses: one scan counts them all.
    pub terms: ParsedQuery,
    /// Documents that the searcher may see.
    pub scope: DocScope,
    /// Indices of the terms of each text, in [`TextSearch::terms`].
    texts: Vec<Vec<usize>>,
}

/// A document that holds a text's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Key of the document.
    pub doc: DocKey,
    /// Length of the document in terms.
    pub terms: u32,
}

impl TextSearch {
    /// Prepares a search for texts, each given as a query whose words are all required.
    #[must_use]
    pub fn new(texts: &[ParsedQuery], scope: DocScope) -> Self {
        let terms = ParsedQuery::terms_of(texts);
        let places = |text: &ParsedQuery| {
            let needs = text.gather(|clause| &clause.needs).into_iter().filter_map(|at| text.terms.get(at));
            needs.filter_map(|term| terms.terms.binary_search(term).ok()).collect()
        };
        Self { texts: texts.iter().map(places).collect(), terms, scope }
    }

    /// Returns the number of texts.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether there is nothing to find.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns, for each text, the newest documents that hold all of its words, newest first, at most `limit`.
    ///
    /// `segments`, `tail` and `fetch` are those of [`crate::search()`]; the tail must have been scanned for
    /// [`TextSearch::terms`]. Segments are read until there are enough documents of each text.
    ///
    /// # Errors
    /// Fails if the index is damaged, or if `fetch` fails.
    pub fn find<E, B: AsRef<[u8]>>(
        &self,
        segments: &[&Header],
        tail: Option<&Tail>,
        limit: usize,
        fetch: impl FnMut(usize, u32) -> Result<B, E>,
    ) -> Result<Vec<Vec<Holder>>, SearchError<E>> {
        let mut reader = PostingsReader::new(fetch);
        let mut found: Vec<Vec<Holder>> = vec![Vec::new(); self.texts.len()];
        for source in sources(&self.scope, segments, tail).0 {
            let mut lists: Vec<Option<Vec<u32>>> = vec![None; self.terms.terms.len()];
            for (text, found) in self.texts.iter().zip(&mut found).filter(|(_, found)| found.len() < limit) {
                for at in text {
                    let Some(list @ None) = lists.get_mut(*at) else { continue };
                    *list = Some(documents(&source, reader.rows(&source, &self.terms, *at)?));
                }
                let mut lists: Vec<&[u32]> =
                    text.iter().filter_map(|at| lists.get(*at)?.as_deref()).collect();
                lists.sort_unstable_by_key(|list| list.len());
                let Some((rarest, others)) = lists.split_first() else { continue };
                let has_all = |doc: &&u32| others.iter().all(|list| list.binary_search(doc).is_ok());
                let holders = rarest.iter().rev().filter(|doc| source.visible.has(**doc)).filter(has_all);
                let holders = holders.filter_map(|doc| source.docs.all.get(*doc as usize));
                let holders = holders.map(|doc| Holder { doc: doc.key(), terms: doc.len });
                found.extend(holders.take(limit - found.len()));
            }
        }
        Ok(found)
    }
}

/// Returns the documents of some rows.
fn documents(source: &PostingsSource<'_>, rows: Option<Postings>) -> Vec<u32> {
    let Some(rows) = rows else { return Vec::new() };
    let mut docs = Vec::with_capacity(rows.docs as usize);
    for row in rows.iter() {
        if let Some(doc) = source.docs.doc_of.get(row.doc as usize).filter(|doc| docs.last() != Some(*doc)) {
            docs.push(*doc);
        }
    }
    docs
}
