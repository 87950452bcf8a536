//! A ledger on the disk, its tenants and their files, and beside each of them what it must hold.

use super::memory::{Tenant, wrong_original};
use super::step::{Act, FILES, LIVE, Step, TENANTS};
use crate::program::Outcome;
use crate::prove::draw::Draw;
use crate::prove::record::{Record, file, plain, records, text};
use crate::prove::scan;
use futures_executor::block_on;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wunderblock::store::sqlite::Access;
use wunderblock::{Along, Config, Engine, Ledger};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::{EventId, StreamId, TenantId};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// The end of everything.
const LAST: Seq = Seq(i64::MAX.unsigned_abs());

/// A transcript as an agent keeps it.
#[derive(Default)]
struct Transcript {
    session: String,
    records: Vec<Record>,
}

pub(super) struct World {
    home: tempfile::TempDir,
    engines: Vec<Engine>,
    files: Vec<Transcript>,
    tenants: Vec<Tenant>,
    erased: Vec<BTreeSet<String>>,
    backups: Vec<(PathBuf, Vec<Tenant>)>,
}

fn config(tenant: usize) -> Outcome<Config> {
    let tenant = TenantId::new(["local", "other"].get(tenant).copied().unwrap_or_default())?;
    Ok(Config { tenant, ..Config::default() })
}

impl World {
    pub(super) fn new(folder: &Path) -> Outcome<Self> {
        let home = tempfile::tempdir_in(folder)?;
        std::fs::create_dir(home.path().join("ledger"))?;
        let mut world = Self {
            home,
            engines: Vec::new(),
            files: (0..FILES).map(|_| Transcript::default()).collect(),
            tenants: vec![Tenant::default(); TENANTS],
            erased: vec![BTreeSet::new(); TENANTS],
            backups: Vec::new(),
        };
        world.open()?;
        Ok(world)
    }

    fn ledger(&self) -> PathBuf {
        self.home.path().join("ledger/ledger.db")
    }

    fn path(&self, number: usize) -> PathBuf {
        self.home.path().join(format!("file-{number}.jsonl"))
    }

    fn open(&mut self) -> Outcome<()> {
        self.engines.clear();
        for tenant in 0..TENANTS {
            let ledger = self.ledger();
            let opened = Engine::open_with(&ledger, Access::Create, config(tenant)?);
            self.engines.push(block_on(opened)?);
        }
        Ok(())
    }

    fn engine(&self, tenant: usize) -> Outcome<&Engine> {
        self.engines.get(tenant).ok_or_else(|| "no such tenant".into())
    }

    /// Takes a step, and looks whether everything is as it must be.
    pub(super) fn take(&mut self, step: &Step) -> Outcome<()> {
        let mut draw = Draw::new(step.draw);
        match step.act {
            Act::Import { tenant, file } => self.import(tenant, file, &mut draw)?,
            Act::Grow { file } | Act::Rotate { file } | Act::Truncate { file } | Act::Rewrite { file } => {
                return self.write(step.act, file, &mut draw);
            }
            Act::Append { tenant } => self.append(tenant, &mut draw)?,
            Act::Erase { tenant } | Act::EraseAll { tenant } => {
                self.erase(tenant, matches!(step.act, Act::EraseAll { .. }), &mut draw)?;
            }
            Act::Backup => self.backup()?,
            Act::Restore => self.restore(&mut draw)?,
            Act::Reopen => self.open()?,
        }
        self.gone()
    }

    /// Changes a file. The ledger knows nothing of it.
    fn write(&mut self, act: Act, number: usize, draw: &mut Draw) -> Outcome<()> {
        let path = self.path(number);
        let Some(transcript) = self.files.get_mut(number) else { return Ok(()) };
        if number + 1 == FILES {
            let len = file(&transcript.records).len();
            let more = 1 + draw.place(5);
            transcript.records.extend(plain(draw, len, more));
            return Ok(std::fs::write(path, file(&transcript.records))?);
        }
        if transcript.records.is_empty() || matches!(act, Act::Rotate { .. }) {
            *transcript = Transcript { session: format!("s-{}", draw.marker()), records: Vec::new() };
        }
        let kept = match act {
            Act::Truncate { .. } | Act::Rewrite { .. } => 1 + draw.place(transcript.records.len()),
            _ => transcript.records.len(),
        };
        transcript.records.truncate(kept);
        let parent = transcript.records.iter().rev().find_map(|record| record.id.clone());
        let more = if matches!(act, Act::Truncate { .. }) { 0 } else { 1 + draw.place(5) };
        let more = records(draw, &transcript.session, parent.as_deref(), more);
        transcript.records.extend(more);
        Ok(std::fs::write(path, file(&transcript.records))?)
    }

