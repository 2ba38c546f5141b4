# SPDX-License-Identifier: Apache-2.0
"""python -m axle: the `axle` command. Scripts that it launches run with this Python."""
import os
import shutil
import sys

from ._library import lib


def command():
    """The path of the command that belongs to the library."""
    lib.load()
    folder = os.path.dirname(os.path.realpath(lib.path))
    places = [os.path.join(folder, up, "bin", "axle") for up in ("..", "../..")]
    places.append(os.path.join(folder, "..", "axle"))  # of a build tree
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.normpath(place)
    return shutil.which("axle")


def main():
    path, arguments = command(), sys.argv[1:]
    if path is None:
        sys.exit("python -m axle: the axle command was not found beside %s or in PATH" % lib.path)
    if arguments[:1] == ["launch"]:
        for k, argument in enumerate(arguments[1:], 1):
            if argument.endswith(".py") and os.path.isfile(argument):
                arguments.insert(k, sys.executable)
                break
    os.execv(path, [path, *arguments])


if __name__ == "__main__":
    main()
