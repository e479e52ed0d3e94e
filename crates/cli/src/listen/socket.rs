//! A Unix socket in the file system, which exists as long as the program.

use std::{
    env,
    fs::{self, DirBuilder, File, Permissions, TryLockError},
    io,
    os::unix::{
        fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt, symlink},
        net::{SocketAddr, UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use randomx_files::folder_of;

use crate::error::Error;

/// Only the user who started the program may connect.
const MODE: u32 = 0o600;

/// The longest wait for other programs that start. Each needs some milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// The time between two attempts.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// The name of a socket in its private folder.
const NEW: &str = "s";

/// A socket that listens. Dropping it removes its file.
pub(crate) struct Socket {
    path: PathBuf,
    /// The device and the number of the file.
    file: (u64, u64),
}

impl Socket {
    /// Listens at a path. A socket there that no program serves any more is replaced.
    pub(crate) fn bind(path: &Path) -> Result<(Socket, UnixListener), Error> {
        bind(path).map_err(|problem| Error::Socket { path: path.to_owned(), problem })
    }
}

fn bind(path: &Path) -> io::Result<(Socket, UnixListener)> {
    check_length(path)?;
    let parent = folder_of(path);
    // Until the socket has its name, no other program may find the path free.
    let _lock = lock(parent);
    check_free(path)?;
    // A new socket is open to all whom the umask admits. In this folder they cannot reach it.
    let private = Folder::create_in(parent)?;
    let new = private.0.join(NEW);
    let bound = bind_in(&private.0).and_then(|listener| {
        fs::set_permissions(&new, Permissions::from_mode(MODE))?;
        let file = identity(&new)?;
        fs::rename(&new, path)?;
        Ok((Socket { path: path.to_owned(), file }, listener))
    });
    let _ = fs::remove_file(&new);
    bound
}

/// Waits for a lock on a folder, which ends when the returned file is dropped. `None` where the system locks no
/// folders, or if another program keeps it locked: then the last of several programs that start at the same time has
/// the path.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    let end = Instant::now() + LOCK_WAIT;
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(LOCK_POLL),
            Err(_) => return None,
        }
    }
}

/// Refuses a path that is too long for a client to connect to.
fn check_length(path: &Path) -> io::Result<()> {
    SocketAddr::from_pathname(path).map(drop).map_err(|problem| {
        let length = path.as_os_str().len();
        let message =
            format!("expected a path that fits into a socket's address, got {length} bytes");
        io::Error::new(problem.kind(), message)
    })
}

/// Binds the socket `NEW` in a folder, whose path may be too long for a socket's address.
fn bind_in(folder: &Path) -> io::Result<UnixListener> {
    let new = folder.join(NEW);
    if SocketAddr::from_pathname(&new).is_ok() {
        return UnixListener::bind(new);
    }
    let temporary = env::temp_dir();
    bind_through(&temporary, folder).map_err(|problem| {
        io::Error::new(problem.kind(), format!("{}: {problem}", temporary.display()))
    })
}

/// Does the same through a link in another folder, whose path is short.
fn bind_through(other: &Path, folder: &Path) -> io::Result<UnixListener> {
    let private = Folder::create_in(other)?;
    let link = private.0.join("d");
    symlink(fs::canonicalize(folder)?, &link)?;
    let bound = UnixListener::bind(link.join(NEW));
    let _ = fs::remove_file(link);
    bound
}

/// A new folder that only this user can enter. Dropping it removes it, if it is empty.
struct Folder(PathBuf);

impl Folder {
    fn create_in(parent: &Path) -> io::Result<Folder> {
        let mut name = [0; 4];
        getrandom::fill(&mut name).map_err(|problem| io::Error::other(problem.to_string()))?;
        let path = parent.join(format!(".{}", hex::encode(name)));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Refuses a path that has another file, or a socket that a program serves.
fn check_free(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(file) => file.file_type(),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(problem) => return Err(problem),
    };
    if !kind.is_socket() {
        let message = "expected a socket or no file, got another file";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    match UnixStream::connect(path) {
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens on this socket"))
        }
        Err(problem) if problem.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(problem) => Err(problem),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another program may have replaced the file.
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn a_folder_that_another_program_keeps_locked_can_be_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = File::open(folder.path()).expect("a folder");
        other.lock().expect("no other lock");
        Socket::bind(&folder.path().join("socket")).expect("a socket");
    }

    #[test]
    fn one_of_several_at_the_same_time_has_the_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        for _ in 0..50 {
            let barrier = Barrier::new(4);
            let bind = || {
                barrier.wait();
                Socket::bind(&path).map_err(|problem| problem.to_string())
            };
            let outcomes = thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(bind)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let (bound, refused): (Vec<_>, Vec<_>) =
                Vec::into_iter(outcomes).partition(Result::is_ok);
            assert_eq!((bound.len(), refused.len()), (1, 3));
            for problem in refused.into_iter().filter_map(Result::err) {
                assert!(problem.ends_with(": another program listens on this socket"), "{problem}");
            }
            UnixStream::connect(&path).expect("the socket is served");
        }
    }
}
