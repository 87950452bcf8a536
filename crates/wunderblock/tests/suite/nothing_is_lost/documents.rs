//! Documents that a person adds: found and cited beside sessions, brought up to date, removed, and erased.

use crate::scene::*;
use futures_executor::block_on;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use wunderblock::store::StreamFilter;
use wunderblock::{
    Address, Engine, Error, GrepOptions, IndexedDocuments, Ledger, SearchHit, SearchIn, SearchOptions,
    TextFound,
};
use wunderblock_core::id::Scope;
use wunderblock_core::message::Role;

/// Writes a file that was last modified a number of minutes ago.
fn write(path: &Path, minutes: u64, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
}

fn scope(project: &str) -> Scope {
    Scope { project: Some(project.to_owned()), ..Scope::default() }
}

fn index_in(engine: &Engine, project: &str, path: &Path) -> IndexedDocuments {
    let (paths, scope) = ([path.to_owned()], scope(project));
    block_on(engine.documents().index(&paths, &scope, &mut |_| {})).unwrap_or_else(|error| panic!("{error}"))
}

/// Indexes a path. Returns the numbers of new, changed, unchanged, removed and erased documents.
fn index(engine: &Engine, path: &Path) -> [u64; 5] {
    let done = index_in(engine, "/garden", path);
    assert!(done.problems.is_empty(), "{done:?}");
    [done.new, done.changed, done.unchanged, done.removed, done.erased]
}

fn search(engine: &Engine, query: &str, options: &SearchOptions) -> Vec<SearchHit> {
    block_on(engine.recall().search(query, options)).unwrap().hits
}

/// Returns the places of the documents that have some words: the file's name, headings, lines.
fn places(engine: &Engine, query: &str) -> Vec<String> {
    let options = SearchOptions { within: SearchIn::Documents, ..SearchOptions::default() };
    let place = |hit: SearchHit| {
        let document = hit.document.unwrap();
        let name = document.name().rsplit('/').next().unwrap().to_owned();
        document.heading.map_or(name.clone(), |heading| format!("{name} {heading}"))
    };
    let mut found: Vec<String> = search(engine, query, &options).into_iter().map(place).collect();
    found.sort();
    found
}

fn read(engine: &Engine, address: &str) -> String {
    let (address, slice) = block_on(Address::find(engine, address)).unwrap();
    String::from_utf8(block_on(engine.recall().read(address, &slice)).unwrap().bytes).unwrap()
}

fn problems(engine: &Engine) -> Vec<String> {
    let found = block_on(engine.ledger().doctor(&mut |_| {})).unwrap();
    found.problems.into_iter().map(|problem| format!("{}: {}", problem.rule, problem.detail)).collect()
}

fn catch_up(engine: &Engine) {
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
}

const GUIDE: &str = "# Pump\n\nThe pump lifts water.\n\n## Care\n\nOil the bearings\nevery kestrel season.\n\n\
                     ## Repair\n\nReplace the gasket.\n";

