"""Numbers in pictures: rounded, never cut, with a real minus sign and thousands separators."""

from __future__ import annotations

import math

MINUS = "−"


def write_share(share: float, sign: str = "%") -> str:
    """Write a share in percent; what is neither none nor all is never written as such.

    Examples
    --------
    >>> [write_share(share) for share in (0.0, 0.001, 0.024, 0.5, 0.998, 1.0)]
    ['0%', '<1%', '2%', '50%', '>99%', '100%']
    """
    percent = round(100 * share)
    if percent <= 0:
        return f"<1{sign}" if share > 1e-9 else f"0{sign}"
    if percent >= 100:
        return f">99{sign}" if share < 1 - 1e-9 else f"100{sign}"
    return f"{percent}{sign}"


def write_bits(bits: float) -> str:
    """Write information with two digits that mean something.

    Examples
    --------
    >>> write_bits(1.134), write_bits(0.0473), write_bits(0.00001), write_bits(0.0)
    ('1.13', '0.047', '<0.001', '0')
    """
    if bits <= 1e-9:
        return "0"
    if bits < 0.001:
        return "<0.001"
    return f"{bits:.2f}" if bits >= 0.1 else f"{bits:.3f}"


def write_count(count: float) -> str:
    """Write a sum of weights; one decimal if it is not whole.

    Examples
    --------
    >>> write_count(2845.0), write_count(12.34)
    ('2,845', '12.3')
    """
    return f"{count:,.0f}" if abs(count - round(count)) < 1e-6 else f"{count:,.1f}"


def write_number(value: float, step: float | None = None) -> str:
    """Write a number with as many digits as its spread makes useful.

    Examples
    --------
    >>> write_number(-51440.2), write_number(0.4567, 0.19), write_number(5100.4, 480.0)
    ('−51,440', '0.46', '5,100')
    """
    if not math.isfinite(value):
        return "–"
    scale = abs(value) if step is None or step <= 0 else step
    if step is None:
        decimals = 0 if scale >= 1000 else 1 if scale >= 100 else 2
    else:
        decimals = max(0, min(6, 1 - math.floor(math.log10(scale))))
    if scale and not 1e-6 <= max(scale, abs(value)) < 1e12:
        return f"{value:.2e}".replace("-", MINUS)
    return f"{value:,.{decimals}f}".replace("-", MINUS)
