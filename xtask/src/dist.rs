//! Packs the published program: an executable that needs nothing from the machine it runs on, its documents, and
//! checksums.

use crate::program::{ChoreResult, Sandbox};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum size of the program in bytes. A larger program is still packed, and reported as too large.
const LIMIT: usize = 40_000_000;

const STATIC: &str = "x86_64-unknown-linux-musl";

/// Builds and packs the program, and returns a description of the archive.
pub(crate) fn run() -> ChoreResult<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    let triple = triple()?;
    let program = build(root, &triple)?;
    let bytes = std::fs::read(&program)?;
    let linked = match needs_an_interpreter(&bytes) {
        Some(false) => "static: needs no library of its machine",
        Some(true) => "dynamic: needs the C library of its machine",
        None => "needs what programs of its system need",
    };

    let name = format!("wunderblock-{}-{triple}", env!("CARGO_PKG_VERSION"));
    let mut files = papers(root, &program)?;
    files.push((executable(&triple), bytes, 0o755));
    let mut tar = Vec::new();
    let time = committed(root);
    for (path, content, mode) in &files {
        entry(&mut tar, &format!("{name}/{path}"), content, *mode, time)?;
    }
    // Two empty blocks of 512 bytes end a tar archive.
    tar.resize(tar.len() + 1024, 0);

    let folder = root.join("target/dist");
    std::fs::create_dir_all(&folder)?;
    let archive = format!("{name}.tar.zst");
    let packed = zstd::encode_all(&tar[..], 19)?;
    std::fs::write(folder.join(&archive), &packed)?;
    let sums = format!("{}  {archive}\n", sha256(&packed));
    std::fs::write(folder.join("SHA256SUMS"), &sums)?;

    let mut said = String::new();
    writeln!(said, "{}", folder.join(&archive).display())?;
    writeln!(said, "  program   {triple}, {linked}")?;
    let size = files.last().map_or(0, |(_, program, _)| program.len());
    let too_large = if size > LIMIT { ": more than the limit of 40 MB" } else { "" };
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    writeln!(
        said,
        "  size      {:.1} MB, packed {:.1} MB{too_large}",
        megabytes(size),
        megabytes(packed.len())
    )?;
    for (path, ..) in &files {
        writeln!(said, "  contains  {path}")?;
    }
    write!(said, "  sha256    {sums}")?;
    Ok(said)
}

/// Returns the target for static programs if it is installed and compatible, otherwise the host's target.
fn triple() -> ChoreResult<String> {
    let ask = |args: &[&str]| -> ChoreResult<String> {
        let answer = Command::new("rustc").args(args).output()?;
        Ok(String::from_utf8(answer.stdout)?)
    };
    let libraries = ask(&["--print", "target-libdir", "--target", STATIC])?;
    let version = ask(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let is_alike = host.starts_with("x86_64-unknown-linux");
    let is_installed = Path::new(libraries.trim()).is_dir();
    Ok(if is_alike && is_installed { STATIC } else { host }.to_owned())
}

fn build(root: &Path, triple: &str) -> ChoreResult<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "build",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "wunderblock-cli",
        "--target",
        triple,
    ]);
    // Uses a separate folder, because cargo itself would build into `target/dist` for this profile.
    cargo.args(["--target-dir", "target/static"]);
    if triple.contains("linux-gnu") {
        cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    } else if triple == STATIC {
        // Stores relocations as a bit map, which saves 0.9 MB.
        cargo.env("RUSTFLAGS", "-C link-arg=-Wl,-z,pack-relative-relocs");
        // No panic passes through C code, so the C code needs no unwind tables.
        cargo.env("CFLAGS_x86_64_unknown_linux_musl", "-fno-asynchronous-unwind-tables");
    }
    if !cargo.current_dir(root).status()?.success() {
        return Err("the program does not build".into());
    }
    Ok(root.join("target/static").join(triple).join("dist").join(executable(triple)))
}

fn executable(triple: &str) -> String {
    if triple.contains("windows") { "wunderblock.exe" } else { "wunderblock" }.to_owned()
}

/// Path in the archive, content, and file mode.
type ArchiveEntry = (String, Vec<u8>, u32);

