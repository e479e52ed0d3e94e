"""Where files are: paths of this machine, and addresses of object stores."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

#: The schemes of object stores, in which a file appears when all of it was sent. In Azure's (abfs
#: and abfss), pyarrow makes an empty file before.
OBJECT_STORES = ("s3", "gs", "gcs", "abfs", "abfss")

#: The bytes that are sent to S3 at once: pyarrow's own parts.
PART = 10 << 20


@dataclass(frozen=True)
class Place:
    """A path of this machine, or the address of a file or folder in an object store."""

    #: The argument that names it, for errors.
    argument: str
    address: str

    @classmethod
    def named(cls, argument: str, address: str) -> "Place":
        """Returns the place that a user names. Other processes have other current folders."""
        place = cls(argument, address)
        scheme, separator, _ = address.partition("://")
        if not separator:
            scheme, separator, _ = address.partition(":/")
            if separator and scheme in OBJECT_STORES:
                expected = f"expected an address with {scheme}:// (a Path drops a slash)"
                raise ValueError(f"{argument}: {expected}, got {place.shown()!r}")
            return cls(argument, os.path.abspath(address))
        if scheme not in OBJECT_STORES:
            known = ", ".join(OBJECT_STORES)
            expected = f"expected a path, or an address of {known}"
            raise ValueError(f"{argument}: {expected}, got {place.shown()!r}")
        return place

    def shown(self) -> str:
        """Returns the address for messages, which terminals and logs keep. *** replaces a login and a query."""
        # After a colon comes a password, which may have a slash, an @ or a ? that should be escaped.
        url = re.match(r"([^:/]*:/+)([^/@]*:.*@|[^/@]*@)?(.*)", self.address, flags=re.DOTALL)
        if not url:
            return self.address
        scheme, login, rest = url.groups(default="")
        if "?" in login:
            # Either the password has a ?, or the query has an @.
            return f"{scheme}***"
        place, question, _ = rest.partition("?")
        return scheme + ("***@" if login else "") + place + (question and "?***")

    def is_in(self, folder: "Place") -> bool:
        """Whether this is in a folder of an object store, and not ignored there."""
        own, other = urlsplit(self.address), urlsplit(folder.address)
        if "://" not in self.address or own._replace(path="") != other._replace(path=""):
            return False
        names, others = ([name for name in url.path.split("/") if name] for url in (own, other))
        inside = names[len(others) :] if names[: len(others)] == others else []
        return bool(inside) and not inside[0].startswith((".", "_"))

    def split(self) -> "tuple[ObjectStore | None, str]":
        """Returns the object store and the path in it. A path of this machine has no store."""
        if "://" not in self.address:
            return None, self.address
        from pyarrow import fs

        try:
            filesystem, path = fs.FileSystem.from_uri(self.address)
        except OSError as problem:
            # Ray runs a task again after this type of error, not after the next ones.
            raise OSError(self._message(problem)) from None
        except (ValueError, NotImplementedError) as problem:
            raise ValueError(self._message(problem)) from None
        return ObjectStore(filesystem), path

    def _message(self, problem: Exception) -> str:
        """Returns the message of an error of pyarrow, which may quote the address."""
        return f"{self.argument}: {str(problem).replace(self.address, self.shown())}"


class ObjectStore:
    """The protocol `_Storage` of `_native.pyi`, by a file system of pyarrow."""

    def __init__(self, filesystem: Any) -> None:
        self._filesystem = filesystem

    def list(self, path: str) -> list[str] | None:
        from pyarrow import fs

        kind = self._filesystem.get_file_info(path).type
        if kind == fs.FileType.NotFound:
            raise FileNotFoundError(f"{path}: expected a file or a folder, got none")
        if kind == fs.FileType.File:
            return None
        found = self._filesystem.get_file_info(fs.FileSelector(path))
        return [entry.base_name for entry in found]

    def open(self, path: str) -> Any:
        return self._filesystem.open_input_file(path)

    def put(self, source: str, path: str) -> None:
        # A stream that an interrupt drops between two parts ends the file too early: pyarrow cannot give
        # it up. Python's signals interrupt the main thread only, and the block waits for the other one.
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(self._upload, source, path).result()

    def _upload(self, source: str, path: str) -> None:
        import pyarrow

        with pyarrow.memory_map(source) as file:
            content = file.read_buffer()
        stream = self._filesystem.open_output_stream(path)
        if self._filesystem.type_name == "s3":
            # Parts are copied into memory and sent in the background, so that an error in one keeps
            # the file from appearing. Each is sent before the next one is copied.
            for start in range(0, content.size, PART):
                stream.write(content.slice(start, min(PART, content.size - start)))
                stream.flush()
        else:
            # One call writes all of it. Between two calls an error could end the file too early.
            stream.write(content)
        stream.close()
