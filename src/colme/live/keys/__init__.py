"""Keys: who belongs to a fleet, and proof of who said what.

Lives here: a fleet's own authority, the certificates it gives to devices, and seals made with them.
Must not know the network, nor what is sealed.  Nothing else here imports `cryptography`.
"""

try:
    import cryptography as _cryptography  # noqa: F401
except ImportError:
    raise ImportError("keys are made with cryptography: pip install 'colme[live]'") from None

from colme.live.keys.authority import Authority
from colme.live.keys.identity import Identity

__all__ = ["Authority", "Identity"]
