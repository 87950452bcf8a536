//! A ledger on disk with its tenants and files, and the models of what it must contain.

use super::expected::{ExpectedTenant, wrong_original};
use super::step::{FILES, InterleavingStep, LIVE, Operation, TENANTS};
use crate::program::ChoreResult;
use crate::prove::random::{Random, marker};
use crate::prove::record::{MarkedRecord, TranscriptFile, file, plain, text};
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

/// The last possible position.
const LAST: Seq = Seq(i64::MAX.unsigned_abs());

pub(super) struct LedgerUnderTest {
    home: tempfile::TempDir,
    engines: Vec<Engine>,
    files: Vec<TranscriptFile>,
    tenants: Vec<ExpectedTenant>,
    erased: Vec<BTreeSet<String>>,
    backups: Vec<(PathBuf, Vec<ExpectedTenant>)>,
}

fn config(tenant: usize) -> ChoreResult<Config> {
    let tenant = TenantId::new(["local", "other"].get(tenant).copied().unwrap_or_default())?;
    Ok(Config { tenant, ..Config::default() })
}

impl LedgerUnderTest {
    pub(super) fn new(folder: &Path) -> ChoreResult<Self> {
        let home = tempfile::tempdir_in(folder)?;
        std::fs::create_dir(home.path().join("ledger"))?;
        let mut ledger = Self {
            home,
            engines: Vec::new(),
            files: (0..FILES).map(|_| TranscriptFile::default()).collect(),
            tenants: vec![ExpectedTenant::default(); TENANTS],
            erased: vec![BTreeSet::new(); TENANTS],
            backups: Vec::new(),
        };
        ledger.open()?;
        Ok(ledger)
    }

    fn ledger(&self) -> PathBuf {
        self.home.path().join("ledger/ledger.db")
    }

    fn path(&self, number: usize) -> PathBuf {
        self.home.path().join(format!("file-{number}.jsonl"))
    }

    fn open(&mut self) -> ChoreResult<()> {
        self.engines.clear();
        for tenant in 0..TENANTS {
            let ledger = self.ledger();
            let opened = Engine::open_with(&ledger, Access::Create, config(tenant)?);
            self.engines.push(block_on(opened)?);
        }
        Ok(())
    }

    fn engine(&self, tenant: usize) -> ChoreResult<&Engine> {
        self.engines.get(tenant).ok_or_else(|| "no such tenant".into())
    }

    /// Takes a step, and checks that nothing erased is left in the ledger.
    pub(super) fn take(&mut self, step: &InterleavingStep) -> ChoreResult<()> {
        let mut random = Random::new(step.seed);
        match step.act {
            Operation::Import { tenant, file } => self.import(tenant, file, &mut random)?,
            Operation::Grow { file }
            | Operation::Rotate { file }
            | Operation::Truncate { file }
            | Operation::Rewrite { file } => {
                return self.write(step.act, file, &mut random);
            }
            Operation::Append { tenant } => self.append(tenant, &mut random)?,
            Operation::Erase { tenant } | Operation::EraseAll { tenant } => {
                self.erase(tenant, matches!(step.act, Operation::EraseAll { .. }), &mut random)?;
            }
            Operation::Backup => self.backup()?,
            Operation::Restore => self.restore(&mut random)?,
            Operation::Reopen => self.open()?,
        }
        self.gone()
    }

    /// Changes a file. The ledger does not learn of the change.
    fn write(&mut self, act: Operation, number: usize, random: &mut Random) -> ChoreResult<()> {
        let path = self.path(number);
        let Some(transcript) = self.files.get_mut(number) else { return Ok(()) };
        // The last file only grows, because its records are identified by their offset.
        if number + 1 == FILES {
            let len = file(&transcript.records).len();
            let more = 1 + random.below(5);
            transcript.records.extend(plain(random, len, more));
            return Ok(std::fs::write(path, file(&transcript.records))?);
        }
        if transcript.records.is_empty() || matches!(act, Operation::Rotate { .. }) {
            *transcript = TranscriptFile::new(random);
        }
        let kept = match act {
            Operation::Truncate { .. } | Operation::Rewrite { .. } => {
                1 + random.below(transcript.records.len())
            }
            _ => transcript.records.len(),
        };
        transcript.records.truncate(kept);
        if !matches!(act, Operation::Truncate { .. }) {
            let more = 1 + random.below(5);
            transcript.grow(random, more);
        }
        Ok(std::fs::write(path, file(&transcript.records))?)
    }

