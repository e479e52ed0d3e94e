//! An archive whose sources fail, and whose base moves.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::SystemTime;

use randomx_monero::Block;
use randomx_testing::blocks::block_with;

use super::sources::Ask;
use super::state::REACH;
use super::wants::COUNTS;
use super::*;

/// Returns the hashing blobs of linked blocks, and their ids after that of the block before the first.
fn headers(count: u64) -> (Vec<Vec<u8>>, Vec<Hash>) {
    let (mut blobs, mut ids) = (Vec::new(), vec![[0; 32]]);
    for height in 0..count {
        let previous = ids[ids.len() - 1];
        let block = block_with(height, 1_700_000_000 + height, &previous, 0, 1, &[]);
        let block = Block::parse(&block).expect("a block");
        ids.push(block.id());
        blobs.push(block.hashing_blob().as_bytes().to_vec());
    }
    (blobs, ids)
}

#[test]
fn only_a_scan_has_very_old_headers_read() {
    let (archive, begun) = (Archive::new(PathBuf::new(), REQUEST_PATIENCE), Instant::now());
    let base = 100_000;
    archive.set_base((base, [0; 32]));
    assert!(matches!(archive.block(base - REACH - 1, begun), Err(Unknown::Old)));
    assert_eq!(archive.lock().wanted(begun), None);
    archive.want(50_000);
    assert!(matches!(archive.block(50_000 - REACH - 1, begun), Err(Unknown::Old)));
    assert_eq!(archive.lock().wanted(begun), Some(50_000));
}

#[test]
fn other_requests_do_not_lead_further_and_further_down() {
    let (archive, begun) = (Archive::new(PathBuf::new(), Duration::ZERO), Instant::now());
    archive.set_base((100_000, [0; 32]));
    let lowest = 100_000 - REACH;
    assert!(matches!(archive.block(lowest, begun), Err(Unknown::Awaited)));
    assert!(matches!(archive.block(lowest - 1, begun), Err(Unknown::Old)));
    assert_eq!(archive.lock().wanted(begun), Some(lowest));
}

/// Starts a thread that reads headers from a source.
fn fill(
    archive: &Arc<Archive>,
    ask: impl Fn(u64, u64, Duration) -> Result<Vec<Vec<u8>>, String> + Send + 'static,
) -> thread::JoinHandle<()> {
    let archive = Arc::clone(archive);
    thread::spawn(move || {
        let journal = Journal::new(Box::new(|_| {}), Box::new(|_| Err(io::Error::other(""))));
        let sources = vec![Box::new(ask) as Ask<'_>];
        archive.run_with(&mut Sources::by(sources, PAUSE, PAUSE), &journal);
    })
}

#[test]
fn requests_that_wait_do_not_shorten_the_pause_after_a_failure() {
    let archive = Arc::new(Archive::new(PathBuf::new(), PAUSE / 5));
    let asked = Arc::new(AtomicU32::new(0));
    archive.set_base((100, [0; 32]));
    let count = Arc::clone(&asked);
    let filling = fill(&archive, move |_, _, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Err("a problem".to_owned())
    });
    thread::scope(|scope| {
        let (archive, begun) = (&archive, Instant::now());
        for height in [70, 60, 50] {
            let block = move || archive.block(height, begun);
            scope.spawn(move || assert!(matches!(block(), Err(Unknown::Awaited))));
        }
    });
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // A guard that is dropped does not wait for the end of the pause.
    let stopped = Instant::now();
    archive.stop();
    filling.join().expect("no panic");
    assert!(stopped.elapsed() < PAUSE / 2);
}

