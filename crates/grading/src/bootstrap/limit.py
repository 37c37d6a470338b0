# This part: the time of one test. One that takes longer fails, and the others
# go on; a test that does not return to Python has the limit of the suite alone.

import _signal

import pytest

_set_handler = _signal.signal  # before others hide frames from handlers


class _TestLimit:
    def __init__(self, seconds):
        self.seconds = seconds
        self.failed = pytest.fail.Exception

    def begin(self):
        """Starts the clock, unless the tests have one of their own."""
        if self.seconds is None or _signal.getitimer(_signal.ITIMER_REAL)[0]:
            return
        _set_handler(_signal.SIGALRM, self.expired)
        # Again and again: a test may catch what ends it.
        _signal.setitimer(_signal.ITIMER_REAL, self.seconds, self.seconds)

    def end(self):
        if _signal.getsignal(_signal.SIGALRM) == self.expired:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            _set_handler(_signal.SIGALRM, _signal.SIG_DFL)

    def expired(self, number, frame):
        raise self.failed("it took longer than %s s" % self.seconds)
