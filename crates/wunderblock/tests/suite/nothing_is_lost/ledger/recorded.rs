//! Every later version reads the same content from a ledger in an older format as the program that wrote the ledger.

use crate::scene::{Home, config, stream};
use futures_executor::block_on;
use std::collections::BTreeMap;
use std::path::Path;
use wunderblock::account::spend;
use wunderblock::store::StreamFilter;
use wunderblock::store::sqlite::Access;
use wunderblock::{Engine, Error};
use wunderblock_core::id::TenantId;
use wunderblock_testkit::recorded::{self, Manifest, RECORDINGS, Recording, ReplayVerdict};

const NONE: [&str; 0] = [];

fn compare(path: &Path, access: Access, manifest: &Manifest) -> Result<Vec<String>, Error> {
    recorded::compare(|config| block_on(Engine::open_with(path, access, config)), manifest)
}

fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_ledger_of_an_older_format_gives_what_it_gave() {
    RECORDINGS.iter().for_each(gives_what_it_gave);
}

fn gives_what_it_gave(recording: &Recording) {
    let home = Home::new();
    let path = recording.unpack(home.folder.path()).unwrap();
    let manifest = recording.manifest().unwrap();
    assert_eq!(compare(&path, Access::Write, &manifest).unwrap(), NONE);
    let once = bytes(home.folder.path());
    assert_eq!(compare(&path, Access::Write, &manifest).unwrap(), NONE);
    assert!(once == bytes(home.folder.path()), "opening it again changes nothing");
    assert_eq!(compare(&path, Access::Read, &manifest).unwrap(), NONE);
    for tenant in ["local", "beta"] {
        let config = wunderblock::Config { tenant: TenantId::new(tenant).unwrap(), ..config() };
        let engine = block_on(Engine::open_with(&path, Access::Write, config)).unwrap();
        let found = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap().problems;
        assert!(found.iter().all(|problem| problem.derived), "{tenant}: {found:?}");
    }
}

#[test]
fn a_ledger_of_an_older_format_knows_what_format_4_knows() {
    let described = |engine: &Engine| {
        let filter = StreamFilter { prefix: "7478b9f5".to_owned(), ..StreamFilter::default() };
        let infos = block_on(engine.listed(filter.clone(), 99)).unwrap();
        let info = infos.iter().find(|info| info.fork.is_none()).unwrap();
        let spend = block_on(spend(engine, filter, &|reply| Some(reply.session.id.to_string()))).unwrap();
        (info.scope.agent.clone(), info.model.clone(), info.said_at, spend.get(info.id.as_str()).cloned())
    };
    for recording in &RECORDINGS {
        let home = Home::new();
        let path = recording.unpack(home.folder.path()).unwrap();
        let engine = block_on(Engine::open_with(&path, Access::Write, config())).unwrap();
        let there = described(&engine);
        assert!(there.0.is_some() && there.1.is_some() && there.3.is_some(), "{there:?}");
        // The same file, imported by this version, gives the same.
        let fresh = Home::new();
        let file = fresh.folder.path().join("session.jsonl");
        let session = block_on(engine.find_session("7478b9f5")).unwrap();
        block_on(session.export_original(None, &mut std::fs::File::create(&file).unwrap())).unwrap();
        block_on(fresh.engine().import(&file, None, &mut |_, _| {})).unwrap();
        assert_eq!(there, described(&fresh.engine()), "format {}", recording.format);
    }
}

