//! Nothing of another project or user is known to an engine with a reach, and a project is its repository.

use crate::scene::{Home, append, config, event, import, said, session, stream};
use futures_executor::block_on;
use std::fs::{create_dir_all, rename, write};
use std::ops::ControlFlow;
use std::path::Path;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{Reach, ScopeLimit, StreamFilter};
use wunderblock::summary_graph::Expand;
use wunderblock::{
    Address, Config, Engine, Error, GrepOptions, ReachChoice, SearchIn, SearchOptions, SearchOrder, Slice,
    latest_session, reach_at,
};
use wunderblock_core::event::{Fact, NewEvent, SessionOpened};
use wunderblock_core::id::{Handle, Scope, TenantId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Seq, Tokens};

/// Opens a session in a folder, with words.
fn open(engine: &Engine, id: &str, cwd: &Path, words: &[&str]) {
    let cwd = Some(cwd.to_string_lossy().as_ref().into());
    let opened = SessionOpened { cwd, ..SessionOpened::default() };
    let words = words.iter().enumerate().map(|(at, text)| said(&format!("{id}{at}"), Role::User, text));
    let opening = event(&format!("{id}-open"), Fact::SessionOpened(opened));
    append(engine, id, std::iter::once(opening).chain(words).collect::<Vec<NewEvent>>());
}

fn repository(home: &Home, folder: &str, remote: Option<&str>) -> std::path::PathBuf {
    let git = home.path(folder).join(".git");
    create_dir_all(&git).unwrap();
    let remote = remote.map(|url| format!("[remote \"origin\"]\nurl = {url}\n")).unwrap_or_default();
    write(git.join("config"), remote).unwrap();
    dunce::canonicalize(home.path(folder)).unwrap()
}

fn project(engine: &Engine, id: &str) -> String {
    block_on(session(engine, id).info()).unwrap().scope.project.unwrap_or_default()
}

fn own(engine: &Engine, folder: &Path) -> Engine {
    engine.reaching(block_on(reach_at(engine, folder, ReachChoice::Own)).unwrap())
}

fn ids(engine: &Engine) -> Vec<String> {
    let all = block_on(engine.listed(StreamFilter::default(), 99)).unwrap();
    let mut ids: Vec<String> = all.into_iter().map(|info| info.id.to_string()).collect();
    ids.sort();
    ids
}

fn of_user(home: &Home, user: &str) -> Engine {
    let config = Config { user: Some(user.to_owned()), ..config() };
    block_on(Engine::open_with(home.db(), Access::Create, config)).unwrap()
}

