"""What the other rooms may know of a model, whatever it is made of."""

from torch import nn

from clearhead.layers.tap import points

__all__ = ["Model"]


class Model(nn.Module):
    """Inputs → logits, and nothing else; it names the places where it can be watched."""

    def points(self) -> dict[str, str]:
        """Every place that can be watched: its name and its axes. Nothing is run."""
        return points(self)

    @property
    def n_parameters(self) -> int:
        """How many numbers are learned; tied ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())
