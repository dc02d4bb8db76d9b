"""A Ray cluster of two processors on the loopback device, started and stopped by the tests that need one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

HAS_RAY = find_spec("ray") is not None

needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray cannot be imported here: pip install 'believer[ray]'")

SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # what it does for these: everything on the loopback device
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or it warns that one day it will
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_GLOBAL_CHECKPOINT_S": "0",
}
os.environ.update(SETTINGS)  # some are read when Ray is imported


@contextmanager
def local_cluster() -> Iterator[str]:
    """The address of a cluster that this process is not connected to; its files are in a directory of its own."""
    from ray.cluster_utils import Cluster

    home = tempfile.mkdtemp(prefix="ray-")  # not pytest's: the path of a socket must be short
    options = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", home)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # so that workers find the tests' functions
        cluster = Cluster(initialize_head=True, head_node_args=options)
        try:
            yield cluster.address
        finally:
            cluster.shutdown()
            shutil.rmtree(home, ignore_errors=True)


posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
