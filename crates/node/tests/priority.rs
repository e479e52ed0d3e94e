//! A thread gives way without gaining priority.

use randomx_node::priority::{LOW, lowered};

#[test]
fn a_priority_is_never_raised() {
    for current in -20..LOW {
        assert_eq!(lowered(current), Some(LOW), "{current}");
    }
    for current in LOW..20 {
        assert_eq!(lowered(current), None, "{current}");
    }
}

/// A thread's priority is its own on Linux only.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_of_low_priority_keeps_it() {
    use randomx_node::priority::give_way;
    use rustix::process::{getpriority_process, setpriority_process};

    for own in [0, LOW, LOW + 5, LOW + 9] {
        // Each thread begins with this one's priority, which it may only lower.
        let thread = std::thread::spawn(move || {
            let before = getpriority_process(None)?.max(own);
            setpriority_process(None, before)?;
            give_way();
            Ok::<_, rustix::io::Errno>((before, getpriority_process(None)?))
        });
        let (before, after) = thread.join().expect("no panic").expect("priorities");
        assert_eq!(after, before.max(LOW), "began with {before}");
    }
}
