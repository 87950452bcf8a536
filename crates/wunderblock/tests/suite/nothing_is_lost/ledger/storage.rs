//! The storage port on SQLite, and files that are not a ledger.

use crate::nothing_is_lost::ledger::history::tries;
use crate::scene::{Home, open, said, stream};
use futures_executor::block_on;
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::tempdir;
use wunderblock::store::sqlite::{Access, FORMAT, Sqlite};
use wunderblock::store::{
    Answer, Appended, Commit, EventFilter, EventMark, Facets, Opening, PackedEvent, Query, ReadOrder,
    Storage, StoreError, StreamKind, TenantNo, Write, Written, codec,
};
use wunderblock_core::compaction::Manner;
use wunderblock_core::event::*;
use wunderblock_core::id::{CallId, EventId, Handle, LaneId, Scope};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_testkit::conformance::{self, agree};
use wunderblock_testkit::memory::MemoryStorage;

#[test]
fn sqlite_passes_the_suite() {
    let folder = tempdir().unwrap();
    let number = AtomicU32::new(0);
    for access in [Access::Create, Access::Brief] {
        conformance::suite(&|| {
            let name = format!("{}.db", number.fetch_add(1, Ordering::SeqCst));
            Box::new(Sqlite::open(&folder.path().join(name), access).unwrap())
        });
    }
}

proptest! {
    #![proptest_config(tries(24))]
    #[test]
    fn a_script_leads_to_the_same_ledger_everywhere(script in proptest::collection::vec(any::<u64>(), 0..24)) {
        let folder = tempdir().unwrap();
        let file = Sqlite::open(&folder.path().join("ledger.db"), Access::Create).unwrap();
        agree(&MemoryStorage::new(), &file, &script);
    }
}

fn tenant(store: &dyn Storage) -> TenantNo {
    let written =
        block_on(store.commit(Commit::raw(vec![Write::Tenant { name: "t".to_owned(), key: [1; 32] }])))
            .unwrap();
    match written.as_slice() {
        [Written::Tenant(tenant)] => tenant.no,
        other => panic!("answered was {other:?}"),
    }
}

fn opening(tenant: TenantNo, id: &str) -> Write {
    Write::Open {
        tenant,
        kind: StreamKind::Session,
        stream: stream(id),
        handle: Handle(7),
        opening: Opening::New { parent: None },
        scope: Scope::default(),
        at: Millis(1),
    }
}

fn packed(id: &str) -> PackedEvent {
    PackedEvent {
        id: EventId::new(id).unwrap(),
        at: Millis(1),
        kind: "message.appended",
        mark: EventMark::Plain,
        origin: None,
        payload: id.into(),
        content: *blake3::hash(id.as_bytes()).as_bytes(),
        salt: [3; 16],
        blobs: Vec::new(),
        text: Bytes(id.len() as u64),
        checksum: codec::checksum(&[id.as_bytes()]),
        facets: Facets::default(),
        records: Vec::new(),
    }
}

fn append(store: &dyn Storage, tenant: TenantNo, ids: &[String]) -> Result<Vec<Appended>, StoreError> {
    let events = ids.iter().map(|id| packed(id)).collect();
    let write = Write::Append { tenant, stream: stream("s"), expect_head: None, events };
    match block_on(store.commit(Commit::raw(vec![write])))?.pop() {
        Some(Written::Appended(done)) => Ok(done),
        other => panic!("answered was {other:?}"),
    }
}

fn all_ids(store: &dyn Storage, tenant: TenantNo) -> Vec<(u64, String)> {
    let query = Query::Events {
        tenant,
        stream: stream("s"),
        from: Seq(1),
        to: Seq(1 << 40),
        order: ReadOrder::Ascending,
        limit: 1 << 40,
        text: Bytes(1 << 40),
        counts: false,
        filter: EventFilter::default(),
    };
    match block_on(store.query(vec![query])).unwrap().pop() {
        Some(Answer::Events(events)) => {
            events.into_iter().map(|event| (event.seq.0, event.id.to_string())).collect()
        }
        other => panic!("answered was {other:?}"),
    }
}

