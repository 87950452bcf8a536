//! A model that embeds texts gets redacted texts of chosen projects, and what it answers is checked.

use crate::scene::{Home, append, config, event, result, said, session};
use futures_executor::block_on;
use rusqlite::Connection;
use std::sync::Arc;
use wunderblock::embedder::{ChosenScopes, Embedder, EmbeddingApi, EmbeddingModel, HttpEmbedder};
use wunderblock::model::{ApiKey, Endpoint, ModelLimits};
use wunderblock::redact::Redactor;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{Reach, ScopeLimit, StreamFilter};
use wunderblock::{Config, Engine, SearchHit, SearchOptions, SearchResult};
use wunderblock_core::event::{Fact, NewEvent, SessionOpened};
use wunderblock_core::id::Scope;
use wunderblock_core::message::{Dialect, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_embed::Table;
use wunderblock_index::VectorHeader;
use wunderblock_testkit::server::{Behaviour, ScriptedProvider};

const OWN: &str = "git.example/ann/garden";
const OTHER: &str = "git.example/ann/gardening";
const KEY: &str = "sk-embed-4711";
const QUESTION: &str = "which pet does her family have";
const CHINESE: &str = "数据库 为什么 连接失败";
const TEXTS: [&str; 4] = [
    "My daughter adopted a kitten from the shelter.",
    "数据库连接失败，请检查配置。",
    "The compiler stopped with a syntax error in the parser.",
    "The train to the mountains leaves early on Saturday.",
];

fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5".repeat(4))
}

/// Time that no call takes.
const LONG: Millis = Millis(60_000);

fn model(provider: &ScriptedProvider, api: EmbeddingApi, name: &str, time: Millis) -> HttpEmbedder {
    let dialect = if api == EmbeddingApi::Ollama { Dialect::Anthropic } else { Dialect::OpenaiChat };
    let base_url = provider.url(dialect);
    let endpoint = Endpoint { base_url, ..Endpoint::new(Dialect::OpenaiChat, Some(ApiKey::new(KEY))) };
    let model = EmbeddingModel { api, name: name.to_owned(), dimensions: None };
    let limits = ModelLimits { retries: 0, ..HttpEmbedder::limits(time) };
    HttpEmbedder::new(&endpoint, model, limits, Arc::new(Redactor::embedded())).unwrap()
}

fn embedder(provider: &ScriptedProvider, name: &str) -> Option<Arc<Embedder>> {
    chosen(model(provider, EmbeddingApi::Openai, name, LONG))
}

/// Returns a model that fails as soon as it can.
fn failing(provider: &ScriptedProvider, behaviour: &Behaviour) -> Option<Arc<Embedder>> {
    let time = if *behaviour == Behaviour::Hang { Millis(300) } else { LONG };
    chosen(model(provider, EmbeddingApi::Openai, "m", time))
}

fn chosen(model: HttpEmbedder) -> Option<Arc<Embedder>> {
    let scopes = ChosenScopes { projects: vec![OWN.to_owned()], users: Vec::new() };
    Some(Arc::new(Embedder::new(Arc::new(model), scopes, 0.2)))
}

/// Opens the ledger with an embedder. An engine opened earlier must have been dropped.
fn open(home: &Home, embedder: Option<Arc<Embedder>>) -> Engine {
    let config = Config { embedder, ..config() };
    block_on(Engine::open_with(home.db(), Access::Create, config)).unwrap()
}

/// Adds a session of a project.
fn add(engine: &Engine, id: &str, project: Option<&str>, texts: &[&str]) {
    let scope = Scope { project: project.map(str::to_owned), ..Scope::default() };
    let opened = Fact::SessionOpened(SessionOpened { scope, ..SessionOpened::default() });
    let text = |(at, text): (usize, &&str)| said(&format!("{id}{at}"), Role::User, text);
    let texts: Vec<NewEvent> = texts.iter().enumerate().map(text).collect();
    append(engine, id, std::iter::once(event(&format!("{id}-open"), opened)).chain(texts).collect());
}

fn catch_up(engine: &Engine) {
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
}

fn ask(engine: &Engine, question: &str) -> SearchResult {
    let options = SearchOptions { limit: 30, ..SearchOptions::default() };
    block_on(engine.recall().search(question, &options)).unwrap()
}

