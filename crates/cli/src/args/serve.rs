//! The arguments of `randomx serve`.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
};

use clap::Args;

use super::work::WorkArgs;

pub(crate) const AFTER_HELP: &str = "\
Examples:
  randomx serve
  randomx serve --port 0 --page web/dist

Prints its address on stdout once it accepts connections, and runs until it is interrupted. On Unix
SIGTERM ends it too.

  GET  /            the page
  GET  /api/info    processor, memory, engines, fast mode, limits
  POST /api/hash    {\"key\":\"hex\",\"inputs\":[\"hex\"],\"version\":1,\"engine\":\"jit\",\"mode\":\"light\",
                     \"threads\":2,\"lanes\":8}; `ms` of a hash is the time of its batch divided by
                    the size of the batch; the answer has the threads and lanes that ran
  POST /api/verify  {\"seedHash\":\"hex\",\"block\":\"hex\",\"difficulty\":\"digits\"}, or with hashingBlob;
                    expectedId, height, engine
  POST /api/bench   {\"seconds\":20}: measures v1 in light mode, as `randomx bench` does
  POST /api/fast    {\"key\":\"hex\"}: computes a dataset, 2080 MiB, for hashes in mode fast, and
                    answers with a lease. While clients use another key's dataset, the request
                    waits up to a minute, then fails with code busy. A dataset is freed after ten
                    minutes without use, or after 45 seconds if another key is requested
  DELETE /api/fast  {\"lease\":\"...\"}: ends a lease. The last one frees the dataset
Bodies are application/json. With `Accept: text/event-stream` the answer is a stream of events
(progress, hash, row, done, error). Closing the connection stops the work. Errors are
{\"error\":{\"code\":\"...\",\"message\":\"...\"}}.

Requests are accepted only if Host names this server, and only from its own pages or from programs.
Anyone who can reach the address can make this computer work, so it is loopback by default.

Exit codes:
  0  interrupted or, on Unix, terminated
  2  unusable arguments, or the address is not available";

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 for any free one
    #[arg(long, value_name = "N", default_value_t = 4173)]
    pub(crate) port: u16,

    /// Address to listen on
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) host: IpAddr,

    /// Folder of the built page [default: web/dist, if it exists]
    #[arg(long, value_name = "DIR")]
    pub(crate) page: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
