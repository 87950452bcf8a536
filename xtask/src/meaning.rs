//! Measures the table of word pieces alone: how often it finds the paragraph to which a question belongs.

use crate::program::ChoreResult;
use serde_json::Value;
use std::path::Path;
use wunderblock_embed::{DIMENSIONS, Table, Vector, scan};

/// Returns R@1 and R@5 of questions over all paragraphs of a file in SQuAD's format, as a line of text.
pub(crate) fn line(path: &Path) -> ChoreResult<String> {
    if !path.exists() {
        return Ok(format!("SKIPPED: there is no `{}`; nothing was measured", path.display()));
    }
    let set: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let table = Table::embedded();
    let (mut paragraphs, mut vectors, mut questions, mut unknown) = (0, Vec::new(), Vec::new(), 0);
    for paragraph in each(&set, "data").flat_map(|article| each(article, "paragraphs")) {
        let context = paragraph["context"].as_str().ok_or("a paragraph without a text")?;
        let vector = table.vector(context);
        unknown += usize::from(vector.is_none());
        let asked = each(paragraph, "qas").filter_map(|asked| asked["question"].as_str());
        questions.extend(asked.map(|question| (paragraphs, question)));
        vectors.extend_from_slice(vector.as_ref().map_or(&[0; DIMENSIONS], Vector::bytes));
        paragraphs += 1;
    }
    let (mut first, mut among_five, mut similarities) = (0, 0, Vec::new());
    for (own, question) in &questions {
        let Some(query) = table.vector(question) else {
            unknown += 1;
            continue;
        };
        scan(&query, &vectors, &mut similarities);
        let similarity = similarities.get(*own).copied().unwrap_or_default();
        // Of equal similarities, the earlier paragraph is first.
        let before = similarities
            .iter()
            .enumerate()
            .filter(|(at, other)| **other > similarity || (**other == similarity && at < own));
        let place = before.count();
        first += usize::from(place < 1);
        among_five += usize::from(place < 5);
    }
    let share = |count: usize| count as f64 / questions.len().max(1) as f64;
    Ok(format!(
        "{}: {} questions, {} paragraphs, {unknown} texts without a vector: R@1 {:.3}, R@5 {:.3}",
        table.model(),
        questions.len(),
        paragraphs,
        share(first),
        share(among_five),
    ))
}

fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}