    fn import(&mut self, tenant: usize, number: usize, draw: &mut Draw) -> Outcome<()> {
        if self.files.get(number).is_none_or(|transcript| transcript.records.is_empty()) {
            self.write(Act::Grow { file: number }, number, draw)?;
        }
        let imported = block_on(self.engine(tenant)?.import(&self.path(number), None, &mut |_, _| {}))?;
        let (Some(transcript), Some(model)) = (self.files.get_mut(number), self.tenants.get_mut(tenant))
        else {
            return Ok(());
        };
        if number + 1 == FILES {
            // Its records name no session.
            let named = imported.sessions.first().ok_or("the import names no session")?;
            transcript.session = named.to_string();
        }
        model.import(&transcript.session, &transcript.records);
        let bytes = file(&transcript.records);
        if imported.appended > 0 && model.seen.get(&number) == Some(&bytes) {
            return Err(format!("importing again appended {} events", imported.appended).into());
        }
        model.seen.insert(number, bytes);
        let session = transcript.session.clone();
        self.original(tenant, &session)
    }

    fn append(&mut self, tenant: usize, draw: &mut Draw) -> Outcome<()> {
        let name = format!("live-{}", draw.below(LIVE));
        let said = |draw: &mut Draw| {
            let marker = draw.marker();
            let text = text(draw, &marker);
            Record { id: Some(format!("m-{:x}", draw.next())), marker, text, line: String::new() }
        };
        let all: Vec<Record> = (0..=draw.below(4)).map(|_| said(draw)).collect();
        let event = |record: &Record| -> Outcome<NewEvent> {
            let fact = Fact::MessageAppended(MessageAppended {
                message: Message::text(Role::User, record.text.as_str()),
            });
            let id = EventId::new(record.id.clone().unwrap_or_default())?;
            Ok(NewEvent { id, at: Millis(1_700_000_000_000), source: EventSource::Live, fact })
        };
        let events = all.iter().map(event).collect::<Outcome<Vec<_>>>()?;
        let session = self.engine(tenant)?.session_by_id(StreamId::new(name.clone())?);
        let done = block_on(session.append(events.clone()))?;
        let again = block_on(session.append(events))?;
        if again.iter().any(|one| !one.duplicate) {
            return Err("events that were sent a second time were appended a second time".into());
        }
        let Some(model) = self.tenants.get_mut(tenant) else { return Ok(()) };
        model.live.entry(name).or_default().extend(done.iter().map(|one| one.seq.0).zip(all));
        Ok(())
    }

    fn erase(&mut self, tenant: usize, all: bool, draw: &mut Draw) -> Outcome<()> {
        let Some(model) = self.tenants.get(tenant) else { return Ok(()) };
        let names = model.sessions();
        let Some(name) = names.get(draw.place(names.len())) else { return Ok(()) };
        let session = block_on(self.engine(tenant)?.find_session(name))?;
        let records = model.records(name);
        let markers: Vec<String> = if all {
            block_on(session.erase_all(None, Along::default()))?;
            records.into_iter().map(|record| record.marker.clone()).collect()
        } else {
            let head = block_on(session.info())?.head.0;
            let from = 1 + draw.below(head);
            let to = (from + draw.below(4)).min(head);
            let events = block_on(session.events(Seq(from), Seq(to), (u64::MAX >> 1, Bytes(u64::MAX >> 1))))?;
            let ids: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
            block_on(session.erase(Seq(from), Seq(to), None))?;
            let of_them = |record: &&&Record| record.id.as_deref().is_some_and(|id| ids.contains(id));
            records.iter().filter(of_them).map(|record| record.marker.clone()).collect()
        };
        self.erased.get_mut(tenant).into_iter().for_each(|erased| erased.extend(markers.iter().cloned()));
        Ok(())
    }

