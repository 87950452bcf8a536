//! Names of the workers that hold leases. A name tells whether its process still lives, on the machine where it was given.

use crate::base::error::Error;
use crate::ledger::engine::random;
use std::fmt::Write as _;

/// Returns a new name for this worker: its process, the machine, and a random number.
pub(super) fn new_holder() -> Result<String, Error> {
    let number = u64::from_be_bytes(random::<8>()?);
    let pid = std::process::id();
    let mut name = format!("{pid}");
    if let (Some(start), Some(machine)) = (start_of(pid), machine()) {
        let _ = write!(name, ".{start}.{machine}");
    }
    let _ = write!(name, ".{number:016x}");
    Ok(name)
}

/// Returns whether the process that has a name has ended. Processes of other machines, and of systems that do not tell,
/// count as alive.
pub(super) fn is_dead(holder: &str) -> bool {
    let parts: Vec<&str> = holder.split('.').collect();
    let [pid, start, there, _] = parts.as_slice() else { return false };
    let Ok(pid) = pid.parse() else { return false };
    machine().is_some_and(|here| here == *there) && start_of(pid).is_none_or(|now| now != *start)
}

/// Returns the time at which a process started, in clock ticks since the machine's start (`proc_pid_stat(5)`, field 22).
/// A later process with the same number has another time.
fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may contain spaces and parentheses, and ends with the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(ToOwned::to_owned)
}

/// Returns a name of the running system and of its processes' numbers, which a container has of its own.
fn machine() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let hash = blake3::hash(format!("{boot}{}", numbers.display()).as_bytes());
    Some(hash.to_hex().chars().take(16).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_whose_process_has_ended_is_dead() {
        let own = new_holder().unwrap();
        assert!(!is_dead(&own));
        let parts: Vec<&str> = own.split('.').collect();
        let [pid, start, machine, number] = parts.as_slice() else { return };
        assert!(is_dead(&format!("{pid}.1{start}.{machine}.{number}")), "another process has the number now");
        assert!(is_dead(&format!("4194999.{start}.{machine}.{number}")), "no process has this number");
        for alive in ["", "1f", "a.b.c.d", &format!("4194999.{start}.elsewhere.{number}")] {
            assert!(!is_dead(alive), "{alive}");
        }
    }
}
