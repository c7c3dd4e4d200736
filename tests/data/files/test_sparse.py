import tracemalloc

import numpy as np
import pytest
from scipy import io, sparse
from sklearn.feature_extraction.text import CountVectorizer

import latentforest as lf
from latentforest.data import Dataset, read
from latentforest.errors import DataError, FileFormatError, ParameterError, ReadingWarning

TEXTS = ["a cat sat", "a dog sat", "cat dog", "the dog dog"]


def make_words(n_rows=400, n_words=12, seed=0):
    """Documents of two topics in each half of the words."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 2, (n_rows, 2))
    chances = np.where(np.repeat(topics, n_words // 2, axis=1) == 1, 0.7, 0.1)
    return sparse.csr_array((rng.random(chances.shape) < chances).astype(np.int64))


def test_count_vectorizer_output():
    vectorizer = CountVectorizer(binary=True)
    matrix = vectorizer.fit_transform(TEXTS)
    data = Dataset.from_table(matrix, vocabulary=vectorizer.vocabulary_)
    assert data.names == ("cat", "dog", "sat", "the")
    assert {v.states for v in data.variables} == {("0", "1")}
    np.testing.assert_array_equal(np.stack(data.columns, 1), matrix.toarray())
    names = vectorizer.get_feature_names_out()
    assert Dataset.from_table(matrix, vocabulary=names).names == data.names
    assert Dataset.from_table(matrix, names=list(names)).names == data.names


def test_counts_are_presence_unless_asked_for():
    matrix = CountVectorizer().fit_transform(TEXTS)
    with pytest.warns(ReadingWarning, match=r"only presence is kept.*counts='values'"):
        assert Dataset.from_table(matrix).column("x1").tolist() == [0, 1, 1, 1]
    data = Dataset.from_table(matrix, counts="values")
    assert data.variable("x1").states == ("0", "1", "2")
    with pytest.raises(ParameterError, match="counts: got 'all'"):
        Dataset.from_table(matrix, counts="all")


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array", "lil_matrix"])
def test_every_kind_of_sparse_matrix(kind):
    matrix = make_words(50)
    data = Dataset.from_table(getattr(sparse, kind)(matrix))
    np.testing.assert_array_equal(np.stack(data.columns, 1), matrix.toarray())


def test_no_dense_matrix_of_floats_is_made():
    matrix = sparse.random_array((4000, 1000), density=0.01, format="csr", rng=0) != 0
    tracemalloc.start()
    data = Dataset.from_table(matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.columns[0].dtype == np.int8
    assert peak < 2.5 * 4000 * 1000  # floats take eight bytes a cell


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sparse.csr_array([[0.5, 0]]), "sparse matrix holds fractions"),
        (sparse.csr_array([[-1, 0]]), "sparse matrix holds negative"),
    ],
)
def test_bad_values(matrix, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_table(matrix)


def test_bad_vocabularies():
    matrix = make_words(9)
    with pytest.raises(DataError, match="vocabulary: expected a word for each of the columns"):
        Dataset.from_table(matrix, vocabulary={"a": 0, "b": 3})
    with pytest.raises(DataError, match="12 columns, but 1 names"):
        Dataset.from_table(matrix, vocabulary=["a"])
    with pytest.raises(ParameterError, match="pass one of them"):
        Dataset.from_table(matrix, vocabulary=["a"], names=["a"])
    with pytest.raises(ParameterError, match="vocabulary= is for sparse"):
        Dataset.from_table([[1]], vocabulary=["a"])


@pytest.mark.parametrize("name", ["words.npz", "words.mtx"])
def test_files(tmp_path, name):
    matrix, path = make_words(50), tmp_path / name
    sparse.save_npz(path, matrix) if name.endswith("npz") else io.mmwrite(path, matrix)
    (tmp_path / "words.txt").write_text("".join(f"w{i}\n" for i in range(12)))
    data = read(path, vocabulary=tmp_path / "words.txt")
    assert data.names == tuple(f"w{i}" for i in range(12))
    np.testing.assert_array_equal(np.stack(data.columns, 1), matrix.toarray())
    path.write_text("nothing of the kind")
    with pytest.raises(FileFormatError, match="is not a sparse matrix"):
        read(path)


@pytest.mark.parametrize("learner", [lf.HierarchicalLatentTree, lf.BridgedIslands])
def test_learners_take_sparse_matrices(learner):
    matrix = make_words()
    sparsely = learner(random_state=0).fit(matrix)
    dense = learner(random_state=0).fit(matrix.toarray())
    assert sparsely.network_.structure.latents == dense.network_.structure.latents
    assert sparsely.log_likelihood_ == dense.log_likelihood_
    more = matrix * 3  # a model of presence takes counts as presence
    np.testing.assert_array_equal(sparsely.transform(more), dense.transform(matrix.toarray()))
