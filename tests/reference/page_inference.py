"""What the page of a report computes from its content, the slow way: messages between cliques."""

import math

import numpy as np


def ask(content, evidence, which="reported"):
    """Posterior of each categorical variable, mean and variance of each continuous one, by number.

    ``evidence`` maps numbers of variables to codes or values. Nothing if it is impossible.
    """
    page = _Page(content, evidence, which)
    beliefs = page.propagate()
    return None if beliefs is None else page.answer(beliefs)


class _Page:
    def __init__(self, content, evidence, which):
        self.model, self.which = content["model"], which
        self.cards = [len(variable["states"]) for variable in content["variables"]]
        self.evidence = evidence
        self.cliques = self.model["cliques"]
        self.families = {family["variable"]: family for family in self.model["families"]}

    def numbers(self, entry):
        return entry["reported"] if entry[self.which] is None else entry[self.which]

    def start(self, clique):
        """Log-table of a clique: its families, the densities of its blocks, what is known."""
        scope = clique["variables"]
        table = np.zeros([self.cards[v] for v in scope])
        for variable in clique["families"]:
            family = self.families[variable]
            axes = [*family["parents"], variable]
            values = np.array(self.numbers(family)).reshape([self.cards[v] for v in axes])
            with np.errstate(divide="ignore"):
                table = table + _spread(np.log(values), axes, scope)
        for number in clique["blocks"]:
            block = self.model["blocks"][number]
            values = np.array(self.weigh(block)).reshape([self.cards[v] for v in block["parents"]])
            table = table + _spread(values, block["parents"], scope)
        for variable in scope:
            if variable in self.evidence:
                only = np.full(self.cards[variable], -np.inf)
                only[self.evidence[variable]] = 0.0
                table = table + _spread(only, [variable], scope)
        return table

    def weigh(self, block):
        """Log-density of the known values of a block in each configuration."""
        numbers, d = self.numbers(block), len(block["variables"])
        keep = [i for i, variable in enumerate(block["variables"]) if variable in self.evidence]
        x = np.array([self.evidence[block["variables"][i]] for i in keep])
        logs = []
        for mean, flat in zip(numbers["means"], numbers["covariances"], strict=True):
            covariance = np.array(flat).reshape(d, d)[np.ix_(keep, keep)]
            away = x - np.array(mean)[keep]
            logs.append(
                -0.5 * (away @ np.linalg.solve(covariance, away) if keep else 0.0)
                - 0.5 * (np.linalg.slogdet(2.0 * math.pi * covariance)[1] if keep else 0.0)
            )
        return logs

    def propagate(self):
        """Normalized tables of the cliques; nothing if the evidence is impossible."""
        tables = [self.start(clique) for clique in self.cliques]
        up = {}
        for i in reversed(range(len(tables))):
            parent = self.cliques[i]["parent"]
            if parent >= 0:
                up[i] = self.send(tables[i], i, parent)
                tables[parent] = tables[parent] + up[i]
        for i, clique in enumerate(self.cliques):
            parent = clique["parent"]
            if parent >= 0:
                back = self.send(tables[parent] - _finite(up[i]), parent, i)
                tables[i] = tables[i] + back
        beliefs = []
        for table in tables:
            top = table.max()
            if top == -np.inf:
                return None
            values = np.exp(table - top)
            beliefs.append(values / values.sum())
        return beliefs

    def send(self, table, source, target):
        """Sum over what the target does not have; the result has the target's axes."""
        scope, other = self.cliques[source]["variables"], self.cliques[target]["variables"]
        gone = tuple(axis for axis, v in enumerate(scope) if v not in other)
        left = [v for v in scope if v in other]
        top = table.max() if np.isfinite(table.max()) else 0.0
        with np.errstate(divide="ignore"):
            message = np.log(np.exp(table - top).sum(axis=gone)) + top
        return _spread(message, left, other)

    def answer(self, beliefs):
        found = {}
        for clique, belief in zip(self.cliques, beliefs, strict=True):
            for axis, variable in enumerate(clique["variables"]):
                others = tuple(a for a in range(belief.ndim) if a != axis)
                found.setdefault(variable, belief.sum(axis=others))
        homes = {b: i for i, clique in enumerate(self.cliques) for b in clique["blocks"]}
        for number, block in enumerate(self.model["blocks"]):
            shares = np.ones(1)
            if block["parents"]:
                scope = self.cliques[homes[number]]["variables"]
                gone = tuple(a for a, v in enumerate(scope) if v not in block["parents"])
                left = [v for v in scope if v in block["parents"]]
                shares = beliefs[homes[number]].sum(axis=gone)
                shares = shares.transpose([left.index(v) for v in block["parents"]]).ravel()
            for place, variable in enumerate(block["variables"]):
                if variable not in self.evidence:
                    found[variable] = self.mix(block, place, shares)
        return found

    def mix(self, block, place, shares):
        """Mean and variance of a continuous variable given those of its block that are known."""
        numbers, d = self.numbers(block), len(block["variables"])
        keep = [i for i, variable in enumerate(block["variables"]) if variable in self.evidence]
        x = np.array([self.evidence[block["variables"][i]] for i in keep])
        means, variances = [], []
        for mean, flat in zip(numbers["means"], numbers["covariances"], strict=True):
            mean, covariance = np.array(mean), np.array(flat).reshape(d, d)
            gain = np.linalg.solve(covariance[np.ix_(keep, keep)], covariance[keep, place])
            means.append(mean[place] + gain @ (x - mean[keep]))
            variances.append(covariance[place, place] - gain @ covariance[keep, place])
        means, variances = np.array(means), np.array(variances)
        mean = shares @ means
        return float(mean), float(shares @ (variances + (means - mean) ** 2))


def _finite(values):
    return np.where(np.isfinite(values), values, 0.0)


def _spread(values, axes, scope):
    """Put a table over some variables into the axes of a scope."""
    order = sorted(range(len(axes)), key=lambda i: scope.index(axes[i]))
    shape = [1] * len(scope)
    for i in order:
        shape[scope.index(axes[i])] = values.shape[i]
    return values.transpose(order).reshape(shape)
