"""A test format whose %s, %S and %t are quoted: the repository's path may hold spaces."""

import os
import shlex

import lit.formats
import lit.Test
import lit.TestRunner


class QuotedPathsTest(lit.formats.ShTest):
    """ShTest with paths that are safe in a shell command. A test that changes the folder `kept` fails: users read it.
    So do those that run meanwhile."""

    def __init__(self, execute_external: bool, kept: str) -> None:
        super().__init__(execute_external)
        self.kept = kept

    def _changes(self, before: dict[str, int]) -> list[str]:
        after = self._state()
        return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))

    def _state(self) -> dict[str, int]:
        """{file: when it was written}; files that begin with a dot are locks."""
        found = {}
        for folder, _, files in os.walk(self.kept):
            for name in files:
                path = os.path.join(folder, name)
                if not name.startswith(".") and os.path.lexists(path):
                    found[path] = os.lstat(path).st_mtime_ns
        return found

    def execute(self, test: lit.Test.Test, lit_config: object) -> lit.Test.Result:
        before = self._state()
        result = self._execute(test, lit_config)
        if not result.code.isFailure and (changed := self._changes(before)):
            what = f"a test has changed what users read: {', '.join(changed)}"
            return lit.Test.Result(lit.Test.FAIL, f"{what}\n{result.output}")
        return result

    def _execute(self, test: lit.Test.Test, lit_config: object) -> lit.Test.Result:
        source = test.getSourcePath()
        _, base = lit.TestRunner.getTempPaths(test)
        paths = {"s": source, "S": os.path.dirname(source), "t": base + ".tmp"}
        # A letter behind it makes another substitution's name.
        quoted = [(f"%{letter}(?![A-Za-z])", shlex.quote(path)) for letter, path in paths.items()]
        return lit.TestRunner.executeShTest(test, lit_config, self.execute_external, quoted)
