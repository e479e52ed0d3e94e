//! The files of the page: all of those in its folder, and nothing else.

use std::fs;

use super::server::Server;

#[test]
fn missing_files_and_odd_paths_are_not_found() {
    let server = Server::start();
    for path in [
        "/missing",
        "/index.html/",
        "/index.html/missing",
        "/assets",
        "/assets/",
        "/%00",
        "/%ff",
        "/%2e%2e/%2e%2e/Cargo.toml",
        "/..%2f..%2fCargo.toml",
        &format!("/{}", "x".repeat(5000)),
        &format!("/{}", "x/".repeat(2500)),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path:.40}: {answer:?}");
    }
}

#[test]
fn no_path_leads_to_another_host() {
    let server = Server::start();
    for path in
        ["//assets", "//assets/..", "//evil.example/%2e%2e/assets", "/\\assets", "///assets"]
    {
        let answer = server.get(path);
        assert_eq!(answer.header("location"), None, "{path}: {answer:?}");
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_lead_to_files_of_the_page_only() {
    use std::os::unix::fs::symlink;

    let server = Server::start();
    let outside = tempfile::tempdir().expect("a temporary folder");
    fs::write(outside.path().join("secret.txt"), "secret").expect("a file");
    let page = server.page.path();
    symlink(outside.path().join("secret.txt"), page.join("secret.txt")).expect("a link");
    symlink(outside.path(), page.join("outside")).expect("a link");
    symlink("..", page.join("assets/up")).expect("a link");
    symlink("loop", page.join("loop")).expect("a link");
    symlink("index.html", page.join("inside.html")).expect("a link");
    for path in ["/secret.txt", "/outside/secret.txt", "/outside/", "/loop"] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{path}: {answer:?}");
    }
    for path in ["/inside.html", "/assets/up/index.html"] {
        assert_eq!(server.get(path).body, b"<h1>page</h1>", "{path}");
    }
    // A sibling whose name begins like the folder's is outside too.
    let sibling = page.with_extension("sibling");
    fs::create_dir(&sibling).expect("a folder");
    fs::write(sibling.join("file"), "secret").expect("a file");
    symlink(sibling.join("file"), page.join("sibling")).expect("a link");
    let status = server.get("/sibling").status;
    fs::remove_dir_all(&sibling).expect("the folder");
    assert_eq!(status, 404);
}

#[test]
fn without_a_page_only_the_root_has_a_note() {
    let server = Server::start_without_page();
    let note = server.get("/?a");
    assert_eq!((note.status, note.header("cache-control")), (200, Some("no-cache")));
    assert!(note.body.starts_with(b"This is `randomx serve` without the page"), "{note:?}");
    assert_eq!(server.ask("HEAD /", &[], b"").status, 200);
    for path in ["/index.html", "/assets/main.js", "/assets/", "/%00", "//", "//evil.example/"] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.body.len()), (404, 0), "{path}: {answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    for line in ["POST /", "DELETE /assets/main.js", "OPTIONS /missing"] {
        let answer = server.ask(line, &[], b"");
        assert_eq!(answer.status, 405, "{line}: {answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{line}");
    }
    assert_eq!(server.get("/api/info").status, 200);
}