/// A folder of documents, resolved.
fn folder(home: &Home) -> PathBuf {
    let root = home.folder.path().canonicalize().unwrap().join("docs");
    write(&root.join("guide.md"), 90, GUIDE);
    write(&root.join("notes/plan.txt"), 80, "kestrel\n\nthe plan for spring");
    write(
        &root.join("page.html"),
        70,
        "<html><title>Hose</title><main><h1>Hose</h1><p>A kestrel hose.</main></html>",
    );
    write(&root.join("photo.png"), 60, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    root
}

#[test]
fn sections_are_found_cited_and_read_back() {
    for is_indexed in [false, true] {
        let home = Home::new();
        let (engine, docs) = (home.engine(), folder(&home));
        append(&engine, "s", vec![said("1", Role::User, "did the kestrel come?")]);
        let done = index_in(&engine, "/garden", &docs);
        assert_eq!((done.new, done.sections, done.skipped["png"]), (3, 5, 1));
        if is_indexed {
            catch_up(&engine);
        }
        let expected = ["guide.md:5-8 Pump › Care", "page.html Hose", "plan.txt:1-3"];
        assert_eq!(places(&engine, "kestrel"), expected, "indexed: {is_indexed}");
        let hits = search(&engine, "kestrel", &SearchOptions::default());
        assert_eq!(hits.len(), 4, "beside what was said");
        for hit in hits {
            let text = read(&engine, &hit.readable(&engine));
            match hit.document.as_ref().map(|document| document.path.rsplit('/').next().unwrap().to_owned()) {
                Some(name) if name == "guide.md" => {
                    assert_eq!(text, "## Care\n\nOil the bearings\nevery kestrel season.\n");
                }
                Some(name) if name == "page.html" => assert_eq!(text, "# Hose\n\nA kestrel hose."),
                Some(_) => assert_eq!(text, "kestrel\n\nthe plan for spring"),
                None => assert!(text.contains("did the kestrel come?")),
            }
        }
        // The headings above a section are found with it, and a file is found by its path.
        assert_eq!(places(&engine, "+pump +gasket"), ["guide.md:10-12 Pump › Repair"]);
        assert_eq!(places(&engine, "\"oil the bearings\""), ["guide.md:5-8 Pump › Care"]);
        let mut options = SearchOptions::default();
        options.events.path = Some("docs/notes".into());
        let below = docs.join("notes").to_str().unwrap().to_owned();
        options.events.path = Some(below.into());
        assert_eq!(search(&engine, "kestrel", &options).len(), 1);
        // A document has the time of its file.
        let hit = &search(&engine, "gasket", &SearchOptions::default())[0];
        let age =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64 - hit.at.0;
        assert!((85..95).contains(&(age / 60_000)), "{age}");
        assert_eq!(problems(&engine), [""; 0]);
    }
}

#[test]
fn what_changed_is_read_again_and_only_the_latest_version_is_found() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    assert_eq!(index(&engine, &docs), [3, 0, 0, 0, 0]);
    let old = search(&engine, "gasket", &SearchOptions::default())[0].readable(&engine);
    assert_eq!(index(&engine, &docs), [0, 0, 3, 0, 0]);
    // A file that was only touched is as it was.
    write(&docs.join("guide.md"), 50, GUIDE);
    assert_eq!(index(&engine, &docs), [0, 0, 3, 0, 0]);
    write(&docs.join("guide.md"), 40, GUIDE.replace("gasket", "washer"));
    std::fs::remove_file(docs.join("page.html")).unwrap();
    write(&docs.join("notes/plan.txt"), 40, "");
    write(&docs.join("new.md"), 40, "# New\n\nA kestrel again.\n");
    assert_eq!(index(&engine, &docs), [1, 1, 0, 2, 0]);
    for is_indexed in [false, true] {
        assert_eq!(places(&engine, "gasket"), [""; 0], "indexed: {is_indexed}");
        assert_eq!(places(&engine, "washer"), ["guide.md:10-12 Pump › Repair"]);
        assert_eq!(places(&engine, "kestrel"), ["guide.md:5-8 Pump › Care", "new.md:1-3 New"]);
        let everywhere = search(&engine, "gasket", &SearchOptions::default());
        assert_eq!(everywhere.len(), 0, "an earlier version is not found");
        catch_up(&engine);
    }
    assert_eq!(read(&engine, &old), "## Repair\n\nReplace the gasket.\n", "but it can be read");
    // The rebuilt index is the same.
    block_on(engine.maintenance().rebuild(&mut |_| {})).unwrap();
    assert_eq!(places(&engine, "kestrel"), ["guide.md:5-8 Pump › Care", "new.md:1-3 New"]);
    // What is ignored from now on is removed, and what comes back is new.
    write(&docs.join(".gitignore"), 30, "new.md\n");
    assert_eq!(index(&engine, &docs), [1, 0, 1, 1, 0]);
    std::fs::remove_file(docs.join(".gitignore")).unwrap();
    assert_eq!(index(&engine, &docs), [0, 1, 1, 1, 0]);
    assert_eq!(places(&engine, "again"), ["new.md:1-3 New"]);
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn a_moved_folder_is_other_documents_until_the_old_ones_are_removed() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    index(&engine, &docs);
    let moved = docs.with_file_name("moved");
    std::fs::rename(&docs, &moved).unwrap();
    let scope = scope("/garden");
    let gone = block_on(engine.documents().index(std::slice::from_ref(&docs), &scope, &mut |_| {}));
    assert!(
        matches!(gone, Err(Error::File { .. })),
        "a folder that is gone may be on a disk that comes back"
    );
    assert_eq!(index(&engine, &moved), [3, 0, 0, 0, 0]);
    assert_eq!(places(&engine, "bearings").len(), 2);
    let removed = block_on(engine.documents().unindex(&docs)).unwrap();
    assert_eq!(removed.len(), 3);
    assert_eq!(places(&engine, "bearings"), ["guide.md:5-8 Pump › Care"]);
    assert_eq!(block_on(engine.documents().unindex(&docs)).unwrap(), [], "once");
    let one = moved.join("guide.md");
    assert_eq!(block_on(engine.documents().unindex(&one)).unwrap().len(), 1);
    assert_eq!((places(&engine, "bearings").len(), places(&engine, "hose").len()), (0, 1));
    assert_eq!(index(&engine, &moved), [0, 1, 2, 0, 0], "adding them again finds them again");
    assert_eq!(places(&engine, "bearings").len(), 1);
    let unknown = block_on(engine.documents().unindex(&moved.join("guide")));
    assert!(matches!(unknown, Err(Error::NoDocument(_))));
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn a_document_is_never_taken_for_a_session() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    append(&engine, "s", vec![said("1", Role::User, "kestrel")]);
    index(&engine, &docs);
    catch_up(&engine);
    let document = search(&engine, "gasket", &SearchOptions::default())[0].session.clone();
    let ids = |streams: Vec<wunderblock::store::StreamInfo>| -> Vec<String> {
        streams.iter().map(|info| info.id.to_string()).collect()
    };
    assert_eq!(ids(block_on(engine.streams("", 99)).unwrap()), ["s"]);
    assert_eq!(ids(block_on(engine.streams("document-", 99)).unwrap()), [""; 0]);
    let project = StreamFilter { projects: vec!["/garden".to_owned()], ..StreamFilter::default() };
    assert_eq!(ids(block_on(engine.listed(project.clone(), 99)).unwrap()), [""; 0]);
    assert!(matches!(block_on(engine.find_session(document.as_str())), Err(Error::NoSession(_))));
    assert!(block_on(engine.session_by_id(document.clone()).info()).is_err());
    let sessions = SearchOptions { within: SearchIn::Sessions, ..SearchOptions::default() };
    assert_eq!(search(&engine, "kestrel", &sessions).len(), 1);
    let one = SearchOptions { session: Some(stream("s")), ..SearchOptions::default() };
    assert_eq!(search(&engine, "kestrel", &one).len(), 1);
    let filtered = SearchOptions { sessions: project, ..SearchOptions::default() };
    assert_eq!(search(&engine, "kestrel", &filtered).len(), 3, "documents of the project");
}

