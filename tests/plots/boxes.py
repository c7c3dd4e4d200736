"""What is seen of axes: boxes of texts as the renderer draws them."""

from itertools import combinations

TOLERANCE = 1.0  # pixels at 96 dots an inch by which boxes may touch


def list_texts(ax):
    """All texts of axes that are seen: within, at the scales, above."""
    found = [*ax.texts, ax.title, ax._left_title]
    if ax.axison:
        found += [*list_marks(ax.xaxis), *list_marks(ax.yaxis), ax.xaxis.label]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def list_marks(axis):
    """Numbers at a scale that lie within its ends."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def measure(ax):
    """Boxes of the texts in pixels, and that of the whole figure."""
    figure = ax.figure
    figure.draw_without_rendering()
    renderer = figure._get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in list_texts(ax)]
    return boxes, figure.bbox


def find_overlaps(ax):
    """Pairs of texts that cover each other."""
    boxes, _ = measure(ax)
    return [
        (one, other)
        for (one, a), (other, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > TOLERANCE
        and min(a.y1, b.y1) - max(a.y0, b.y0) > TOLERANCE + 0.2 * min(a.height, b.height)
    ]


def find_cut(ax):
    """Texts that leave the figure."""
    boxes, page = measure(ax)
    return [
        text
        for text, box in boxes
        if box.x0 < page.x0 - 1
        or box.x1 > page.x1 + 1
        or box.y0 < page.y0 - 1
        or box.y1 > page.y1 + 1
    ]


def check(ax):
    """Nothing covers anything, nothing is cut."""
    overlaps, cut = find_overlaps(ax), find_cut(ax)
    assert not overlaps, overlaps
    assert not cut, cut


def texts_of(ax):
    return [text.get_text() for text in list_texts(ax)]
