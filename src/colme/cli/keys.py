"""`colme keys`: who belongs to a fleet.

Lives here: its two commands and their flags.  Must not know how keys are made, nor what is printed
of them.
"""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from colme import _terminal
from colme._terminal.keys import print_authority, print_issued

keys = App(name="keys", help="Make an authority for a fleet, and keys for its devices.")


@keys.command
def init(folder: Path, /, *, fleet: str, json: bool = False) -> None:
    """Make the authority of a fleet, once, on a machine that you trust.

    For example:

        colme keys init lab-keys --fleet lab

    Parameters
    ----------
    folder
        A new folder for the authority.  Keep it private, and keep a copy.
    fleet
        Name of the fleet.
    json
        Print what was made as JSON.
    """
    from colme.live.keys import Authority  # noqa: PLC0415 - its library loads only when needed

    authority = Authority.create(folder, fleet)
    made = {"fleet": authority.fleet, "folder": str(folder), "days": authority.days_left}
    (_terminal.print_json if json else print_authority)(made)


@keys.command
def issue(
    folder: Path,
    /,
    *names: str,
    host: tuple[str, ...] = (),
    days: int = 825,
    renew: bool = False,
    json: bool = False,
) -> None:
    """Make a folder for each device, with all that it needs to join the fleet.

    For example:

        colme keys issue lab-keys router kitchen garden

        colme keys issue lab-keys router --host router.local 192.168.1.20 --renew

    Parameters
    ----------
    folder
        The folder of the authority.
    names
        Names of the devices; a router is a device, too.
    host
        Names and addresses under which others reach these devices over the network, without port.
    days
        How long the certificates are valid.
    renew
        Make new keys and certificates for names that have some already.
    json
        Print what was made as JSON.
    """
    from colme.live.keys import Authority  # noqa: PLC0415 - its library loads only when needed

    if not names:
        raise ValueError("name at least one device, for example: colme keys issue FOLDER kitchen")
    authority = Authority.open(folder)
    folders = authority.issue_all(names, host, days, renew)
    made = {
        "fleet": authority.fleet,
        "days": days,
        "hosts": list(host),
        "issued": {name: str(path) for name, path in zip(names, folders, strict=True)},
        "members": len(authority.members),
    }
    (_terminal.print_json if json else print_issued)(made)
