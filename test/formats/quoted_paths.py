"""A test format whose %s, %S and %t are quoted: the repository's path may hold spaces."""

import os
import shlex

import lit.formats
import lit.TestRunner


class QuotedPathsTest(lit.formats.ShTest):
    """ShTest with paths that are safe in a shell command."""

    def execute(self, test, lit_config):
        source = test.getSourcePath()
        _, base = lit.TestRunner.getTempPaths(test)
        paths = {"s": source, "S": os.path.dirname(source), "t": base + ".tmp"}
        # A letter behind it makes another substitution's name.
        quoted = [(f"%{letter}(?![A-Za-z])", shlex.quote(path)) for letter, path in paths.items()]
        return lit.TestRunner.executeShTest(test, lit_config, self.execute_external, quoted)
