"""The views: each puts numbers of a model into one picture."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clearhead.decoding.log import SearchLog
from clearhead.layers.positions import sinusoids
from clearhead.models import Transformer
from clearhead.observe import svg
from clearhead.observe.alignment import watch_cross_attention
from clearhead.observe.cost import costs
from clearhead.observe.forced import Forced
from clearhead.observe.grid import grid_svg
from clearhead.observe.heads import head_statistics
from clearhead.observe.heatmap import heatmap_svg
from clearhead.observe.lens import logit_lens
from clearhead.observe.picture import Picture
from clearhead.observe.terminal import blocks, columns
from clearhead.observe.tree import shown_nodes, tree_svg
from clearhead.observe.watch import watch
from clearhead.observe.words import WordPaths
from clearhead.text import Tokenizer

__all__ = [
    "align_view",
    "cost_view",
    "heads_view",
    "layers_view",
    "norms_view",
    "positions_view",
    "steps_view",
    "tree_view",
    "words_view",
]

Decode = Callable[[Sequence[int]], list[str]]


def align_view(model: Transformer, tokenizer: Tokenizer, source: str, target: str) -> Picture:
    """Which source word each target word reads, in the most decided head."""
    seen = watch_cross_attention(model, tokenizer, source, target)
    block, head = seen.sharpest()
    weights = seen.weights[block, head].tolist()
    title = f"Cross-attention: {source}"
    note = f"decoder.blocks.{block}.cross_attention.weights, head {head}; each row sums to 1"
    return Picture(
        title,
        heatmap_svg(weights, seen.target, seen.source, title=title, note=note),
        f"{title}\n{note}\n\n{blocks(weights, seen.target, seen.source)}",
        {"note": note, "rows": seen.target, "columns": seen.source, "weights": weights},
    )


@torch.no_grad()
def heads_view(pair: Forced, kind: str = "cross") -> Picture:
    """Every head of every block at a glance, with what it does."""
    stack = "encoder" if kind == "encoder" else "decoder"
    part = "cross_attention" if kind == "cross" else "self_attention"
    blocks_ = pair.model.encoder.blocks if kind == "encoder" else pair.model.decoder.blocks
    names = [f"{stack}.blocks.{n}.{part}.weights" for n in range(len(blocks_))]
    with watch(pair.model, *names) as seen:
        pair.log_probs()
    tables = [seen.steps(name)[0].tensor.tolist() for name in names]
    facts = {(h.block, h.head): h for h in head_statistics([pair]) if h.kind == kind}
    label = {"cross": "cross-attention", "encoder": "encoder", "decoder": "decoder"}[kind]
    title = f"All heads: {label}"
    reads = pair.source_tokens if kind != "decoder" else ["<bos>", *pair.target_tokens[:-1]]
    note = (
        f"columns: {' '.join(reads).replace('▁', '')} · e is the entropy, m the mean largest weight"
    )
    captions = [
        [f"e {facts[b, h].entropy:.2f} · m {facts[b, h].largest:.2f}" for h in range(len(heads))]
        for b, heads in enumerate(tables)
    ]
    table = [["block", "head", "entropy", "largest", "self", "previous", "next", "end"]]
    for (block, head), fact in facts.items():
        numbers = (fact.entropy, fact.largest, fact.on_self, fact.on_previous, fact.on_next)
        table.append([str(block), str(head), *(f"{n:.2f}" for n in (*numbers, fact.on_end))])
    return Picture(
        title,
        grid_svg(tables, captions, title=title, note=note),
        f"{title}\n\n{columns(table, right=range(8))}",
        {"points": names, "weights": tables},
    )


def tree_view(log: SearchLog, decode: Decode, text: str) -> Picture:
    """What a beam search followed, and why it gave the rest up."""
    title = f"Beam search: {text}"
    n = len(log.nodes)
    note = f"{n} candidates in {log.n_steps} steps; under each token its score so far"
    shown = shown_nodes(log, 1)
    answer = {node.id for leaf in log.best[:1] for node in log.path(leaf)}
    table = [["step", "token", "log p", "score", "fate", ""]]
    for node in shown:
        (token,) = decode([node.token])
        by = "" if node.by is None else decode([log.nodes[node.by].token])[0]
        table.append(
            [
                str(node.step), token, f"{node.log_prob:.2f}", f"{node.score:.2f}",
                "the answer" if node.id in answer else node.fate, f"by {by}" if by else "",
            ]
        )  # fmt: skip
    nodes = [vars(node) | {"text": decode([node.token])[0]} for node in log.nodes]
    return Picture(
        title,
        tree_svg(log, decode, title=title, note=note),
        f"{title}\n{note}\n\n{columns(table, right=(0, 2, 3))}",
        {"best": log.best, "nodes": nodes},
    )


def layers_view(pair: Forced, decode: Decode) -> Picture:
    """What the decoder would write after each of its blocks, at each position."""
    lens = logit_lens(pair)
    tokens, p = lens.best()
    ranks = lens.rank_of(pair.target)
    names = [decode(row) for row in tokens.tolist()]
    title = "Logit lens: what the decoder would write after each block"
    note = "a cell holds the most probable token; its colour is the probability"
    rows = [f"block {n}" for n in range(len(names))]
    written = [token.replace("▁", "") for token in pair.target_tokens]
    table = [["written", *rows]]
    for t, token in enumerate(written):
        table.append(
            [token, *(f"{names[n][t].replace('▁', '')} {p[n, t]:.2f}" for n in range(len(rows)))]
        )
    words = [[name.replace("▁", "") for name in row] for row in names]
    return Picture(
        title,
        _lens_svg(words, p, ranks, rows, written, title, note),
        f"{title}\n\n{columns(table)}",
        {"tokens": words, "probabilities": p.tolist(), "ranks": ranks.tolist(), "written": written},
    )


def _lens_svg(
    words: Sequence[Sequence[str]],
    p: Tensor,
    ranks: Tensor,
    rows: Sequence[str],
    written: Sequence[str],
    title: str,
    note: str,
) -> str:
    """Positions from left to right, blocks from bottom to top, as vectors rise."""
    width = 24 + max(svg.width_of(word, 13) for row in (*words, written) for word in row)
    left, top, height = 110, 76, 30
    parts = [
        svg.text(28, 36, title, 'font-size="17" font-weight="600"'),
        svg.text(28, 56, note, 'font-size="12" fill="#555"'),
    ]
    for level, row in enumerate(words):
        y = top + height * (len(words) - 1 - level)
        parts.append(svg.text(left - 10, y + 19, rows[level], 'font-size="13" text-anchor="end"'))
        for t, word in enumerate(row):
            share, x = float(p[level, t]), left + width * t
            ink = "#ffffff" if share > 0.5 else svg.INK
            told = f"{word}: probability {share:.3f}; {written[t]} has rank {int(ranks[level, t])}"
            box = (x, y, width - 2, height - 2)
            parts.append(svg.rect(*box, svg.colour(share), 'rx="3"', told))
            look = f'font-size="13" text-anchor="middle" fill="{ink}" pointer-events="none"'
            parts.append(svg.text(x + width / 2 - 1, y + 19, word, look))
    bottom = top + height * len(words)
    parts.append(svg.text(left - 10, bottom + 21, "written", 'font-size="13" text-anchor="end"'))
    look = 'font-size="13" font-weight="600" text-anchor="middle"'
    parts += [
        svg.text(left + width * (t + 0.5), bottom + 21, word, look)
        for t, word in enumerate(written)
    ]
    parts += svg.legend(left, bottom + 40)
    total = max(left + width * len(written) + 28, 56 + svg.width_of(title, 17) * 1.1)
    return svg.document(total, bottom + 76, title, parts)


def words_view(paths: WordPaths) -> Picture:
    """One word in several sentences: its way through the encoder, and how far they part."""
    title = f"“{paths.word}” in {len(paths.sentences)} sentences"
    cosines, plane = paths.cosines().tolist(), paths.plane()
    note = "cosine: " + " → ".join(f"{c:.2f}" for c in cosines)
    levels = ["embedding", *(f"block {n}" for n in range(len(cosines) - 1))]
    table = [
        ["after", "mean cosine"],
        *([a, f"{c:.3f}"] for a, c in zip(levels, cosines, strict=True)),
    ]
    return Picture(
        title,
        _paths_svg(paths, plane, title, note),
        f"{title}\n\n" + "\n".join(paths.sentences) + f"\n\n{columns(table, right=(1,))}",
        {"sentences": paths.sentences, "cosines": cosines, "plane": plane.tolist()},
    )


def _paths_svg(paths: WordPaths, plane: Tensor, title: str, note: str) -> str:
    inks = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito
    low, high = plane.flatten(0, 1).min(0).values, plane.flatten(0, 1).max(0).values
    span = float((high - low).max()) or 1.0
    size, left, top = 420, 60, 90
    parts = [
        svg.text(28, 36, title, 'font-size="17" font-weight="600"'),
        svg.text(28, 56, note, 'font-size="12" fill="#555"'),
        svg.rect(left - 20, top - 20, size + 40, size + 40, "none", f'stroke="{svg.LINE}"'),
    ]
    for number, (sentence, path) in enumerate(zip(paths.sentences, plane, strict=True)):
        ink = inks[number % len(inks)]
        points = [
            (
                left + size * float((x - low[0]) / span),
                top + size * (1 - float((y - low[1]) / span)),
            )
            for x, y in path
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{ink}" stroke-width="2"/>')
        for level, (x, y) in enumerate(points):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{ink}"/>')
            parts.append(svg.text(x + 6, y - 6, str(level), f'font-size="11" fill="{ink}"'))
        y = top + size + 50 + 20 * number
        parts.append(svg.text(left - 20, y, sentence, f'font-size="14" fill="{ink}"'))
    y = top + size + 50 + 20 * len(paths.sentences)
    told = "0 is the embedding, the same in all; n is after block n − 1; two main directions (PCA)"
    parts.append(svg.text(left - 20, y + 6, told, 'font-size="12" fill="#555"'))
    return svg.document(620, y + 34, title, parts)


def positions_view(d_model: int, n_positions: int = 32, n_shown: int = 48) -> Picture:
    """The sinusoidal vectors of the first positions, from −1 (light) to 1 (dark)."""
    table = sinusoids(n_positions, d_model)[:, :n_shown]
    shares = ((table + 1) / 2).tolist()
    title = "Positions: sine and cosine of ever slower waves"
    note = f"the first {table.shape[1]} of {d_model} numbers of each position"
    rows, names = [str(n) for n in range(n_positions)], [str(n) for n in range(table.shape[1])]
    return Picture(
        title,
        heatmap_svg(shares, rows, names, title=title, note=note, ends=("−1", "1")),
        f"{title}\n{note}\n\n{blocks([row[:24] for row in shares], rows, names[:24])}",
        {"vectors": table.tolist()},
    )


def steps_view(log: SearchLog, decode: Decode, text: str, n_shown: int = 4) -> Picture:
    """The candidates at each step of the answer, with their probabilities."""
    path = log.path(log.best[0]) if log.best else []
    title = f"Step by step: {text}"
    note = "at each position the most probable tokens; the one that was written is bold"
    steps = []
    for node in path:
        rivals = [n for n in log.nodes if n.parent == node.parent and n.step == node.step]
        best = sorted(rivals, key=lambda n: -n.log_prob)[:n_shown]
        shown = best if node in best else [*best[:-1], node]
        names = [token.replace("▁", "") or "␣" for token in decode([n.token for n in shown])]
        pairs = zip(names, shown, strict=True)
        steps.append([(name, math.exp(n.log_prob), n is node) for name, n in pairs])
    table = [["step", "written", *[""] * (n_shown - 1)]]
    for number, some in enumerate(steps):
        written = next(f"{name} {p:.2f}" for name, p, is_it in some if is_it)
        others = [f"{name} {p:.2f}" for name, p, is_it in some if not is_it]
        table.append([str(number), written, *others, *[""] * (n_shown - 1 - len(others))])
    return Picture(
        title,
        _steps_svg(steps, title, note),
        f"{title}\n\n{columns(table, right=(0,))}",
        {"steps": [[{"token": t, "p": p, "written": w} for t, p, w in some] for some in steps]},
    )


def _steps_svg(steps: Sequence[Sequence[tuple[str, float, bool]]], title: str, note: str) -> str:
    width = 34 + max((svg.width_of(name, 13) for some in steps for name, *_ in some), default=60)
    width = max(width, 110)
    left, top = 28, 84
    deepest = max((len(some) for some in steps), default=0)
    parts = [
        svg.text(28, 36, title, 'font-size="17" font-weight="600"'),
        svg.text(28, 56, note, 'font-size="12" fill="#555"'),
    ]
    for number, some in enumerate(steps):
        x = left + width * number
        parts.append(svg.text(x, top, f"step {number}", 'font-size="11" fill="#555"'))
        for place, (name, p, is_written) in enumerate(some):
            y = top + 24 + 34 * place
            weight = 'font-weight="700"' if is_written else 'fill="#555"'
            parts.append(svg.text(x, y, f"{name}  {p:.2f}", f'font-size="13" {weight}'))
            bar = max(1.0, (width - 26) * p)
            parts.append(svg.rect(x, y + 5, bar, 6, svg.colour(1.0 if is_written else 0.45)))
    total = max(left + width * len(steps) + 28, 56 + svg.width_of(title, 17) * 1.1)
    return svg.document(total, top + 34 * deepest + 34, title, parts)


@torch.no_grad()
def norms_view(pair: Forced) -> Picture:
    """How large the vectors are before and after each norm: mean and spread of their numbers."""
    names = [name for name in pair.model.points() if name.endswith(("norm.input", "norm.output"))]
    with watch(pair.model, *names) as seen:
        pair.log_probs()
    rows = []
    for name in names:
        x = seen.steps(name)[0].tensor.float()
        rows.append((name, float(x.mean()), float(x.std(-1).mean()), float(x.abs().max())))
    title = "Norms: what goes in, and what comes out"
    note = "mean of all numbers, their spread within a vector, and the largest"
    table = [["point", "mean", "spread", "largest"]]
    table += [[name, *(f"{n:.2f}" for n in numbers)] for name, *numbers in rows]
    return Picture(
        title,
        _table_svg(table, title, note),
        f"{title}\n{note}\n\n{columns(table, right=(1, 2, 3))}",
        {"rows": [dict(zip(table[0], row, strict=True)) for row in rows]},
    )


def cost_view(model: Transformer, n_source: int, n_target: int) -> Picture:
    """Parameters, operations and cache of every block, for one sentence."""
    found = costs(model, n_source, n_target)
    title = f"Cost: {n_source} tokens read, {n_target} written"
    note = "operations in millions; a step is the last one, with and without the cache"
    table = [["part", "parameters", "read", "step", "without cache", "cache bytes"]]
    names = ("n_parameters", "read", "step", "step_without", "cache_bytes")
    rows = [(cost.part, [getattr(cost, name) for name in names]) for cost in found]
    rows.append(("all", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    for part, (n, *operations, kept) in rows:
        table.append([part, f"{n:,}", *(f"{x / 1e6:.2f}" for x in operations), f"{kept:,}"])
    return Picture(
        title,
        _table_svg(table, title, note),
        f"{title}\n{note}\n\n{columns(table, right=range(1, 6))}",
        {"parts": [vars(cost) for cost in found]},
    )


def _table_svg(table: Sequence[Sequence[str]], title: str, note: str) -> str:
    """Names on the left, numbers to the right."""
    widths = [24 + max(svg.width_of(row[i], 13) for row in table) for i in range(len(table[0]))]
    left, top, height = 28, 90, 22
    parts = [
        svg.text(28, 36, title, 'font-size="17" font-weight="600"'),
        svg.text(28, 56, note, 'font-size="12" fill="#555"'),
    ]
    for number, row in enumerate(table):
        y = top + height * number
        weight = 'font-weight="600"' if number == 0 else ""
        x = float(left)
        for i, cell in enumerate(row):
            at, anchor = (x, "start") if i == 0 else (x + widths[i], "end")
            parts.append(svg.text(at, y, cell, f'font-size="13" text-anchor="{anchor}" {weight}'))
            x += widths[i]
        parts.append(svg.rect(left, y + 6, sum(widths), 0.6, svg.LINE))
    total = max(left + sum(widths) + 28, 56 + svg.width_of(title, 17) * 1.1)
    return svg.document(total, top + height * len(table) + 20, title, parts)
