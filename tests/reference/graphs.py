"""Slow, obvious answers to questions about directed acyclic graphs, given by their parents."""

from itertools import combinations, product


def ancestral_set(parents, names):
    """The names and all their ancestors."""
    found = set(names)
    while True:
        more = found.union(*(parents[name] for name in found))
        if more == found:
            return found
        found = more


def moralize(parents, names):
    """Edges of the moral graph over a set of names that has all ancestors of its members."""
    edges = set()
    for name in names:
        edges |= {frozenset(pair) for pair in combinations([name, *parents[name]], 2)}
    return edges


def separated_by_moralization(parents, x, y, given):
    """No path between x and y in the moral graph of the ancestors but through what is given."""
    names = ancestral_set(parents, {*x, *y, *given})
    edges = moralize(parents, names)
    reached = set(x)
    while True:
        more = {
            other
            for edge in edges
            if edge & reached
            for other in edge - reached
            if other not in given
        }
        if not more:
            return not reached & set(y)
        reached |= more


def separated_by_paths(parents, x, y, given):
    """Every path between x and y has a blocked variable."""
    known_below = ancestral_set(parents, given)
    return not any(
        is_open(parents, path, given, known_below)
        for start in x
        for end in y
        for path in list_paths(parents, [start], end)
    )


def list_paths(parents, path, end):
    """All paths without repetition, whatever the directions of the arcs."""
    if path[-1] == end:
        yield path
        return
    for name in parents:
        linked = name in parents[path[-1]] or path[-1] in parents[name]
        if linked and name not in path:
            yield from list_paths(parents, [*path, name], end)


def is_open(parents, path, given, known_below):
    """Every collider is given or above what is given, and nothing else is given."""
    for before, here, after in zip(path, path[1:], path[2:], strict=False):
        if before in parents[here] and after in parents[here]:
            if here not in known_below:
                return False
        elif here in given:
            return False
    return True


def is_acyclic(parents):
    """Whether names can be taken away one by one, each without parents left."""
    left = dict(parents)
    while left:
        roots = [name for name, family in left.items() if not set(family) & set(left)]
        if not roots:
            return False
        for name in roots:
            del left[name]
    return True


def describe_equivalence(parents):
    """Skeleton and v-structures, which structures with the same independences share."""
    skeleton = {frozenset((name, parent)) for name, family in parents.items() for parent in family}
    collisions = {
        (frozenset(pair), name)
        for name, family in parents.items()
        for pair in combinations(family, 2)
        if frozenset(pair) not in skeleton
    }
    return skeleton, collisions


def complete_by_enumeration(parents):
    """Arcs that all equivalent graphs have, and pairs that have either direction in some."""
    wanted = describe_equivalence(parents)
    edges = [tuple(sorted(edge)) for edge in wanted[0]]
    found = set()
    for flips in product([False, True], repeat=len(edges)):
        arcs = {edge[::-1] if flip else edge for edge, flip in zip(edges, flips, strict=True)}
        graph = {name: [a for a, b in arcs if b == name] for name in parents}
        if is_acyclic(graph) and describe_equivalence(graph) == wanted:
            found.add(frozenset(arcs))
    common = frozenset.intersection(*found)
    either = {edge for edge in edges if edge not in common and edge[::-1] not in common}
    return sorted(common), sorted(either)