#[test]
fn a_new_base_ends_a_long_read_which_goes_on_where_it_ended() {
    let (blobs, ids) = headers(3 * SEGMENT + 100);
    let base = |height: u64| (height, ids[height as usize + 1]);
    let (old, new) = (base(3 * SEGMENT - 50), base(3 * SEGMENT + 50));
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::new(folder.path().to_owned(), Duration::ZERO);
    let asked = RefCell::new(Vec::new());
    let ask: Ask<'_> = Box::new(|first, count, _| {
        // The base moves while the second segment is read.
        if first < 2 * SEGMENT {
            archive.set_base(new);
        }
        asked.borrow_mut().push((first, count));
        Ok(blobs[first as usize..(first + count) as usize].to_vec())
    });
    let minute = Duration::from_secs(60);
    let mut sources = Sources::by(vec![ask], minute, minute);
    archive.set_base(old);
    archive.want(1);
    assert_eq!(archive.next(), Some((old, 1)));
    assert_eq!(archive.extend(old, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((SEGMENT, old.0)));
    assert_eq!(archive.next(), Some((new, 1)));
    asked.take();
    assert_eq!(archive.extend(new, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((0, new.0)));
    assert!(archive.has(new.0 - 1));
    // The blocks between the bases, and then those of the first segment.
    let read: Vec<u64> = asked.take().iter().map(|(first, _)| first / SEGMENT).collect();
    assert_eq!(read, [3, 2, 0, 0, 0, 0]);
}

#[test]
fn headers_that_cannot_be_stored_end_a_scan_and_are_fetched_once() {
    let (blobs, ids) = headers(SEGMENT + 100);
    let base = (SEGMENT + 99, ids[SEGMENT as usize + 100]);
    let store = tempfile::tempdir().expect("a folder");
    let archive = Archive::new(store.path().to_owned(), Duration::ZERO);
    let asked = Cell::new(0);
    let ask: Ask<'_> = Box::new(|first, count, _| {
        asked.set(asked.get() + count);
        Ok(blobs[first as usize..(first + count) as usize].to_vec())
    });
    let minute = Duration::from_secs(60);
    let mut sources = Sources::by(vec![ask], minute, minute);
    archive.set_base(base);
    archive.want(SEGMENT);
    assert_eq!(archive.extend(base, &mut sources), Ok(()));
    archive.want(1);
    // No file can have this name.
    let taken = store.path().join("headers-000000");
    fs::create_dir(&taken).expect("a folder");
    for _ in 0..3 {
        let failure = archive.extend(base, &mut sources).expect_err("a folder is in the way");
        assert!(failure.starts_with("cannot store headers in "), "{failure}");
        assert_eq!(archive.lock().proven, Some((SEGMENT, base.0)));
        // Wallets read other segments meanwhile.
        let other = Arc::new(Segment::new(0, Vec::new()));
        (2..40).for_each(|index| archive.lock().keep(index, Arc::clone(&other)));
    }
    fs::remove_dir(&taken).expect("removable");
    assert_eq!(archive.extend(base, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((0, base.0)));
    assert_eq!(asked.get(), SEGMENT + 100);
}

