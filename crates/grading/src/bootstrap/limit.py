# This part: the time of one test. One that takes longer fails, and the others
# go on; a test that does not return to Python has the limit of the suite alone.

import _signal

import pytest

_set_handler = _signal.signal  # before tests replace it


class _TestLimit:
    def __init__(self, seconds):
        self.seconds = seconds
        # Its name tells it from a failed assertion.
        self.failed = type("TookTooLong", (pytest.fail.Exception,), {})
        self.runs = False

    def begin(self):
        """Starts the clock, unless the tests have one of their own, or a handler
        that waits for it."""
        if self.seconds is None or _signal.getitimer(_signal.ITIMER_REAL)[0]:
            return
        # A fixture may have put this one back.
        free = (_signal.SIG_DFL, _signal.SIG_IGN, self.expired)
        if _signal.getsignal(_signal.SIGALRM) not in free:
            return
        self.runs = True
        _set_handler(_signal.SIGALRM, self.expired)
        # Again and again: a test may catch what ends it.
        _signal.setitimer(_signal.ITIMER_REAL, self.seconds, self.seconds)

    def end(self):
        if not self.runs:
            return
        self.runs = False
        # What a test has put in their place stays.
        if _signal.getitimer(_signal.ITIMER_REAL)[1] == self.seconds:
            _signal.setitimer(_signal.ITIMER_REAL, 0)
        if _signal.getsignal(_signal.SIGALRM) == self.expired:
            _set_handler(_signal.SIGALRM, _signal.SIG_DFL)

    def expired(self, number, frame):
        raise self.failed("it took longer than %s s" % self.seconds)
