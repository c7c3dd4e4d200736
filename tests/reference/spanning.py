"""Maximum spanning trees by Kruskal's and Prim's algorithms."""


def kruskal(gains, least=float("-inf")):
    """Take the edge of the greatest gain that closes no cycle, again and again."""
    n = len(gains)
    edges = [(-gains[i][j], i, j) for i in range(n) for j in range(i + 1, n) if gains[i][j] > least]
    tree_of = list(range(n))
    taken = set()
    for _, i, j in sorted(edges):
        if tree_of[i] != tree_of[j]:
            old = tree_of[j]
            tree_of = [tree_of[i] if tree == old else tree for tree in tree_of]
            taken.add((i, j))
    return taken


def prim(gains):
    """Grow one tree from node 0 by the edge of the greatest gain that leaves it."""
    n = len(gains)
    inside, taken = {0}, set()
    while len(inside) < n:
        ways = [(gains[i][j], i, j) for i in inside for j in range(n) if j not in inside]
        _, i, j = max(ways)
        inside.add(j)
        taken.add((min(i, j), max(i, j)))
    return taken
