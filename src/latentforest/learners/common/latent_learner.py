"""What learners with latent variables share: the states of rows, and their posteriors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latentforest.errors import (
    DataWarning,
)
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.learners.common.base import NetworkLearner
from latentforest.learners.common.row_table import RowTable, tabulate_rows


class LatentLearner(TransformerMixin, NetworkLearner):  # type: ignore[misc]
    """Base of the learners whose networks have latent variables."""

    def predict_proba(self, X: Any) -> FloatArray | list[FloatArray]:
        """Return the posterior of each latent variable for every row.

        Returns
        -------
        ndarray of shape (n_rows, n_states), or a list of such arrays
            One array if there is one latent variable.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> model.predict_proba(data).sum(axis=1).round(9).tolist() == [1.0] * data.n_rows
        True
        """
        posteriors = self._posteriors(X)
        return posteriors[0] if len(posteriors) == 1 else posteriors

    def posteriors(self, X: Any, given: Sequence[str] | None = None) -> dict[str, FloatArray]:
        found = self._posteriors(self._encode_some(X, given))
        return dict(zip(self.network_.latents, found, strict=True))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable state of each latent variable for every row, as a code.

        Codes count from 0, as those of scikit-learn do. The names of latent states, which all else
        shows, count from 1: code 0 is class 1.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_latents)
            One column is given as a vector.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> model.predict(data.take([0])).tolist()  # codes: class 1 has the code 0
        [0]
        """
        dataset = self._encode(X)
        posteriors = self._posteriors(dataset)
        states = np.zeros((dataset.n_rows, len(posteriors)), np.intp)
        for column, posterior in zip(states.T, posteriors, strict=True):
            column[:] = np.argmax(posterior, axis=1)
        return states[:, 0] if states.shape[1] == 1 else states

    def predict_table(self, X: Any) -> RowTable:
        """Return the states by name, their probabilities and a note for every row, as a table.

        The first column is the index of a pandas frame, or the number of the row from 0;
        ``to_pandas`` has that index. Then come, for each latent variable, the most probable state
        and the probability of each, and at last what `row_notes` says.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> table = LatentClass(2, random_state=0).fit(data).predict_table(data.take([0, 1]))
        >>> table.columns
        ('row', 'class', 'class=1', 'class=2', 'note')
        """
        dataset = self._encode(X)
        posteriors = self._posteriors(dataset)
        return tabulate_rows(X, self.network_.structure, posteriors, self.row_notes(dataset))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> AnyArray:
        """Fit, then return the most probable states of the same rows.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> LatentClass(2, random_state=0).fit_predict(data).shape == (data.n_rows,)
        True
        """
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def transform(self, X: Any) -> FloatArray:
        """Return the posteriors of all latent variables side by side.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> from latentforest import EAST
        >>> tree = EAST(random_state=0).fit(data)  # two latent variables of two states
        >>> tree.transform(data).shape[1]
        4
        """
        dataset = self._encode(X)
        nothing = np.zeros((dataset.n_rows, 0))  # all there is without latent variables
        return np.concatenate([nothing, *self._posteriors(dataset)], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``: variable=state, where latent states count from 1.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> model.get_feature_names_out().tolist()
        ['class=1', 'class=2']
        """
        check_is_fitted(self, "network_")
        structure = self.network_.structure
        names = [
            f"{name}={state}" for name in structure.latents for state in structure.states(name)
        ]
        return np.array(names, dtype=object)

    def _posteriors(self, X: Any) -> list[FloatArray]:
        dataset = self._encode(X)
        posteriors, n_impossible = self._find_posteriors(dataset, self.network_.latents)
        if n_impossible:
            warnings.warn(
                f"{n_impossible} rows have probability zero under the reported model; they get the "
                "posterior under the predictive parameters (row_notes says which rows)",
                DataWarning,
                stacklevel=3,
            )
        return posteriors
