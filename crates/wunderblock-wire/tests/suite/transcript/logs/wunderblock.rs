use crate::transcript::{check, read, read_as};
use wunderblock_core::event::Fact;
use wunderblock_wire::transcript::{Format, RecordItem, RecordStatus, TranscriptRecord, detect};

/// Returns an export: each line has a position, an id, and the fields of a fact.
fn export(lines: &[(u64, &str, &str)]) -> String {
    let line = |(seq, id, fact): &(u64, &str, &str)| {
        format!(
            "{{\"tenant\":\"local\",\"stream\":\"s\",\"seq\":{seq},\"id\":\"{id}\",\"at\":{},\"source\":\"live\",{fact}}}\n",
            1_700_000_000_000 + seq
        )
    };
    lines.iter().map(line).collect()
}

fn said(role: &str, text: &str) -> String {
    format!(
        "\"kind\":\"message.appended\",\"message\":{{\"role\":\"{role}\",\"parts\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
    )
}

fn compacted(from: u64, to: u64) -> String {
    format!(
        "\"kind\":\"session.compacted\",\"from_seq\":{from},\"to_seq\":{to},\"lane\":\"main\",\"producer\":\"extractive\",\"summary\":\"so far\",\"tokens_before\":90"
    )
}

#[test]
fn an_export_is_what_was_said_and_summaries_are_available() {
    let (hello, hi, go) = (said("user", "hello"), said("assistant", "hi"), said("user", "go on"));
    let summary = compacted(1, 4);
    let text = export(&[
        (
            1,
            "open:x",
            "\"kind\":\"session.opened\",\"scope\":{},\"cwd\":\"/w\",\"format\":\"pi\",\"parent\":\"boss\"",
        ),
        (2, "a", &hello),
        (3, "t", "\"kind\":\"task.started\",\"task\":\"1\",\"title\":\"a task\""),
        (4, "b", &hi),
        (5, "context.built@5", "\"kind\":\"context.built\""),
        (
            6,
            "usage",
            "\"kind\":\"usage.measured\",\"input\":3,\"cache_read\":0,\"cache_write\":0,\"output\":4",
        ),
        (
            7,
            "view.trimmed@7",
            "\"kind\":\"view.trimmed\",\"lane\":\"main\",\"trim\":{\"drop_before\":5,\"stub_before\":5},\"reason\":\"compacted\"",
        ),
        (8, "session.compacted@8", &summary),
        (9, "pin", "\"kind\":\"content.pinned\",\"target\":2,\"pinned\":true"),
        (10, "gone", "\"kind\":\"message.appended\",\"erased\":true"),
        (11, "gone too", "\"was\":\"an export of an earlier version\""),
        (12, "pin", "\"kind\":\"content.pinned\",\"target\":10,\"pinned\":true"),
        (13, "c", &go),
        (14, "end", "\"kind\":\"turn.completed\",\"stop_reason\":\"end\""),
        (15, "sub", "\"kind\":\"subagent.spawned\",\"session\":\"s2\""),
        (16, "bye", "\"kind\":\"session.closed\",\"reason\":\"done\""),
    ]);
    assert_eq!(detect("copy.ndjson", text.as_bytes()), Ok(Format::Wunderblock));
    let records = read("copy.ndjson", &text);
    // In this export, the record of a build is incomplete: its fields are missing.
    assert!(matches!(&records[4].kept, RecordStatus::Broken { why } if why.starts_with("invalid event")));
    let whole: Vec<TranscriptRecord> = records
        .iter()
        .filter(|record| !matches!(record.kept, RecordStatus::Broken { .. }))
        .cloned()
        .collect();
    check(
        &whole,
        r#"
        session.opened opened(/w)
        message.appended User(hello)
        task.started fact(task.started)
        message.appended Assistant(hi)
        usage.measured usage(- 3/0/0/4)
        view.trimmed-
        session.compacted compacted(before copy:context.built@5 "so far" - 90)
        content.pinned pinned(a true)
        message.appended-
        erased-
        content.pinned-
        message.appended User(go on)
        turn.completed turn(end -)
        subagent.spawned spawned(s2)
        session.closed fact(session.closed)
        "#,
    );
    assert_eq!(records[0].parent_session.as_deref(), Some("boss"));
    assert!(
        matches!(&records[0].items[0], RecordItem::Opened(opened) if opened.format.as_deref() == Some("wunderblock"))
    );
    assert!(matches!(&records[7].items[0], RecordItem::Compacted { from: Some(from), .. } if &**from == "a"));
    // The engine names its own events by position, and a copy has different positions.
    assert_eq!(records[7].id.as_deref(), Some("copy:session.compacted@8"));
    assert_eq!(records[1].id.as_deref(), Some("a"));
    assert!(records.iter().all(|record| record.session.is_none() && record.at.is_some()));
}