fn is_similar(hit: &SearchHit) -> bool {
    hit.arms.contains_key("similar")
}

fn headers(home: &Home) -> Vec<VectorHeader> {
    let db = Connection::open(home.db()).unwrap();
    let mut rows = db.prepare("SELECT header FROM index_segments WHERE what = 2").unwrap();
    let rows = rows.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|header| VectorHeader::decode(&header.unwrap()).unwrap()).collect()
}

/// Returns the number of passages by model.
fn coverage(home: &Home) -> Vec<(String, usize)> {
    let mut all = std::collections::BTreeMap::<String, usize>::new();
    for header in headers(home) {
        *all.entry(header.model().to_owned()).or_default() += header.keys().len();
    }
    all.retain(|_, count| *count > 0);
    all.into_iter().collect()
}

fn by_table(count: usize) -> (String, usize) {
    (Table::embedded().model().to_owned(), count)
}

/// Returns the notes of a ledger without problems.
fn notes(engine: &Engine) -> String {
    let diagnosis = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    assert_eq!(diagnosis.problems, []);
    diagnosis.notes.into_iter().map(|note| note.text + "\n").collect()
}

#[test]
fn only_redacted_texts_of_chosen_projects_are_sent() {
    for api in [EmbeddingApi::Openai, EmbeddingApi::Ollama] {
        let (home, provider) = (Home::new(), ScriptedProvider::start([Behaviour::Vectors(48)]).unwrap());
        let engine = open(&home, chosen(model(&provider, api, "m", LONG)));
        add(
            &engine,
            "own",
            Some(OWN),
            &["Agent Meadowlark meets the courier.", &format!("my key is {}", secret())],
        );
        append(&engine, "own", vec![said("long", Role::User, &format!("{}é", "x".repeat(1_023)))]);
        append(&engine, "own", vec![result("r", "c", "the output of a tool says marzipan")]);
        add(&engine, "other", Some(OTHER), &["The bakery opens at seven."]);
        add(&engine, "nobody", None, &["The lighthouse is closed."]);
        catch_up(&engine);
        let sent = |text: &str| provider.requests().iter().filter(|request| request.says(text)).count();
        assert_eq!((sent("Meadowlark"), sent("my key is ")), (1, 1));
        assert_eq!((sent(&"x".repeat(1_023)), sent("xé")), (1, 0), "a text is cut");
        for text in [secret().as_str(), "bakery", "lighthouse", "marzipan"] {
            assert_eq!(sent(text), 0, "{text}");
        }
        let asked = provider.requests();
        let bearer = format!("Bearer {KEY}");
        assert!(asked.iter().all(|request| request.header("authorization") == Some(bearer.as_str())));
        let label = if api == EmbeddingApi::Ollama { "ollama/m" } else { "openai/m" };
        assert_eq!(coverage(&home), [by_table(2), (label.to_owned(), 3)]);
        // The question is sent, without secrets, if vectors of the model are in scope.
        ask(&engine, &format!("who meets the plumber {}", secret()));
        assert_eq!((sent("plumber"), sent(&secret())), (1, 0));
        let before = provider.requests().len();
        let sessions = StreamFilter { projects: vec![OTHER.to_owned()], ..StreamFilter::default() };
        let options = SearchOptions { sessions, ..SearchOptions::default() };
        let found = block_on(engine.recall().search("when does the bakery open", &options)).unwrap();
        assert!(found.hits[0].snippet.contains("bakery") && found.cut.is_none());
        let reach = Reach::tenant().and(ScopeLimit::Project(Some(OTHER.to_owned())));
        assert!(ask(&engine.reaching(reach), "when does the bakery open").hits[0].snippet.contains("bakery"));
        for options in [
            SearchOptions { meaning: false, ..SearchOptions::default() },
            SearchOptions { brief: true, ..SearchOptions::default() },
        ] {
            block_on(engine.recall().search("who meets the courier", &options)).unwrap();
        }
        catch_up(&engine);
        assert_eq!(provider.requests().len(), before, "nothing is sent twice, or for another project");
        assert!(notes(&engine).contains(&format!("3 by `{label}`")));
    }
}

