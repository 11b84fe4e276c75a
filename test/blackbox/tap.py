"""Results in TAP, as test/run counts them."""
import sys


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def report(self, name, complaints):
        self.count += 1
        self.failed += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {self.count} - {' '.join(name.split())[:200]}")
        for complaint in complaints:
            print("    # " + str(complaint).replace("\n", "\n    # "))
        sys.stdout.flush()
