//! A Unix socket in the file system, which exists as long as the program.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::{
        fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    process,
};

use crate::error::Error;

/// Only the user who started the program may connect.
const MODE: u32 = 0o600;

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
    check_free(path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let private = parent.unwrap_or(Path::new(".")).join(format!(".{}", process::id()));
    // A new socket is open to all whom the umask admits. In this folder they cannot reach it.
    DirBuilder::new().mode(0o700).create(&private)?;
    let new = private.join("s");
    let bound = UnixListener::bind(&new).and_then(|listener| {
        fs::set_permissions(&new, Permissions::from_mode(MODE))?;
        let file = identity(&new)?;
        fs::rename(&new, path)?;
        Ok((Socket { path: path.to_owned(), file }, listener))
    });
    let _ = fs::remove_file(&new);
    let _ = fs::remove_dir(&private);
    bound
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
