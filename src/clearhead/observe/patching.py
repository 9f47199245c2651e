"""Activation patching: which numbers carry a difference between two sources.

The model reads a changed sentence, but at one place it gets the numbers of the clean one. How much
of the way back to the clean log-probability of a written token that goes:

    effect = (patched − changed) / (clean − changed)             0: nothing, 1: all of it
"""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.errors import InputError
from clearhead.observe.edit import edit, replace
from clearhead.observe.forced import Forced
from clearhead.observe.watch import watch

__all__ = ["patch_heads", "patch_positions"]


@torch.no_grad()
def patch_positions(clean: Forced, changed: Forced, written: int) -> Float[Tensor, "L S"]:
    """The effect of each position of the source after each encoder block, block by block."""
    place = "norm.output" if clean.model.config.block.norm == "post" else "sum"
    names = [
        f"encoder.blocks.{n}.feed_forward_residual.{place}"
        for n in range(len(clean.model.encoder.blocks))
    ]
    places = [{"query": position} for position in range(len(clean.source))]
    return torch.stack(list(_effects(clean, changed, written, names, places)))


@torch.no_grad()
def patch_heads(clean: Forced, changed: Forced, written: int) -> Float[Tensor, "L H"]:
    """The effect of each head of each encoder block."""
    names = [
        f"encoder.blocks.{n}.self_attention.heads" for n in range(len(clean.model.encoder.blocks))
    ]
    places = [{"head": head} for head in range(clean.model.config.block.n_heads)]
    return torch.stack(list(_effects(clean, changed, written, names, places)))


def _effects(
    clean: Forced,
    changed: Forced,
    written: int,
    names: Sequence[str],
    places: Sequence[dict[str, int]],
) -> Iterator[Float[Tensor, " S"]]:
    if len(clean.source) != len(changed.source):
        raise InputError(
            f"the clean source has {len(clean.source)} tokens and the changed one "
            f"{len(changed.source)}: they must be as long as each other"
        )
    if clean.target != changed.target:
        raise InputError("both sources must be followed by the same target")
    with watch(clean.model, *names) as seen:
        whole = float(clean.log_probs()[written])
    without = float(changed.log_probs()[written])
    if whole == without:
        raise InputError("the change makes no difference to this token: there is nothing to find")
    for name in names:
        value = seen.steps(name)[0]
        row = []
        for where in places:
            part = value.at(**where)
            axis = value.axes.index(next(iter(where)))
            numbers = part.tensor.unsqueeze(axis)
            if torch.equal(numbers, _part_of(changed, name, where)):
                row.append(0.0)  # the same in both: replacing it would change nothing
                continue
            with edit(changed.model, {name: replace(numbers, **where)}):
                row.append((float(changed.log_probs()[written]) - without) / (whole - without))
        yield torch.tensor(row)


def _part_of(pair: Forced, name: str, where: dict[str, int]) -> Tensor:
    with watch(pair.model, name) as seen:
        pair.model.encode(pair.inputs[0])
    value = seen.steps(name)[0]
    part: Tensor = value.at(**where).tensor
    return part.unsqueeze(value.axes.index(next(iter(where))))
