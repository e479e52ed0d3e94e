use std::fs::{self, File};

use super::*;

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
    assert!(matches!(second, Err(StoreFileError::Lock(LockError::InUse { .. }))));
    drop(first);
    assert!(Store::open(folder.path()).is_ok());
}

#[test]
fn leftovers_of_the_state_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let [chain, notes] = ["chain", "notes"].map(|name| format!("{name}.0123456789abcdef.new"));
    for name in [&chain, &notes, STATE] {
        fs::write(folder.path().join(name), b"x").expect("writable");
    }
    let store = Store::open(folder.path()).expect("a store");
    assert!(!folder.path().join(chain).exists());
    assert!(folder.path().join(notes).exists());
    assert_eq!(store.read().expect("readable").as_deref(), Some(&b"x"[..]));
}
