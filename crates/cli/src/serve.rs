//! `randomx serve`: the page, and native hashes for it, on loopback.
//!
//! Any web page that the user visits can send requests here, and so can any program on this
//! computer. So the sender is checked first; sizes, times and numbers are bounded; and work ends when
//! its client has gone.

mod bench;
mod body;
mod failure;
mod fast;
mod guard;
mod hash;
mod headers;
mod info;
#[cfg(feature = "internals")]
pub(crate) mod internals;
mod keys;
mod leases;
mod page;
mod verify;
mod work;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    http::{StatusCode, Uri},
    middleware,
    routing::{get, post},
};
use randomx::VmOptions;
use randomx_http::{Names, Settings};
use tokio::{net::TcpListener, runtime, task, time};

use crate::{
    args::{ServeArgs, WorkArgs},
    error::Error,
    output, signals,
};

use failure::{Code, Failure};
use keys::Keys;
use work::Gate;

/// Where `npm start` builds the page, relative to the repository's root.
const BUILT_PAGE: &str = "web/dist";

/// How long threads may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(3);

/// How often unused caches are looked for.
const TIDY: Duration = Duration::from_secs(30);

/// The time of a request beyond the longest wait and the longest work: work ends only between two pieces.
const MARGIN: Duration = Duration::from_secs(60);

const NO_PAGE: &str = "\
This is `randomx serve` without the page: there is no folder web/dist here. `npm start` builds it,
and --page names it. /api/info describes what this server can do.
";

/// State that requests share.
struct Server {
    names: Names,
    work: WorkArgs,
    options: VmOptions,
    threads: usize,
    keys: Keys,
    gates: Gates,
    /// Whether the server is stopping.
    stopping: Arc<AtomicBool>,
    /// Why the JIT is unavailable, if it is.
    no_jit: Option<String>,
}

/// Lets one request of each kind work at a time.
#[derive(Default)]
struct Gates {
    hash: Gate,
    verify: Gate,
    bench: Gate,
    fast: Gate,
}

/// Serves until it is interrupted.
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode, Error> {
    let page = page(args.page.as_deref())?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|problem| Error::Serve(format!("cannot start threads: {problem}")))?;
    let outcome = runtime.block_on(serve(args, page));
    runtime.shutdown_timeout(GRACE);
    outcome.map(|()| ExitCode::SUCCESS)
}

/// The folder of the page: the one that was named, or the build's if it exists.
fn page(named: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    let has_page = |folder: &Path| folder.join("index.html").is_file();
    match named {
        Some(folder) if has_page(folder) => Ok(Some(folder.to_owned())),
        Some(folder) => {
            let folder = folder.display();
            Err(Error::Serve(format!("--page: expected a folder with index.html, got {folder}")))
        }
        None => Ok(Some(PathBuf::from(BUILT_PAGE)).filter(|folder| has_page(folder))),
    }
}

async fn serve(args: &ServeArgs, page: Option<PathBuf>) -> Result<(), Error> {
    let asked = SocketAddr::new(args.host, args.port);
    let cannot = |problem| Error::Listen { address: asked, problem };
    let listener = TcpListener::bind(asked).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let page = page.as_deref().map(page::files).transpose();
    let page = page.map_err(|problem| Error::Serve(format!("--page: {problem}")))?;
    let settings = Settings {
        headers: headers::all()?,
        busy: Failure::new(Code::Busy, "too many connections; try again").json(),
        longest: work::PATIENCE + work::LONGEST + MARGIN,
    };
    let options = args.work.vm_options();
    let server = Arc::new(Server {
        names: Names::new(bound),
        work: args.work.clone(),
        options,
        threads: args.work.threads(),
        keys: Keys::default(),
        gates: Gates::default(),
        stopping: Arc::default(),
        no_jit: info::no_jit(options),
    });
    // Before the address is announced, so that each signal ends the program as documented.
    let signal =
        signals::stopped().map_err(|problem| Error::Serve(format!("signals: {problem}")))?;
    output::write(|out| writeln!(out, "http://{bound}/"))?;
    tokio::spawn(tidy(Arc::clone(&server)));
    let stopping = Arc::clone(&server.stopping);
    let stopped = async move {
        signal.await;
        stopping.store(true, Ordering::Relaxed);
    };
    randomx_http::serve(listener, router(server, page), settings, stopped).await;
    Ok(())
}

fn router(server: Arc<Server>, page: Option<page::Files>) -> Router {
    let api = Router::new()
        .route("/info", get(info::get))
        .route("/hash", post(hash::post))
        .route("/verify", post(verify::post))
        .route("/bench", post(bench::post))
        .route("/fast", post(fast::post).delete(fast::delete))
        .fallback(async || Failure::new(Code::NotFound, "no such endpoint"))
        .method_not_allowed_fallback(async || {
            Failure::new(Code::MethodNotAllowed, "this endpoint does not accept that method")
        });
    let router = Router::new().nest("/api", api);
    let router = match page {
        Some(files) => router.fallback_service(files),
        None => router.fallback_service(get(no_page)),
    };
    router
        .layer(middleware::from_fn_with_state(Arc::clone(&server), guard::guard))
        .layer(middleware::from_fn(headers::add_caching))
        .with_state(server)
}

/// Answers without a page.
async fn no_page(uri: Uri) -> Result<&'static str, StatusCode> {
    if uri.path() == "/" { Ok(NO_PAGE) } else { Err(StatusCode::NOT_FOUND) }
}

async fn tidy(server: Arc<Server>) {
    loop {
        time::sleep(TIDY).await;
        let server = Arc::clone(&server);
        // Returning memory to the system takes a while.
        let _ = task::spawn_blocking(move || server.keys.drop_unused()).await;
    }
}

/// Locks a mutex, also after a panic of another thread: nothing behind these locks changes in two
/// steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
