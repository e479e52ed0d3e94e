//! Caches live as long as somebody holds them, and are shared by key.

use std::sync::Arc;

use randomx::{Cache, Version, Vm};
use randomx_node::caches::{count, find, share};

#[test]
fn a_cache_is_shared_by_its_key_until_nobody_holds_it() {
    let key = b"test key 000";
    assert!(find(key, None).is_none());
    let filled = |fresh| share(key.as_slice().into(), Cache::new(key).expect("a cache"), fresh);
    let first = filled(false);
    let second = find(key, None).expect("the shared cache");
    assert!(Arc::ptr_eq(&first, &second));
    // Another worker has filled one at the same time.
    assert!(Arc::ptr_eq(&first, &filled(false)));
    assert!(find(b"test key 00", None).is_none());
    assert_eq!(count(), 1);

    // The one before may be wrong, and a worker holds it still.
    let fresh = filled(true);
    assert!(!Arc::ptr_eq(&first, &fresh));
    assert!(Arc::ptr_eq(&fresh, &find(key, None).expect("the fresh cache")));
    assert_eq!(count(), 2);
    // Workers that hold it go on and share it by its number, but no other finds it.
    let fresh_id = fresh.id();
    drop(fresh);
    assert!(find(key, None).is_none());
    assert!(find(key, Some(fresh_id)).is_none());
    assert!(find(b"test key 00", Some(first.id())).is_none());
    assert!(Arc::ptr_eq(&first, &find(key, Some(first.id())).expect("the replaced cache")));
    assert_eq!(count(), 1);
    let third = filled(false);
    assert!(!Arc::ptr_eq(&first, &third));
    assert!(Arc::ptr_eq(&third, &find(key, None).expect("the third cache")));

    drop((first, second));
    let memory = randomx::KeyMemory::Items(find(key, None).expect("still held").items());
    drop(third);
    assert!(find(key, None).is_none());
    assert_eq!(count(), 0);
    // A VM keeps what it reads.
    let mut vm = Vm::with_options(memory, Version::V1, randomx::VmOptions::default());
    let hash = vm.as_mut().expect("a VM").hash(b"This is a test");
    assert_eq!(hash[..4], [0x63, 0x91, 0x83, 0xaa]);
}
