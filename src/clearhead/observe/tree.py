"""The tree of a beam search as a picture: every beginning that lived, and why others did not."""

from collections.abc import Callable, Sequence

from clearhead.decoding.log import Node, SearchLog
from clearhead.observe import svg

__all__ = ["shown_nodes", "tree_svg"]

COLUMN, ROW, MARGIN = 118, 26, 28
N_PRUNED = 2
"""So many of the candidates that were pruned are shown under each node, the best first."""
LOOKS = {
    "kept": "#2b6cb0",
    "finished": "#1a7f37",
    "dropped": "#9a6700",
    "pruned": "#8b949e",
}


def shown_nodes(log: SearchLog, n_pruned: int = N_PRUNED) -> list[Node]:
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


def tree_svg(
    log: SearchLog, decode: Callable[[Sequence[int]], list[str]], *, title: str, note: str = ""
) -> str:
    """Steps from left to right; the path of the answer is bold."""
    nodes = shown_nodes(log)
    rows = _rows(nodes)
    answer = {node.id for leaf in log.best[:1] for node in log.path(leaf)}
    tokens = decode([node.token for node in nodes])
    labels = {n.id: t.replace("▁", "") or "␣" for n, t in zip(nodes, tokens, strict=True)}
    n_steps = 1 + max((node.step for node in nodes), default=0)
    n_rows = 1 + max(rows.values(), default=0)
    width = max(MARGIN * 2 + COLUMN * (n_steps + 1), 2 * MARGIN + svg.width_of(title, 17) * 1.15)
    height = MARGIN * 2 + 70 + ROW * n_rows + 30
    top = MARGIN + 66

    def place(node_id: int | None) -> tuple[float, float]:
        if node_id is None:
            return MARGIN + 30, top + ROW * rows.get(None, 0)
        node = log.nodes[node_id]
        return MARGIN + 30 + COLUMN * (node.step + 1), top + ROW * rows[node_id]

    parts = [
        svg.text(MARGIN, MARGIN + 8, title, 'font-size="17" font-weight="600"'),
        svg.text(MARGIN, MARGIN + 28, note, 'font-size="12" fill="#555"'),
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
    parts += _key(MARGIN, height - 20)
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


def _told(node: Node, log: SearchLog, decode: Callable[[Sequence[int]], list[str]]) -> str:
    """What a pointer over a node is told."""
    said = f"log p {node.log_prob:.3f}, total {node.total:.3f}, score {node.score:.3f}, {node.fate}"
    if node.by is not None:
        (other,) = decode([log.nodes[node.by].token])
        said += f": {other.replace('▁', '')} had {log.nodes[node.by].score:.3f}"
    return svg.escaped(said)


def _key(x: float, y: float) -> list[str]:
    parts = []
    for fate, ink in LOOKS.items():
        parts.append(svg.text(x, y, fate, f'font-size="12" fill="{ink}"'))
        x += svg.width_of(fate, 12) + 22
    parts.append(svg.text(x, y, "the answer", f'font-size="12" font-weight="700" fill="{svg.INK}"'))
    return parts
