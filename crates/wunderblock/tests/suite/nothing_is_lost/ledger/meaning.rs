//! Vectors of what was said: where they come from does not matter, another model's are passed over, and those of erased
//! texts are gone.

use crate::scene::{Home, append, said, session};
use futures_executor::block_on;
use rusqlite::{Connection, params};
use wunderblock::{Engine, SearchCut, SearchHit, SearchOptions};
use wunderblock_core::event::NewEvent;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;
use wunderblock_embed::Table;
use wunderblock_index::{DocKey, EventRange, PassageKey, VectorBuilder, VectorHeader};
use wunderblock_store::DerivedTable;

const TEXTS: [&str; 6] = [
    "The compiler stopped with a syntax error in the parser.",
    "Lunch will be soup and bread at noon.",
    "My daughter adopted a kitten from the shelter.",
    "数据库连接失败，请检查配置。",
    "ok",
    "The train to the mountains leaves early on Saturday.",
];
const QUESTIONS: [&str; 4] =
    ["why does compilation fail", "which pet does her family have", "数据库 连接", "what do we eat today"];

fn messages(from: usize, to: usize) -> Vec<NewEvent> {
    let role = |at: usize| if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let text = |at: usize| format!("{} Note {at}.", TEXTS[at % TEXTS.len()]);
    (from..to).map(|at| said(&at.to_string(), role(at), &text(at))).collect()
}

fn ask(engine: &Engine, question: &str, meaning: bool) -> Vec<SearchHit> {
    let options = SearchOptions { limit: 30, meaning, ..SearchOptions::default() };
    block_on(engine.recall().search(question, &options)).unwrap().hits
}

fn answers(engine: &Engine) -> Vec<Vec<SearchHit>> {
    QUESTIONS.iter().map(|question| ask(engine, question, true)).collect()
}

fn catch_up(engine: &Engine) {
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
}

/// Returns the header and the blocks of each segment of vectors.
fn segments(home: &Home) -> Vec<(i64, VectorHeader)> {
    let db = Connection::open(home.db()).unwrap();
    let mut rows = db.prepare("SELECT segment, header FROM index_segments WHERE what = 2").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    rows.map(|row| row.map(|(id, header)| (id, VectorHeader::decode(&header).unwrap())).unwrap()).collect()
}

fn problems(engine: &Engine) -> Vec<String> {
    let diagnosis = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    diagnosis.problems.iter().map(|problem| format!("{problem:?}")).collect()
}

#[test]
fn a_hit_does_not_depend_on_whether_its_vector_is_stored() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(0, 40));
    let waiting = answers(&engine);
    let similar = |hit: &SearchHit| hit.arms.contains_key("similar");
    assert!(waiting[0][0].snippet.contains("compiler") && waiting[0].iter().any(similar));
    assert!(waiting[2].iter().all(|hit| !similar(hit)), "the table does not know Chinese");
    assert_ne!(waiting[1], ask(&engine, QUESTIONS[1], false));
    let reach = |table| block_on(session(&engine, "s").info()).unwrap().reach(table);
    block_on(engine.maintenance().index_briefly()).unwrap();
    assert_eq!(reach(DerivedTable::Vectors), Seq(0));
    assert!(reach(DerivedTable::Words) > Seq(0));
    assert_eq!(answers(&engine), waiting, "words are indexed, and vectors are not");
    catch_up(&engine);
    assert_eq!(reach(DerivedTable::Vectors), reach(DerivedTable::Words));
    assert_eq!(answers(&engine), waiting, "both are stored");
    assert_eq!(answers(&engine), waiting, "and known");
    append(&engine, "s", messages(40, 46));
    append(&engine, "t", messages(46, 60));
    let mixed = answers(&engine);
    catch_up(&engine);
    assert_eq!(answers(&engine), mixed, "some wait");
    assert_eq!(problems(&engine), [""; 0]);
    let keys: usize = segments(&home).iter().map(|(_, header)| header.keys().len()).sum();
    assert_eq!(keys, 50, "short texts too, and none in Chinese");
}

