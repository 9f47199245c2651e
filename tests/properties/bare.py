"""A copy of the package from which every tap was taken out, to compare with."""

import ast
from pathlib import Path

import clearhead

__all__ = ["PACKAGE", "write_bare_copy"]

PACKAGE = Path(clearhead.__file__).parent


def write_bare_copy(folder: Path) -> int:
    """Write it into a folder; return how many places were taken out."""
    n_removed = 0
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        remove = _RemoveTaps(_tap_names(tree))
        copy = folder / "clearhead" / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(ast.unparse(ast.fix_missing_locations(remove.visit(tree))))
        n_removed += remove.n_removed
    return n_removed


class _RemoveTaps(ast.NodeTransformer):
    """Rewrite a module as if it had never named a place: `self.scores(x)` becomes `x`."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.n_removed = 0

    def _is_tap(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and node.attr in self.names
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self._is_tap(node.func):
            self.n_removed += 1
            return self.visit(node.args[0])
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Attribute(value=place, attr="show")) if self._is_tap(place):
                self.n_removed += 1
                return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "is_watched":
            self.n_removed += 1
            return ast.Constant(False)
        if self._is_tap(node):
            return ast.Constant(None)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if all(_makes_tap(value) for value in values):
            return ast.Pass()
        self.generic_visit(node)
        return node


def _makes_tap(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("Tap", "Gauge")
    )


def _tap_names(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets[0]
            left = targets.elts if isinstance(targets, ast.Tuple) else [targets]
            right = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            pairs = zip(left, right, strict=False)
            names |= {t.attr for t, v in pairs if _makes_tap(v) and isinstance(t, ast.Attribute)}
    return names