#[test]
fn what_was_acknowledged_is_there_after_reopening() {
    let home = Home::new();
    let ids: Vec<String> = (0..100).map(|number| format!("event {number}")).collect();
    let no = {
        let store = Sqlite::open(&home.db(), Access::Create).unwrap();
        let no = tenant(&store);
        block_on(store.commit(Commit::raw(vec![opening(no, "s")]))).unwrap();
        append(&store, no, &ids).unwrap();
        no
    };
    for access in [Access::Read, Access::Write, Access::Create] {
        let store = Sqlite::open(&home.db(), access).unwrap();
        let found: Vec<String> = all_ids(&store, no).into_iter().map(|(_, id)| id).collect();
        assert_eq!(found, ids, "{access:?}");
        let again = append(&store, no, &ids);
        if access == Access::Read {
            assert_eq!(again, Err(StoreError::ReadOnly));
        } else {
            assert!(again.unwrap().iter().all(|one| one.duplicate));
        }
    }
}

#[test]
fn two_handles_on_one_file_take_turns() {
    let home = Home::new();
    let stores = [0, 1].map(|_| Sqlite::open(&home.db(), Access::Create).unwrap());
    let no = tenant(&stores[0]);
    assert_eq!(tenant(&stores[1]), no);
    block_on(stores[0].commit(Commit::raw(vec![opening(no, "s")]))).unwrap();
    let placed: Vec<(u64, String)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|writer| {
                let store = &stores[writer % 2];
                scope.spawn(move || {
                    let mut placed = Vec::new();
                    for number in 0..40 {
                        let own = [format!("{writer}-{number}a"), format!("{writer}-{number}b")];
                        // An event that several writers append is stored once.
                        let shared = [format!("shared {number}")];
                        for ids in [&own[..], &shared[..]] {
                            let done = append(store, no, ids).unwrap();
                            let new = done.iter().zip(ids).filter(|(one, _)| !one.duplicate);
                            placed.extend(new.map(|(one, id)| (one.seq.0, id.clone())));
                        }
                    }
                    placed
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let mut placed = placed;
    placed.sort();
    assert_eq!(placed.len(), 6 * 80 + 40);
    assert!(placed.iter().map(|(seq, _)| *seq).eq(1..=placed.len() as u64), "no gap, and nothing twice");
    for store in &stores {
        assert_eq!(all_ids(store, no), placed);
    }
}

#[test]
fn several_may_create_it_at_once() {
    for _ in 0..4 {
        let home = Home::new();
        let path = home.path("deep/er/ledger.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> = (0..6)
                .map(|_| {
                    scope.spawn(|| {
                        let store = Sqlite::open(&path, Access::Create)?;
                        Ok::<_, StoreError>(tenant(&store))
                    })
                })
                .collect();
            for one in opened {
                assert_eq!(one.join().unwrap(), Ok(TenantNo(1)));
            }
        });
    }
}

fn refused(path: &Path, access: Access) -> StoreError {
    Sqlite::open(path, access).err().unwrap()
}

#[test]
fn files_other_than_ledgers_are_refused_and_left_unchanged() {
    let home = Home::new();
    assert!(matches!(refused(&home.path("none.db"), Access::Read), StoreError::Missing(_)));
    assert!(matches!(refused(&home.path("none.db"), Access::Write), StoreError::Missing(_)));
    assert!(!home.path("none.db").exists());
    let text = home.file("notes.txt", "These are notes, and no database at all. ".repeat(200));
    let other = home.path("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    let named = home.path("named.db");
    Connection::open(&named).unwrap().execute_batch("PRAGMA application_id = 77").unwrap();
    let short = home.file("short.db", "SQLite for");
    let letter = home.file("letter.txt", "n");
    for path in [&text, &other, &named, &short, &letter, &home.folder.path().to_owned()] {
        let before = std::fs::read(path).ok();
        for access in [Access::Read, Access::Write, Access::Create] {
            let error = refused(path, access);
            assert!(matches!(error, StoreError::Foreign(_)), "{access:?} {}: {error:?}", path.display());
        }
        assert_eq!(std::fs::read(path).ok(), before);
    }
}

fn ledger(home: &Home) -> PathBuf {
    let engine = home.engine();
    let events = (0..60).map(|number| {
        // Use noise that hardly compresses, so that there are pages to damage.
        let noise: String = (0..200).map(|part| blake3::hash(&[number, part]).to_hex().to_string()).collect();
        said(&format!("m{number}"), Role::User, &noise)
    });
    crate::scene::append(&engine, "s", events.collect());
    home.db()
}

#[test]
fn a_newer_format_is_refused() {
    let home = Home::new();
    let path = ledger(&home);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    for access in [Access::Read, Access::Write, Access::Create] {
        assert_eq!(refused(&path, access), StoreError::TooNew { found: 9, known: FORMAT });
    }
}

#[test]
fn a_truncated_file_is_said_to_be_damaged() {
    let home = Home::new();
    let whole = std::fs::read(ledger(&home)).unwrap();
    for part in [1, 2, 3] {
        let path = home.file(&format!("{part}.db"), &whole[..whole.len() * part / 4 / 4096 * 4096]);
        let problem = match Sqlite::open(&path, Access::Read) {
            Err(error) => error,
            Ok(store) => match block_on(store.check()) {
                Err(error) => error,
                Ok(checked) => StoreError::Damaged(checked.found.first().unwrap().detail.clone()),
            },
        };
        assert!(matches!(problem, StoreError::Damaged(_)), "{part}/4: {problem:?}");
    }
}

#[test]
fn a_ledger_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    std::fs::create_dir(home.path("folder")).unwrap();
    let path = home.path("folder/ledger.db");
    let engine = open(&path);
    crate::scene::append(&engine, "s", vec![said("1", Role::User, "hello")]);
    drop(engine);
    let mode = |path: &Path, bits| std::fs::set_permissions(path, PermissionsExt::from_mode(bits)).unwrap();
    mode(&path, 0o444);
    mode(&home.path("folder"), 0o555);
    // The superuser may write everywhere, so part of this test is skipped for that user.
    let may = std::fs::OpenOptions::new().append(true).open(&path).is_ok();
    if !may {
        let error = Sqlite::open(&path, Access::Write).err();
        assert!(matches!(error, Some(StoreError::ReadOnly | StoreError::Io(_))), "{error:?}");
        assert!(Sqlite::open(&home.path("folder/new.db"), Access::Create).is_err());
    }
    let store = Sqlite::open(&path, Access::Read).unwrap();
    assert_eq!(block_on(store.commit(Commit::raw(Vec::new()))), Err(StoreError::ReadOnly));
    assert_eq!(all_ids(&store, TenantNo(1)).len(), 2);
    drop(store);
    mode(&home.path("folder"), 0o755);
}

#[test]
fn a_lock_that_does_not_end_is_named() {
    let home = Home::new();
    let store = Sqlite::open_for(&home.db(), Access::Create, Duration::from_millis(50)).unwrap();
    let no = tenant(&store);
    let other = Connection::open(home.db()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = block_on(store.commit(Commit::raw(vec![opening(no, "s")])));
    assert_eq!(refused, Err(StoreError::Locked));
    let answers = block_on(store.query(vec![Query::Tenant { name: "t".to_owned() }])).unwrap();
    assert!(matches!(answers.as_slice(), [Answer::Tenant(Some(_))]), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(block_on(store.commit(Commit::raw(vec![opening(no, "s")]))).is_ok());
}

/// Records of format 1, as stored on disk. A change here changes the format, which requires a new version and an
/// upgrade of the old one.
#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn records_of_version_1_stay_as_they_are() {
    assert_eq!((FORMAT, codec::VERSION), (8, 1));
    let whole = Message {
        api_id: Some("msg_1".into()),
        model: Some("m".into()),
        stop: Some("end_turn".into()),
        ..Message::new(
            Role::Assistant,
            vec![
                Part::text("hello"),
                Part::ToolCall {
                    call: "c1".into(),
                    name: "Bash".into(),
                    input: r#"{"command":"ls"}"#.into(),
                    gist: Some("ls".into()),
                    extra: None,
                },
                Part::ToolResult {
                    call: "c1".into(),
                    content: vec![Part::text("out")],
                    failed: true,
                    extra: None,
                },
            ],
        )
    };
    let table: Vec<(Fact, &str)> = vec![
        (
            Fact::SessionOpened(SessionOpened {
                scope: Scope { project: Some("p".into()), ..Scope::default() },
                format: Some("codex".into()),
                cwd: Some("/w".into()),
                ..SessionOpened::default()
            }),
            r#"{"scope":{"project":"p"},"format":"codex","cwd":"/w"}"#,
        ),
        (
            Fact::SessionForked(SessionForked { parent: stream("a"), at_seq: Seq(3) }),
            r#"{"parent":"a","at_seq":3}"#,
        ),
        (Fact::SessionClosed(SessionClosed { reason: Some("done".into()) }), r#"{"reason":"done"}"#),
        (
            Fact::SessionDescribed(SessionDescribed {
                title: Some("t".into()),
                tags: Some(vec!["a".into()]),
            }),
            r#"{"title":"t","tags":["a"]}"#,
        ),
        (Fact::TaskStarted(TaskStarted { task: "t".into(), title: None }), r#"{"task":"t"}"#),
        (
            Fact::TaskFinished(TaskFinished { task: "t".into(), outcome: Some("ok".into()) }),
            r#"{"task":"t","outcome":"ok"}"#,
        ),
        (Fact::MessageAppended(MessageAppended { message: whole }), MESSAGE),
        (
            Fact::ContentPinned(ContentPinned { target: Seq(4), pinned: true }),
            r#"{"target":4,"pinned":true}"#,
        ),
        (
            Fact::ContentErased(ContentErased {
                from_seq: Seq(1),
                to_seq: Seq(2),
                events: 2,
                blobs: 1,
                source_bytes: Bytes(9),
                reason: None,
            }),
            r#"{"from_seq":1,"to_seq":2,"events":2,"blobs":1,"source_bytes":9}"#,
        ),
        (
            Fact::UsageMeasured(UsageMeasured {
                input: Tokens(1),
                output: Tokens(2),
                ..UsageMeasured::default()
            }),
            r#"{"input":1,"cache_read":0,"cache_write":0,"output":2}"#,
        ),
        (
            Fact::TurnCompleted(TurnCompleted {
                stop_reason: "error".into(),
                error_code: Some("context_overflow".into()),
                detail: None,
                overflow: None,
            }),
            r#"{"stop_reason":"error","error_code":"context_overflow"}"#,
        ),
        (
            Fact::SessionCompacted(Box::new(SessionCompacted {
                lane: Some(LaneId::main()),
                summary: Some("sum".into()),
                tokens_before: Some(Tokens(5)),
                ..SessionCompacted::new(Seq(2), Seq(8), "claude-code")
            })),
            r#"{"from_seq":2,"to_seq":8,"lane":"main","producer":"claude-code","summary":"sum","tokens_before":5}"#,
        ),
        (
            Fact::SessionCompacted(Box::new(SessionCompacted {
                manner: Some(Manner::Fallback),
                ..SessionCompacted::new(Seq(2), Seq(8), "extractive")
            })),
            r#"{"from_seq":2,"to_seq":8,"producer":"extractive","manner":"fallback"}"#,
        ),
        (Fact::SubagentSpawned(SubagentSpawned::new(stream("b"))), r#"{"session":"b"}"#),
        (
            Fact::SubagentSpawned(SubagentSpawned {
                call: Some(CallId("c".into())),
                agent: Some("explore".into()),
                model: Some("m".into()),
                prompt: Some("p".into()),
                mode: Some("fresh".into()),
                ..SubagentSpawned::new(stream("b"))
            }),
            r#"{"session":"b","call":"c","agent":"explore","model":"m","prompt":"p","mode":"fresh"}"#,
        ),
        (
            Fact::SubagentReturned(SubagentReturned::new(stream("b"), SubagentOutcome::Stopped)),
            r#"{"session":"b","outcome":"stopped"}"#,
        ),
        (
            Fact::SubagentReturned(SubagentReturned {
                call: Some(CallId("c".into())),
                result: Some("r".into()),
                model: Some("m".into()),
                tokens: Some(Tokens(5)),
                millis: Some(6),
                ..SubagentReturned::new(stream("b"), SubagentOutcome::Done)
            }),
            r#"{"session":"b","call":"c","outcome":"done","result":"r","model":"m","tokens":5,"millis":6}"#,
        ),
        (
            Fact::RouteChosen(Box::new(RouteChosen {
                agent: "explore".into(),
                parent: "m".into(),
                asked: "inherit".into(),
                layers: vec![RouteLayer { rule: "call".into(), asked: None, outcome: "not set".into() }],
                chosen: "m".into(),
                why: "inherit".into(),
                notices: Vec::new(),
            })),
            r#"{"agent":"explore","parent":"m","asked":"inherit","layers":[{"rule":"call","outcome":"not set"}],"chosen":"m","why":"inherit"}"#,
        ),
    ];
    for (fact, expected) in table {
        let encoded = codec::encode(&fact).unwrap();
        assert_eq!(std::str::from_utf8(&encoded).unwrap(), expected, "{}", fact.kind());
        assert_eq!(codec::decode(fact.kind(), 1, expected.as_bytes()).unwrap(), fact);
    }
}

const MESSAGE: &str = concat!(
    r#"{"message":{"role":"assistant","parts":[{"type":"text","text":"hello"},"#,
    r#"{"type":"tool_call","call":"c1","name":"Bash","input":"{\"command\":\"ls\"}","gist":"ls"},"#,
    r#"{"type":"tool_result","call":"c1","content":[{"type":"text","text":"out"}],"failed":true}],"#,
    r#""api_id":"msg_1","model":"m","stop":"end_turn"}}"#
);

/// Records of the engine have many fields, so the record of a request is compared as a whole.
#[test]
fn the_record_of_a_request_stays_as_it_is() {
    let home = Home::new();
    let engine = home.engine();
    crate::scene::append(&engine, "s", vec![said("1", Role::User, "hello")]);
    crate::scene::built(&crate::scene::session(&engine, "s"), &crate::scene::window(8_000));
    drop(engine);
    let db = Connection::open(home.db()).unwrap();
    let payload: Vec<u8> = db
        .query_row("SELECT payload FROM events WHERE kind = 'context.built'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(String::from_utf8(payload).unwrap(), BUILT);
    for record in [BUILT_BEFORE, BUILT_2, BUILT_3, BUILT_4, BUILT] {
        let fact = codec::decode("context.built", 1, record.as_bytes()).unwrap();
        assert_eq!(codec::encode(&fact).unwrap(), record.as_bytes());
    }
}

const BUILT: &str = concat!(
    r#"{"lane":"main","model":"claude-sonnet-4-5","policy":"off","dialect":"anthropic","render":4,"#,
    r#""budget":{"window":8000,"window_source":"declared","reserve":2000,"margin":400,"max_bytes":32000000},"plan":{"through":2,"#,
    r#""trim":{"drop_before":0,"stub_before":0}},"heads":[["s",2]],"stem":{"blocks":1,"marks":[[115,"#,
    r#""9ba162ca457ba57f"]],"asked":[117,"7ed17228cce64a9b"]},"expected_cached":0,"sections":[["system",23],["prompt",25]],"total_tokens":48,"verbatim":48,"#,
    r#""encoded_bytes":119,"digest":"548a41318d68cfb156850c367b03f4f51208978f583958ec20543479b56205f9"}"#
);

/// The record before it had the tokens of a verbatim request.
const BUILT_4: &str = concat!(
    r#"{"lane":"main","model":"claude-sonnet-4-5","policy":"off","dialect":"anthropic","render":4,"#,
    r#""budget":{"window":8000,"window_source":"declared","reserve":2000,"margin":400,"max_bytes":32000000},"plan":{"through":2,"#,
    r#""trim":{"drop_before":0,"stub_before":0}},"heads":[["s",2]],"stem":{"blocks":1,"marks":[[115,"#,
    r#""9ba162ca457ba57f"]],"asked":[117,"7ed17228cce64a9b"]},"expected_cached":0,"sections":[["system",23],["prompt",25]],"total_tokens":48,"#,
    r#""encoded_bytes":119,"digest":"548a41318d68cfb156850c367b03f4f51208978f583958ec20543479b56205f9"}"#
);

/// The record as the third version of the renderer wrote it.
const BUILT_3: &str = concat!(
    r#"{"lane":"main","model":"claude-sonnet-4-5","policy":"off","dialect":"anthropic","render":3,"#,
    r#""budget":{"window":8000,"window_source":"declared","reserve":2000,"margin":400,"max_bytes":32000000},"plan":{"through":2,"#,
    r#""trim":{"drop_before":0,"stub_before":0}},"heads":[["s",2]],"stem":{"blocks":1,"marks":[[115,"#,
    r#""9ba162ca457ba57f"]],"asked":[117,"7ed17228cce64a9b"]},"expected_cached":0,"sections":[["system",23],["prompt",25]],"total_tokens":48,"#,
    r#""encoded_bytes":119,"digest":"548a41318d68cfb156850c367b03f4f51208978f583958ec20543479b56205f9"}"#
);

/// The record as the second version of the renderer wrote it.
const BUILT_2: &str = concat!(
    r#"{"lane":"main","model":"claude-sonnet-4-5","dialect":"anthropic","render":2,"budget":{"window":8000,"#,
    r#""window_source":"declared","reserve":2000,"margin":400,"max_bytes":32000000},"plan":{"through":2,"#,
    r#""trim":{"drop_before":0,"stub_before":0}},"heads":[["s",2]],"stem":{"blocks":1,"marks":[[115,"#,
    r#""9ba162ca457ba57f"]]},"expected_cached":0,"sections":[["system",23],["prompt",25]],"total_tokens":48,"#,
    r#""encoded_bytes":119,"digest":"548a41318d68cfb156850c367b03f4f51208978f583958ec20543479b56205f9"}"#
);

/// The record as the first version of the renderer wrote it.
const BUILT_BEFORE: &str = concat!(
    r#"{"lane":"main","model":"claude-sonnet-4-5","dialect":"anthropic","render":1,"#,
    r#""budget":{"window":8000,"window_source":"declared","reserve":2000,"margin":400,"max_bytes":32000000},"#,
    r#""plan":{"through":2,"trim":{"drop_before":0,"stub_before":0}},"heads":[["s",2]],"total_tokens":36,"#,
    r#""encoded_bytes":119,"digest":"548a41318d68cfb156850c367b03f4f51208978f583958ec20543479b56205f9"}"#
);

/// The tables of format 6. A change here needs a new format number, and an upgrade.
#[test]
fn the_tables_of_format_8_stay_as_they_are() {
    let home = Home::new();
    drop(home.engine());
    let db = Connection::open(home.db()).unwrap();
    let mut statement =
        db.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").unwrap();
    let tables = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let tables: Vec<String> = tables.map(|sql| sql.unwrap()).collect();
    let bare = |sql: &String| {
        let lines = sql.lines().map(|line| line.split("--").next().unwrap());
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    };
    let digest = blake3::hash(tables.iter().map(bare).collect::<Vec<_>>().join("\n").as_bytes());
    assert_eq!(digest.to_hex().as_str(), "c45c7de40341acd3b07b8210e15a193be550c3c30c5c0f100a5b36c2769b3bc7");
}
