"""Arguments of ops and layers that are not tensors: flags, numbers, choices; checked by name."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import torch

_BOOLS = (bool, np.bool_)
_REALS = (float, int, Real, torch.SymFloat, torch.SymInt)  # the first are found faster


def shown(value: Any) -> str:
    """A value as an error shows it: itself where it is short, else its type."""
    plain = value is None or isinstance(value, str | bool | int | float)
    return repr(value) if plain else type(value).__name__


def flag(name: str, value: Any) -> bool:
    """True or False, or TypeError."""
    if not isinstance(value, _BOOLS):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def choice(name: str, value: Any, supported: tuple[str, ...]) -> str:
    """One of a few words, or TypeError or ValueError."""
    if isinstance(value, str) and value in supported:
        return value
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name} must be one of {', '.join(supported)}, got {shown(value)}")


def whole(name: str, value: Any, least: int) -> int:
    """An int of at least `least`, or TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, got {shown(value)}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number(name: str, value: Any, to_learn: str = "") -> float:
    """A finite number as a float, or TypeError or ValueError; a tensor's gradient would be lost."""
    if isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} must be a number, got a tensor, which would get no gradient; {to_learn}"
            f"pass float({name})"
        )
    if isinstance(value, _BOOLS) or not isinstance(value, _REALS):
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    value = float(value)
    if not -math.inf < value < math.inf:
        raise ValueError(f"{name} must be finite, got {value}")
    result: float = value
    return result


def probability(name: str, value: Any) -> float:
    """A number from 0 to 1, both included, or TypeError or ValueError."""
    value = number(name, value)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be in [0, 1], got {value}")
    return value