/// Sessions of a ledger of an older format have the scopes that an import by this version gives them, and are found by
/// the path of their project.
#[test]
fn a_ledger_of_an_older_format_knows_what_format_8_knows() {
    let scopes = |engine: &Engine| {
        let filter = StreamFilter { prefix: "tree-0001".to_owned(), ..StreamFilter::default() };
        let infos = block_on(engine.listed(filter, 99)).unwrap();
        infos.into_iter().map(|info| (info.id.to_string(), info.scope)).collect::<BTreeMap<_, _>>()
    };
    for recording in &RECORDINGS {
        let home = Home::new();
        let path = recording.unpack(home.folder.path()).unwrap();
        let engine = block_on(Engine::open_with(&path, Access::Write, config())).unwrap();
        let there = scopes(&engine);
        let branch = &there["tree-0001~2"];
        assert_eq!(branch.session.as_deref(), Some("tree-0001"), "format {}", recording.format);
        let folder = branch.folder.clone().unwrap();
        let fresh = Home::new();
        let file = fresh.folder.path().join("session.jsonl");
        let session = block_on(engine.find_session("tree-0001")).unwrap();
        block_on(session.export_original(None, &mut std::fs::File::create(&file).unwrap())).unwrap();
        block_on(fresh.engine().import(&file, None, &mut |_, _| {})).unwrap();
        let imported = scopes(&fresh.engine());
        assert_eq!(imported.len(), 2);
        // The oldest version took a copy of a session for another session.
        for (id, scope) in imported {
            assert_eq!(there[&id], scope, "{id}, format {}", recording.format);
        }
        for filter in [
            StreamFilter { projects: vec![folder.clone()], ..StreamFilter::default() },
            StreamFilter { places: vec![folder.clone()], ..StreamFilter::default() },
            StreamFilter { projects: vec!["wunderblock".to_owned()], ..StreamFilter::default() },
        ] {
            let found = block_on(engine.listed(filter, 99)).unwrap();
            assert!(found.iter().any(|info| info.id.as_str() == "tree-0001"), "format {}", recording.format);
        }
        let child = StreamFilter { session: Some(stream("tree-0001")), ..StreamFilter::default() };
        let family: Vec<_> = block_on(engine.listed(child, 99)).unwrap();
        assert!(
            family.iter().any(|info| info.parent.is_some()),
            "a sub-agent's: format {}",
            recording.format
        );
    }
}

#[test]
fn who_may_only_read_it_reads_the_same_and_writes_nothing() {
    for recording in &RECORDINGS {
        let home = Home::new();
        let path = recording.unpack(home.folder.path()).unwrap();
        let before = std::fs::read(&path).unwrap();
        match compare(&path, Access::Read, &recording.manifest().unwrap()) {
            Ok(differences) => assert_eq!(differences, NONE),
            // If a version must upgrade the ledger first, it reports that.
            Err(Error::Store(error)) => assert!(Error::Store(error.clone()).hint().is_some(), "{error}"),
            Err(error) => panic!("{error}"),
        }
        assert!(before == std::fs::read(&path).unwrap(), "the file is as it was");
    }
}

#[test]
fn the_recordings_hold_what_later_versions_are_tried_on() {
    RECORDINGS.iter().for_each(holds_what_later_versions_are_tried_on);
}

fn holds_what_later_versions_are_tried_on(recording: &Recording) {
    let manifest = recording.manifest().unwrap();
    let requests: Vec<_> = manifest.sessions.iter().flat_map(|session| &session.requests).collect();
    let of = |verdict| requests.iter().filter(|request| request.verdict == verdict).count();
    assert!(requests.len() >= 20 && of(ReplayVerdict::Proved) >= 15 && of(ReplayVerdict::Erased) >= 1);
    for dialect in ["neutral", "anthropic", "openai-chat"] {
        assert!(requests.iter().filter(|request| request.dialect == dialect).count() >= 4, "{dialect}");
    }
    let sessions =
        |fits: fn(&&recorded::SessionRecord) -> bool| manifest.sessions.iter().filter(fits).count();
    assert!(sessions(|session| session.tenant == "beta") >= 2);
    assert!(sessions(|session| session.fork.is_some()) >= 1);
    assert!(sessions(|session| session.file.is_some()) >= 2);
    assert_eq!(sessions(|session| session.unfinished), 1);
}

#[test]
fn a_changed_ledger_is_told_from_the_recorded_one() {
    let home = Home::new();
    let path = RECORDINGS[0].unpack(home.folder.path()).unwrap();
    let mut manifest = RECORDINGS[0].manifest().unwrap();
    let session = manifest.sessions.iter_mut().find(|session| session.requests.len() > 3).unwrap();
    session.events[1] = "0".repeat(16);
    session.requests[0].blake3 = "0".repeat(64);
    session.head += 1;
    let found = compare(&path, Access::Write, &manifest).unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
}