    fn backup(&mut self) -> Outcome<()> {
        let path = self.home.path().join(format!("backup-{}.db", self.backups.len()));
        block_on(self.engine(0)?.ledger().backup(&path))?;
        self.backups.push((path, self.tenants.clone()));
        Ok(())
    }

    fn restore(&mut self, draw: &mut Draw) -> Outcome<()> {
        let Some((path, tenants)) = self.backups.get(draw.place(self.backups.len())) else { return Ok(()) };
        let (path, mut tenants) = (path.clone(), tenants.clone());
        self.engines.clear();
        block_on(Ledger::restore(&path, &self.ledger(), true, config(draw.place(TENANTS))?))?;
        for tenant in &mut tenants {
            // What the copy has of a file may be older than the file.
            tenant.seen.clear();
        }
        self.tenants = tenants;
        self.open()?;
        self.whole()
    }

    /// What was erased is nowhere.
    fn gone(&self) -> Outcome<()> {
        let held: BTreeSet<&String> = self
            .tenants
            .iter()
            .zip(&self.erased)
            .flat_map(|(tenant, erased)| tenant.markers().filter(|marker| !erased.contains(*marker)))
            .collect();
        let gone = self.erased.iter().flatten().filter(|marker| !held.contains(marker));
        let found = scan::found(&self.ledger(), gone)?;
        match found.first() {
            Some(first) => Err(format!("erased, and there: {first} (of {})", found.len()).into()),
            None => Ok(()),
        }
    }

    /// What was acknowledged and not erased is there, and nothing that was erased.
    pub(super) fn whole(&self) -> Outcome<()> {
        for (tenant, (model, erased)) in self.tenants.iter().zip(&self.erased).enumerate() {
            let engine = self.engine(tenant)?;
            let mut there: BTreeSet<(String, String)> = BTreeSet::new();
            for info in block_on(engine.streams("", u64::from(u32::MAX)))? {
                let mut out = Vec::new();
                block_on(engine.session_by_id(info.id).export(Seq(1), LAST, &mut out))?;
                let out = String::from_utf8(out)?;
                if let Some(marker) = erased.iter().find(|marker| out.contains(marker.as_str())) {
                    return Err(format!("tenant {tenant}: erased, and exported: {marker}").into());
                }
                for line in out.lines() {
                    let event: Value = serde_json::from_str(line)?;
                    let said = event.pointer("/message/parts/0/text").and_then(Value::as_str);
                    if let (Some(id), Some(said)) = (event.get("id").and_then(Value::as_str), said) {
                        there.insert((id.to_owned(), said.to_owned()));
                    }
                }
            }
            for record in model.events(erased) {
                let id = record.id.clone().unwrap_or_default();
                if !there.contains(&(id.clone(), record.text.clone())) {
                    return Err(format!("tenant {tenant}: lost: event {id}, {}", record.marker).into());
                }
            }
            for session in model.imported.keys() {
                self.original(tenant, session)?;
            }
            let problems = block_on(engine.maintenance().doctor(&mut |_| {}))?.problems;
            if let Some(problem) = problems.first() {
                return Err(format!("tenant {tenant}: doctor: {}: {}", problem.rule, problem.detail).into());
            }
        }
        Ok(())
    }

    fn original(&self, tenant: usize, name: &str) -> Outcome<()> {
        let (Some(model), Some(erased)) = (self.tenants.get(tenant), self.erased.get(tenant)) else {
            return Ok(());
        };
        let Some(revisions) = model.imported.get(name) else { return Ok(()) };
        let nothing_left = revisions.iter().flatten().all(|record| erased.contains(&record.marker));
        let mut bytes = Vec::new();
        let session = block_on(self.engine(tenant)?.find_session(name))?;
        match block_on(session.export_original(None, &mut bytes)) {
            Err(_) if nothing_left => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => match wrong_original(revisions, erased, &bytes) {
                Some(why) => Err(format!("tenant {tenant}: the original of {name} is another: {why}").into()),
                None => Ok(()),
            },
        }
    }
}
