"""The files of an authority and of its devices.

Lives here: their names, how they are written (private, and complete or not at all) and read.  Must
not know what a certificate says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from colme._files import replacing
from colme.live.wire import check_name

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # a system without such locks
    flock = None  # type: ignore[assignment]


AUTHORITY_CERTIFICATE, AUTHORITY_KEY = "ca.pem", "ca.key"
DEVICE_CERTIFICATE, DEVICE_KEY = "device.pem", "device.key"
MEMBERS = "members"

T = TypeVar("T")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change what is in a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, locked(Path(place)):
    ...     write_members(Path(place) / "members", ["a"])
    """
    if flock is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Write a private key that only its owner can read; refuse to overwrite anything.

    Examples
    --------
    >>> import stat, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_key(Path(place) / "a.key", ec.generate_private_key(ec.SECP256R1()))
    ...     stat.filemode((Path(place) / "a.key").stat().st_mode)
    '-rw-------'
    """
    form = serialization.PrivateFormat.PKCS8
    text = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)


def write_certificate(path: Path, certificate: x509.Certificate) -> None:
    """Write a certificate as text (PEM).

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.keys.certificates import certify_authority, new_key
    >>> certificate = certify_authority("lab", new_key())
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_certificate(Path(place) / "a.pem", certificate)
    ...     read_certificate(Path(place) / "a.pem") == certificate
    True
    """
    with replacing(path) as draft:
        draft.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """Return the private key in a file, or raise ValueError if it holds none of our kind.

    Examples
    --------
    >>> read_key(Path("nowhere.key"))
    Traceback (most recent call last):
    ValueError: nowhere.key is missing
    """

    def load(text: bytes) -> ec.EllipticCurvePrivateKey:
        key = serialization.load_pem_private_key(text, None)
        if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
            return key
        raise ValueError("a key of another kind")

    return _read(path, load, "private key that 'colme keys' has made")


def read_certificate(path: Path) -> x509.Certificate:
    """Return the certificate in a file, or raise ValueError: see `write_certificate`.

    Examples
    --------
    >>> read_certificate(Path("pyproject.toml"))
    Traceback (most recent call last):
    ValueError: pyproject.toml holds no certificate
    """
    return _read(path, x509.load_pem_x509_certificate, "certificate")


def write_members(path: Path, names: Iterable[str]) -> None:
    """Write names, one per line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_members(Path(place) / "members", ["router", "a"])
    ...     read_members(Path(place) / "members")
    ('router', 'a')
    """
    with replacing(path) as draft:
        draft.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def read_members(path: Path) -> tuple[str, ...]:
    r"""Return the names in a file, one per line, each once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / "members").write_text("a\nb\na\n")
    ...     read_members(Path(place) / "members")
    ('a', 'b')
    """
    lines = _read(path, bytes, "names").decode("utf-8", "replace").splitlines()
    try:
        return tuple(dict.fromkeys(check_name("name", line.strip()) for line in lines if line))
    except ValueError as error:
        raise ValueError(f"{path} must hold one name per line: {error}") from None


def _read(path: Path, load: Callable[[bytes], T], kind: str) -> T:
    try:
        return load(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{path} is missing") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it wants a password
        raise ValueError(f"{path} holds no {kind}") from None