#[test]
fn outside_a_reach_nothing_is_known() {
    let home = Home::new();
    let (garden, pond) = (repository(&home, "garden", None), repository(&home, "pond", None));
    let long = "the same long text in two projects ".repeat(40);
    let secret = "a long text of the pond alone ".repeat(40);
    let whole = home.engine();
    open(&whole, "mine", &garden, &["zinnias of the garden", &long]);
    open(&whole, "theirs", &pond, &["zinnias of the pond", &long, &secret]);
    let seen = own(&whole, &garden);
    let info = |id: &str| block_on(session(&whole, id).info()).unwrap();
    let body = |text: &str| {
        let found = block_on(session(&whole, "theirs").events(Seq(1), Seq(9), 9, Bytes(1 << 20))).unwrap();
        let mut bodies = found.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies);
        let of = |body: &&wunderblock_core::message::Body| body.bytes().0 == text.len() as u64;
        bodies.find(of).and_then(wunderblock_core::message::Body::handle).unwrap()
    };
    let (shared, hidden) = (body(&long), body(&secret));
    let read = |engine: &Engine, handle| {
        block_on(engine.recall().read(Address { handle, range: None }, &Slice::All))
            .map(|content| content.bytes)
    };
    // A body that both hold is read, and names only its own holder; one that only the other holds is unknown.
    assert_eq!(read(&seen, shared).unwrap(), long.as_bytes());
    assert_eq!(read(&whole, hidden).unwrap(), secret.as_bytes());
    for (handle, never) in [(hidden, Handle(hidden.0 ^ 1)), (info("theirs").handle, Handle(1))] {
        let text = |handle: Handle| {
            let error = read(&seen, handle).unwrap_err();
            assert!(matches!(error, Error::NoHandle(_)), "{error:?}");
            error.to_string().replace(&handle.to_string(), "H")
        };
        assert_eq!(text(handle), text(never));
        let short = |handle: Handle| {
            let error = block_on(Address::find(&seen, &handle.short())).unwrap_err();
            error.to_string().replace(&handle.short(), "H")
        };
        assert_eq!(short(handle), short(never));
        let address = Address { handle, range: None };
        assert!(block_on(seen.recall().expand(address, &Expand::default())).is_err());
        assert!(block_on(seen.recall().describe(address)).is_err());
    }
    assert_eq!(ids(&seen), ["mine"]);
    for text in ["theirs", "their"] {
        let unknown = block_on(seen.find_session(text)).unwrap_err().to_string().replace(text, "X");
        let never = block_on(seen.find_session("never")).unwrap_err().to_string().replace("never", "X");
        assert_eq!(unknown, never);
    }
    let options = SearchOptions::default();
    for (engine, expected) in [(&whole, vec!["mine", "theirs"]), (&seen, vec!["mine"])] {
        let found = block_on(engine.recall().search("zinnias", &options)).unwrap();
        let mut sessions: Vec<&str> = found.hits.iter().map(|hit| hit.session.as_str()).collect();
        sessions.sort_unstable();
        assert_eq!(sessions, expected);
        let mut sessions = Vec::new();
        let mut take = |found: wunderblock::Match| {
            sessions.push(found.session.to_string());
            ControlFlow::Continue(())
        };
        block_on(engine.recall().grep("zinnias", &GrepOptions::default(), &mut take)).unwrap();
        sessions.sort_unstable();
        assert_eq!(sessions, expected);
    }
    let named = SearchOptions { session: Some(stream("theirs")), ..SearchOptions::default() };
    assert!(matches!(block_on(seen.recall().search("zinnias", &named)), Err(Error::NoSession(_))));
    // A handle that sees less cannot see more again.
    let wider = seen.reaching(Reach::tenant());
    assert_eq!(ids(&wider), ["mine"]);
    let other = seen.reaching(Reach::tenant().and(ScopeLimit::Project(Some(pond.to_string_lossy().into()))));
    assert_eq!(ids(&other), [""; 0]);
}

