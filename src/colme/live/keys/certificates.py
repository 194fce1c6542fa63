"""Certificates: who signs whom, and what a certificate says of its holder.

Lives here: the form of a fleet's certificates, created and verified.  Must not know files.
"""

from __future__ import annotations

import inspect
import ipaddress
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from colme.live.wire import check_name

AUTHORITY_DAYS = 3650
"""Ten years: an authority outlives its devices."""
DEVICE_DAYS = 825
"""The longest that strict implementations of TLS allow a private authority's certificates."""

_AUTHORITY = "colme authority"  # no device can have this name: names contain no spaces
_EARLIER = timedelta(days=1)  # clocks of devices may be slow
_LOCAL = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*", re.IGNORECASE)
_REMEMBERED = 2048
"""Verified certificates that are remembered: more than the largest fleets here have."""
_USES = tuple(inspect.signature(x509.KeyUsage).parameters)
"""All uses of a key that a certificate must allow or forbid."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a certificate names, with which key, and from when until when (seconds since 1970).

    Examples
    --------
    >>> key = new_key()
    >>> Holder("a", "lab", key.public_key(), start=0, end=1e9).is_valid_now()
    False
    """

    name: str
    fleet: str
    key: ec.EllipticCurvePublicKey
    start: float
    end: float

    def is_valid_now(self) -> bool:
        """Return whether the certificate has begun and not ended."""
        return self.start <= time.time() < self.end


def new_key() -> ec.EllipticCurvePrivateKey:
    """Return a new private key, on the curve P-256.

    Examples
    --------
    >>> new_key().key_size
    256
    """
    return ec.generate_private_key(ec.SECP256R1())


def host_names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    """Return this machine's names for itself, then the hosts, each once, as certificates do.

    Examples
    --------
    >>> [name.value for name in host_names(["garden.local"])][-1]
    'garden.local'
    """
    return [_host(host) for host in dict.fromkeys((*_LOCAL, *hosts))]


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    number = host.rpartition(".")[2].isdigit()  # a malformed address
    if number or len(host) > 253 or not _HOST.fullmatch(host):
        raise ValueError(
            f"a host must be a name such as garden.local or an address such as 192.168.1.20, "
            f"without a port; received {host!r:.80}"
        )
    return x509.DNSName(host)


def certify_authority(fleet: str, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """Return the certificate of a fleet's authority, signed by itself.

    Examples
    --------
    >>> fleet_of(certify_authority("lab", new_key()))
    'lab'
    """
    subject, public = _subject(check_name("fleet", fleet), _AUTHORITY), key.public_key()
    builder = _builder(subject, subject, public, AUTHORITY_DAYS)
    return (
        builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("digital_signature", "key_cert_sign", "crl_sign"), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )


def certify_device(
    name: str,
    key: ec.EllipticCurvePublicKey,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    *,
    hosts: Iterable[str] = (),
    days: int = DEVICE_DAYS,
    start: datetime | None = None,
) -> x509.Certificate:
    """Return a device's certificate, signed by its fleet's authority, for both ends of a link.

    Examples
    --------
    >>> above, own = new_key(), new_key()
    >>> authority = certify_authority("lab", above)
    >>> verify(certify_device("a", own.public_key(), authority, above), authority).name
    'a'
    """
    subject = _subject(fleet_of(authority), check_name("name", name))
    builder = _builder(subject, authority.subject, key, days, start)
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
        .add_extension(x509.SubjectAlternativeName(host_names(hosts)), critical=False)
        .add_extension(above, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def fleet_of(certificate: x509.Certificate) -> str:
    """Return the fleet that a certificate is for, or raise ValueError if it names none.

    Examples
    --------
    >>> fleet_of(certify_authority("lab", new_key()))
    'lab'
    """
    return check_name("fleet", _only(certificate, NameOID.ORGANIZATION_NAME))


@lru_cache(maxsize=_REMEMBERED)
def verify(certificate: x509.Certificate | bytes, authority: x509.Certificate) -> Holder:
    """Return whom a certificate of this authority names; the caller checks the time.

    What was verified once is remembered by its bytes, for all devices in this process.  For any
    other certificate or bytes it raises an exception of any kind: catch all.

    Examples
    --------
    >>> authority = certify_authority("lab", new_key())
    >>> verify(b"nonsense", authority)
    Traceback (most recent call last):
    ValueError: ...
    """
    if isinstance(certificate, bytes):
        certificate = x509.load_der_x509_certificate(certificate)
    certificate.verify_directly_issued_by(authority)
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError("a device's key must be one of an elliptic curve")  # noqa: TRY004
    return Holder(
        check_name("name", _only(certificate, NameOID.COMMON_NAME)),
        fleet_of(certificate),
        key,
        certificate.not_valid_before_utc.timestamp(),
        certificate.not_valid_after_utc.timestamp(),
    )


def _only(certificate: x509.Certificate, kind: x509.ObjectIdentifier) -> object:
    found = certificate.subject.get_attributes_for_oid(kind)
    return found[0].value if len(found) == 1 else None


def _subject(fleet: str, name: str) -> x509.Name:
    parts = {NameOID.ORGANIZATION_NAME: fleet, NameOID.COMMON_NAME: name}
    return x509.Name([x509.NameAttribute(kind, text) for kind, text in parts.items()])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    days: int,
    start: datetime | None = None,
) -> x509.CertificateBuilder:
    start = datetime.now(UTC).replace(microsecond=0) if start is None else start
    ends = start - _EARLIER, start + timedelta(days=days)
    return x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number(), *ends)


def _usage(*allowed: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{use: use in allowed for use in _USES})