#[test]
fn the_end_of_a_sub_agent_is_copied_with_its_result() {
    let text = export(&[(
        2,
        "back",
        "\"kind\":\"subagent.returned\",\"session\":\"s2\",\"outcome\":\"done\",\"result\":\"r\",\"tokens\":5",
    )]);
    let records = read("copy.ndjson", &text);
    check(&records, "subagent.returned returned(s2 - Done - Some(5) None)");
    let RecordItem::Returned(returned) = &records[0].items[0] else { panic!("{records:?}") };
    assert_eq!(returned.result, Some("r".into()));
}

#[test]
fn what_contradicts_its_file_is_kept_as_broken() {
    let hello = said("user", "hello");
    let body = "\"kind\":\"message.appended\",\"message\":{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":{\"blob\":\"wb:0123456789abcdef\",\"bytes\":900,\"lines\":1}}]}";
    let (ahead, around, backwards, itself) =
        (compacted(1, 99_999), compacted(1, 4), compacted(3, 2), compacted(1, 3));
    type Case<'c> = (&'c [(u64, &'c str, &'c str)], &'c str);
    let table: [Case<'_>; 8] = [
        (&[(2, "a", &hello), (1, "b", &hello)], "invalid order: position 1 after position 2"),
        (&[(2, "a", &hello), (2, "b", &hello)], "invalid order: position 2 after position 2"),
        (&[(2, "a", &hello), (3, "b", &ahead)], "it names positions that come after it"),
        (&[(2, "a", &hello), (3, "b", &around)], "it names positions that come after it"),
        (&[(2, "a", &hello), (3, "b", &itself)], "it names positions that come after it"),
        (&[(2, "a", &hello), (5, "b", &backwards)], "its range ends before it begins"),
        (
            &[(2, "a", &hello), (3, "b", body)],
            "missing text: the event has only the handle `wb:0123456789abcdef` of a body",
        ),
        (
            &[(2, "a", &hello), (3, "b", "\"kind\":\"usage.measured\",\"input\":-1")],
            "invalid event: invalid value: integer `-1`, expected u64",
        ),
    ];
    for (lines, expected) in table {
        let records = read_as(Format::Wunderblock, "copy.ndjson", export(lines).as_bytes());
        let RecordStatus::Broken { why } = &records[1].kept else { panic!("{:?}", records[1]) };
        assert!(why.starts_with(expected), "{why}");
    }
}

#[test]
fn what_a_newer_version_wrote_is_kept_opaque() {
    let text = export(&[(1, "a", "\"kind\":\"member.joined\",\"name\":\"ann\"")]) + "{\"role\":\"user\"}\n";
    let records = read_as(Format::Wunderblock, "copy.ndjson", text.as_bytes());
    let why = |record: &TranscriptRecord| match &record.kept {
        RecordStatus::Opaque { why } => why.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&records[0]), "unknown kind of event: `member.joined`");
    assert_eq!(why(&records[1]), "invalid event of an export: missing `stream`, `seq` or `id`");
}

#[test]
fn several_sessions_stand_in_one_file() {
    let hello = said("user", "hello");
    let one = export(&[(1, "a", &hello), (2, "b", &hello)]);
    let other = one.replace("\"stream\":\"s\"", "\"stream\":\"s~2\"");
    let records = read_as(Format::Wunderblock, "copy.ndjson", (one + &other).as_bytes());
    let sessions: Vec<_> = records.iter().map(|record| record.session.as_deref()).collect();
    assert_eq!(sessions, [None, None, Some("s~2"), Some("s~2")]);
    assert!(records.iter().all(|record| record.kept == RecordStatus::Understood));
}

#[test]
fn every_kind_has_its_row() {
    let rows: Vec<&str> = Format::Wunderblock.record_types().iter().map(|(kind, _)| *kind).collect();
    for kind in Fact::OPEN_KINDS.iter().chain(Fact::ENGINE_KINDS) {
        assert!(rows.contains(kind), "{kind}");
    }
    assert_eq!(rows.len(), Fact::OPEN_KINDS.len() + Fact::ENGINE_KINDS.len());
}