#[test]
fn nothing_is_sent_without_a_chosen_scope() {
    let (home, provider) = (Home::new(), ScriptedProvider::start([Behaviour::Vectors(48)]).unwrap());
    let own = model(&provider, EmbeddingApi::Openai, "m", LONG);
    let engine = open(&home, Some(Arc::new(Embedder::new(Arc::new(own), ChosenScopes::default(), 0.2))));
    add(&engine, "own", Some(OWN), &TEXTS);
    catch_up(&engine);
    assert!(ask(&engine, QUESTION).cut.is_none());
    assert!(notes(&engine).contains("is not used: no session"));
    assert_eq!(provider.requests().len(), 0);
    assert_eq!(coverage(&home), [by_table(3)]);
}

#[test]
fn a_model_takes_the_place_of_another_and_gives_it_back() {
    let (home, provider) = (Home::new(), ScriptedProvider::start([Behaviour::Vectors(300)]).unwrap());
    let engine = open(&home, None);
    add(&engine, "own", Some(OWN), &TEXTS);
    add(&engine, "other", Some(OTHER), &TEXTS);
    catch_up(&engine);
    let answers = |engine: &Engine| [QUESTION, CHINESE].map(|question| ask(engine, question).hits);
    let first = answers(&engine);
    assert!(!first[1].iter().any(is_similar), "the table does not know Chinese");
    assert_eq!((coverage(&home), provider.requests().len()), (vec![by_table(6)], 0));
    drop(engine);
    let engine = open(&home, embedder(&provider, "m"));
    assert_eq!(answers(&engine), first, "the table answers until its vectors are replaced");
    assert_eq!(provider.requests().len(), 0, "no vector of the model is there");
    assert!(notes(&engine).contains("3 passages wait for the embedder `openai/m`"));
    catch_up(&engine);
    assert_eq!(coverage(&home), [by_table(3), ("openai/m".to_owned(), 4)]);
    let [english, chinese] = answers(&engine);
    assert!(chinese.iter().any(|hit| is_similar(hit) && hit.session.as_str() == "own"));
    assert!(!chinese.iter().any(|hit| is_similar(hit) && hit.session.as_str() == "other"));
    assert!(english.iter().any(|hit| is_similar(hit) && hit.session.as_str() == "other"), "by the table");
    assert!(notes(&engine).contains("3 by `all-MiniLM"));
    drop(engine);
    // Without the settings, the vectors of the model are passed over, and a search says so.
    let engine = open(&home, None);
    let cut = ask(&engine, QUESTION).cut.unwrap().to_string();
    assert!(cut.contains("`openai/m`") && cut.contains("no embedder"), "{cut}");
    drop(engine);
    let other = ScriptedProvider::start([Behaviour::Vectors(64)]).unwrap();
    let engine = open(&home, embedder(&other, "n"));
    assert!(ask(&engine, QUESTION).cut.is_some());
    catch_up(&engine);
    assert_eq!(coverage(&home), [by_table(3), ("openai/n".to_owned(), 4)]);
    assert!(ask(&engine, QUESTION).cut.is_none());
    drop(engine);
    let engine = open(&home, None);
    catch_up(&engine);
    assert_eq!(coverage(&home), [by_table(6)]);
    assert_eq!(answers(&engine), first);
    assert_eq!(notes(&engine), "");
}

