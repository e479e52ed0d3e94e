//! A console of Windows that nobody sees: what is on it, and Ctrl-C.

#![expect(unsafe_code, reason = "calls the system")]

use std::{
    env,
    fs::{File, OpenOptions},
    io::{Read, Seek},
    os::windows::{io::AsRawHandle, process::CommandExt},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use randomx_testing::say_skips;
use windows_sys::Win32::System::{
    Console::{
        CONSOLE_SCREEN_BUFFER_INFO, COORD, CTRL_C_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING,
        GenerateConsoleCtrlEvent, GetConsoleMode, GetConsoleScreenBufferInfo,
        ReadConsoleOutputCharacterW, SetConsoleCtrlHandler,
    },
    Threading::CREATE_NO_WINDOW,
};

use crate::program::{end_after, exit_within};

/// The variable that names the test whose process has a console of its own.
const TEST: &str = "RANDOMX_TEST_ON_CONSOLE";

/// The longest wait for a text, a line or an exit on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The longest time of a test, which waits several times.
const WHOLE: Duration = PATIENCE.saturating_mul(2);

/// The console of this process.
pub(crate) struct Screen(File);

/// Runs the test `name` in a process of its own, whose console is its own, too: Ctrl-C reaches every process
/// of a console. The output goes to a file, because a pipe stays open as long as any process of the console runs.
pub(crate) fn on_a_console(name: &str, test: impl FnOnce(&Screen)) {
    if env::var_os(TEST).is_some_and(|value| value == name) {
        end_after(WHOLE);
        let screen = OpenOptions::new().read(true).write(true).open("CONOUT$");
        return test(&Screen(screen.expect("a console")));
    }
    let mut itself = Command::new(env::current_exe().expect("this program"));
    itself.args([name, "--exact", "--nocapture"]).env(TEST, name);
    let mut output = tempfile::tempfile().expect("a file");
    let [stdout, stderr] = [(); 2].map(|()| output.try_clone().expect("a handle"));
    itself.creation_flags(CREATE_NO_WINDOW).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    let mut run = itself.spawn().expect("this program starts");
    // By then, it should have ended itself.
    let limit = WHOLE + Duration::from_secs(10);
    let status = exit_within(limit, || run.try_wait());
    if status.is_none() {
        run.kill().and_then(|()| run.wait()).expect("an end");
    }
    let mut printed = Vec::new();
    output.rewind().and_then(|()| output.read_to_end(&mut printed)).expect("the output");
    let printed = String::from_utf8_lossy(&printed);
    let status =
        status.unwrap_or_else(|| panic!("{name} did not end within {limit:?}:\n{printed}"));
    assert!(status.success(), "{printed}");
    say_skips(&printed);
}

impl Screen {
    /// Returns the console as a stream of a process.
    pub(crate) fn stream(&self) -> Stdio {
        self.0.try_clone().expect("a handle").into()
    }

    /// Returns everything on the screen.
    pub(crate) fn text(&self) -> String {
        let handle = self.0.as_raw_handle();
        let mut info = CONSOLE_SCREEN_BUFFER_INFO::default();
        // SAFETY: the handle is open, and the pointer is that of a structure of this type.
        assert_ne!(unsafe { GetConsoleScreenBufferInfo(handle, &mut info) }, 0);
        let cells = info.dwSize.X as usize * info.dwSize.Y as usize;
        let (mut units, mut read) = (vec![0; cells], 0);
        let (length, origin) = (cells as u32, COORD { X: 0, Y: 0 });
        // SAFETY: the handle is open, and the buffer has `length` units.
        let done = unsafe {
            ReadConsoleOutputCharacterW(handle, units.as_mut_ptr(), length, origin, &mut read)
        };
        assert_ne!(done, 0);
        String::from_utf16_lossy(&units[..read as usize])
    }

    /// Waits until a text is on the screen.
    pub(crate) fn wait_for(&self, text: &str) {
        let start = Instant::now();
        while !self.text().contains(text) {
            assert!(start.elapsed() < PATIENCE, "expected {text:?}, got {:?}", self.text().trim());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the console interprets escape sequences, such as those of colours.
    pub(crate) fn interprets_sequences(&self) -> bool {
        let mut mode = 0;
        // SAFETY: the handle is open, and the pointer is that of a number of this type.
        assert_ne!(unsafe { GetConsoleMode(self.0.as_raw_handle(), &mut mode) }, 0);
        mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0
    }

    /// Presses Ctrl-C. Only the other processes of this console notice.
    pub(crate) fn interrupt(&self) {
        const NO_HANDLER: Option<unsafe extern "system" fn(u32) -> i32> = None;
        // SAFETY: both functions take numbers only. Without a handler, this process ignores Ctrl-C.
        let sent = unsafe {
            SetConsoleCtrlHandler(NO_HANDLER, 1) != 0
                && GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) != 0
        };
        assert!(sent);
    }
}
