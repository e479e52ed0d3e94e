use super::*;

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_flushes_no_folders_is_no_failure() {
    let folder = Path::new("/proc");
    File::open(folder).expect("a folder").sync_all().expect_err("not supported there");
    flush_folder(folder).expect("no failure");
    assert!(flush_folder(Path::new("/proc/absent")).is_err());
}

#[test]
fn states_are_replaced_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("a b/Größe 空");
    let store = Store::open(&inner).expect("a store");
    assert_eq!(store.read().expect("readable"), None);
    for state in [&b"one"[..], b"", &[7; 100_000]] {
        store.write(state).expect("writable");
        assert_eq!(store.read().expect("readable").as_deref(), Some(state));
    }
    let files = fs::read_dir(inner).expect("a folder").count();
    assert_eq!(files, 2, "the state and the lock");
}

#[test]
fn a_state_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("a store");
    let file = folder.path().join(STATE);
    for (length, is_read) in [(MAX_BYTES, true), (MAX_BYTES + 1, false)] {
        File::create(&file).and_then(|file| file.set_len(length)).expect("a sparse file");
        assert_eq!(store.read().is_ok(), is_read, "{length}");
    }
    fs::remove_file(&file).expect("removable");
    fs::create_dir(&file).expect("a folder");
    assert!(matches!(store.read(), Err(StoreFileError::Read { .. })));
}

#[test]
fn a_state_that_could_not_be_read_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("a store");
    let state = vec![7; MAX_BYTES as usize + 1];
    let (longest, longer) = (&state[1..], &state[..]);
    store.write(longest).expect("writable");
    assert!(matches!(store.write(longer), Err(StoreFileError::Write { .. })));
    assert!(store.read().expect("readable").as_deref() == Some(longest));
}

#[test]
fn a_folder_has_one_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Store::open(folder.path()).expect("a store");
    let second = Store::open(folder.path()).map(|_| ());
    assert!(matches!(second, Err(StoreFileError::InUse { .. })));
    drop(first);
    assert!(Store::open(folder.path()).is_ok());
}

#[cfg(unix)]
#[test]
fn a_lock_that_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let lock = folder.path().join(LOCK);
    let made = std::process::Command::new("mkfifo").arg(&lock).status().expect("mkfifo");
    assert!(made.success());
    let mention =
        "lock: cannot write it: expected a file, got a folder, a link, a pipe or a device";
    let refused = || Store::open(folder.path()).err().expect("a refusal").to_string();
    assert!(refused().ends_with(mention));
    fs::remove_file(&lock).expect("removable");
    std::os::unix::fs::symlink("elsewhere", &lock).expect("a link");
    assert!(refused().ends_with(mention));
    assert!(!folder.path().join("elsewhere").exists());
}

#[test]
fn leftovers_are_removed_and_other_files_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let [chain, notes] = ["chain", "notes"].map(|name| format!("{name}.0123456789abcdef.new"));
    for name in [&chain, "chain", "notes.new", "notes.copy.new", &notes] {
        fs::write(folder.path().join(name), b"x").expect("writable");
    }
    let store = Store::open(folder.path()).expect("a store");
    assert!(!folder.path().join(chain).exists());
    remove_leftovers(folder.path(), |name| name.starts_with("note"));
    assert!(!folder.path().join(notes).exists());
    for name in ["notes.new", "notes.copy.new"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert_eq!(store.read().expect("readable").as_deref(), Some(&b"x"[..]));
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
    let store = Store::open(folder.path()).expect("a store");
    store.write(b"one").expect("writable");
    let file = folder.path().join(STATE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    store.write(b"two").expect("writable");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
}