    fn import(&mut self, tenant: usize, number: usize, random: &mut Random) -> ChoreResult<()> {
        if self.files.get(number).is_none_or(|transcript| transcript.records.is_empty()) {
            self.write(Operation::Grow { file: number }, number, random)?;
        }
        let imported = block_on(self.engine(tenant)?.import(&self.path(number), None, &mut |_, _| {}))?;
        let (Some(transcript), Some(model)) = (self.files.get_mut(number), self.tenants.get_mut(tenant))
        else {
            return Ok(());
        };
        if number + 1 == FILES {
            // The records of this file name no session, so the import names it.
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

    fn append(&mut self, tenant: usize, random: &mut Random) -> ChoreResult<()> {
        let name = format!("live-{}", random.below(LIVE));
        let said = |random: &mut Random| {
            let marker = marker(random);
            let text = text(random, &marker);
            MarkedRecord { id: Some(format!("m-{:x}", random.next_u64())), marker, text, line: String::new() }
        };
        let all: Vec<MarkedRecord> = (0..=random.below(4)).map(|_| said(random)).collect();
        let event = |record: &MarkedRecord| -> ChoreResult<NewEvent> {
            let fact = Fact::MessageAppended(MessageAppended {
                message: Message::text(Role::User, record.text.as_str()),
            });
            let id = EventId::new(record.id.clone().unwrap_or_default())?;
            Ok(NewEvent { id, at: Millis(1_700_000_000_000), source: EventSource::Live, fact })
        };
        let events = all.iter().map(event).collect::<ChoreResult<Vec<_>>>()?;
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

    fn erase(&mut self, tenant: usize, all: bool, random: &mut Random) -> ChoreResult<()> {
        let Some(model) = self.tenants.get(tenant) else { return Ok(()) };
        let names = model.sessions();
        let Some(name) = names.get(random.below(names.len())) else { return Ok(()) };
        let session = block_on(self.engine(tenant)?.find_session(name))?;
        let records = model.records(name);
        let markers: Vec<String> = if all {
            block_on(session.erase_all(None, Along::default()))?;
            records.into_iter().map(|record| record.marker.clone()).collect()
        } else {
            let head = usize::try_from(block_on(session.info())?.head.0)?;
            let from = 1 + random.below(head);
            let to = (from + random.below(4)).min(head);
            let (from, to) = (Seq(from as u64), Seq(to as u64));
            let events = block_on(session.events(from, to, u64::MAX >> 1, Bytes(u64::MAX >> 1)))?;
            let ids: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
            block_on(session.erase(from, to, None))?;
            let of_them = |record: &&&MarkedRecord| record.id.as_deref().is_some_and(|id| ids.contains(id));
            records.iter().filter(of_them).map(|record| record.marker.clone()).collect()
        };
        self.erased.get_mut(tenant).into_iter().for_each(|erased| erased.extend(markers.iter().cloned()));
        Ok(())
    }

    fn backup(&mut self) -> ChoreResult<()> {
        let path = self.home.path().join(format!("backup-{}.db", self.backups.len()));
        block_on(self.engine(0)?.ledger().backup(&path))?;
        self.backups.push((path, self.tenants.clone()));
        Ok(())
    }

    fn restore(&mut self, random: &mut Random) -> ChoreResult<()> {
        let Some((path, tenants)) = self.backups.get(random.below(self.backups.len())) else { return Ok(()) };
        let (path, mut tenants) = (path.clone(), tenants.clone());
        self.engines.clear();
        block_on(Ledger::restore(&path, &self.ledger(), true, config(random.below(TENANTS))?))?;
        for tenant in &mut tenants {
            // The copy may contain an older state of a file, so its next import may append events.
            tenant.seen.clear();
        }
        self.tenants = tenants;
        self.open()?;
        self.whole()
    }

    /// Checks that no erased marker is left in the ledger's bytes.
    fn gone(&self) -> ChoreResult<()> {
        // A marker erased for one tenant may still belong to the other, whose copy stays.
        let held: BTreeSet<&String> = self
            .tenants
            .iter()
            .zip(&self.erased)
            .flat_map(|(tenant, erased)| tenant.markers().filter(|marker| !erased.contains(*marker)))
            .collect();
        let gone = self.erased.iter().flatten().filter(|marker| !held.contains(marker));
        let found = scan::found(&self.ledger(), gone)?;
        match found.first() {
            Some(first) => Err(format!("erased content is still there: {first} (of {})", found.len()).into()),
            None => Ok(()),
        }
    }

    /// Checks that all acknowledged content that was not erased is present, and that no erased content is.
    pub(super) fn whole(&self) -> ChoreResult<()> {
        for (tenant, (model, erased)) in self.tenants.iter().zip(&self.erased).enumerate() {
            let engine = self.engine(tenant)?;
            let mut there: BTreeSet<(String, String)> = BTreeSet::new();
            for info in block_on(engine.streams("", u64::from(u32::MAX)))? {
                let mut out = Vec::new();
                block_on(engine.session_by_id(info.id).export(Seq(1), LAST, &mut out))?;
                let out = String::from_utf8(out)?;
                if let Some(marker) = erased.iter().find(|marker| out.contains(marker.as_str())) {
                    return Err(format!("tenant {tenant}: erased content is exported: {marker}").into());
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

    fn original(&self, tenant: usize, name: &str) -> ChoreResult<()> {
        let (Some(model), Some(erased)) = (self.tenants.get(tenant), self.erased.get(tenant)) else {
            return Ok(());
        };
        let Some(revisions) = model.imported.get(name) else { return Ok(()) };
        // If everything in the file is erased, the original may be gone.
        let nothing_left = revisions.iter().flatten().all(|record| erased.contains(&record.marker));
        let mut bytes = Vec::new();
        let session = block_on(self.engine(tenant)?.find_session(name))?;
        match block_on(session.export_original(None, &mut bytes)) {
            Err(_) if nothing_left => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => match wrong_original(revisions, erased, &bytes) {
                Some(why) => Err(format!("tenant {tenant}: the original of {name} is wrong: {why}").into()),
                None => Ok(()),
            },
        }
    }
}
