# SPDX-License-Identifier: Apache-2.0
"""The C library: where it is, what it declares, what its calls return."""
import ctypes
import glob
import os
import shutil
import subprocess
import threading

from . import _abi

__version__ = "0.1.0"

_SONAMES = {"axle": "libaxle.so.0", "models": "libaxle-models.so.0", "track": "libaxle-track.so.0"}

_SCALARS = {
    "void": None, "ptr": ctypes.c_void_p, "str": ctypes.c_char_p, "int": ctypes.c_int,
    "uint": ctypes.c_uint, "char": ctypes.c_char, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16,
    "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "size": ctypes.c_size_t,
    "f32": ctypes.c_float, "f64": ctypes.c_double,
}


# ---------------------------------------------------------------------- errors

class AxleError(RuntimeError):
    """What the C library reports; `code` is its AXLE_ERR_..., the text its message."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class ShapeError(AxleError, ValueError):
    """Dims that do not fit."""


class DtypeError(AxleError, TypeError):
    """Element types that do not fit."""


class InvalidError(AxleError, ValueError):
    """An argument that makes no sense."""


class OutOfRangeError(AxleError, IndexError):
    """An index that is not there."""


class NotFoundError(AxleError, LookupError):
    """A name that is not there."""


class OutOfMemoryError(AxleError, MemoryError):
    """Memory of the host or of the device ran out."""


class FileError(AxleError, OSError):
    """A file cannot be read or written."""


_KINDS = {"SHAPE": ShapeError, "DTYPE": DtypeError, "INVALID": InvalidError,
          "INDEX": OutOfRangeError, "NOT_FOUND": NotFoundError, "NOMEM": OutOfMemoryError,
          "IO": FileError}
_CLASSES = {_abi.CONSTANTS["AXLE_ERR_" + name]: kind for name, kind in _KINDS.items()}


# ---------------------------------------------------------------------- finding it

def _chosen():
    """The folder that AXLE_LIBRARY names, itself or by a library in it."""
    path = os.environ.get("AXLE_LIBRARY")
    return os.path.dirname(path) if path and os.path.isfile(path) else path


def _from_pkg_config():
    command = shutil.which("pkg-config")
    if not command:
        return []
    done = subprocess.run([command, "--variable=libdir", "axle"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True, check=False)
    return done.stdout.split("\n")[:1] if done.stdout.strip() else []


def _beside_command():
    """Folders of libraries beside the `axle` command."""
    command = shutil.which("axle")
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command))) if command else None
    return glob.glob(prefix + "/lib") + glob.glob(prefix + "/lib/*-linux-*") if prefix else []


def _folders():
    """Where libraries may be, in order; lazily, as most of the time the first one has them."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        from . import _installed  # written by `make install`
        yield os.path.normpath(os.path.join(here, _installed.LIBRARY_DIR))
    except ImportError:
        pass
    yield from _from_pkg_config()
    yield from _beside_command()
    yield from ("/usr/local/lib", "/usr/local/lib64", "")


def _open(soname, beside=None):
    """The library and its path; one of the others is beside the first one."""
    tried, chosen = [], os.path.dirname(beside) if beside else _chosen()
    for folder in [chosen] if chosen else _folders():
        path = os.path.join(folder, soname)
        if folder and not os.path.exists(path):
            tried.append(path + ": there is no such file")
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append("%s: %s" % (path, error))
    raise ImportError(
        "%s was not found. Install it (./configure && make install), or set AXLE_LIBRARY to its "
        "folder. Tried:\n  %s" % (soname, "\n  ".join(tried)), name="axle", path=soname)


def _check_version(version, path):
    """Versions that differ in their first two numbers do not fit together."""
    ours, theirs = ([int(n) for n in v.split(".")[:2]] for v in (__version__, version))
    if ours != theirs:
        raise ImportError("%s is of version %s, which is too %s for this package of version %s"
                          % (path, version, "old" if theirs < ours else "new", __version__))


# ---------------------------------------------------------------------- structs

_structs: dict = {}
_callbacks: dict = {}


def _ctype(kind):
    if isinstance(kind, tuple):
        return _ctype(kind[0]) * kind[1]
    if kind in _SCALARS:
        return _SCALARS[kind]
    return callback(kind) if kind in _abi.CALLBACKS else struct(kind)


def struct(name):
    """The ctypes class of a C struct."""
    if name not in _structs:
        fields = [(field, _ctype(kind)) for field, kind in _abi.STRUCTS[name]]
        _structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return _structs[name]


