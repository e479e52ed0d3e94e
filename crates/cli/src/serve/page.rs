//! The files of the page.

use std::{
    io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use tower_http::services::fs::{
    Backend, DefaultServeDirFallback, ServeDir, TokioBackend, TokioFile,
};

/// The service of the page's files.
pub(super) type Files = ServeDir<DefaultServeDirFallback, Inside>;

type Opening<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// Serves the files of a folder, and nothing outside of it.
///
/// There are no redirects: one from `//host` would lead to that host.
pub(super) fn files(folder: &Path) -> io::Result<Files> {
    let root = folder.canonicalize()?;
    let inside = Inside { root: root.as_path().into() };
    Ok(ServeDir::with_backend(root, inside).redirect_to_trailing_slash(false))
}

/// The file system below a folder. Whatever is not a file below it does not exist.
#[derive(Clone)]
pub(super) struct Inside {
    /// A path without symbolic links.
    root: Arc<Path>,
}

impl Inside {
    /// The path without symbolic links, if it is below the folder.
    async fn resolve(self, path: PathBuf) -> io::Result<PathBuf> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        // Paths that are too long, pass through a file, or loop name nothing either.
        let path = tokio::fs::canonicalize(path).await.map_err(|_| missing())?;
        if path.starts_with(&self.root) { Ok(path) } else { Err(missing()) }
    }
}

impl Backend for Inside {
    type File = TokioFile;
    type Metadata = std::fs::Metadata;
    type OpenFuture = Opening<TokioFile>;
    type MetadataFuture = Opening<std::fs::Metadata>;

    fn open(&self, path: PathBuf) -> Opening<TokioFile> {
        let inside = self.clone();
        Box::pin(async move { TokioBackend.open(inside.resolve(path).await?).await })
    }

    fn metadata(&self, path: PathBuf) -> Opening<std::fs::Metadata> {
        let inside = self.clone();
        Box::pin(async move { TokioBackend.metadata(inside.resolve(path).await?).await })
    }
}