/// Returns the places of the lines with a text: names of files with lines, or sessions with positions.
fn lines(engine: &Engine, text: &str, options: &GrepOptions) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |hit: wunderblock::Match| {
        found.push(hit);
        std::ops::ControlFlow::Continue(())
    };
    block_on(engine.recall().grep(text, options, &mut note)).unwrap();
    let place = |hit: &wunderblock::Match| match &hit.document {
        Some(document) => {
            assert!(read(engine, &hit.readable(engine)).contains(&hit.text), "{hit:?}");
            format!("{}:{}", document.path.rsplit('/').next().unwrap(), hit.line)
        }
        None => format!("{}#{}", hit.session, hit.seq),
    };
    let mut places: Vec<String> = found.iter().map(place).collect();
    places.sort();
    places
}

#[test]
fn an_exact_search_finds_the_lines_of_current_documents() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    append(&engine, "s", vec![said("1", Role::User, "the kestrel of the session")]);
    index(&engine, &docs);
    let within = |within| GrepOptions { within, ..GrepOptions::default() };
    for is_indexed in [false, true] {
        if is_indexed {
            catch_up(&engine);
        }
        assert_eq!(
            lines(&engine, "kestrel", &GrepOptions::default()),
            ["guide.md:8", "page.html:3", "plan.txt:1", "s#2"]
        );
        assert_eq!(lines(&engine, "kestrel", &within(SearchIn::Sessions)), ["s#2"]);
        assert_eq!(lines(&engine, "every kestrel", &within(SearchIn::Documents)), ["guide.md:8"]);
        let one = GrepOptions { session: Some(stream("s")), ..GrepOptions::default() };
        assert_eq!(lines(&engine, "kestrel", &one), ["s#2"]);
        let role = wunderblock::store::EventFilter { role: Some(Role::User), ..Default::default() };
        assert_eq!(
            lines(&engine, "kestrel", &GrepOptions { events: role, ..within(SearchIn::Everything) }),
            ["s#2"]
        );
    }
    write(&docs.join("guide.md"), 5, GUIDE.replace("kestrel", "falcon"));
    std::fs::remove_file(docs.join("notes/plan.txt")).unwrap();
    index(&engine, &docs);
    assert_eq!(lines(&engine, "kestrel", &within(SearchIn::Documents)), ["page.html:3"]);
    assert_eq!(lines(&engine, "falcon", &GrepOptions::default()), ["guide.md:8"]);
}

