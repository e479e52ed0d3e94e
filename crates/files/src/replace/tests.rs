use super::*;

#[test]
fn leftovers_are_removed_and_other_files_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let own = ["notes", "notes.new", "notes.copy.new", "chain.0123456789abcdef.new"];
    let left = "notes.0123456789abcdef.new";
    for name in own.into_iter().chain([left]) {
        fs::write(path(name), b"x").expect("writable");
    }
    remove_leftovers(folder.path(), |name| name.starts_with("note"));
    assert!(!path(left).exists());
    for name in own {
        assert!(path(name).exists(), "{name}");
    }
}

#[test]
fn a_file_that_is_replaced_loses_its_old_leftovers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let left = ["0123456789abcdef", "1123456789abcdef"].map(|random| format!("file.{random}.new"));
    let own =
        ["file.new", "file.copy.new", "file.2123456789ABCDEF.new", "other.0123456789abcdef.new"];
    for name in left.iter().map(String::as_str).chain(own) {
        fs::write(path(name), b"x").expect("writable");
        let file = File::options().write(true).open(path(name)).expect("a file");
        // Another process may be writing the second.
        let age = if name == left[1] { LEFT / 2 } else { 2 * LEFT };
        file.set_modified(SystemTime::now() - age).expect("a time");
    }
    can_replace_file(&path("file")).expect("writable");
    assert!(!path(&left[0]).exists());
    for name in own.into_iter().chain([&*left[1]]) {
        assert!(path(name).exists(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_stay_and_their_targets_are_replaced() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("inner")).expect("a folder");
    symlink("inner/second", path("first")).expect("a link");
    symlink("../file", path("inner/second")).expect("a link");
    for bytes in [&b"one"[..], b"two"] {
        can_replace_file(&path("first")).expect("writable");
        replace_file(&path("first"), bytes).expect("writable");
        assert_eq!(fs::read(path("file")).expect("the target"), bytes);
    }
    assert!(path("first").is_symlink() && path("inner/second").is_symlink());
    symlink("loop", path("loop")).expect("a link");
    assert!(replace_file(&path("loop"), b"x").is_err());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing else");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_stays() {
    use std::os::unix::{
        fs::{FileTypeExt, symlink},
        net::UnixListener,
    };

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let _socket = UnixListener::bind(path("socket")).expect("a socket");
    symlink("socket", path("link")).expect("a link");
    fs::create_dir(path("folder")).expect("a folder");
    for name in ["socket", "link", "folder"] {
        for refused in [can_replace_file(&path(name)), replace_file(&path(name), b"x")] {
            let problem = refused.expect_err(name).to_string();
            assert_eq!(problem, "expected a regular file, or none yet", "{name}");
        }
    }
    let socket = fs::symlink_metadata(path("socket")).expect("a file");
    assert!(socket.file_type().is_socket());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
}

#[cfg(unix)]
#[test]
fn the_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    replace_file(&file, b"one").expect("writable");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    replace_file(&file, b"two").expect("writable");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
}
