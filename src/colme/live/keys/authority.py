"""The authority of a fleet: it certifies the names of devices.

Lives here: making an authority, and making all that one device needs.  Must not know the network.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from colme import _check
from colme._files import replacing_folder
from colme.live.keys import files
from colme.live.keys.certificates import (
    DEVICE_DAYS,
    certify_authority,
    certify_device,
    fleet_of,
    host_names,
    new_key,
)
from colme.live.wire import check_name

_RESERVED = (files.AUTHORITY_CERTIFICATE, files.AUTHORITY_KEY, files.MEMBERS)
_LONGEST_CERTIFICATE = 3000
"""In bytes: it travels with each reply of its device, in one frame."""


@dataclass(eq=False, repr=False)
class Authority:
    """A fleet's own authority, kept in one private folder on one machine.

    `Authority.create` makes it and `Authority.open` loads it.  Its folder is for the
    owner of the fleet; a device needs only the folder that `issue` makes for it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     authority = Authority.create(Path(place) / "keys", "lab")
    ...     folder = authority.issue("kitchen", hosts=["192.168.1.20"])
    ...     sorted(path.name for path in folder.iterdir())
    ['ca.pem', 'device.key', 'device.pem', 'members']
    """

    folder: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def __post_init__(self) -> None:
        self.fleet = fleet_of(self.certificate)

    def __repr__(self) -> str:
        return f"Authority({str(self.folder)!r}, fleet={self.fleet!r})"

    @classmethod
    def create(cls, folder: Path, fleet: str) -> Self:
        """Make the authority of a fleet in a new or empty folder."""
        key = new_key()
        certificate = certify_authority(fleet, key)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (folder / files.AUTHORITY_CERTIFICATE).exists():
            raise ValueError(
                f"{folder} holds an authority already: issue devices with it, or choose another "
                "folder; without it no device of its fleet can be renewed"
            )
        if any(folder.iterdir()):
            raise ValueError(f"{folder} holds other files: choose a new folder for the authority")
        folder.chmod(0o700)
        files.write_key(folder / files.AUTHORITY_KEY, key)
        files.write_members(folder / files.MEMBERS, ())
        files.write_certificate(folder / files.AUTHORITY_CERTIFICATE, certificate)
        return cls(folder, certificate, key)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Load an authority, or raise ValueError with what to do."""
        try:
            certificate = files.read_certificate(folder / files.AUTHORITY_CERTIFICATE)
            key = files.read_key(folder / files.AUTHORITY_KEY)
            authority = cls(folder, certificate, key)
        except ValueError as error:
            raise ValueError(
                f"no authority in {folder}: {error}; 'colme keys init' makes one in a new folder"
            ) from None
        if key.public_key() != certificate.public_key():
            raise ValueError(
                f"{files.AUTHORITY_KEY} and {files.AUTHORITY_CERTIFICATE} in {folder} do not "
                "belong together: restore both from the same copy"
            )
        return authority

    @property
    def members(self) -> tuple[str, ...]:
        """The names issued so far, in order."""
        return files.read_members(self.folder / files.MEMBERS)

    @property
    def days_left(self) -> int:
        """Whole days for which the authority is still valid; negative once it has expired."""
        return int((self.certificate.not_valid_after_utc.timestamp() - time.time()) // 86400)

    def issue(
        self, name: str, hosts: Iterable[str] = (), days: int = DEVICE_DAYS, renew: bool = False
    ) -> Path:
        """Make the folder with all that one device needs, and return it.

        Parameters
        ----------
        name
            The device's name; no other device of the fleet has it.
        hosts
            Names or addresses under which others reach the device, besides localhost.
        days
            How long its certificate is valid.
        renew
            Replace what was issued to that name before.
        """
        return self.issue_all([name], hosts, days, renew)[0]

    def issue_all(
        self,
        names: Sequence[str],
        hosts: Iterable[str] = (),
        days: int = DEVICE_DAYS,
        renew: bool = False,
    ) -> list[Path]:
        """Make the folders of several devices, or none at all if one of them is refused."""
        hosts = tuple(hosts)
        with files.locked(self.folder):
            self._check(names, hosts, days, renew)
            issued = [(name, *self._certify(name, hosts, days)) for name in names]
            folders = [self._write(*one) for one in issued]
            self._spread(tuple(dict.fromkeys((*self.members, *names))))
        return folders

    def _check(self, names: Sequence[str], hosts: Iterable[str], days: int, renew: bool) -> None:
        """Raise ValueError if one of the devices cannot be issued."""
        host_names(hosts)
        if _check.positive_int("days", days) > self.days_left:
            raise ValueError(
                f"a certificate cannot be valid for {days} days: the authority in {self.folder} is "
                f"valid for {self.days_left}; ask for fewer or make a new authority"
            )
        issued = self.members
        for name in names:
            known = name in issued or (self.folder / check_name("name", name)).exists()
            if name in _RESERVED:
                raise ValueError(f"a file of the authority is called {name!r}: choose another name")
            if known and not renew:
                raise ValueError(
                    f"{name!r} has been issued already: choose another name, or renew it "
                    "(--renew), which makes a new key and certificate in place of the old ones"
                )
        if len(set(names)) < len(names):
            raise ValueError(f"each device needs its own name; received {', '.join(names):.80}")

    def _certify(
        self, name: str, hosts: Iterable[str], days: int
    ) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        key = new_key()
        certificate = certify_device(
            name, key.public_key(), self.certificate, self.key, hosts=hosts, days=days
        )
        length = len(certificate.public_bytes(Encoding.DER))
        if length > _LONGEST_CERTIFICATE:
            raise ValueError(
                f"the certificate of {name!r} would have {length} bytes, more than "
                f"{_LONGEST_CERTIFICATE}: give fewer or shorter hosts"
            )
        return key, certificate

    def _write(
        self, name: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate
    ) -> Path:
        with replacing_folder(self.folder / name) as draft:
            files.write_certificate(draft / files.AUTHORITY_CERTIFICATE, self.certificate)
            files.write_certificate(draft / files.DEVICE_CERTIFICATE, certificate)
            files.write_key(draft / files.DEVICE_KEY, key)
            files.write_members(draft / files.MEMBERS, ())
        return self.folder / name

    def _spread(self, names: tuple[str, ...]) -> None:
        """Write the names into the authority's list, and into every folder still here."""
        files.write_members(self.folder / files.MEMBERS, names)
        for name in names:
            if (self.folder / name / files.DEVICE_CERTIFICATE).exists():
                files.write_members(self.folder / name / files.MEMBERS, names)
