//! A defect of Wine 8: at times, a process that Ctrl-C ends stays. Wine has then ended all its threads but the one that
//! handles Ctrl-C, and that one waits for a lock of an ended thread.

#![expect(unsafe_code, reason = "calls the system")]

use std::env;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};

/// `PROCESSENTRY32W`.
#[repr(C)]
struct Entry {
    size: u32,
    usage: u32,
    id: u32,
    heap: usize,
    module: u32,
    threads: u32,
    parent: u32,
    priority: i32,
    flags: u32,
    file: [u16; 260],
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn CreateToolhelp32Snapshot(flags: u32, process: u32) -> HANDLE;
    fn Process32FirstW(snapshot: HANDLE, entry: *mut Entry) -> i32;
    fn Process32NextW(snapshot: HANDLE, entry: *mut Entry) -> i32;
}

/// Whether this is Wine and a process has only the thread that handles Ctrl-C. No program under test has so few.
pub(crate) fn is_stuck(process: u32) -> bool {
    env::var_os("WINEPREFIX").is_some() && threads(process) == Some(1)
}

/// Returns the number of a process's threads.
fn threads(process: u32) -> Option<u32> {
    const PROCESSES: u32 = 2;
    let size = size_of::<Entry>() as u32;
    let (usage, id, heap, module, threads, parent, priority, flags) = (0, 0, 0, 0, 0, 0, 0, 0);
    let file = [0; 260];
    let mut entry = Entry { size, usage, id, heap, module, threads, parent, priority, flags, file };
    // SAFETY: the snapshot's handle is open until the last call, and the pointer is that of a structure of this size.
    unsafe {
        let snapshot = CreateToolhelp32Snapshot(PROCESSES, 0);
        let mut found = Process32FirstW(snapshot, &mut entry) != 0;
        while found && entry.id != process {
            found = Process32NextW(snapshot, &mut entry) != 0;
        }
        CloseHandle(snapshot);
        found.then_some(entry.threads)
    }
}
