"""What a file of results must look like, and whether it does.

A shape is a type, a function that tells whether a value is right, a dictionary (of what must
be there) or a list (any number of its only element) of shapes.
"""

from .errors import UserError


def is_number(value):
    """Whether `value` is a number that can have been measured."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and abs(value) < 1e18)


def positive(value):
    """Whether `value` is a number above 0."""
    return is_number(value) and value > 1e-12


def one_of(*choices):
    """A shape: one of some strings."""
    return lambda value: isinstance(value, str) and value in choices


def optional(kind):
    """A shape: None, or a number (float) or another type."""
    return lambda value: value is None or (is_number(value) if kind is float else
                                           isinstance(value, kind))


class Check:
    """Compares what the file `path` held with shapes; UserError where it differs."""

    def __init__(self, path, hint="measure again, or leave it out"):
        self.path = path
        self.hint = hint

    def fail(self, where):
        """The UserError for a part that is missing or wrong."""
        raise UserError(f"{self.path} is damaged: {where or 'its content'} is missing or wrong",
                        self.hint)

    def shape(self, value, wanted, where=""):
        """Compares a value, which `where` names, with the shape `wanted`."""
        if isinstance(wanted, dict):
            if not isinstance(value, dict):
                self.fail(where)
            for name, inner in wanted.items():
                if name not in value:
                    self.fail(f"{where}.{name}".lstrip("."))
                self.shape(value[name], inner, f"{where}.{name}".lstrip("."))
        elif isinstance(wanted, list):
            if not isinstance(value, list):
                self.fail(where)
            for number, inner in enumerate(value):
                self.shape(inner, wanted[0], f"{where}[{number}]")
        elif not (isinstance(value, wanted) if isinstance(wanted, type) else wanted(value)):
            self.fail(where)
