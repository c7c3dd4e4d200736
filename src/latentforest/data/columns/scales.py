"""The order of states that nobody has given: numbers, known scales, bands, else the alphabet.

Only the order is decided here. A scale is recognised if all states belong to it, whatever their
case, and each has a place of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from latentforest.data.columns.state_names import read_exactly, sort_names

# One scale a line, from low to high. A slash separates words for the same place.
_SCALES = """
no / n, maybe / perhaps / unsure / possibly / undecided, yes / y
false / f, true / t
absent, present
negative / neg, neutral, positive / pos
off, on
never, almost never / hardly ever / very rarely, rarely / seldom, occasionally / once in a while, \
sometimes, about half the time, often / frequently / regularly / usually, very often / most of the \
time / very frequently, almost always / nearly always, always / all the time
never, less than yearly / less than once a year, yearly / annually / once a year, several times a \
year / a few times a year, monthly / once a month, several times a month / a few times a month, \
weekly / once a week, several times a week / a few times a week, daily / every day, several times \
a day
never / never smoker / never smoked, former / past / ex / former smoker / ex smoker, \
occasional, current / current smoker
completely disagree / totally disagree / disagree completely, strongly disagree / disagree \
strongly / disagree very much, disagree / mostly disagree / tend to disagree, somewhat disagree / \
slightly disagree / disagree somewhat / disagree slightly / rather disagree / disagree a little, \
neutral / neither / neither agree nor disagree / neither disagree nor agree / undecided / not sure \
/ neither nor / partly, somewhat agree / slightly agree / agree somewhat / agree slightly / rather \
agree / agree a little, agree / mostly agree / tend to agree, strongly agree / agree strongly / \
agree very much, completely agree / totally agree / agree completely
completely dissatisfied / extremely dissatisfied, very dissatisfied / very unsatisfied, \
dissatisfied / unsatisfied / not satisfied, somewhat dissatisfied / slightly dissatisfied / fairly \
dissatisfied, neutral / neither / neither satisfied nor dissatisfied, somewhat satisfied / \
slightly satisfied / fairly satisfied, satisfied, very satisfied, completely satisfied / extremely \
satisfied
extremely unlikely, very unlikely, unlikely, somewhat unlikely / slightly unlikely, neutral / \
neither / neither likely nor unlikely, somewhat likely / slightly likely, likely, very likely, \
extremely likely
not at all / not at all important / unimportant / not important, slightly / a little / a little \
bit / slightly important / a bit, somewhat / somewhat important, moderately / moderately important \
/ to some extent, important / fairly / quite / quite a bit / quite important, very / very much / \
very important / a lot / a great deal, extremely / extremely important / completely
strongly oppose, oppose, somewhat oppose, neutral / neither, somewhat support / somewhat favor, \
support / favor, strongly support / strongly favor
never, rarely, sometimes, always
terrible / awful, very poor / very bad, poor / bad, fair / mediocre / so so, average / ok / okay / \
neutral / acceptable, good, very good, excellent / outstanding / superior, exceptional
poor / bad, fair / satisfactory, good, very good, excellent
unsatisfactory / insufficient / fail / failed, sufficient / pass / passed, satisfactory, good / \
merit, very good / distinction, excellent
much worse, worse, somewhat worse / slightly worse, about the same / same / no change / unchanged, \
somewhat better / slightly better, better, much better
much less, less, somewhat less, about the same / same, somewhat more, more, much more
decreased / decreasing / decrease / down / falling, stable / unchanged / steady / same / flat / no \
change, increased / increasing / increase / up / rising
none / no / absent, minimal / trace / very mild, mild / slight / light, mild to moderate, moderate \
/ medium, moderate to severe / marked, severe / strong / heavy, very severe / extreme / critical
none / no, low / few / little, some / medium / moderate, many / high / much / a lot, all
none, some, most, all
none, some, marked
extremely low, very low / vlow, low / lo, below average / medium low / low medium / lower middle, \
medium / med / moderate / middle / mid / average / normal / intermediate, above average / medium \
high / high medium / upper middle, high / hi, very high / vhigh, extremely high
lower / bottom, middle / medium, upper / top / higher
lowest / minimum / min, low, medium / middle / average / mean, high, highest / maximum / max
tiny / extra small / very small, small / little, medium / moderate / mid / normal, large / big, \
extra large / very large / huge, enormous
3xs / xxxs, 2xs / xxs, xs, s, m, l, xl, 2xl / xxl, 3xl / xxxl, 4xl / xxxxl, 5xl / xxxxxl
short, medium / average / middle, long / tall
narrow, medium / average, wide / broad
thin / light, medium / normal / average, thick / heavy
underweight, normal / normal weight / healthy / healthy weight, overweight, obese / obesity, \
severely obese / morbidly obese
very slow, slow, medium / moderate / normal / average, fast / quick, very fast
very cold / freezing, cold, cool, mild / lukewarm, warm, hot, very hot
dry, normal / medium, humid / moist / damp, wet
weak / soft, medium / moderate / normal, strong / hard
none / no / absent, very weak, weak, moderate / medium, strong, very strong
very easy, easy, medium / moderate / normal / neutral, difficult / hard, very difficult / very hard
beginner / novice, elementary, intermediate / medium, advanced, expert
trainee / intern, junior / entry / entry level, mid / intermediate / middle, senior, lead / \
principal, manager, director, executive
baby / infant, toddler, child / children, adolescent / teenager / teen / youth, young adult / \
young, adult, middle aged / middle age, senior / elderly / old / older adult, very old
young, middle / middle aged / adult, old / elderly
early, middle / mid / intermediate, late
past, present, future
before, during, after
low risk, medium risk / moderate risk / intermediate risk, high risk
benign, borderline, malignant
very liberal / extremely liberal, liberal, slightly liberal / somewhat liberal, moderate / \
moderate middle of the road / middle of the road, slightly conservative / somewhat conservative, \
conservative, very conservative / extremely conservative
none / no education / no schooling / illiterate, preschool / kindergarten, some primary, primary / \
primary school / primary education / elementary / elementary school, middle school / junior high / \
lower secondary, secondary / secondary school / secondary education / high school / highschool / \
upper secondary, post secondary / vocational / some college / some university / associate / \
associates degree / associate degree, tertiary / tertiary education / university / college / \
higher / higher education / bachelor / bachelors / bachelors degree / undergraduate / college \
degree / college graduate / graduate, postgraduate / post graduate / master / masters / masters \
degree / graduate degree / graduate school, doctorate / doctoral / phd / doctoral degree
less than high school / no high school / some high school, high school / high school graduate / \
high school diploma / highschool, some college, associate / associates degree / associate degree, \
bachelor / bachelors / bachelors degree / college / college graduate / college degree, masters / \
master / masters degree / graduate degree / postgraduate / graduate school, professional / \
professional degree, doctorate / phd / doctoral degree
monday / mon / mo, tuesday / tue / tues / tu, wednesday / wed / we, thursday / thu / thur / thurs \
/ th, friday / fri / fr, saturday / sat / sa, sunday / sun / su
january / jan, february / feb, march / mar, april / apr, may, june / jun, july / jul, august / \
aug, september / sep / sept, october / oct, november / nov, december / dec
winter, spring, summer, autumn / fall
spring, summer, autumn / fall, winter
night / early morning, morning, noon / midday, afternoon, evening, late night / midnight
zero / none, one, two, three, four, five, six, seven, eight, nine, ten, more / ten or more
first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth
once, twice, three times / thrice, four times
single, double, triple, quadruple
i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii
stage 0, stage i, stage ii, stage iii, stage iv
grade i, grade ii, grade iii, grade iv
type i, type ii, type iii, type iv
bronze, silver, gold, platinum, diamond
"""

# Answers that are none: they may stand beside any scale, and come last.
_NO_ANSWERS = """
other / others
not applicable / does not apply / inapplicable
do not know / dont know / dk / unknown / cannot say / cant say / hard to say / no opinion
prefer not to say / prefer not to answer / refused / refuse to answer / refusal / decline to answer
no answer / no response / not answered / not stated / not specified / missing / not available
"""

_BETWEEN_WORDS = re.compile(r"[\s_/\-\u2010-\u2015.]+")
_DROPPED = re.compile(r"['’`\"!?,;:()\[\]]")


def order_states(names: Iterable[str]) -> list[str]:
    """Order the states of a column as a person would.

    Numbers by size; the words of a known scale, such as *never* to *always*, from low to high;
    bands such as ``<10``, ``10-20``, ``65+`` by where they begin; all else by the alphabet, with
    numbers inside of texts by size.

    Examples
    --------
    >>> order_states(["often", "Never", "sometimes"])
    ['Never', 'sometimes', 'often']
    >>> order_states([">20", "10-20", "<10"])
    ['<10', '10-20', '>20']
    >>> order_states(["item 10", "item 9"])
    ['item 9', 'item 10']
    """
    listed = list(names)
    if all(read_exactly(name) is not None for name in listed):
        return sort_names(listed)
    places = _place_on_scale(listed) or _place_bands(listed)
    if places:
        return sorted(listed, key=lambda name: (places[name], name))
    return sorted(listed, key=_split_numbers)


def place_states(states: Sequence[str], is_declared: bool = False) -> list[float] | None:
    """Place the states of a column on a line, if their order says something.

    Numbers are their own places. Words of a known scale, bands, and states in an order that
    somebody must have given, because it is not the usual one, are numbered.

    Parameters
    ----------
    states
        In the order of a column.
    is_declared
        Whether the order is known to be meant.

    Returns
    -------
    places
        Those of answers such as "don't know" are NaN. None if there is no order.

    Examples
    --------
    >>> place_states(["1", "2", "4"]), place_states(["never", "often", "don't know"])
    ([1.0, 2.0, 4.0], [0.0, 1.0, nan])
    >>> place_states(["blue", "green", "red"]) is None, place_states(["small", "huge", "any"])
    (True, [0.0, 1.0, 2.0])
    """
    listed = list(states)
    numbers = [read_exactly(state) for state in listed]
    if all(number is not None for number in numbers) and listed == order_states(listed):
        return [float(number) for number in numbers if number is not None]
    is_known = _place_on_scale(listed) or _place_bands(listed)
    if not (is_known or is_declared or listed != order_states(listed)):
        return None
    last = _list_no_answers()
    return [
        math.nan if _simplify_words(state) in last else float(place)
        for place, state in enumerate(listed)
    ]


def _split_numbers(name: str) -> tuple[list[tuple[str, int]], str]:
    """Texts and whole numbers in turn, so that ``a9`` comes before ``a10``."""
    parts = re.split(r"([0-9]{1,18})", name)
    pairs = zip(parts[::2], [*parts[1::2], "-1"], strict=True)
    return [(text, int(number)) for text, number in pairs], name


def _simplify_words(name: str) -> str:
    """Words in lower case with single spaces and without punctuation."""
    text = name.strip().casefold().replace("&", " and ")
    if len(text) > 1:
        text = _BETWEEN_WORDS.sub(" ", text)
        text = _DROPPED.sub("", text)
    return " ".join(text.split())


@cache
def _read_scales(text: str) -> tuple[Mapping[str, int], ...]:
    """Place of each word, by scale."""
    scales = []
    for line in text.replace("\\\n", "").strip().splitlines():
        places: dict[str, int] = {}
        for place, words in enumerate(line.split(",")):
            for word in re.split(r"\s+/\s+", words.strip()):
                places.setdefault(_simplify_words(word), place)
        scales.append(places)
    return tuple(scales)


@cache
def _list_no_answers() -> Mapping[str, int]:
    lines = enumerate(_read_scales(_NO_ANSWERS))
    return {word: place for place, line in lines for word in line}


def _place_on_scale(names: Sequence[str]) -> dict[str, float] | None:
    """Places on the first scale that has all states, each at another place."""
    words = {name: _simplify_words(name) for name in names}
    last = _list_no_answers()
    answers = {name: word for name, word in words.items() if word not in last}
    if len(answers) < 2:
        return None
    for scale in _read_scales(_SCALES):
        if all(word in scale for word in answers.values()):
            places: dict[str, float] = {name: scale[word] for name, word in answers.items()}
            if len(set(places.values())) == len(places):
                beyond = {n: 1e6 + last[w] for n, w in words.items() if n not in answers}
                return places | beyond
    return None


class _Band(NamedTuple):
    """Limits of a band; an open end is infinite."""

    low: float
    high: float


_NUMBER = r"[$€£¥]?\s*(?P<{0}>\d+(?:[.,]\d+)*)\s*(?P<{0}_size>k|m|mio|thousand|million)?"
_UNIT = (
    r"\s*(?:[$€£¥%]|percent|pct|usd|eur|gbp|years?(?:\s+old)?|yrs?\.?|y/?o|months?|weeks?|days?|"
    r"hours?|hrs?|h|minutes?|mins?|times?|kg|g|mg|cm|mm|km|miles?|people|persons?|employees|"
    r"children|items?|units?|cigarettes|drinks|cups)?"
)
_ONE, _TWO = _NUMBER.format("a") + _UNIT, _NUMBER.format("b") + _UNIT
_BELOW = (
    r"(?:<=?|≤|under|below|less\s+than|lower\s+than|fewer\s+than|younger\s+than|up\s+to|at\s+most)"
)
_ABOVE = (
    r"(?:>=?|≥|over|above|more\s+than|greater\s+than|higher\s+than|older\s+than|at\s+least|from)"
)
_OR, _THEN_LESS = r"(?:or|and|&)", r"(?:less|under|below|lower|fewer|younger)"
_THEN_MORE = r"(?:more|over|above|up|upwards?|higher|older|greater)"
_PATTERNS = {
    "alone": _ONE,
    "between": rf"(?:from\s+|between\s+)?{_ONE}\s*(?:-|–|—|−|~|\.\.+|to|through|and)\s*{_TWO}",
    "less": rf"{_BELOW}\s*{_ONE}|{_ONE.replace('<a', '<c')}\s*{_OR}\s+{_THEN_LESS}",
    "more": rf"{_ABOVE}\s*{_ONE}|{_ONE.replace('<a', '<c')}\s*(?:\+|plus|{_OR}\s+{_THEN_MORE})",
}
_BANDS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}
_NOTHING = ("never", "none", "no", "nothing", "zero", "not at all")
_SIZES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6}


def _place_bands(names: Sequence[str]) -> dict[str, _Band] | None:
    """Limits of each state if all of them are bands, numbers, nothing at all, or no answer."""
    bands = {name: band for name in names if (band := _read_band(name)) is not None}
    if len(bands) < 2:
        return None
    for name in names:
        word = _simplify_words(name)
        if name not in bands and word in _NOTHING:
            bands[name] = _Band(-math.inf, -math.inf)
        elif name not in bands and word in _list_no_answers():
            bands[name] = _Band(math.inf, _list_no_answers()[word])
    return bands if len(bands) == len(names) else None


def _read_band(name: str) -> _Band | None:
    for kind, pattern in _BANDS.items():
        match = pattern.fullmatch(name.strip())
        if match is None:
            continue
        limits = [_read_limit(match, key) for key in ("a", "b", "c") if key in match.groupdict()]
        known = [limit for limit in limits if limit is not None]
        if not known:
            return None
        if kind == "less":
            return _Band(-math.inf, known[0])
        if kind == "more":
            return _Band(known[0], math.inf)
        return _Band(known[0], known[-1])
    return None


def _read_limit(match: re.Match[str], key: str) -> float | None:
    text = match[key]
    if text is None:
        return None
    size = _SIZES.get((match[f"{key}_size"] or "").lower(), 1.0)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        text = text.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text):
        text = text.replace(".", "")
    text = text.replace(",", ".")
    return float(text) * size if text.count(".") <= 1 else None
