//! Sessions with content that every format holds, and with content that some formats do not hold.

use super::{check_events, compacted, events, read_back, said, seen, usage};
use wunderblock_core::event::{
    ContentHidden, Event, Fact, SessionCompacted, SessionDescribed, SessionOpened, UsageMeasured,
};
use wunderblock_core::id::{LaneId, StreamId};
use wunderblock_core::message::{MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Seq;
use wunderblock_wire::transcript::{AgentFormat, write_transcript};

fn by(model: &str, message: Message) -> Message {
    Message { model: Some(model.into()), ..message }
}

/// A session with everything that all formats hold.
fn whole() -> Vec<Event> {
    let opened = SessionOpened {
        cwd: Some("/srv/garden".into()),
        branch: Some("main".into()),
        format: Some("gemini-cli".into()),
        ..SessionOpened::default()
    };
    let image = Part::Media {
        mime: "image/png".into(),
        form: MediaForm::Base64,
        body: "iVBORw0KGgo=".into(),
        extra: None,
    };
    events(vec![
        Fact::SessionOpened(opened),
        said(Message::user("water the beans")),
        said(by("claude-opus-4", Message::tool_call("call_1", "Bash", r#"{"command":"ls"}"#))),
        Fact::UsageMeasured(UsageMeasured { model: Some("claude-opus-4".into()), ..usage(10, 5) }),
        said(Message::tool_result("call_1", "beans.txt")),
        said(by("claude-opus-4", Message::assistant("watered"))),
        Fact::UsageMeasured(UsageMeasured { model: Some("claude-opus-4".into()), ..usage(20, 6) }),
        said(Message::new(Role::User, vec![Part::text("and this?"), image])),
        compacted(1, 6, "The beans were watered."),
        said(by("claude-opus-4", Message::assistant("a tomato"))),
        Fact::SessionDescribed(SessionDescribed { title: Some("Beans".into()), tags: None }),
    ])
}

/// Returns the usage and the models of a session.
fn measured(events: &[Event]) -> (Vec<[u64; 4]>, Vec<Option<&str>>) {
    let usage = events.iter().filter_map(|event| match &event.fact {
        Some(Fact::UsageMeasured(usage)) => {
            Some([usage.input, usage.cache_read, usage.cache_write, usage.output].map(|tokens| tokens.0))
        }
        _ => None,
    });
    let models = events.iter().filter_map(|event| match &event.fact {
        Some(Fact::MessageAppended(said)) if said.message.role == Role::Assistant => {
            Some(said.message.model.as_deref())
        }
        _ => None,
    });
    (usage.collect(), models.collect())
}

#[test]
fn a_session_is_held_with_its_project_usage_models_and_images() {
    let events = whole();
    check_events(&events);
    for format in AgentFormat::ALL {
        let written = write_transcript(format, &events).unwrap();
        assert_eq!(written.left_out, [], "{format:?}");
        let again = read_back(format, &written);
        assert_eq!(measured(&again), measured(&events), "{format:?}");
        let Some(Fact::SessionOpened(opened)) = &again[0].fact else { panic!("an opening") };
        assert_eq!(opened.cwd.as_deref(), Some("/srv/garden"), "{format:?}");
        let branch = (format != AgentFormat::Pi).then_some("main");
        assert_eq!(opened.branch.as_deref(), branch, "{format:?}: pi has no field for the branch");
        let is_image = |part: &Part| matches!(part, Part::Media { mime, form: MediaForm::Base64, .. } if &**mime == "image/png");
        let images = again.iter().filter(|event| match &event.fact {
            Some(Fact::MessageAppended(said)) => said.message.parts.iter().any(is_image),
            _ => false,
        });
        assert_eq!(images.count(), 1, "{format:?}");
        // A kept message is written after the compaction, so its time and that of the compaction are not in order.
        assert!(written.text.contains("2023-11-14T22:13:27.007Z"), "{format:?}: {}", written.text);
    }
}

#[test]
fn the_place_of_a_transcript_is_that_in_which_its_agent_looks() {
    let events = whole();
    let files = AgentFormat::ALL.map(|format| {
        let written = write_transcript(format, &events).unwrap();
        written.file.unwrap().replace(&written.session, "ID")
    });
    assert_eq!(
        files,
        [
            "projects/-srv-garden/ID.jsonl",
            "sessions/2023/11/14/rollout-2023-11-14T22-13-20-ID.jsonl",
            "sessions/--srv-garden--/2023-11-14T22-13-20-000Z_ID.jsonl",
        ]
    );
    let unknown = events_without_folder();
    let files = AgentFormat::ALL.map(|format| write_transcript(format, &unknown).unwrap().file.is_some());
    assert_eq!(files, [false, true, false]);
}

fn events_without_folder() -> Vec<Event> {
    events(vec![Fact::SessionOpened(SessionOpened::default()), said(Message::user("hello"))])
}

#[test]
fn what_a_format_cannot_hold_is_listed() {
    let thinking = Part::Thinking { text: "hm".into(), signature: Some("sig".into()), extra: None };
    let failed = Part::ToolResult {
        call: "bad id!".into(),
        content: vec![Part::text("no such file")],
        failed: true,
        extra: None,
    };
    let sound =
        Part::Media { mime: "audio/wav".into(), form: MediaForm::Base64, body: "AAAA".into(), extra: None };
    let lane = Some(LaneId::new("main").unwrap());
    let ours = SessionCompacted { lane, ..SessionCompacted::new(Seq(1), Seq(4), "extractive") };
    let events = events(vec![
        Fact::SessionOpened(SessionOpened::default()),
        said(Message::system("be brief")),
        said(Message::new(Role::User, vec![Part::text("look"), sound])),
        said(by("gpt-5", Message::new(Role::Assistant, vec![thinking, Part::text("I look")]))),
        said(by("gpt-5", Message::tool_call("bad id!", "shell.run", "{}"))),
        said(Message::new(Role::Tool, vec![failed])),
        said(Message::user("a note").standing(MessageOrigin::Injected("hook".into()))),
        said(Message::assistant("broken").standing(MessageOrigin::Failed("error".into()))),
        said(Message::tool_result("call_9", "of no call")),
        said(Message::user("a secret")),
        Fact::ContentHidden(ContentHidden { target: Seq(10), hidden: true }),
        Fact::SessionCompacted(Box::new(ours)),
        Fact::SessionDescribed(SessionDescribed { title: None, tags: Some(vec!["x".into()]) }),
    ]);
    check_events_except_hidden(&events);
    let listed = AgentFormat::ALL.map(|format| {
        let written = write_transcript(format, &events).unwrap();
        let lines = written.left_out.iter().map(|left| format!("{} {}", left.count, left.what));
        lines.collect::<Vec<_>>()
    });
    let common = [
        "1 a hidden message",
        "1 a message of a failed turn",
        "1 a tool result without its call",
        "1 the event `session.compacted`",
        "1 the tags of the session",
    ];
    let own = listed.map(|lines| {
        assert!(common.iter().all(|line| lines.iter().any(|own| own == line)), "{lines:?}");
        lines.into_iter().filter(|line| !common.contains(&line.as_str())).collect::<Vec<_>>()
    });
    assert_eq!(
        own[0],
        [
            "1 a medium",
            "1 a message of the operator",
            "2 the id of a tool call",
            "1 the name of a tool",
            "1 the name of an injected text",
            "1 thinking of another provider",
        ]
    );
    assert_eq!(
        own[1],
        [
            "1 a medium that is not an image",
            "1 reasoning without what this provider encrypted of it",
            "1 the mark of an injected text",
            "1 the mark that the tool failed",
            "1 the name of a tool",
        ]
    );
    assert_eq!(own[2], ["1 a medium", "1 a message of the operator"]);
}

/// Asserts that no format holds the hidden message.
fn check_events_except_hidden(events: &[Event]) {
    for format in AgentFormat::ALL {
        assert!(!write_transcript(format, events).unwrap().text.contains("a secret"), "{format:?}");
    }
}

#[test]
fn a_hidden_call_is_left_out_with_its_result() {
    let events = events(vec![
        Fact::SessionOpened(SessionOpened::default()),
        said(Message::user("look")),
        said(Message::tool_call("call_1", "Bash", r#"{"command":"cat secret"}"#)),
        said(Message::tool_result("call_1", "the secret")),
        Fact::ContentHidden(ContentHidden { target: Seq(3), hidden: true }),
    ]);
    for format in AgentFormat::ALL {
        let text = write_transcript(format, &events).unwrap().text;
        assert!(!text.contains("secret") && text.contains("look"), "{format:?}: {text}");
    }
}

#[test]
fn ids_differ_between_sessions_and_formats_and_are_uuids() {
    let mut sessions: Vec<String> = Vec::new();
    for stream in ["s", "t"] {
        let mut events = whole();
        events.iter_mut().for_each(|event| event.stream = StreamId::new(stream).unwrap());
        sessions.extend(AgentFormat::ALL.map(|format| write_transcript(format, &events).unwrap().session));
    }
    for session in &sessions {
        let groups: Vec<usize> = session.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{session}");
        assert!(session.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{session}");
        assert_eq!((&session[14..15], &session[19..20]), ("8", "8"), "{session}");
    }
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 6);
}

#[test]
fn a_session_without_events_gives_a_transcript_without_messages() {
    for format in AgentFormat::ALL {
        let written = write_transcript(format, &[]).unwrap();
        assert!(seen(&read_back(format, &written), format).is_empty(), "{format:?}");
    }
}
