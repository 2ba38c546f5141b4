# SPDX-License-Identifier: Apache-2.0
"""Random numbers of this thread."""
from ._library import lib


def manual_seed(seed):
    """Start this thread's random numbers again from a seed."""
    lib.axle_seed(seed & (2 ** 64 - 1))


def initial_seed():
    """The seed that this thread's random numbers started from."""
    return lib.axle_random_get().seed


def get_rng_state():
    """Where this thread's random numbers are."""
    state = lib.axle_random_get()
    return {name: getattr(state, name) for name, _ in state._fields_}


def set_rng_state(state):
    """Go back there."""
    current = lib.axle_random_get()
    for name, value in state.items():
        setattr(current, name, value)
    lib.axle_random_set(current)