#[test]
fn two_processes_that_index_the_same_files_agree() {
    let home = Home::new();
    let docs = home.folder.path().canonicalize().unwrap().join("docs");
    for number in 0..400 {
        write(&docs.join(format!("{number}.md")), 9, format!("# Note {number}\n\nThe kestrel {number}.\n"));
    }
    drop(home.engine());
    let gate = std::sync::Barrier::new(3);
    let one = || {
        let engine = home.engine();
        gate.wait();
        index_in(&engine, "/garden", &docs)
    };
    let done: Vec<IndexedDocuments> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for one in &done {
        assert_eq!((one.new + one.unchanged, &*one.problems), (400, &[][..]), "{one:?}");
    }
    assert_eq!(done.iter().map(|one| one.new).sum::<u64>(), 400);
    assert_eq!(problems(&home.engine()), [""; 0]);
}

#[test]
fn a_file_that_a_person_names_is_explained() {
    let home = Home::new();
    let engine = home.engine();
    let file = home.folder.path().canonicalize().unwrap().join("picture.md");
    write(&file, 1, b"\x89PNG\0\x01");
    let done = index_in(&engine, "/garden", &file);
    assert_eq!(done.problems.iter().map(|one| &*one.why).collect::<Vec<_>>(), ["is not text (md)"]);
    assert!(matches!(block_on(engine.documents().unindex(&file)), Err(Error::NoDocument(_))));
    assert!(matches!(block_on(engine.documents().erase(&file, None)), Err(Error::NoDocument(_))));
}

#[test]
fn the_same_file_in_two_projects_is_two_documents() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    let guide = docs.join("guide.md");
    assert_eq!(index_in(&engine, "/garden", &guide).new, 1);
    assert_eq!(index_in(&engine, "/gardens", &guide).new, 1);
    let of = |project: &str| {
        let sessions = StreamFilter { projects: vec![project.to_owned()], ..StreamFilter::default() };
        search(&engine, "gasket", &SearchOptions { sessions, ..SearchOptions::default() }).len()
    };
    assert_eq!((of("/garden"), of("/gardens"), of("/other")), (1, 1, 0));
    write(&guide, 30, "# Other\n");
    assert_eq!(index_in(&engine, "/garden", &guide).changed, 1);
    assert_eq!((of("/garden"), of("/gardens")), (0, 1));
    let known = block_on(engine.documents().at(&guide)).unwrap();
    let mut projects: Vec<_> = known.iter().map(|document| document.scope.project.clone().unwrap()).collect();
    projects.sort();
    assert_eq!(projects, ["/garden", "/gardens"]);
    assert_eq!(block_on(engine.documents().unindex(&guide)).unwrap().len(), 2);
}