#[test]
fn a_run_that_ends_early_loses_a_piece_and_sends_nothing_twice() {
    const MANY: usize = 2_500;
    let home = Home::new();
    let texts: Vec<String> = (0..MANY).map(|at| format!("A note about seedling number{at}x.")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let script = std::iter::repeat_n(Behaviour::Vectors(64), 40).chain([Behaviour::Status(500, None)]);
    let provider = ScriptedProvider::start(script).unwrap();
    let own = embedder(&provider, "m");
    let engine = open(&home, own.clone());
    add(&engine, "own", Some(OWN), &texts);
    add(&engine, "other", Some(OTHER), &TEXTS);
    catch_up(&engine);
    assert_eq!(own.unwrap().failure().unwrap().to_string(), "it failed with status 500");
    let found = coverage(&home);
    let [(_, table), (label, made)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((label.as_str(), table + made), ("openai/m", MANY + 3));
    // A piece has 1,024 events, and forty calls have 1,280 texts.
    assert!((256..=1_280).contains(made), "{made}");
    let waiting = wunderblock_core::stub::grouped((MANY - made) as u64);
    assert!(notes(&engine).contains(&format!("{waiting} passages wait for it")));
    drop(engine);
    let provider = ScriptedProvider::start([Behaviour::Vectors(64)]).unwrap();
    let engine = open(&home, embedder(&provider, "m"));
    catch_up(&engine);
    assert_eq!(coverage(&home), [by_table(3), ("openai/m".to_owned(), MANY)]);
    let sent = |text: &str| -> usize {
        let requests = provider.requests();
        requests.iter().map(|one| memchr::memmem::find_iter(&one.body, text).count()).sum()
    };
    assert_eq!(sent("seedling"), MANY - made, "only what was not embedded");
    assert!(ask(&engine, "a note about seedling number7x").hits.iter().any(is_similar));
    assert!(!notes(&engine).contains("wait"));
}

/// Behaviours of a model that cannot be used, and a part of the reason that is told.
fn failures() -> Vec<(Behaviour, &'static str)> {
    let numbers =
        |numbers: &str| Behaviour::Raw(format!(r#"{{"data":[{{"index":0,"embedding":[{numbers}]}}]}}"#));
    let long = format!("{}1", "1,".repeat(5 << 20));
    vec![
        (Behaviour::Hang, "too long"),
        (Behaviour::Status(401, None), "does not let us in"),
        (Behaviour::Status(404, None), "it refused"),
        (Behaviour::Status(503, None), "status 503"),
        (Behaviour::Overflow, "more than it takes"),
        (Behaviour::MalformedJson, "answer is broken"),
        (Behaviour::WrongContentType, "answer is broken"),
        (Behaviour::Raw(String::new()), "answer is broken"),
        (Behaviour::Raw(r#"{"data":[]}"#.to_owned()), "it has 0 vectors for"),
        (Behaviour::Raw(r#"{"data":[{"index":1,"embedding":[1.0]}]}"#.to_owned()), "it has 0 vectors for"),
        (numbers(""), "0 dimensions"),
        (numbers("0.0, 0.0"), "zero, infinite or not a number"),
        (numbers("1e39, 1.0"), "zero, infinite or not a number"),
        (numbers("NaN, 1.0"), "answer is broken"),
        (numbers("null, 1.0"), "answer is broken"),
        (numbers(&long), "more than 8,388,608 bytes"),
    ]
}

#[test]
fn a_model_that_fails_leaves_the_vectors_of_the_table() {
    for (behaviour, why) in failures() {
        let (home, what) = (Home::new(), format!("{:.80}", format!("{behaviour:?}")));
        let provider = ScriptedProvider::start([behaviour.clone()]).unwrap();
        let engine = open(&home, failing(&provider, &behaviour));
        add(&engine, "own", Some(OWN), &TEXTS);
        catch_up(&engine);
        catch_up(&engine);
        assert_eq!(provider.requests().len(), 1, "{what}: not called again for a minute");
        assert_eq!(coverage(&home), [by_table(3)], "{what}");
        let found = ask(&engine, QUESTION);
        assert!(found.hits[0].snippet.contains("kitten") && is_similar(&found.hits[0]), "{what}");
        let notes = notes(&engine);
        assert!(notes.contains(why) && notes.contains("3 passages wait for it"), "{what}: {notes}");
        assert!(!notes.contains(KEY), "{what}");
    }
}

#[test]
fn a_search_whose_question_has_no_vector_says_why() {
    let good = ScriptedProvider::start([Behaviour::Vectors(48)]).unwrap();
    let home = Home::new();
    let engine = open(&home, embedder(&good, "m"));
    add(&engine, "own", Some(OWN), &TEXTS);
    add(&engine, "other", Some(OTHER), &TEXTS);
    catch_up(&engine);
    assert!(ask(&engine, QUESTION).cut.is_none());
    drop(engine);
    let other = (Behaviour::Vectors(47), "a vector of 47 dimensions, where 48 are expected");
    for (behaviour, why) in failures().into_iter().chain([other]) {
        let what = format!("{:.80}", format!("{behaviour:?}"));
        let provider = ScriptedProvider::start([behaviour.clone()]).unwrap();
        let engine = open(&home, failing(&provider, &behaviour));
        let why = if why == "0 dimensions" { "a vector of 0 dimensions" } else { why };
        let why = if why.starts_with("zero") { "where 48 are expected" } else { why };
        for question in [QUESTION, "what stopped the compiler"] {
            let found = ask(&engine, question);
            let cut = found.cut.map(|cut| cut.to_string()).unwrap_or_default();
            assert!(cut.contains("`openai/m`") && cut.contains(why), "{what}: {cut}");
            let similar = found.hits.iter().find(|hit| is_similar(hit)).unwrap();
            assert_eq!(similar.session.as_str(), "other", "{what}: the table answers");
        }
        assert_eq!(provider.requests().len(), 1, "{what}: not called again for a minute");
    }
    // A model that is not there at all.
    let gone = embedder(&ScriptedProvider::start([Behaviour::Empty]).unwrap(), "m");
    let cut = ask(&open(&home, gone), QUESTION).cut.unwrap().to_string();
    assert!(cut.contains("it could not be reached"), "{cut}");
}

#[test]
fn a_vector_of_another_model_is_erased_with_its_text() {
    let (home, provider) = (Home::new(), ScriptedProvider::start([Behaviour::Vectors(64)]).unwrap());
    let engine = open(&home, embedder(&provider, "m"));
    add(&engine, "own", Some(OWN), &["Agent Meadowlark meets the courier.", "The bakery opens at seven."]);
    catch_up(&engine);
    let db = Connection::open(home.db()).unwrap();
    let [header] = &headers(&home)[..] else { panic!() };
    let sql = "SELECT data FROM index_blocks JOIN index_segments USING (segment) WHERE what = 2";
    let block = db.query_row(sql, [], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    drop(db);
    let vectors = header.read(0, &block).unwrap();
    let [gone, stays] = [&vectors[..64], &vectors[64..]];
    let holds = |vector: &[u8]| {
        std::fs::read_dir(home.folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            vector.chunks(32).any(|part| memchr::memmem::find(&bytes, part).is_some())
        })
    };
    assert!(holds(gone) && holds(stays));
    block_on(session(&engine, "own").erase(Seq(2), Seq(2), None)).unwrap();
    drop(engine);
    assert!(!holds(gone) && holds(stays));
    let engine = open(&home, embedder(&provider, "m"));
    let before = provider.requests().len();
    catch_up(&engine);
    assert_eq!(provider.requests().len(), before);
    assert_eq!(coverage(&home), [("openai/m".to_owned(), 1)]);
    assert!(notes(&engine).contains("1 by `openai/m`"));
}

#[test]
fn a_stated_number_of_dimensions_is_asked_for_and_held() {
    let (home, provider) = (Home::new(), ScriptedProvider::start([Behaviour::Vectors(64)]).unwrap());
    let with = |dimensions| {
        let endpoint = Endpoint {
            base_url: provider.url(Dialect::OpenaiChat),
            ..Endpoint::new(Dialect::OpenaiChat, None)
        };
        let model =
            EmbeddingModel { api: EmbeddingApi::Openai, name: "m".to_owned(), dimensions: Some(dimensions) };
        let redactor = Arc::new(Redactor::embedded());
        chosen(HttpEmbedder::new(&endpoint, model, HttpEmbedder::limits(LONG), redactor).unwrap())
    };
    let engine = open(&home, with(64));
    add(&engine, "own", Some(OWN), &TEXTS);
    catch_up(&engine);
    assert_eq!(coverage(&home), [("openai/m".to_owned(), 4)]);
    assert!(provider.requests().iter().all(|request| request.says(r#""dimensions":64"#)));
    drop(engine);
    // Vectors of another number are not comparable: they would be made again, but the model does not keep its word.
    let engine = open(&home, with(32));
    catch_up(&engine);
    assert!(ask(&engine, QUESTION).cut.is_some());
    assert!(notes(&engine).contains("a vector of 64 dimensions, where 32 are expected"));
    assert_eq!(headers(&home)[0].dimensions(), 64);
}
