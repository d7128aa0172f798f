"""A test format that knows which of upstream's tests cannot run on a variant."""

import os

import lit.formats
import lit.Test

_TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "upstream", "unsupported.txt")


def reasons(variant: str) -> dict[str, str]:
    """{path of a test in the checkout's swift/: why it cannot run on `variant`}."""
    table = {}
    with open(_TABLE) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                variants, test, reason = (part.strip() for part in line.split("|", 2))
                if variant in variants.split():
                    table[test] = reason
    return table


class UpstreamTest(lit.formats.ShTest):
    """ShTest, but what is in `reasons` is unsupported, and says why."""

    def __init__(self, suite: str, reasons: dict[str, str]) -> None:
        super().__init__(execute_external=True)
        self.suite = suite
        self.reasons = reasons

    def execute(self, test: lit.Test.Test, lit_config: object) -> lit.Test.Result:
        reason = self.reasons.get("/".join([self.suite, *test.path_in_suite]))
        if reason:
            return lit.Test.Result(lit.Test.UNSUPPORTED, reason)
        return super().execute(test, lit_config)