/// Returns whether the ledger's files have a text.
fn holds(home: &Home, text: &str) -> bool {
    let files = std::fs::read_dir(home.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let ledger = files.filter(|path| path.is_file() && path.to_str().unwrap().contains("ledger.db"));
    let bytes: Vec<Vec<u8>> = ledger.map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!bytes.is_empty());
    bytes.iter().any(|bytes| memchr::memmem::find(bytes, text.as_bytes()).is_some())
}

#[test]
fn an_erased_text_is_gone_and_does_not_come_back_with_its_file() {
    // The words are too random to be compressed, so a scan of the bytes sees them.
    let (secret, other) = ("qVx7Zk3Jw9Lp2Rt5Yb8Nc4", "Ub6Hd1Gf0Sa3Ke7Mo5Qi9");
    let home = Home::new();
    let (engine, docs) = (home.engine(), home.folder.path().canonicalize().unwrap().join("docs"));
    let guide = format!("# A\n\n{other}\n\n# B\n\nkey {secret}\n");
    write(&docs.join("guide.md"), 90, &guide);
    write(
        &docs.join("page.html"),
        90,
        format!("<html><main><h1>{other}</h1><p>&#113;{}</main>", &secret[1..]),
    );
    let wide: Vec<u8> = format!("{secret}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(&docs.join("wide.txt"), 90, [b"\xff\xfe".as_slice(), &wide].concat());
    assert_eq!(index(&engine, &docs), [3, 0, 0, 0, 0]);
    write(&docs.join("guide.md"), 80, guide.replace("# B", "# C"));
    assert_eq!(index(&engine, &docs), [0, 1, 2, 0, 0]);
    catch_up(&engine);
    assert!(holds(&home, secret));
    let found = block_on(TextFound::of(&engine, secret, &mut |_| {})).unwrap();
    assert_eq!(found.events.len(), 4, "two versions, a page, and UTF-16");
    block_on(found.erase(&engine, Some("a key"))).unwrap();
    assert!(!holds(&home, secret) && !holds(&home, &secret[1..]));
    let wide_secret: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(!holds(&home, &String::from_utf8(wide_secret).unwrap()));
    assert_eq!((places(&engine, secret).len(), places(&engine, other).len()), (0, 1), "the rest is there");
    let first = search(&engine, other, &SearchOptions::default());
    let first = first.iter().find(|hit| hit.document.as_ref().unwrap().path.ends_with(".md")).unwrap();
    assert_eq!(read(&engine, &first.readable(&engine)), format!("# A\n\n{other}\n"));
    assert_eq!(problems(&engine), [""; 0]);
    // The same files again, also with another time.
    for minutes in [80, 70] {
        write(&docs.join("guide.md"), minutes, guide.replace("# B", "# C"));
        let done = index(&engine, &docs);
        assert_eq!((done[0], done[1], done[3]), (0, 0, 0), "{done:?}");
        assert!(!holds(&home, secret));
    }
    // A whole document, with all its versions.
    block_on(engine.documents().erase(&docs, None)).unwrap();
    assert!(!holds(&home, other) && places(&engine, other).is_empty());
    assert_eq!(index(&engine, &docs), [0, 0, 0, 0, 3], "erased is not new");
    assert_eq!(problems(&engine), [""; 0]);
    write(&docs.join("guide.md"), 60, "# Now\n\nwithout a key\n");
    assert_eq!(index(&engine, &docs)[1], 1, "another content is");
    assert_eq!(places(&engine, "key"), ["guide.md:1-3 Now"]);
}

#[test]
fn a_restored_backup_loses_what_was_erased_since() {
    let secret = "qVx7Zk3Jw9Lp2Rt5Yb8Nc4";
    let home = Home::new();
    let (engine, docs) = (home.engine(), home.folder.path().canonicalize().unwrap().join("docs"));
    write(&docs.join("a.md"), 90, format!("# A\n\n{secret}\n"));
    write(&docs.join("b.md"), 90, "# B\n\nstays\n");
    index(&engine, &docs);
    let copy = home.path("copy.db");
    block_on(engine.ledger().backup(&copy)).unwrap();
    block_on(engine.documents().erase(&docs.join("a.md"), None)).unwrap();
    let with = wunderblock::ErasedPart::Documents(&docs);
    assert_eq!(block_on(engine.ledger().copies_with(with)).unwrap(), [copy.canonicalize().unwrap()]);
    drop(engine);
    let done = block_on(Ledger::restore(&copy, &home.db(), true, config())).unwrap();
    assert!(done.erased_again > 0);
    let engine = home.engine();
    assert_eq!((places(&engine, secret).len(), places(&engine, "stays").len()), (0, 1));
    assert_eq!(problems(&engine), [""; 0]);
    drop(engine);
    let now = std::fs::read(home.db()).unwrap();
    assert!(memchr::memmem::find(&now, secret.as_bytes()).is_none());
}

#[test]
fn secrets_are_not_in_the_index() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), home.folder.path().canonicalize().unwrap().join("docs"));
    let secret = ["ghp", "_", "Zk3VbQ8mXr5TnW1y", "Lc7PdG2sJf9HaUe4RoKi"].concat();
    write(&docs.join("a.md"), 90, format!("# Access {secret}\n\nThe token is {secret} for now.\n"));
    index(&engine, &docs);
    for _ in [false, true] {
        assert_eq!(places(&engine, &secret), [""; 0]);
        let hit = &search(&engine, "token", &SearchOptions::default())[0];
        let shown = format!("{} {:?}", hit.snippet, hit.document);
        assert!(!shown.contains(&secret[8..]), "{shown}");
        catch_up(&engine);
    }
}

