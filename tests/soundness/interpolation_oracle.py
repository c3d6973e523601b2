"""What ONNX's Resize and torch's interpolate do to one axis, in fractions: written from their documents, for tests.

Nothing here is the library's. An axis is a function of a place and of numbers: `value(place, numbers)`.
"""

from __future__ import annotations

from fractions import Fraction

F = Fraction
USUAL = F(-3, 4)


def clip(place, length):
    return min(max(place, 0), length - 1)


def hat(x):
    x = abs(x)
    return 1 - x if x < 1 else F(0)


def keys(x, a):
    x = abs(x)
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else F(0)


def onnx_coordinate(i, before, after, scale, rule):
    if rule == "align_corners":
        return F(0) if after == 1 else F(i * (before - 1), after - 1)
    if rule == "asymmetric":
        return i / scale
    if rule == "pytorch_half_pixel" and after == 1:
        return F(0)
    place = (i + F(1, 2)) / scale - F(1, 2)
    if rule == "half_pixel_symmetric":
        centre, adjustment = F(before, 2), after / (scale * before)
        place += centre * (1 - adjustment)
    return place


def onnx_axis(numbers, after, scale, rule, mode, a=USUAL, exclude=False):
    """The new numbers along an axis; `scale` is a Fraction."""
    before, found = len(numbers), []
    for i in range(after):
        if before == after and scale == 1:
            found.append(numbers[i])
            continue
        place = onnx_coordinate(i, before, after, scale, rule)
        if mode == "linear":
            place = min(max(place, F(0)), F(before - 1))
            found.append(sum(hat(place - j) * numbers[j] for j in range(before)))
            continue
        low = place.__floor__()
        taps = [(j, keys(place - j, a)) for j in range(low - 1, low + 3)]
        if exclude:
            taps = [(j, w) for j, w in taps if 0 <= j < before]
        total = sum(w for _, w in taps)
        found.append(sum(w * numbers[clip(j, before)] for j, w in taps) / total)
    return found


def torch_axis(numbers, after, scale, align, mode, antialias):
    """The new numbers along an axis; `scale` is the factor that was given, as a Fraction, or None."""
    before = len(numbers)
    step = (F(0) if after == 1 else F(before - 1, after - 1)) if align else (1 / scale if scale else F(before, after))
    if before == after and (mode == "linear" or antialias):
        return list(numbers)
    found = []
    for i in range(after):
        if antialias:
            width, centre = max(step, F(1)), step * (i + F(1, 2))
            kernel = hat if mode == "linear" else lambda x: keys(x, F(-1, 2))
            weights = [kernel((j + F(1, 2) - centre) / width) for j in range(before)]
            found.append(sum(w * x for w, x in zip(weights, numbers, strict=True)) / sum(weights))
            continue
        place = step * i if align else step * (i + F(1, 2)) - F(1, 2)
        if mode == "linear":
            place = min(max(place, F(0)), F(before - 1))
            found.append(sum(hat(place - j) * numbers[j] for j in range(before)))
        else:
            low = place.__floor__()
            found.append(sum(keys(place - j, F(-3, 4)) * numbers[clip(j, before)] for j in range(low - 1, low + 3)))
    return found


def over_space(numbers, axes):
    """A table of numbers (nested lists) with every axis changed by its function."""
    first, *rest = axes
    if not rest:
        return first(numbers)
    inner = [over_space(row, rest) for row in numbers]
    columns = [list(column) for column in zip(*inner, strict=True)]
    if len(rest) > 1:
        raise AssertionError("two axes are enough")
    return [list(row) for row in zip(*(first(column) for column in columns), strict=True)]
