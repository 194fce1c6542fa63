"""A Dask cluster: one started on this machine for the sweep, or one that is already running.

Lives here: the only import of `distributed`; connecting, comparing versions, silencing it.  Must
not know points.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

from colme._extras import load
from colme.sweep.engines.local import count_cores
from colme.sweep.engines.task import MOST_DEATHS
from colme.sweep.versions import describe_difference, versions

PATIENCE = 10.0
"""Seconds to wait for a scheduler to answer and to have workers."""

_SETTINGS = {
    "distributed.scheduler.allowed-failures": MOST_DEATHS - 1,
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.comm.timeouts.connect": "30s",
    "distributed.admin.log-format": "%(message)s",
}
"""Points are few and heavy: workers may hold several; no web pages are served."""


import_distributed = partial(load, "this engine needs Dask", "dask", "cryptography", "distributed")
"""Return the library, or say how to get it; `cryptography` encrypts the links of a cluster."""


@contextmanager
def connected(n_workers: int | None = None, scheduler: str | None = None) -> Iterator[Any]:
    """Yield a client of a cluster: of a new one, unless a scheduler is named.

    Examples
    --------
    >>> with connected(scheduler="nonsense://here"):  # doctest: +ELLIPSIS
    ...     pass
    Traceback (most recent call last):
        ...
    ValueError: cannot reach a scheduler at 'nonsense://here' within 10 s ...
    """
    distributed = import_distributed()
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is not None:
            client = stack.enter_context(_client_of(scheduler))
            _check_workers(client, scheduler)
        else:
            cluster = stack.enter_context(_own_cluster(n_workers or count_cores()))
            client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
        yield client


@contextmanager
def _own_cluster(n_workers: int) -> Iterator[Any]:
    """Yield a cluster on this machine that other users cannot use."""
    distributed = import_distributed()
    settings = {
        "n_workers": n_workers,
        "threads_per_worker": 1,
        "processes": True,
        "host": "127.0.0.1",
        "protocol": "tls://",
        "security": distributed.Security.temporary(),
        "dashboard_address": None,
        "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},
        "memory_limit": 0,  # as without a cluster: the system ends what does not fit
        "silence_logs": logging.CRITICAL,
    }
    # A half-made cluster cannot be closed.  So a thread that ignores Ctrl-C makes it; the threads
    # and processes that it starts ignore Ctrl-C, too.
    maker = ThreadPoolExecutor(1, initializer=_block_interrupts)
    making = maker.submit(distributed.LocalCluster, **settings)
    try:
        error = making.exception()
        if isinstance(error, RuntimeError):
            raise OSError(f"cannot start a cluster on this machine: {error}")
        yield making.result()
    finally:
        if making.exception() is None:
            with making.result() as cluster:
                _kill_workers(cluster)
        maker.shutdown()


def _block_interrupts() -> None:
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _kill_workers(cluster: Any) -> None:
    """Kill the processes of our own cluster; asked to end, they would finish their points first."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)


def _client_of(scheduler: str) -> Any:
    try:
        _knock(scheduler)
        return import_distributed().Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # another kind of server, or a TLS address without keys
        raise ValueError(
            f"cannot reach a scheduler at {scheduler!r} within {PATIENCE:g} s "
            f"({str(error) or type(error).__name__}): start one with `dask scheduler`, and give "
            "its address as tcp://HOST:PORT or tls://HOST:PORT"
        ) from None


def _knock(address: str) -> None:
    """Raise what is wrong with an address; a client would wait for ever, also when it is closed."""
    distributed = import_distributed()
    keys = distributed.Security().get_connection_args("client")

    async def knock() -> None:
        connecting = distributed.comm.connect(address, timeout=PATIENCE, **keys)
        comm = await asyncio.wait_for(connecting, PATIENCE)
        comm.abort()

    runner = distributed.utils.LoopRunner()
    runner.start()
    try:
        runner.run_sync(knock)
    finally:
        runner.stop()


def _check_workers(client: Any, scheduler: str) -> None:
    """Raise ValueError unless the cluster has workers, all of them with our versions."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ValueError(
            f"the scheduler at {scheduler} has no workers: start some with "
            f"`dask worker {scheduler}`"
        ) from None
    differing = []
    for address, there in client.run(versions, on_error="return").items():
        is_known = isinstance(there, dict)  # else it is an error
        words = describe_difference(versions(), there) if is_known else f"none ({there})"
        differing += [f"{address}: {words}"] if words else []
    if differing:
        raise ValueError(
            f"workers have other versions, {'; '.join(sorted(differing))}: install the same "
            "everywhere, so that all of them compute the same numbers"
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library's own messages; its errors are reported as ours."""
    dask = importlib.import_module("dask")
    import_distributed()  # it sets the levels of its own loggers
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in ("asyncio", "tornado", *names)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(), dask.config.set(_SETTINGS):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