#[test]
fn two_processes_store_each_version_once() {
    let home = Home::new();
    let docs = home.folder.path().canonicalize().unwrap().join("docs");
    for n in 0..40 {
        write(&docs.join(format!("{n}.md")), 90, format!("# {n}\n\nkestrel {n}\n"));
    }
    drop(home.engine());
    let sum = std::thread::scope(|scope| {
        let one = || index_in(&home.engine(), "/garden", &docs);
        let all: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
        let all = all.into_iter().map(|one| one.join().unwrap());
        all.map(|done| done.new + done.changed).sum::<u64>()
    });
    assert_eq!(sum, 40);
    let engine = home.engine();
    let options = SearchOptions { limit: 99, ..SearchOptions::default() };
    assert_eq!(search(&engine, "kestrel", &options).len(), 40);
    assert_eq!(index(&engine, &docs), [0, 0, 40, 0, 0]);
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn a_version_that_was_interrupted_is_stored_again() {
    let home = Home::new();
    let (engine, docs) = (home.engine(), folder(&home));
    index(&engine, &docs);
    drop(engine);
    // As after a kill between the two commits of the next version.
    let ledger = rusqlite::Connection::open(home.db()).unwrap();
    let begun =
        "INSERT INTO source_revisions (source, revision, handle, format, shared, len, whole, owner, until)
                 SELECT source, revision + 1, handle + 1, format, 0, 0, 0, 'dead', 0 FROM source_revisions;
                 UPDATE sources SET revision = 2";
    ledger.execute_batch(begun).unwrap();
    drop(ledger);
    let engine = home.engine();
    assert_eq!(places(&engine, "gasket").len(), 1);
    assert_eq!(index(&engine, &docs), [0, 3, 0, 0, 0]);
    assert_eq!(places(&engine, "gasket").len(), 1);
    assert_eq!(index(&engine, &docs), [0, 0, 3, 0, 0]);
    assert_eq!(problems(&engine), [""; 0]);
}
