"""The tree of a beam search as a picture: every beginning that lived, and why others did not."""

from collections.abc import Callable, Sequence

from clearhead.decoding.log import Node, SearchLog
from clearhead.observe.drawing import Picture, columns, svg
from clearhead.observe.names import name_piece

__all__ = ["tree_view"]

Decode = Callable[[Sequence[int]], list[str]]
COLUMN, ROW = 118, 26
N_PRUNED = 2
"""So many of the candidates that were pruned are shown under each node, the best first."""
LOOKS = {
    "kept": "#2b6cb0",
    "finished": "#1a7f37",
    "dropped": "#9a6700",
    "pruned": "#8b949e",
}


def tree_view(log: SearchLog, decode: Decode, text: str) -> Picture:
    """What a beam search followed, and why it gave the rest up."""
    title = f"Beam search: {text}"
    n = len(log.nodes)
    note = f"{n} candidates in {log.n_steps} steps; under each token its score so far"
    shown = _shown_nodes(log, 1)
    answer = {node.id for leaf in log.best[:1] for node in log.path(leaf)}
    table = [["step", "token", "log p", "score", "fate", ""]]
    for node in shown:
        token = _name(decode, node)
        by = "" if node.by is None else _name(decode, log.nodes[node.by])
        table.append(
            [
                str(node.step), token, f"{node.log_prob:.2f}", f"{node.score:.2f}",
                "the answer" if node.id in answer else node.fate, f"by {by}" if by else "",
            ]
        )  # fmt: skip
    nodes = [vars(node) | {"text": _name(decode, node)} for node in log.nodes]
    return Picture(
        title,
        _tree_svg(log, decode, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(0, 2, 3))}",
        {"best": log.best, "nodes": nodes},
    )


def _shown_nodes(log: SearchLog, n_pruned: int = N_PRUNED) -> list[Node]:
    """All nodes that were kept or finished, and the best few that were pruned under each."""
    count: dict[int | None, int] = {}
    shown = []
    for node in log.nodes:
        if node.fate == "pruned":
            count[node.parent] = count.get(node.parent, 0) + 1
            if count[node.parent] > n_pruned:
                continue
        shown.append(node)
    return shown


def _tree_svg(log: SearchLog, decode: Decode, *, title: str, note: str = "") -> str:
    """Steps from left to right; the path of the answer is bold."""
    nodes = _shown_nodes(log)
    rows = _rows(nodes)
    answer = {node.id for leaf in log.best[:1] for node in log.path(leaf)}
    labels = {node.id: _name(decode, node) for node in nodes}
    n_steps = 1 + max((node.step for node in nodes), default=0)
    n_rows = 1 + max(rows.values(), default=0)
    width = max(svg.MARGIN * 2 + COLUMN * (n_steps + 1), svg.heading_width(title, note))
    height = svg.MARGIN * 2 + 70 + ROW * n_rows + 30
    top = svg.MARGIN + 66

    def place(node_id: int | None) -> tuple[float, float]:
        if node_id is None:
            return svg.MARGIN + 30, top + ROW * rows.get(None, 0)
        node = log.nodes[node_id]
        return svg.MARGIN + 30 + COLUMN * (node.step + 1), top + ROW * rows[node_id]

    parts = [
        *svg.heading(title, note),
        svg.text(*place(None), "<bos>", 'font-size="12" text-anchor="end" fill="#555"'),
    ]
    for node in nodes:
        (x0, y0), (x, y) = place(node.parent), place(node.id)
        is_answer = node.id in answer
        stroke = 2.4 if is_answer else 1.0
        ink = svg.INK if is_answer else LOOKS[node.fate]
        begin = x0 + (4 if node.parent is None else svg.width_of(labels[node.parent], 13) + 8)
        dashes = 'stroke-dasharray="3 3"' if node.fate == "pruned" else ""
        parts.append(
            f'<path d="M{begin:.1f} {y0 - 4:.1f}C{x - 20:.1f} {y0 - 4:.1f} {x - 24:.1f} '
            f'{y - 4:.1f} {x - 6:.1f} {y - 4:.1f}" fill="none" stroke="{ink}" '
            f'stroke-width="{stroke}" {dashes}/>'
        )
        weight = 'font-weight="700"' if is_answer else ""
        parts.append(
            f"<g><title>{_told(node, log, decode)}</title>"
            + svg.text(x, y, labels[node.id], f'font-size="13" fill="{ink}" {weight}')
            + svg.text(x, y + 10, f"{node.score:.2f}", f'font-size="8.5" fill="{ink}"')
            + "</g>"
        )
    parts += _key(svg.MARGIN, height - 20)
    return svg.document(width, height, title, parts)


def _rows(nodes: Sequence[Node]) -> dict[int | None, int]:
    """A line for each leaf, in the order of a walk; a node is on the line of its first child."""
    children: dict[int | None, list[Node]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    rows: dict[int | None, int] = {}
    n_lines = 0

    def walk(node_id: int | None) -> int:
        nonlocal n_lines
        own = children.get(node_id, [])
        if not own:
            n_lines += 1
            rows[node_id] = n_lines - 1
        else:
            rows[node_id] = min(walk(child.id) for child in own)
        return rows[node_id]

    walk(None)
    return rows


def _told(node: Node, log: SearchLog, decode: Decode) -> str:
    """What a pointer over a node is told."""
    said = f"log p {node.log_prob:.3f}, total {node.total:.3f}, score {node.score:.3f}, {node.fate}"
    if node.by is not None:
        other = log.nodes[node.by]
        said += f": {_name(decode, other)} had {other.score:.3f}"
    return svg.escaped(said)


def _name(decode: Decode, node: Node) -> str:
    return name_piece(decode([node.token])[0])


def _key(x: float, y: float) -> list[str]:
    parts = []
    for fate, ink in LOOKS.items():
        parts.append(svg.text(x, y, fate, f'font-size="12" fill="{ink}"'))
        x += svg.width_of(fate, 12) + 22
    parts.append(svg.text(x, y, "the answer", f'font-size="12" font-weight="700" fill="{svg.INK}"'))
    return parts
