"""Labels: scores of what a text or a picture may be, or of where an answer begins and ends."""

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.layers.tap import Tap

__all__ = ["LabelScores", "SpanScores"]


class LabelScores(nn.Module):
    """One vector → logits of the labels."""

    def __init__(self, d_model: int, n_labels: int) -> None:
        super().__init__()
        self.w = _linear(d_model, n_labels)
        self.logits = Tap("B Y")

    def forward(self, x: Float[Tensor, "B D"]) -> Float[Tensor, "B Y"]:
        """Score every label."""
        return self.logits(self.w(x))


class SpanScores(nn.Module):
    """The vector of each position → two logits: a span starts here, a span ends here."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w = _linear(d_model, 2)
        self.logits = Tap("B T Y")

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T 2"]:
        """Score every position (Devlin et al. 2019, §4.2)."""
        return self.logits(self.w(x))


def _linear(d_model: int, n_labels: int) -> nn.Linear:
    linear = nn.Linear(d_model, n_labels)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear
