use super::*;
use crate::limits::{MAX_PDF_PAGES, MAX_SECTION, MAX_SECTIONS};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn text(name: &str, content: impl AsRef<[u8]>) -> DocumentText {
    text_of(Path::new(name), content.as_ref()).unwrap_or_else(|error| panic!("{name} {error}"))
}

/// Headings, lines and first line of a section.
type Outlined<'d> = (String, Option<(u64, u64)>, &'d str);

/// Returns the outline of a document.
fn outline(document: &DocumentText) -> Vec<Outlined<'_>> {
    let first = |section: &'_ SectionText| section.headings.join(" › ");
    let row = |section| (first(section), section.lines, section.text.lines().next().unwrap_or_default());
    document.sections.iter().map(row).collect()
}

/// Returns a PDF with a page for each text. With `encrypted`, only an unknown password opens it.
fn pdf(pages: &[&str], encrypted: bool) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (page, text) in pages.iter().enumerate() {
        let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R
               /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * page
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let (mut out, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in (1..).zip(&objects) {
        places.push(out.len());
        out.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (start, count) = (out.len(), places.len() + 1);
    out.push_str(&format!("xref\n0 {count}\n0000000000 65535 f \n"));
    places.iter().for_each(|place| out.push_str(&format!("{place:010} 00000 n \n")));
    let keys = "00".repeat(32);
    let encrypt =
        format!("/Encrypt << /Filter /Standard /V 1 /R 2 /O <{keys}> /U <{keys}> /P -4 >> /ID [<00> <00>]");
    let encrypt = if encrypted { encrypt } else { String::new() };
    out.push_str(&format!("trailer\n<< /Size {count} /Root 1 0 R {encrypt} >>\nstartxref\n{start}\n%%EOF\n"));
    out.into_bytes()
}

#[test]
fn markdown_is_cut_at_headings() {
    let page = "---\ntitle: x\n---\n\n# Guide\n\nIntro.\n\n## Install\n\n### Linux\n\nRun `make`.\n\n```sh\n# no heading\n```\n\n\
                Windows\n-------\n\nIt works.\n\nUse it\n======\n\nNow.\n";
    let document = text("guide.md", page);
    assert_eq!((document.format, document.title.as_deref()), (DocumentFormat::Markdown, Some("Guide")));
    assert_eq!(
        outline(&document),
        [
            (String::new(), Some((1, 3)), "---"),
            ("Guide".into(), Some((5, 7)), "# Guide"),
            ("Guide › Install › Linux".into(), Some((9, 17)), "## Install"),
            ("Guide › Windows".into(), Some((19, 22)), "Windows"),
            ("Use it".into(), Some((24, 27)), "Use it"),
        ]
        .map(|row: (String, _, _)| row)
    );
}

#[test]
fn every_line_is_in_one_section_and_its_bytes_are_its_own() {
    let code: String =
        (0..300).map(|n| format!("/// Doc {n}.\nfn f{n}() {{\n    let x = {n};\n\n    x;\n}}\n\n")).collect();
    let long = format!("{}\n{}", "ä".repeat(3 * MAX_SECTION), "words ".repeat(MAX_SECTION));
    for (name, content) in [("f.rs", code.as_str()), ("long.txt", &long), ("crlf.txt", "a\r\n\r\nb\r\n")] {
        let document = text(name, content);
        let bytes = |section: &SectionText| section.bytes.start as usize..section.bytes.end as usize;
        let mut at = 0;
        for section in &document.sections {
            assert!(section.text.len() <= MAX_SECTION && !section.text.trim().is_empty());
            let own = &content[bytes(section)];
            assert_eq!(own.trim_end_matches(['\r', '\n']), section.text);
            assert!(content[at..bytes(section).start].trim().is_empty(), "{name}: nothing is left out");
            let before = content[..bytes(section).start].matches('\n').count() as u64 + 1;
            assert_eq!(section.lines.unwrap().0, before, "{name}");
            at = bytes(section).end;
        }
        assert!(content[at..].trim().is_empty());
    }
    let document = text("f.rs", &code);
    assert!(document.sections.len() > 3);
    for section in &document.sections {
        assert!(section.text.starts_with("/// Doc "), "a section begins with a definition: {}", section.text);
        assert_eq!(section.headings, [section.text.lines().nth(1).unwrap()]);
    }
}

#[test]
fn pages_of_html_are_sections_of_their_text() {
    let page = "<html><head><title>Pumps &amp; valves</title></head><body><nav><a href=/>Home</a> of all pages</nav>\
                <main><h1>Pumps</h1><p>A pump moves <b>water</b>.</p><h2>Care</h2><p>Oil it.</p></main></body></html>";
    let document = text("page.html", page);
    assert_eq!((document.format, document.title.as_deref()), (DocumentFormat::Html, Some("Pumps & valves")));
    let expected = [("Pumps", "# Pumps\n\nA pump moves water."), ("Pumps › Care", "## Care\n\nOil it.")];
    let found: Vec<_> = document
        .sections
        .iter()
        .map(|section| (section.headings.join(" › "), section.text.as_str()))
        .collect();
    assert_eq!(found, expected.map(|(heading, text)| (heading.to_owned(), text)));
    assert!(
        document
            .sections
            .iter()
            .all(|section| section.lines.is_none() && section.bytes == (0..page.len() as u64))
    );
}

#[test]
fn pdf_files_are_read_page_by_page() {
    let document = text("a.pdf", pdf(&["The first page", "The second page"], false));
    let pages: Vec<_> =
        document.sections.iter().map(|section| (section.page, section.text.as_str())).collect();
    assert_eq!(pages, [(Some(1), "The first page"), (Some(2), "The second page")]);
    let error = |bytes: &[u8]| text_of(Path::new("a.pdf"), bytes).unwrap_err();
    assert_eq!(error(&pdf(&["secret"], true)), NotADocument::Encrypted);
    assert_eq!(error(&pdf(&["", " "], false)), NotADocument::NoText);
    for damaged in [b"%PDF-1.7 and nothing else".to_vec(), pdf(&[], false)] {
        assert!(matches!(error(&damaged), NotADocument::Damaged(_)));
    }
    assert_eq!(error(b""), NotADocument::Empty);
    let long = error(&pdf(&vec![" "; MAX_PDF_PAGES + 1], false));
    assert!(matches!(&long, NotADocument::Excessive(why) if why.contains("10001 pages")), "{long:?}");
    let whole = pdf(&["text"], false);
    for len in 0..whole.len() {
        let _ = text_of(Path::new("a.pdf"), &whole[..len]);
    }
}

#[test]
fn what_is_not_text_is_named_by_its_kind() {
    let kind = |name: &str, bytes: &[u8]| text_of(Path::new(name), bytes).unwrap_err().kind().to_owned();
    assert_eq!(kind("a.PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "png");
    assert_eq!(kind("tool", b"\x7fELF\x02\x01\x01\0\0"), "binary");
    assert_eq!(kind("a.txt", b" \n\t\n"), "empty");
    assert_eq!(kind("a.txt", b""), "empty");
    let wide: Vec<u8> = "Grüße aus der Küche\n".repeat(9).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let document = text("wide.txt", &wide);
    assert!(document.sections[0].text.starts_with("Grüße"));
    assert_eq!(
        (document.sections[0].lines, document.sections[0].bytes.end),
        (Some((1, 9)), wide.len() as u64)
    );
    assert!(text("latin.txt", b"Pr\xeat \xe0 lire : le num\xe9ro 25").sections[0].text.contains("numéro"));
    let broken = [b"one bad byte: \xff, in ".as_slice(), "much text ".repeat(99).as_bytes()].concat();
    assert!(text("log.txt", broken).sections[0].text.starts_with("one bad byte: \u{fffd},"));
}

#[test]
fn a_text_of_headings_is_cut_by_size() {
    let page = "# a\nb\n".repeat(MAX_SECTIONS + 1);
    assert!(text("a.md", &page).sections.len() < 100);
    assert_eq!(text("a.md", "# a\n\n## b\n\n### c\n").sections.len(), 1, "headings alone are one section");
}

#[test]
fn a_folder_has_the_files_that_git_would_see() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap();
    for (path, content) in [
        ("docs/.gitignore", "build/\n*.log\n!keep.log\n"),
        ("docs/a.md", "a"),
        ("docs/x.log", "x"),
        ("docs/keep.log", "k"),
        ("docs/build/out.md", "o"),
        ("docs/.github/ci.yml", "c"),
        ("docs/.git/config", "g"),
        ("docs/deep/.ignore", "b.md"),
        ("docs/deep/b.md", "b"),
        ("docs/deep/c.md", "c"),
        ("outside.md", "o"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root.join("outside.md"), root.join("docs/link.md")).unwrap();
        std::os::unix::fs::symlink(&root, root.join("docs/deep/up")).unwrap();
    }
    let (mut files, mut others) = (Vec::new(), BTreeMap::new());
    for found in FolderFiles::of(&root.join("docs")) {
        match found {
            Ok(path) => files.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()),
            Err((_, why)) => *others.entry(why.kind().to_owned()).or_insert(0) += 1,
        }
    }
    files.sort();
    let expected = [
        "docs/.github/ci.yml",
        "docs/.gitignore",
        "docs/a.md",
        "docs/deep/.ignore",
        "docs/deep/c.md",
        "docs/keep.log",
    ];
    assert_eq!(files, expected);
    assert_eq!(others, if cfg!(unix) { BTreeMap::from([("link".to_owned(), 2)]) } else { BTreeMap::new() });
    let one: Vec<PathBuf> = FolderFiles::of(&root.join("docs/x.log")).map(Result::unwrap).collect();
    assert_eq!(one, [root.join("docs/x.log")], "a file that is named is not ignored");
}

#[test]
fn a_file_is_read_as_it_is_at_one_time() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.txt");
    fs::write(&path, "text").unwrap();
    let (bytes, meta) = read_file(&path).unwrap();
    assert_eq!((bytes.as_slice(), meta.len()), (b"text".as_slice(), 4));
    fs::File::create(&path).unwrap().set_len(MAX_DOCUMENT_BYTES + 1).unwrap();
    assert_eq!(read_file(&path).unwrap_err().kind(), "too large");
    assert!(read_file(&home.path().join("none")).unwrap_err().is_passing());
    assert!(matches!(read_file(home.path()), Err(NotADocument::Failed(_))));
    // A writer changes the file all the time: what is read is one of its states, or named as changing.
    fs::write(&path, "a".repeat(1 << 16)).unwrap();
    let (done, of) = (std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)), path.clone());
    let is_done = std::sync::Arc::clone(&done);
    let writer = std::thread::spawn(move || {
        let mut letter = b'a';
        while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
            letter = if letter == b'z' { b'a' } else { letter + 1 };
            fs::write(&of, vec![letter; (1 << 16) + usize::from(letter)]).unwrap();
        }
    });
    for _ in 0..50 {
        match read_file(&path) {
            Ok((bytes, _)) => assert!(bytes.iter().all(|byte| *byte == bytes[0]), "one state"),
            Err(why) => assert_eq!(why, NotADocument::Changing),
        }
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
}