def callback(name):
    """The ctypes class of a type of C function; an instance of it must outlive its use."""
    if name not in _callbacks:
        result, arguments = _abi.CALLBACKS[name]
        _callbacks[name] = ctypes.CFUNCTYPE(_ctype(result), *map(_ctype, arguments))
    return _callbacks[name]


def _fill(target, values):
    names = [field for field, _ in target._fields_]
    for name, value in values.items() if isinstance(values, dict) else zip(names, values):
        if value is None:
            continue
        if isinstance(getattr(target, name), ctypes.Structure):
            _fill(getattr(target, name), value)
        elif isinstance(value, (tuple, list)):
            getattr(target, name)[:len(value)] = value
        elif isinstance(value, str):
            setattr(target, name, value.encode())
        else:
            setattr(target, name, value)
    if "struct_size" in names:
        target.struct_size = ctypes.sizeof(target)


def options(name, /, **values):
    """A C options struct: its ..._INIT, and what is given. None leaves the default."""
    kind, defaults = _abi.DEFAULTS.get(name, (name, {}))
    result = struct(kind)()
    _fill(result, defaults)
    _fill(result, {key: value for key, value in values.items() if value is not None})
    return result


# ---------------------------------------------------------------------- calls

class _Library:
    """The functions of one shared library, by name; each is bound when it is first used."""

    def __init__(self, name):
        self._name = name
        self._dll = None
        self.path = None

    def load(self):
        if self._dll is None:
            dll, self.path = _open(_SONAMES[self._name], beside=self is not lib and lib.path)
            if self._name == "axle":
                dll.axle_version.restype = ctypes.c_char_p
                _check_version(dll.axle_version().decode(), self.path)
            self._dll = dll
        return self._dll

    def __getattr__(self, name):
        if name not in _abi.FUNCTIONS:
            raise AttributeError(name)
        if _forked:
            return _refuse
        try:
            function = getattr(self.load(), name)
        except AttributeError:
            raise ImportError("%s has no function %s: it is too old for this package"
                              % (self.path, name)) from None
        result, arguments = _abi.FUNCTIONS[name]
        function.restype = _ctype(result)
        function.argtypes = [_ctype(kind) for kind in arguments if kind != "..."]
        setattr(self, name, function)
        return function

    def forget(self):
        """Bind no function any more."""
        for name in [name for name in vars(self) if name in _abi.FUNCTIONS]:
            delattr(self, name)


_forked = False


def _refuse(*_):
    raise AxleError("this process was forked from one that uses axle, whose threads and devices it "
                    "does not have; start a new one, with multiprocessing's \"spawn\", say")


def _after_fork():
    global _forked
    _forked = True
    for library in (lib, models, track):
        library.forget()
    lib.axle_tensor_release = lib.axle_module_release = lambda handle: None


lib = _Library("axle")
models = _Library("models")
track = _Library("track")
os.register_at_fork(after_in_child=_after_fork)


def failure():
    """The error that the C library recorded last on this thread, as an exception."""
    code, message = lib.axle_error_code(), lib.axle_error_message().decode(errors="replace")
    lib.axle_error_clear()
    pending = getattr(_thread, "pending", None)
    if pending is not None:
        _thread.pending = None
        return pending
    return _CLASSES.get(code, AxleError)(message or "an unknown error", code)


def check(code):
    """Raise what a function that returns a status reports."""
    if code:
        raise failure()


def check_callbacks(code):
    """The same after a function that calls back, for callbacks that cannot return an error."""
    if code or getattr(_thread, "pending", None) is not None:
        raise failure()


_thread = threading.local()


def remember(error):
    """Keep an exception that a callback may not raise; the call that led to it raises it."""
    _thread.pending = error
    text = "%s: %s" % (type(error).__name__, error)
    lib.axle_error_set(_abi.CONSTANTS["AXLE_ERR_STATE"], b"%s", text.encode())
    return _abi.CONSTANTS["AXLE_ERR_STATE"]


def out_pointer(function, *arguments):
    """Call a function whose last parameter receives a handle; return the handle."""
    result = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(result)))
    return result.value


def patiently(function, *arguments):
    """Call a function that may wait for others, so that Ctrl-C is heard meanwhile: the main thread
    waits in Python. What it interrupts goes on behind, until the program ends."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results, errors = [], []

    def work():
        try:
            results.append(function(*arguments))
        except BaseException as error:  # noqa: B902 - the caller's thread raises it
            errors.append(error)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def take_text(pointer):
    """A string that the caller must free."""
    text = ctypes.cast(pointer, ctypes.c_char_p).value.decode()
    lib.axle_free(pointer)
    return text
