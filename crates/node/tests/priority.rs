//! A thread gives way without gaining priority.

#[cfg(target_os = "linux")]
mod linux {
    use randomx_node::priority::{LOW, give_way, lowered};
    use rustix::process::{getpriority_process, setpriority_process};

    #[test]
    fn a_priority_is_never_raised() {
        for current in -20..LOW {
            assert_eq!(lowered(current), Some(LOW), "{current}");
        }
        for current in LOW..20 {
            assert_eq!(lowered(current), None, "{current}");
        }
    }

    #[test]
    fn a_thread_of_low_priority_keeps_it() {
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
}

#[cfg(windows)]
mod windows {
    use randomx_node::priority::give_way;
    use windows_sys::Win32::System::Threading::{
        GetCurrentThread, GetThreadPriority, THREAD_PRIORITY_LOWEST, THREAD_PRIORITY_NORMAL,
    };

    #[expect(unsafe_code, reason = "calls the system")]
    fn priority() -> i32 {
        // SAFETY: the handle is that of this thread, and always valid.
        unsafe { GetThreadPriority(GetCurrentThread()) }
    }

    /// The threads of a dataset each ask for the lower priority.
    #[test]
    fn only_the_thread_that_asks_has_a_lower_priority() {
        let (own, started) = std::thread::spawn(|| {
            give_way();
            (priority(), std::thread::spawn(priority).join().expect("no panic"))
        })
        .join()
        .expect("no panic");
        assert_eq!((own, started), (THREAD_PRIORITY_LOWEST, THREAD_PRIORITY_NORMAL));
        assert_eq!(priority(), THREAD_PRIORITY_NORMAL);
    }
}
