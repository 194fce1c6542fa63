"""Keys of a fleet for tests: an authority, two devices, and certificates made by other means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cryptography import x509

from colme.live.keys import Authority
from colme.live.keys.certificates import certify_device, new_key
from colme.live.keys.files import read_certificate, read_key


def forge(
    authority: Authority, name: str, *, above: Path | None = None, **changes: Any
) -> tuple[x509.Certificate, Any]:
    """Return a certificate signed with an authority's key, as its owner could by other means."""
    folder = above or authority.folder
    key = new_key()
    signed = certify_device(
        name,
        key.public_key(),
        read_certificate(folder / "ca.pem"),
        read_key(folder / "ca.key"),
        **changes,
    )
    return signed, key