/// Returns the sessions and documents that a search and an exact search find, with all options as they are given.
fn found(engine: &Engine, query: &str, options: &SearchOptions) -> Result<Vec<String>, Error> {
    let hits = block_on(engine.recall().search(query, options))?.hits;
    let mut found: Vec<String> = hits.iter().map(|hit| hit.session.to_string()).collect();
    let mut take = |hit: wunderblock::Match| {
        found.push(hit.session.to_string());
        ControlFlow::Continue(())
    };
    let SearchOptions { session, sessions, within, .. } = options.clone();
    let exact = GrepOptions { session, sessions, within, ..GrepOptions::default() };
    block_on(engine.recall().grep(query, &exact, &mut take))?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// C-31: what an agent was granted is a reach, a budget, and nothing else: "all" is all in reach, and a grant that ends
/// has ended for every engine that holds it.
#[test]
fn all_is_all_in_reach_and_a_grant_that_ends_has_ended() {
    let home = Home::new();
    let (garden, pond) = (repository(&home, "garden", None), repository(&home, "pond", None));
    let whole = home.engine();
    let texts: Vec<String> =
        (0..9).map(|bed| format!("zinnias in bed {bed}, {}", "and so on ".repeat(9))).collect();
    open(&whole, "mine", &garden, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    open(&whole, "theirs", &pond, &["zinnias of the pond"]);
    let file = pond.join("notes.md");
    write(&file, "# Notes\n\nThe zinnias of the notes.\n").unwrap();
    let scope = Scope { project: Some(pond.to_string_lossy().into()), ..Scope::default() };
    block_on(whole.documents().index(std::slice::from_ref(&file), &scope, &mut |_| {})).unwrap();
    block_on(whole.maintenance().catch_up(&mut |_| {})).unwrap();
    let all = SearchOptions { limit: usize::MAX, ..SearchOptions::default() };
    let notes =
        found(&whole, "zinnias", &SearchOptions { within: SearchIn::Documents, ..all.clone() }).unwrap();
    assert_eq!(found(&whole, "zinnias", &all).unwrap().len(), 3, "a control: {notes:?}");
    let seen = own(&whole, &garden);
    let of = |sessions| SearchOptions { sessions, ..all.clone() };
    let projects = vec![pond.to_string_lossy().into_owned(), garden.to_string_lossy().into_owned()];
    for options in [
        all.clone(),
        of(StreamFilter { projects, ..StreamFilter::default() }),
        SearchOptions { order: SearchOrder::Newest, ..all.clone() },
        SearchOptions { tokens: Some(Tokens(1 << 20)), ..all.clone() },
        SearchOptions { free_text: true, meaning: false, ..all.clone() },
    ] {
        assert_eq!(found(&seen, "zinnias", &options).unwrap(), ["mine"], "{options:?}");
    }
    let theirs = StreamFilter { projects: vec![pond.to_string_lossy().into()], ..StreamFilter::default() };
    for options in [of(theirs), SearchOptions { within: SearchIn::Documents, ..all.clone() }] {
        assert_eq!(found(&seen, "zinnias", &options).unwrap(), [""; 0], "{options:?}");
    }
    for id in ["theirs", notes[0].as_str()] {
        let session = SearchOptions { session: Some(stream(id)), ..all.clone() };
        assert!(matches!(found(&seen, "zinnias", &session), Err(Error::NoSession(_))), "{id}");
        let except = SearchOptions { except: Some(stream(id)), ..all.clone() };
        assert!(!found(&seen, "zinnias", &except).is_ok_and(|found| found != ["mine"]), "{id}");
    }
    assert!(matches!(block_on(seen.documents().at(&file)), Err(Error::NoDocument(_))));
    // Its budget.
    let tokens = SearchOptions { tokens: Some(Tokens(70)), ..all.clone() };
    let few = block_on(seen.recall().search("zinnias", &tokens)).unwrap().hits;
    assert!((1..4).contains(&few.len()), "{few:?}");
    // Its end: the folder becomes another project, or the text is erased.
    block_on(session(&whole, "mine").erase(Seq(2), Seq(2), None)).unwrap();
    let bed = |engine: &Engine| {
        found(engine, "\"bed 0\"", &SearchOptions { within: SearchIn::Sessions, ..all.clone() })
    };
    assert_eq!(bed(&seen).unwrap(), [""; 0]);
    repository(&home, "garden", Some("host.example:ann/garden"));
    assert_eq!(found(&own(&whole, &garden), "zinnias", &all).unwrap(), ["mine"], "a control");
    assert_eq!(found(&seen, "zinnias", &all).unwrap(), [""; 0]);
}

#[test]
fn ninety_nine_other_tenants_and_projects_change_no_ranking() {
    let (alone, crowded) = (Home::new(), Home::new());
    let garden = repository(&alone, "garden", None);
    let words = ["zinnias need water", "water the roses, the roses", "zinnias and roses", "nothing of that"];
    let fill = |engine: &Engine| {
        for (at, text) in words.iter().enumerate() {
            open(engine, &format!("s{at}"), &garden, &[text, "zinnias"]);
        }
    };
    fill(&alone.engine());
    for number in 0..99 {
        let tenant = TenantId::new(format!("tenant {number}")).unwrap();
        let engine =
            block_on(Engine::open_with(crowded.db(), Access::Create, Config { tenant, ..config() })).unwrap();
        open(&engine, "s1", &garden, &["zinnias zinnias zinnias", "roses", "water"]);
    }
    fill(&crowded.engine());
    for number in 0..40 {
        let other = repository(&crowded, &format!("other{number}"), None);
        open(&crowded.engine(), &format!("o{number}"), &other, &["zinnias zinnias", "water roses"]);
        open(&of_user(&crowded, "bob"), &format!("b{number}"), &garden, &["roses roses", "water"]);
    }
    let ranked = |home: &Home, is_indexed: bool| {
        let engine = home.engine();
        if is_indexed {
            block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
        }
        let seen = own(&engine, &garden);
        let mut all = Vec::new();
        for (query, order) in [
            ("zinnias water", SearchOrder::Ranked),
            ("roses", SearchOrder::Ranked),
            ("zinnias", SearchOrder::Newest),
        ] {
            let options = SearchOptions { order, limit: 99, ..SearchOptions::default() };
            let found = block_on(seen.recall().search(query, &options)).unwrap();
            all.extend(
                found.hits.into_iter().map(|hit| (hit.session.to_string(), hit.seq, hit.score, hit.strength)),
            );
        }
        all
    };
    for is_indexed in [false, true] {
        let expected = ranked(&alone, is_indexed);
        assert!(expected.len() > 6);
        assert_eq!(ranked(&crowded, is_indexed), expected, "indexed: {is_indexed}");
    }
}

#[test]
fn a_session_belongs_to_the_repository_of_its_folder() {
    let home = Home::new();
    let engine = home.engine();
    let garden = repository(&home, "garden", Some("git@host.example:ann/garden.git"));
    let copy = repository(&home, "copy", Some("https://host.example/ann/garden"));
    let inner = repository(&home, "garden/inner", None);
    create_dir_all(garden.join("src")).unwrap();
    create_dir_all(home.path("plain/sub")).unwrap();
    let plain = dunce::canonicalize(home.path("plain")).unwrap();
    open(&engine, "root", &garden, &["a"]);
    open(&engine, "src", &garden.join("src"), &["b"]);
    open(&engine, "copy", &copy, &["c"]);
    open(&engine, "inner", &inner, &["d"]);
    open(&engine, "plain", &plain, &["e"]);
    open(&engine, "sub", &plain.join("sub"), &["f"]);
    open(&engine, "gone", Path::new("/nowhere/at/all"), &["g"]);
    for id in ["root", "src", "copy"] {
        assert_eq!(project(&engine, id), "host.example/ann/garden", "{id}");
    }
    assert_eq!(project(&engine, "inner"), inner.to_string_lossy());
    assert_eq!(project(&engine, "sub"), plain.join("sub").to_string_lossy());
    assert_eq!(project(&engine, "gone"), "/nowhere/at/all");
    assert_eq!(ids(&own(&engine, &copy)), ["copy", "root", "src"]);
    assert_eq!(ids(&own(&engine, &inner)), ["inner"]);
    assert_eq!(ids(&own(&engine, &plain)), ["plain"]);
    assert_eq!(
        block_on(latest_session(&engine, &garden.join("src"))).unwrap().unwrap().id().as_str(),
        "copy"
    );
    // A project that a caller names is its own, also for a folder with a repository.
    let scope = Scope { project: Some("web".to_owned()), ..Scope::default() };
    let cwd = Some(garden.to_string_lossy().as_ref().into());
    let opened = SessionOpened { scope, cwd, ..SessionOpened::default() };
    append(&engine, "web", vec![event("w", Fact::SessionOpened(opened)), said("w1", Role::User, "h")]);
    assert_eq!(project(&engine, "web"), "web");
    assert_eq!(ids(&own(&engine, &garden)), ["copy", "root", "src"]);
    // The session that an engine opens without saying where belongs to the folder in which the program works.
    let config = Config { cwd: Some(copy.clone()), ..config() };
    let working = block_on(Engine::open_with(home.db(), Access::Write, config)).unwrap();
    append(&working, "here", vec![said("x", Role::User, "i")]);
    append(&engine, "nowhere", vec![said("y", Role::User, "j")]);
    assert_eq!(
        (project(&engine, "here").as_str(), project(&engine, "nowhere").as_str()),
        ("host.example/ann/garden", "")
    );
}

#[test]
fn a_repository_that_changes_takes_its_sessions_along() {
    let home = Home::new();
    let engine = home.engine();
    create_dir_all(home.path("garden")).unwrap();
    let garden = dunce::canonicalize(home.path("garden")).unwrap();
    open(&engine, "1", &garden, &["a folder"]);
    assert_eq!(project(&engine, "1"), garden.to_string_lossy());
    // The folder becomes a repository, then gets a remote, then another one.
    repository(&home, "garden", None);
    for (number, remote) in [(2, "host.example:ann/garden"), (3, "https://host.example/bob/garden.git")] {
        repository(&home, "garden", Some(remote));
        let seen = own(&engine, &garden);
        assert_eq!(ids(&seen).len(), number - 1, "found at the door: {remote}");
        open(&engine, &number.to_string(), &garden, &["more"]);
        let name = remote.replace("https://", "").replace(':', "/").replace(".git", "");
        for id in 1..=number {
            assert_eq!(project(&engine, &id.to_string()), name);
        }
    }
    // A clone that is made later is the same project, and a repository that is moved with its remote stays it.
    let clone = repository(&home, "clone", Some("ssh://git@host.example/bob/garden"));
    open(&engine, "4", &clone, &["from the clone"]);
    rename(&garden, home.path("moved")).unwrap();
    let moved = dunce::canonicalize(home.path("moved")).unwrap();
    open(&engine, "5", &moved, &["from the new place"]);
    assert_eq!(ids(&own(&engine, &moved)), ["1", "2", "3", "4", "5"]);
    // What is gone corrects nothing.
    assert_eq!(ids(&own(&engine, &garden)), [""; 0]);
    assert_eq!(project(&engine, "1"), "host.example/bob/garden");
    // Without a remote, a moved repository is another project, and the earlier sessions are found by their old path.
    let pond = repository(&home, "pond", None);
    open(&engine, "6", &pond, &["before"]);
    rename(&pond, home.path("lake")).unwrap();
    let lake = dunce::canonicalize(home.path("lake")).unwrap();
    open(&engine, "7", &lake, &["after"]);
    assert_eq!(ids(&own(&engine, &lake)), ["7"]);
    let places = vec![pond.to_string_lossy().into_owned()];
    let found = block_on(engine.listed(StreamFilter { places, ..StreamFilter::default() }, 9)).unwrap();
    assert_eq!(found[0].id.as_str(), "6");
}

#[test]
fn a_user_sees_only_what_is_the_users_own() {
    let home = Home::new();
    let garden = repository(&home, "garden", None);
    for user in ["ann", "anna", "an"] {
        open(&of_user(&home, user), user, &garden, &["words"]);
    }
    open(&home.engine(), "nobody", &garden, &["words"]);
    for user in ["ann", "anna", "an"] {
        let engine = of_user(&home, user);
        assert_eq!(ids(&own(&engine, &garden)), [user]);
        let project = block_on(reach_at(&engine, &garden, ReachChoice::Project)).unwrap();
        assert_eq!(ids(&engine.reaching(project)), ["an", "ann", "anna", "nobody"]);
    }
    assert_eq!(ids(&own(&home.engine(), &garden)), ["nobody"]);
    assert_eq!(ids(&own(&of_user(&home, "Ann"), &garden)), [""; 0]);
}

/// The sessions of a file: a session, its branch after a rewind, and a sub-agent without a folder of its own.
#[test]
fn branches_and_sub_agents_belong_to_their_session() {
    let home = Home::new();
    let garden = repository(&home, "garden", Some("host.example:garden"));
    let line = |id: &str, parent: &str, extra: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"parentUuid\":{parent},\"uuid\":\"{id}\",\"sessionId\":\"s\",\"cwd\":\"{}\",\"type\":\"user\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}{extra}}}\n",
            garden.display()
        )
    };
    let lines = [line("a", "", ""), line("b", "a", ""), line("c", "b", ""), line("d", "a", "")].concat();
    let engine = of_user(&home, "ann");
    import(&engine, &home.file("s.jsonl", lines));
    let scope = |id: &str| {
        block_on(engine.listed(StreamFilter { prefix: id.into(), ..StreamFilter::default() }, 9))
            .unwrap()
            .into_iter()
            .find(|info| info.id.as_str() == id)
            .map(|info| info.scope)
            .unwrap_or_else(|| panic!("{id}: {:?}", ids(&engine)))
    };
    let main = scope("s");
    assert_eq!(
        (main.user.as_deref(), main.project.as_deref(), main.session),
        (Some("ann"), Some("host.example/garden"), None)
    );
    let branch = scope("s~2");
    assert_eq!(
        (branch.user.as_deref(), branch.project.as_deref()),
        (Some("ann"), Some("host.example/garden"))
    );
    assert_eq!(branch.session.as_deref(), Some("s"));
    let child = SessionOpened { parent: Some(stream("s~2")), ..SessionOpened::default() };
    append(&engine, "child", vec![event("o", Fact::SessionOpened(child)), said("x", Role::User, "work")]);
    let child = scope("child");
    assert_eq!(
        (child.project.as_deref(), child.session.as_deref()),
        (Some("host.example/garden"), Some("s"))
    );
    let all = StreamFilter { session: Some(stream("s")), ..StreamFilter::default() };
    assert_eq!(block_on(engine.listed(all, 9)).unwrap().len(), 3);
}
