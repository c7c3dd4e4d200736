"""The engine for networks that are no forests: cliques, their layout, continuous columns."""
