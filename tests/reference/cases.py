"""One case of a network, told by the codes of its states."""

from latentforest.data.values import Code


def by_code(network, codes):
    """Evidence of codes, where the numbers of continuous variables stay as they are."""
    kind = network.structure.variable
    return {
        name: Code(int(value)) if kind(name).is_categorical else value
        for name, value in codes.items()
    }
