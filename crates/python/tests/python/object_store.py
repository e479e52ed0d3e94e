"""A server that speaks S3's protocol, on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer
from pyarrow import fs


@contextmanager
def bucket() -> Iterator[Callable[[str], str]]:
    """Runs a server with a bucket. Yields a function that returns the address of a name in the bucket."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options = f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"

        def address(name: str) -> str:
            return f"s3://test-key:test-secret@bucket/{name}?{options}"

        creating, _ = fs.FileSystem.from_uri(f"{address('')}&allow_bucket_creation=true")
        creating.create_dir("bucket")
        yield address
    finally:
        server.stop()
