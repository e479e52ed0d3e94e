"""Where files are: paths of this machine, and addresses of object stores."""

import os
from dataclasses import dataclass
from typing import Any

#: The schemes of object stores, in which a file appears when all of it was sent. In Azure's (abfs
#: and abfss), pyarrow makes an empty file before.
OBJECT_STORES = ("s3", "gs", "gcs", "abfs", "abfss")


@dataclass(frozen=True)
class Place:
    """A path of this machine, or the address of a file or folder in an object store."""

    #: The argument that names it, for errors.
    argument: str
    address: str

    @classmethod
    def named(cls, argument: str, address: str) -> "Place":
        """Returns the place that a user names. Other processes have other current folders."""
        scheme, separator, _ = address.partition("://")
        if not separator:
            return cls(argument, os.path.abspath(address))
        if scheme not in OBJECT_STORES:
            known = ", ".join(OBJECT_STORES)
            expected = f"expected a path, or an address of {known}"
            raise ValueError(f"{argument}: {expected}, got {address!r}")
        return cls(argument, address)

    def split(self) -> "tuple[ObjectStore | None, str]":
        """Returns the store, which paths of this machine have none of, and the path in it."""
        if "://" not in self.address:
            return None, self.address
        from pyarrow import fs

        try:
            filesystem, path = fs.FileSystem.from_uri(self.address)
        except OSError as problem:
            # Ray runs a task again after this type of error, not after the next ones.
            raise OSError(f"{self.argument}: {problem}") from problem
        except (ValueError, NotImplementedError) as problem:
            raise ValueError(f"{self.argument}: {problem}") from problem
        return ObjectStore(filesystem), path


class ObjectStore:
    """The protocol `Storage` of `_native.pyi`, by a file system of pyarrow."""

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
        import pyarrow

        # One call writes all of it. Between two calls an error could end the file too early.
        with pyarrow.memory_map(source) as file:
            content = file.read_buffer()
        stream = unqueued(self._filesystem).open_output_stream(path)
        stream.write(content)
        stream.close()


def unqueued(filesystem: Any) -> Any:
    """Returns a file system whose writes end when all was sent.

    By default, pyarrow copies what is written to S3 into memory, and sends it in the background.
    """
    if filesystem.type_name != "s3":
        return filesystem
    # An address cannot name this option, but pickles have it. They leave out others, such as whether
    # certificates are verified. Then the default must do.
    build, (options,) = filesystem.__reduce__()
    if build(options) != filesystem:
        return filesystem
    return build(options | {"background_writes": False})