/// Files packed with the program. The program itself writes its completions and its man page.
fn papers(root: &Path, program: &Path) -> ChoreResult<Vec<ArchiveEntry>> {
    let home = tempfile::tempdir()?;
    let program = Sandbox::new(program, home.path())?;
    let mut files = Vec::new();
    for name in ["README.md", "LICENSE", "CHANGELOG.md"] {
        files.push((name.to_owned(), std::fs::read(root.join(name))?, 0o644));
    }
    for (shell, name) in [("bash", "wunderblock.bash"), ("zsh", "_wunderblock"), ("fish", "wunderblock.fish")]
    {
        files.push((format!("completions/{name}"), program.bytes(&["completions", shell])?, 0o644));
    }
    files.push(("man/wunderblock.1".to_owned(), program.bytes(&["man"])?, 0o644));
    Ok(files)
}

/// Time of the latest commit, in seconds since 1970. With the commit's time in the archive, the same sources give the
/// same archive.
fn committed(root: &Path) -> u64 {
    let log = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root).output();
    log.ok().and_then(|log| String::from_utf8(log.stdout).ok()?.trim().parse().ok()).unwrap_or(0)
}

/// Returns whether a program needs a dynamic loader, or `None` if it is not a 64-bit ELF file.
fn needs_an_interpreter(program: &[u8]) -> Option<bool> {
    // The type of a program header that names a dynamic loader (`PT_INTERP`).
    const INTERPRETER: [u8; 4] = 3_u32.to_le_bytes();
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = program.get(at..at + length)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    program.strip_prefix(b"\x7fELF\x02\x01")?;
    // Offset of the program headers, size of each, and their number.
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    Some(
        (0..count)
            .any(|at| program.get(table + at * size..).is_some_and(|head| head.starts_with(&INTERPRETER))),
    )
}

/// Adds a file to an archive in the POSIX format (`ustar`).
fn entry(tar: &mut Vec<u8>, path: &str, content: &[u8], mode: u32, time: u64) -> ChoreResult<()> {
    // The name field of the header has 100 bytes and ends with a zero byte.
    if path.len() >= 100 {
        return Err(format!("{path}: path is too long for the archive; the maximum is 99 bytes").into());
    }
    let mut head = Vec::with_capacity(512);
    let mut field = |text: &str, width: usize| {
        head.extend_from_slice(text.as_bytes());
        head.resize(head.len() + width - text.len(), 0);
    };
    field(path, 100);
    field(&format!("{mode:07o}"), 8);
    field("0000000", 8);
    field("0000000", 8);
    field(&format!("{:011o}", content.len()), 12);
    field(&format!("{time:011o}"), 12);
    // The checksum is computed with its own field filled with spaces.
    field("        ", 8);
    field("0", 101);
    field("ustar\u{0}00", 8);
    field("root", 32);
    field("root", 32);
    field("", 183);
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head.splice(148..156, format!("{sum:06o}\0 ").into_bytes());
    tar.extend_from_slice(&head);
    tar.extend_from_slice(content);
    tar.resize(tar.len().next_multiple_of(512), 0);
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_tar_reads_an_archive() {
        let folder = tempfile::tempdir().unwrap();
        let long = vec![b'x'; 1300];
        let mut tar = Vec::new();
        entry(&mut tar, "one/README.md", b"hello\n", 0o644, 1_700_000_000).unwrap();
        entry(&mut tar, "one/bin", &long, 0o755, 1_700_000_000).unwrap();
        tar.resize(tar.len() + 1024, 0);
        std::fs::write(folder.path().join("a.tar"), &tar).unwrap();
        let done = Command::new("tar").args(["-xf", "a.tar"]).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(std::fs::read(folder.path().join("one/README.md")).unwrap(), b"hello\n");
        assert_eq!(std::fs::read(folder.path().join("one/bin")).unwrap(), long);
        let made = folder.path().join("one/bin").metadata().unwrap();
        let since = made.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(since.as_secs(), 1_700_000_000);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&made.permissions()) & 0o777, 0o755);
        assert!(entry(&mut tar, &"x".repeat(100), b"", 0o644, 0).is_err());
    }

    #[test]
    fn checksums_are_the_published_ones() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }

    #[test]
    fn a_dynamic_program_is_told_from_a_static_one() {
        let mut program = vec![0; 64 + 2 * 56];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (program[32], program[54], program[56]) = (64, 56, 2);
        assert_eq!(needs_an_interpreter(&program), Some(false));
        program[64 + 56] = 3;
        assert_eq!(needs_an_interpreter(&program), Some(true));
        assert_eq!(needs_an_interpreter(b"#!/bin/sh"), None);
    }
}
