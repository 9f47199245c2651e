"""Models whose parameters have a shape and no memory, until weights are put in their place."""

from collections.abc import Callable
from typing import Any, Final

from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from clearhead.models import Model

__all__ = ["fill", "hollow"]

DRAWING: Final = ("normal_", "uniform_", "trunc_normal_")


class _DrawsNothing(TorchFunctionMode):
    """Random numbers for a parameter without memory: torch would load a hundred megabytes."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        first = args[0] if args else kwargs.get("tensor")
        if func.__name__ in DRAWING and isinstance(first, Tensor) and first.is_meta:
            return first
        return func(*args, **kwargs)


def hollow(build: Callable[[], Model]) -> Model:
    """Build a model whose parameters are empty; its tables of positions are not."""

    def empty(_module: nn.Module, _name: str, parameter: nn.Parameter | None) -> Any:
        if parameter is None or parameter.is_meta:
            return parameter
        return nn.Parameter(parameter.detach().to("meta"))

    hook = register_module_parameter_registration_hook(empty)
    try:
        with _DrawsNothing():
            return build()
    finally:
        hook.remove()


def fill(model: Model, weights: Callable[[str], Tensor]) -> None:
    """Give each parameter its weight by its name, in every place that shares it."""
    places: dict[int, list[str]] = {}
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for name, parameter in parameters.items():
        places.setdefault(id(parameter), []).append(name)
    for names in places.values():
        filled = nn.Parameter(weights(names[0]))
        for name in names:
            owner, _, last = name.rpartition(".")
            setattr(model.get_submodule(owner), last, filled)
