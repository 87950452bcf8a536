//! Skills that are listed, and skills that are not.

use std::fs;
use std::path::Path;
use wunderblock::sources::skills;
use wunderblock_core::instruction::FindingKind;

fn write(top: &Path, path: &str, text: &str) {
    let path = top.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn skills_are_listed_by_name_and_the_rest_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    let pdf = "---\nname: pdf\ndescription: |\n  Reads PDF\n  files.\n---\nbody\n";
    write(top, "one/pdf/SKILL.md", pdf);
    write(top, "one/nameless/SKILL.md", "---\ndescription: \"by its folder\"\nallowed-tools: [Read]\n---\n");
    write(top, "one/silent/SKILL.md", "no front matter");
    write(top, "one/broken/SKILL.md", "---\nname: [\n---\n");
    write(top, "one/empty/readme.md", "");
    write(top, "two/other/SKILL.md", "---\nname: pdf\ndescription: another\n---\n");
    let (found, findings) = skills(&[top.join("one"), top.join("absent"), top.join("two")]);
    let shown: Vec<(&str, &str)> = found.iter().map(|skill| (&*skill.name, &*skill.description)).collect();
    assert_eq!(shown, [("nameless", "by its folder"), ("pdf", "Reads PDF files.")]);
    assert_eq!((&*found[1].body, &found[1].path), (pdf, &top.join("one/pdf/SKILL.md")));
    assert_eq!(found[1].digest, blake3::hash(pdf.as_bytes()).to_hex().as_str());
    let told: Vec<(&str, Option<u64>, FindingKind)> = findings
        .iter()
        .map(|finding| {
            (
                Path::new(&*finding.source).parent().unwrap().file_name().unwrap().to_str().unwrap(),
                finding.line,
                finding.what,
            )
        })
        .collect();
    let expected = [
        ("broken", Some(2), FindingKind::Unusable),
        ("silent", Some(1), FindingKind::Unusable),
        ("other", None, FindingKind::Repeated),
    ];
    assert_eq!(told, expected, "{findings:#?}");
}