#[test]
fn vectors_of_another_model_are_passed_over_and_made_again() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(0, 30));
    catch_up(&engine);
    let expected = answers(&engine);
    drop(engine);
    let mut other = VectorBuilder::new("another-model", 8);
    let doc = DocKey { stream: 1, seq: 2 };
    other.add(PassageKey { doc, part: 0 }, &[1; 8]).unwrap();
    let [(id, header)] = &segments(&home)[..] else { panic!() };
    header.ranges().iter().for_each(|range: &EventRange| other.cover(*range));
    let other = other.finish().unwrap();
    let db = Connection::open(home.db()).unwrap();
    let sql = "UPDATE index_segments SET header = ?2, docs = 1 WHERE segment = ?1";
    db.execute(sql, params![id, other.header]).unwrap();
    db.execute("DELETE FROM index_blocks WHERE segment = ?1", params![id]).unwrap();
    let sql =
        "INSERT INTO index_blocks (tenant, segment, block, data) SELECT tenant, ?1, 0, ?2 FROM index_segments
               WHERE segment = ?1";
    db.execute(sql, params![id, other.blocks[0]]).unwrap();
    drop(db);
    let engine = home.engine();
    let by_words = ask(&engine, QUESTIONS[1], true);
    assert!(by_words.iter().all(|hit| !hit.arms.contains_key("similar")), "by words alone");
    assert_eq!(problems(&engine), [""; 0]);
    block_on(engine.maintenance().index_briefly()).unwrap();
    assert_eq!(segments(&home)[0].1.model(), "another-model", "no search and no brief work removes them");
    catch_up(&engine);
    assert_eq!(segments(&home)[0].1.model(), Table::embedded().model());
    assert_eq!(answers(&engine), expected);
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn a_ledger_of_a_program_without_vectors_gets_them() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(0, 30));
    catch_up(&engine);
    let expected = answers(&engine);
    drop(engine);
    let without = "DELETE FROM frontiers WHERE what = 2; DELETE FROM index_segments WHERE what = 2;
                   DELETE FROM index_blocks WHERE segment NOT IN (SELECT segment FROM index_segments)";
    Connection::open(home.db()).unwrap().execute_batch(without).unwrap();
    let engine = home.engine();
    assert_eq!(problems(&engine), [""; 0]);
    assert_eq!(answers(&engine), expected, "they are made while searching");
    catch_up(&engine);
    assert_eq!(segments(&home).len(), 1);
    assert_eq!(answers(&engine), expected);
}

#[test]
fn a_search_by_words_alone_says_so() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(0, 4_200));
    block_on(engine.maintenance().index_briefly()).unwrap();
    let found = || block_on(engine.recall().search(QUESTIONS[1], &SearchOptions::default())).unwrap();
    let by_words = found();
    assert_eq!(by_words.cut, Some(SearchCut::Meaning));
    assert!(by_words.hits.iter().all(|hit| !hit.arms.contains_key("similar")));
    catch_up(&engine);
    assert_eq!(found().cut, None);
}

#[test]
fn a_vector_is_erased_with_its_text() {
    let home = Home::new();
    let engine = home.engine();
    let (gone, stays) = ("Agent Meadowlark meets the courier on Friday.", "The bakery opens at seven.");
    append(&engine, "s", vec![said("1", Role::User, gone), said("2", Role::User, stays)]);
    catch_up(&engine);
    drop(engine);
    let holds = |text: &str| {
        let vector = Table::embedded().vector(text).unwrap();
        let (first, last) = vector.bytes().split_at(128);
        std::fs::read_dir(home.folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            // A page of the file may end within a vector.
            [first, last].iter().any(|part| memchr::memmem::find(&bytes, part).is_some())
        })
    };
    assert!(holds(gone) && holds(stays));
    let engine = home.engine();
    block_on(session(&engine, "s").erase(Seq(2), Seq(2), None)).unwrap();
    drop(engine);
    assert!(!holds(gone) && holds(stays));
    let engine = home.engine();
    assert_eq!(problems(&engine), [""; 0]);
    catch_up(&engine);
    assert_eq!(problems(&engine), [""; 0]);
    assert!(!holds(gone));
}

#[test]
fn only_redacted_text_has_a_vector() {
    let home = Home::new();
    let engine = home.engine();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    append(&engine, "s", vec![said("1", Role::User, &format!("the deploy token is {secret}"))]);
    catch_up(&engine);
    drop(engine);
    let raw = Table::embedded().vector(&format!("the deploy token is {secret}")).unwrap();
    let bytes = std::fs::read(home.db()).unwrap();
    assert_eq!(segments(&home)[0].1.keys().len(), 1);
    assert!(memchr::memmem::find(&bytes, &raw.bytes()[..100]).is_none());
}
