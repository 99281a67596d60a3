"""What the library says while it works, in the ways of Python: warnings, logging, and bars of tqdm."""
import logging
import warnings

from sklearn.exceptions import ConvergenceWarning

from . import _native


class EcotoneWarning(UserWarning):
    """A warning of ecotone; its text begins with the stage or the function that gives it."""


class Listener:
    """Receives the messages of one call. Bars appear after a second, where tqdm is installed."""

    def __init__(self):
        self._bar = None

    def warning(self, code, text):
        warnings.warn(text, ConvergenceWarning if code == "not_converged" else EcotoneWarning, stacklevel=4)

    def note(self, text):
        logging.getLogger("ecotone").info(text)

    def progress(self, what, done, total):
        if self._bar is None or self._bar.desc != what:
            self.close()
            self._bar = _new_bar(what, total)
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _new_bar(what, total):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = tqdm(total=total, delay=1, leave=False)
    bar.desc = what
    return bar


class settings:
    """The native settings of one call, as a context manager that ends its bar."""

    def __init__(self, threads=None, seed=0, ranks=None, listener=None):
        self._listener = listener or Listener()
        self._native = _native.Settings(threads or 0, seed, self._listener, ranks)

    def __enter__(self):
        return self._native

    def __exit__(self, *error):
        self._listener.close()


# For calls too short for a bar; shared, because it holds nothing of a call.
quick_settings = _native.Settings(0, 0, Listener())