/// The folder may be one that cannot be written.
#[test]
fn headers_that_are_on_disk_are_not_written_again() {
    let (blobs, ids) = headers(SEGMENT + 100);
    let base = |height: u64| (height, ids[height as usize + 1]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("headers-000000");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    let age = || -> io::Result<()> {
        fs::File::options().append(true).open(&file)?.set_modified(long_ago)
    };
    let is_old =
        || fs::metadata(&file).and_then(|file| file.modified()).is_ok_and(|at| at == long_ago);
    let minute = Duration::from_secs(60);
    let run = |base: (u64, Hash)| {
        let archive = Archive::new(folder.path().to_owned(), Duration::ZERO);
        let ask: Ask<'_> =
            Box::new(
                |first, count, _| Ok(blobs[first as usize..(first + count) as usize].to_vec()),
            );
        archive.set_base(base);
        archive.want(1);
        assert_eq!(archive.extend(base, &mut Sources::by(vec![ask], minute, minute)), Ok(()));
        assert_eq!(archive.lock().proven, Some((0, base.0)));
    };
    run(base(SEGMENT - 50));
    age().expect("a file");
    run(base(SEGMENT - 50));
    assert!(is_old());
    run(base(SEGMENT + 50));
    assert!(!is_old(), "the file has 49 more blocks");
    age().expect("a file");
    run(base(SEGMENT + 90));
    assert!(is_old());
    fs::write(&file, b"damaged").expect("a file");
    run(base(SEGMENT + 90));
    assert_eq!(Segment::read(folder.path(), 0).map(|read| read.end()), Some(SEGMENT));
}

#[test]
fn the_parts_before_a_failure_are_not_read_again() {
    let (blobs, ids) = headers(SEGMENT);
    let base = |height: u64| (height, ids[height as usize + 1]);
    let last = base(SEGMENT - 1);
    let (tries, asked) = (Cell::new(0), Cell::new(0));
    let ask: Ask<'_> = Box::new(|first, count, _| {
        tries.set(tries.get() + 1);
        asked.set(asked.get() + count);
        if tries.get() % 4 == 0 {
            return Err("a problem".to_owned());
        }
        Ok(blobs[first as usize..(first + count) as usize].to_vec())
    });
    let minute = Duration::from_secs(60);
    let mut sources = Sources::by(vec![ask], minute, minute);
    let folder = tempfile::tempdir().expect("a folder");
    let mut archive = Archive::new(folder.path().join("a"), Duration::ZERO);
    archive.set_base(last);
    archive.want(1);
    assert_eq!(archive.extend(last, &mut sources), Err("a problem".to_owned()));
    assert_eq!(archive.extend(last, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((0, last.0)));
    assert!(asked.get() <= SEGMENT + PART, "{}", asked.get());
    // Parts that lead to another block are read again.
    tries.set(0);
    archive = Archive::new(folder.path().join("b"), Duration::ZERO);
    archive.set_base(last);
    archive.want(1);
    assert_eq!(archive.extend(last, &mut sources), Err("a problem".to_owned()));
    let other = base(SEGMENT - 2);
    archive.set_base(other);
    tries.set(0);
    assert_eq!(archive.extend(other, &mut sources), Err("a problem".to_owned()));
    assert_eq!(archive.extend(other, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((0, other.0)));
    assert_eq!(archive.segment(0).map(|segment| segment.end()), Some(SEGMENT - 1));
}

#[test]
fn a_scan_ends_that_nobody_needs_any_more_and_goes_on_later() {
    const LEFT: Duration = Duration::from_secs(1);
    let (blobs, ids) = headers(4 * SEGMENT);
    let base = (4 * SEGMENT - 10, ids[4 * SEGMENT as usize - 9]);
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::new(folder.path().to_owned(), Duration::ZERO);
    let asked = Cell::new(0);
    let ask: Ask<'_> = Box::new(|first, count, _| {
        asked.set(asked.get() + count);
        // The last second in which the scan counts is over when half of the second segment was read.
        if first == 2 * SEGMENT + 2 * PART {
            thread::sleep(LEFT);
        }
        Ok(blobs[first as usize..(first + count) as usize].to_vec())
    });
    let minute = Duration::from_secs(60);
    let mut sources = Sources::by(vec![ask], minute, minute);
    archive.set_base(base);
    let earlier = Instant::now().checked_sub(COUNTS - LEFT).expect("an earlier time");
    archive.lock().scan(1, earlier);
    assert_eq!(archive.extend(base, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((3 * SEGMENT, base.0)));
    assert_eq!(asked.get(), base.0 + 1 - 2 * SEGMENT - 2 * PART);
    // What was proven stays so when the base moves.
    let other = (base.0 + 1, ids[base.0 as usize + 2]);
    archive.set_base(other);
    assert_eq!(archive.next(), Some((other, 3 * SEGMENT)));
    assert_eq!(archive.extend(other, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((3 * SEGMENT, other.0)));
    // A later request.
    assert!(matches!(archive.block(1, Instant::now()), Err(Unknown::Awaited)));
    assert_eq!(archive.next(), Some((other, 1)));
    assert_eq!(archive.extend(other, &mut sources), Ok(()));
    assert_eq!(archive.lock().proven, Some((0, other.0)));
    // Each header was read once.
    assert_eq!(asked.get(), other.0 + 1);
}

#[test]
fn a_stopped_archive_writes_nothing() {
    let (blobs, ids) = headers(100);
    let store = tempfile::tempdir().expect("a folder");
    let archive = Arc::new(Archive::new(store.path().join("headers"), PAUSE));
    let (asked, is_asked) = mpsc::channel();
    let (go_on, may_answer) = mpsc::channel::<()>();
    let filling = fill(&archive, move |first, count, _| {
        asked.send(()).expect("a test");
        may_answer.recv().expect("a message");
        Ok(blobs[first as usize..(first + count) as usize].to_vec())
    });
    archive.set_base((99, ids[100]));
    archive.want(1);
    is_asked.recv().expect("a request");
    archive.stop();
    go_on.send(()).expect("a source");
    filling.join().expect("no panic");
    assert!(!store.path().join("headers").exists());
    // It ends also while it waits for requests.
    let archive = Arc::new(Archive::new(store.path().to_owned(), PAUSE));
    let filling = fill(&archive, |_, _, _| Err("not asked".to_owned()));
    archive.stop();
    filling.join().expect("no panic");
}
