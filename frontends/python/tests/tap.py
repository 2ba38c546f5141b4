# SPDX-License-Identifier: Apache-2.0
"""Run the tests of this folder and print TAP without a plan.

    tap.py NAME COUNTS [PATTERN]

NAME goes before each test's; numbers of tests and of failures are written to the file COUNTS.
"""
import os
import sys
import unittest


class Result(unittest.TestResult):
    """Prints a line a test."""

    def __init__(self, name):
        super().__init__()
        self.name, self.said, self.bad = name, 0, 0

    def _say(self, test, good, more=""):
        text = test.shortDescription() or str(test)
        where = type(test).__module__.replace("test_", "")
        self.said += 1  # a skipped class has a line although it is no test
        self.bad += not good
        print("%s - %s: %s: %s%s" % ("ok" if good else "not ok", self.name, where, text, more),
              flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.sound = True

    def addSuccess(self, test):
        self._say(test, True)

    def addSkip(self, test, reason):
        self._say(test, True, " # SKIP " + reason)

    def _fail(self, test, error):
        if self.sound:
            self.sound = False
            self._say(test, False)
        for line in self._exc_info_to_string(error, test).splitlines():
            print("# " + line)

    def addFailure(self, test, err):
        self._fail(test, err)

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._fail(test, err)


def main():
    name, counts, *pattern = sys.argv[1:]
    folder = os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.discover(folder, *pattern or ["test_*.py"])
    result = Result(name)
    suite.run(result)
    with open(counts, "w") as file:
        file.write("%d\n%d\n" % (result.said, result.bad))


if __name__ == "__main__":  # processes that tests spawn import it, too
    main()
