# SPDX-License-Identifier: Apache-2.0
"""Processes from within a program or notebook."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def _environment(**values):
    """Variables of processes that are started here."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update({name: str(value) for name, value in values.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def notebook_launcher(function, args=(), num_processes=1, mixed_precision="no"):
    """Call a function in several processes, which meet as those of `axle launch` do.

    The processes are new ones, as a forked child has no devices: they import the module that the
    function is of, so one that is typed into a notebook has to go to a file first.
    """
    if num_processes == 1:
        function(*args)
        return
    import multiprocessing
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(num_processes):
            process = context.Process(target=function, args=tuple(args))
            with _environment(RANK=rank, WORLD_SIZE=num_processes, LOCAL_RANK=rank,
                              LOCAL_WORLD_SIZE=num_processes, AXLE_RENDEZVOUS="file://" + folder,
                              AXLE_JOB="notebook-%d" % os.getpid(),
                              AXLE_PRECISION=mixed_precision):
                process.start()
            processes.append(process)
        for process in processes:
            process.join()
    failed = [rank for rank, process in enumerate(processes) if process.exitcode]
    if failed:
        raise RuntimeError("processes failed: %s" % ", ".join(map(str, failed)))
