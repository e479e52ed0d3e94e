//! `randomx serve`: the page, and this machine's RandomX for it, on loopback.
//!
//! Every page that its user visits can send requests here, and so can every program of the machine:
//! who may ask is checked first, sizes, times and numbers are bounded, and work ends when nobody
//! waits for it.

mod address;
mod bench;
mod body;
mod connections;
mod failure;
mod fast;
mod guard;
mod hash;
mod headers;
mod info;
mod keys;
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
    http::HeaderMap,
    middleware,
    response::IntoResponse,
    routing::{get, post},
};
use randomx::VmOptions;
use tokio::{net::TcpListener, runtime, signal, task, time};
use tower_http::services::ServeDir;

use crate::{
    args::{ServeArgs, WorkArgs},
    error::Error,
    output,
};

use address::Names;
use failure::{Code, Failure};
use keys::Keys;
use work::Gate;

/// Where `npm run build` puts the page, from the repository's root.
const BUILT_PAGE: &str = "web/dist";

/// How long threads have to end when the server is stopped.
const GRACE: Duration = Duration::from_secs(3);

/// How often caches are looked at that nobody may want any more.
const TIDY: Duration = Duration::from_secs(30);

const NO_PAGE: &str = "\
This is `randomx serve`, without the page: there is no folder web/dist here. `npm start` builds it,
and --page names it. /api/info tells what can be asked for here.
";

/// What requests share.
struct Server {
    names: Names,
    headers: HeaderMap,
    work: WorkArgs,
    options: VmOptions,
    threads: usize,
    keys: Keys,
    gates: Gates,
    /// Whether the server is being stopped.
    stopping: Arc<AtomicBool>,
    /// Why there is no machine code.
    no_jit: Option<String>,
}

/// One of each kind of work is done at a time.
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
        .map_err(|problem| Error::Serve(format!("no threads to serve with: {problem}")))?;
    let outcome = runtime.block_on(serve(args, page));
    runtime.shutdown_timeout(GRACE);
    outcome.map(|()| ExitCode::SUCCESS)
}

/// The folder of the page; that of the build is taken where it is.
fn page(named: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    let has_page = |folder: &Path| folder.join("index.html").is_file();
    match named {
        Some(folder) if has_page(folder) => Ok(Some(folder.to_owned())),
        Some(folder) => Err(Error::Serve(format!("--page: no index.html in {}", folder.display()))),
        None => Ok(Some(PathBuf::from(BUILT_PAGE)).filter(|folder| has_page(folder))),
    }
}

async fn serve(args: &ServeArgs, page: Option<PathBuf>) -> Result<(), Error> {
    let asked = SocketAddr::new(args.host, args.port);
    let cannot = |problem| Error::Listen { address: asked, problem };
    let listener = TcpListener::bind(asked).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let options = args.work.vm_options();
    let server = Arc::new(Server {
        names: Names::new(bound),
        headers: headers::all()?,
        work: args.work.clone(),
        options,
        threads: args.work.threads(),
        keys: Keys::default(),
        gates: Gates::default(),
        stopping: Arc::default(),
        no_jit: info::no_jit(options),
    });
    output::write(|out| writeln!(out, "http://{bound}/"))?;
    tokio::spawn(tidy(Arc::clone(&server)));
    let stopping = Arc::clone(&server.stopping);
    let interrupted = async move {
        // Without a way to hear of it, the process ends by the signal itself.
        if signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        stopping.store(true, Ordering::Relaxed);
    };
    let refusal = refusal(&server.headers);
    connections::serve(listener, router(server, page.as_deref()), &refusal, interrupted).await;
    Ok(())
}

fn router(server: Arc<Server>, page: Option<&Path>) -> Router {
    let api = Router::new()
        .route("/info", get(info::get))
        .route("/hash", post(hash::post))
        .route("/verify", post(verify::post))
        .route("/bench", post(bench::post))
        .route("/fast", post(fast::post).delete(fast::delete))
        .fallback(async || Failure::new(Code::NotFound, "there is nothing of this name"))
        .method_not_allowed_fallback(async || {
            Failure::new(Code::MethodNotAllowed, "this is not asked for by that method")
        });
    let router = Router::new().nest("/api", api);
    let router = match page {
        Some(folder) => router.fallback_service(ServeDir::new(folder)),
        None => router.fallback(async || NO_PAGE.into_response()),
    };
    router
        .layer(middleware::from_fn_with_state(Arc::clone(&server), guard::guard))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), headers::add))
        .with_state(server)
}

/// What is sent, as it is, to a connection for which there is no place.
fn refusal(headers: &HeaderMap) -> String {
    let body = Failure::new(Code::Busy, "there are too many connections; try again").json();
    let length = body.len();
    let mut text = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\nRetry-After: 1\r\n"
    );
    for (name, value) in headers {
        text += &format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    text + "\r\n" + &body
}

async fn tidy(server: Arc<Server>) {
    loop {
        time::sleep(TIDY).await;
        let server = Arc::clone(&server);
        // Giving memory back takes a while.
        let _ = task::spawn_blocking(move || server.keys.let_go()).await;
    }
}

/// What a panic elsewhere left is whole: nothing behind these locks is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
