"""The module that runs an agent's code inside the sandbox. It is sent as text and imports nothing of ours.

`examine(calls, cases, names, seconds)` loads `tools.py` beside it, makes every call twice and evaluates every case. It
returns {"load_error": text or null, "outcomes": [[kind, value, detail], ...], "cases": [[passed, found], ...]}.
"""

__all__ = ("HARNESS",)

HARNESS = r"""
import ast, contextlib, importlib, io, json, math, signal


class _Late(BaseException):
    pass


def _alarm(number, frame):
    raise _Late()


signal.signal(signal.SIGALRM, _alarm)


def _line(error):
    text = str(error).split("\n")[0]
    return f"{type(error).__name__}: {text}"[:200]


def _timed(function, seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _call(tools, name, arguments, seconds):
    function = getattr(tools, name, None)
    if not callable(function):
        return ["error", None, f"AttributeError: there is no function {name}"]
    try:
        value = _timed(lambda: function(**json.loads(arguments)), seconds)
    except _Late:
        return ["timeout", None, "no end"]
    except ValueError as error:
        return ["value_error", None, _line(error)]
    except (Exception, SystemExit, RecursionError, MemoryError) as error:
        return ["error", None, _line(error)]
    try:
        return ["value", json.loads(json.dumps(value, allow_nan=False)), ""]
    except (TypeError, ValueError, RecursionError) as error:
        return ["error", None, f"TypeError: the result is no JSON: {error}"[:200]]


def raises(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind:
        return True
    return False


def _same(left, right):
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    return left == right


def _case(scope, text, seconds):
    def run():
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], (ast.Eq, ast.Is)):
            sides = [tree.left, tree.comparators[0]]
            left, right = [eval(compile(ast.Expression(side), "case", "eval"), scope) for side in sides]
            return _same(left, right), f"got {left!r}"
        return bool(eval(compile(ast.Expression(tree), "case", "eval"), scope)), "it is not so"
    try:
        passed, found = _timed(run, seconds)
        return [passed, "" if passed else found[:200]]
    except _Late:
        return [False, "no end"]
    except (Exception, SystemExit, RecursionError, MemoryError) as error:
        return [False, "raised " + _line(error)]


def examine(calls, cases, names, seconds):
    document = {"load_error": None, "outcomes": [], "cases": []}
    noise = io.StringIO()
    with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
        try:
            tools = _timed(lambda: importlib.import_module("tools"), 5)
        except _Late:
            document["load_error"] = "the file does not end when it is loaded"
            return document
        except BaseException as error:
            document["load_error"] = _line(error)
            return document
        first = [_call(tools, name, arguments, seconds) for name, arguments in calls]
        again = [_call(tools, name, arguments, seconds) for name, arguments in calls]
        document["outcomes"] = [
            one if one[:2] == other[:2] else ["unstable", None, "another result when called again"]
            for one, other in zip(first, again)
        ]
        scope = {name: getattr(tools, name, None) for name in names}
        scope.update(raises=raises, math=math, isclose=math.isclose)
        document["cases"] = [_case(scope, text, seconds) for text in cases]
    return document
"""
