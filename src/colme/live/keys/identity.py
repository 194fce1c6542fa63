"""The identity of one device: its keys, the seals it makes and the seals of others.

Lives here: loading and checking keys, sealing, opening.  Must not know what is sealed, nor where
it is sent.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from colme.live.keys import files
from colme.live.keys.certificates import fleet_of, verify
from colme.live.wire import Refused, SealedReply

_ALGORITHM = ec.ECDSA(hashes.SHA256())
_COPY = "copy the whole folder that 'colme keys issue' has made for this device"
_PURPOSE = b"colme seal 1\0"  # a signature made for anything else is not a seal


@dataclass(eq=False, repr=False)
class Identity:
    """Who a device is: the folder that its fleet's authority has issued to it.

    `Identity.load` reads it.  TLS takes the files in `folder`; `seal` and `open` prove who said
    what, whichever way it came.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.keys import Authority
    >>> with tempfile.TemporaryDirectory() as place:
    ...     authority = Authority.create(Path(place) / "keys", "lab")
    ...     a, b = (Identity.load(authority.issue(name)) for name in "ab")
    >>> sealed = a.seal(b"my mean is 0.5", context=b"asked by b")
    >>> b.open(sealed, context=b"asked by b")
    'a'
    >>> b.open(sealed, context=b"asked by c")
    Traceback (most recent call last):
    colme.live.wire.Refused: the signature in the name of a is wrong
    """

    folder: Path
    authority: x509.Certificate
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    members: tuple[str, ...]

    def __post_init__(self) -> None:
        self.fleet = fleet_of(self.authority)
        self._certificate = self.certificate.public_bytes(Encoding.DER)
        path = self.folder / files.DEVICE_CERTIFICATE
        try:
            self._own = own = verify(self._certificate, self.authority)
        except Exception:
            above = self.folder / files.AUTHORITY_CERTIFICATE
            raise ValueError(
                f"{path} was not issued by the authority in {above}: {_COPY}"
            ) from None
        if self.key.public_key() != self.certificate.public_key():
            key = self.folder / files.DEVICE_KEY
            raise ValueError(f"{key} is not the key of {path}: {_COPY}")
        if not own.is_valid_now():
            start, end = (time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (own.start, own.end))
            raise ValueError(
                f"{path} is valid from {start} to {end} and not today: set this machine's clock, "
                f"or issue {own.name} again with --renew"
            )
        self.name = own.name

    def __repr__(self) -> str:
        return f"Identity({self.name!r}, fleet={self.fleet!r}, days_left={self.days_left})"

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a device's folder, or raise ValueError with what to do."""
        try:
            authority = files.read_certificate(folder / files.AUTHORITY_CERTIFICATE)
            certificate = files.read_certificate(folder / files.DEVICE_CERTIFICATE)
            key = files.read_key(folder / files.DEVICE_KEY)
            members = files.read_members(folder / files.MEMBERS)
        except ValueError as error:
            raise ValueError(f"{error}: {_COPY}") from None
        return cls(folder, authority, certificate, key, members)

    @property
    def days_left(self) -> int:
        """Whole days for which the certificate is still valid; renew it well before 0."""
        return int((self._own.end - time.time()) // 86400)

    def seal(self, payload: bytes, context: bytes) -> SealedReply:
        """Sign a payload together with a context that the receiver knows as well."""
        signature = self.key.sign(_signed(payload, context), _ALGORITHM)
        return SealedReply(payload, self._certificate, signature)

    def open(self, sealed: SealedReply, context: bytes) -> str:
        """Return the name of the device that sealed it in that context, or raise `Refused`.

        The reason is "stranger" for an invalid or expired certificate and one of another fleet,
        and "forged" for a signature that its holder has not made.
        """
        try:
            holder = verify(sealed.certificate, self.authority)
        except Exception:  # the bytes of a stranger can be wrong in any way
            raise Refused("stranger", f"no certificate of fleet {self.fleet}'s authority") from None
        if holder.fleet != self.fleet:
            raise Refused("stranger", f"{holder.name} is of fleet {holder.fleet}")
        if not holder.is_valid_now():
            raise Refused("stranger", f"the certificate of {holder.name} is not valid today")
        try:
            holder.key.verify(sealed.signature, _signed(sealed.payload, context), _ALGORITHM)
        except InvalidSignature:
            raise Refused(
                "forged", f"the signature in the name of {holder.name} is wrong"
            ) from None
        return holder.name


def _signed(payload: bytes, context: bytes) -> bytes:
    """Return what a seal signs: no other payload and context give the same bytes."""
    return _PURPOSE + struct.pack(">I", len(context)) + context + payload
