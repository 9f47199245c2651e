"""Mixtral: a Llama in which each token visits a few of many experts (Jiang et al. 2024, §2.1)."""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearhead.config import MixtralConfig
from clearhead.layers.blocks import LlamaBlock
from clearhead.layers.causal import CausalStack
from clearhead.layers.dropout import Dropout
from clearhead.layers.embedding import TokenEmbedding, TokenScores
from clearhead.layers.experts import Experts, load_balance
from clearhead.layers.norms import RMSNorm
from clearhead.layers.tap import Tap, listen
from clearhead.models.causal import CausalModel, output_weight

__all__ = ["Mixtral"]


class Mixtral(CausalModel):
    """Tokens → logits of the next token after each of them."""

    config: MixtralConfig

    def __init__(self, config: MixtralConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(config.n_tokens, config.d_model, scale=1.0)
        self.dropout = Dropout(config.dropout)
        blocks = (LlamaBlock(config, _experts(config)) for _ in range(config.n_layers))
        self.decoder = CausalStack(blocks, RMSNorm(config.d_model, config.norm_eps))
        self.output = TokenScores(output_weight(self.embedding, config.is_tied))

    def read_with_balance(
        self, tokens: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, ""]]:
        """The same, and how evenly the experts are used: the mean `load_balance` of all blocks.

        It is 1 when all experts get the same share, and padding does not count. A training adds a
        little of it to its loss, about 0.01 (Fedus et al. 2022, §2.2).
        """
        experts = [part for part in self.decoder.modules() if isinstance(part, Experts)]
        seen: dict[Tap, Tensor] = {}

        def keep(tap: Tap, value: Tensor) -> Tensor:
            seen.setdefault(tap, value)  # what is computed again for the backward pass comes again
            return value

        places = [tap for part in experts for tap in (part.router, part.chosen)]
        with listen({tap: partial(keep, tap) for tap in places}, after_others=True):
            x = self.read(tokens)
        is_token = tokens != self.config.pad
        balances = [load_balance(seen[e.router], seen[e.chosen], is_token) for e in experts]
        return x, torch.stack(balances).mean()

    def axis_sizes(self) -> dict[str, int]:
        """How long the axes are that do not depend on the input."""
        config = self.config
        return {
            "D": config.d_model,
            "H": config.n_heads,
            "G": config.kv_heads,
            "K": config.head_width,
            "E": config.n_experts,
            "C": config.n_chosen,
            "V": config.n_tokens,
        }


def _experts(config: MixtralConfig) -> Experts:
    return Experts(config.d_model, config.d_ff, config.n_experts, config.n_chosen)
