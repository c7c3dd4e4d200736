"""GeneralizedLatentClass: published tables, families, rules, starts, order, refusals."""

import numpy as np
import pytest

from latentforest import (
    Dataset,
    GeneralizedLatentClass,
    Independence,
    LatentClass,
    Variable,
    datasets,
    fit,
    is_regular,
)
from latentforest.errors import ModelError, ParameterError
from latentforest.model.notation import read_structure
from reference.random_networks import fill_randomly

SATURATED = {  # log-likelihood of the table's own frequencies
    name: float(np.sum(data.weights * np.log(data.weights / data.total_weight)))
    for name in ("hiv-tests", "coleman-panel", "house-building")
    for data in [datasets.load(name)]
}


def learn(name="hiv-tests", **settings):
    data = datasets.load(name) if isinstance(name, str) else name
    return GeneralizedLatentClass(**{"random_state": 0} | settings).fit(data)


def list_links(model):
    structure = model.network_.structure
    return sorted(
        (parent, child) for child in structure.names for parent in structure.parents(child)
    )


def find_g_squared(model, name):
    return 2 * (SATURATED[name] - model.log_likelihood_)


@pytest.mark.parametrize(
    ("name", "free", "attached"),
    [
        ("hiv-tests", -653.657, -656.622),
        ("coleman-panel", -8535.001, -8539.394),
        ("house-building", -2944.114, -2950.827),
    ],
)
def test_the_best_models_of_published_tables(name, free, attached):
    for seed in (1, 2):
        model = learn(name, random_state=seed)
        assert model.bic_ >= free - 0.001
        structure = model.network_.structure
        assert max(len(structure.children(latent)) for latent in structure.latents) >= 2
    model = learn(name, attached=True)
    assert model.bic_ == pytest.approx(attached, abs=0.001)
    structure = model.network_.structure
    for column in structure.observed:
        assert set(structure.parents(column)) & set(structure.latents)


@pytest.mark.parametrize(
    ("name", "family", "g_squared", "n_parameters"),
    [
        ("hiv-tests", "hlc", 3.056, 11),
        ("coleman-panel", "ls", 1.270, 11),
        ("house-building", "lc", 15.96, 14),
        ("house-building", "hlc", 15.96, 14),
        ("house-building", "ls", 0.500, 15),
    ],
)
def test_families(name, family, g_squared, n_parameters):
    model = learn(name, family=family)
    assert find_g_squared(model, name) == pytest.approx(g_squared, abs=0.006)
    assert model.n_parameters_ == n_parameters


def test_more_parameters_than_cells_are_not_out_of_the_question():
    """Four classes of four binary columns have 19 parameters; BIC prefers them all the same."""
    model = learn("coleman-panel", family="lc")
    best = LatentClass(random_state=0).fit(datasets.load("coleman-panel"))
    assert model.n_parameters_ == best.n_parameters_ == 19
    assert model.bic_ == pytest.approx(best.bic_, abs=0.001)


def test_says_how_good_a_network_without_latent_variables_is():
    assert learn("house-building", n_kicks=0).without_latents_.bic == pytest.approx(
        -2940.982, abs=0.001
    )
    gaps = Dataset.from_table({name: ["a", "b", None, "a"] * 9 for name in "ABC"})
    assert learn(gaps, n_kicks=0).without_latents_ is None


def test_the_result_is_regular_and_closely_fitted():
    model = learn("house-building", attached=True)
    assert is_regular(model.network_.structure)
    again = fit(model.network_.structure, datasets.load("house-building"), random_state=0)
    assert again.log_likelihood_ == pytest.approx(model.log_likelihood_, abs=1e-4)


def test_without_regularization_more_models_are_fitted():
    fits = {way: learn(regularize=way, n_kicks=0).n_fits_ for way in (True, False, "discard")}
    assert fits[False] > fits[True] >= fits["discard"]


@pytest.mark.parametrize("attached", [False, True])
def test_the_order_of_rows_and_columns_does_not_matter(attached):
    data = datasets.load("house-building")
    rng = np.random.default_rng(0)
    shuffled = data.select(list(rng.permutation(data.names))).take(rng.permutation(data.n_rows))
    one, other = (learn(table, attached=attached) for table in (data, shuffled))
    assert list_links(one) == list_links(other)
    assert one.bic_ == pytest.approx(other.bic_, abs=1e-6)


def test_repeated_rows_are_weights():
    data = datasets.load("hiv-tests")
    rows = data.take(np.repeat(np.arange(data.n_rows), data.weights.astype(int))).with_weights(None)
    assert list_links(learn(rows)) == list_links(learn(data))


def test_required_and_forbidden_links():
    model = learn(required="A -> B", forbidden=[("C", "D"), ("D", "C")], n_kicks=3)
    assert ("A", "B") in list_links(model)
    assert not {("C", "D"), ("D", "C")} & set(list_links(model))


def test_a_start_and_its_latent_variables():
    network = fit("Truth[2] -> A, B, C, D", datasets.load("hiv-tests"), random_state=0).network_
    model = learn(start=network, required=[("Truth", name) for name in "ABCD"], n_kicks=2)
    assert model.network_.latents == ("Truth",)
    assert set(model.network_.structure.children("Truth")) == set("ABCD")
    named = learn(start="latent-class", n_kicks=3)
    assert named.bic_ == pytest.approx(-653.657, abs=0.001)


@pytest.mark.parametrize(
    "settings", [{"criterion": "aic"}, {"criterion": "cv"}, {"evaluation": "local"}]
)
def test_other_ways_to_judge(settings):
    model = learn(**settings)
    scores = model.history_["score"]
    assert max(scores) > scores[0] + 1
    if "criterion" not in settings:
        assert model.bic_ == pytest.approx(-653.657, abs=0.001)


def test_selection_by_goodness_of_fit():
    by_p, by_bic = (learn("house-building", select=way) for way in ("p", "score"))
    assert find_g_squared(by_p, "house-building") < find_g_squared(by_bic, "house-building")
    assert by_p.bic_ < by_bic.bic_


def test_the_trace_and_limits():
    model = learn("house-building", max_steps=1)
    assert model.stopped_ == "the limit of steps was reached"
    assert model.history_["phase"][0] == "start"
    assert model.history_["phase"].count("climb") == 1
    assert learn("house-building", time_limit=1e-6).stopped_ == "the time limit was reached"


def test_the_trace_leads_to_the_result():
    history = learn("house-building", attached=True).history_
    assert history["phase"][0] == "start"
    assert {"climb", "kick"} <= set(history["phase"])
    accepted = [
        bic for bic, is_on in zip(history["bic"], history["accepted"], strict=True) if is_on
    ]
    assert max(accepted) == pytest.approx(max(history["bic"]), abs=0.01)
    assert np.all(np.diff(accepted) > 0)


def test_a_stopped_search_goes_on(tmp_path):
    file = tmp_path / "steps.jsonl"
    whole = learn("house-building", n_kicks=2)
    learn("house-building", n_kicks=2, max_steps=2, checkpoint=file)
    resumed = learn("house-building", n_kicks=2, checkpoint=file, resume=True)
    assert resumed.n_fits_ < whole.n_fits_
    assert resumed.bic_ == pytest.approx(whole.bic_, abs=1e-9)
    assert list_links(resumed) == list_links(whole)


def test_ctrl_c_returns_the_best_so_far():
    def interrupt(message):
        if message.startswith("step 2"):
            raise KeyboardInterrupt

    model = learn("house-building", progress=interrupt)
    assert model.interrupted_
    assert model.bic_ > learn("house-building", max_steps=0, n_kicks=0).bic_ - 1e-6


def test_columns_that_never_vary_stay_alone():
    data = datasets.load("hiv-tests")
    one = Variable("one", ("same",))
    wider = Dataset(
        [one, *data.variables], [np.zeros(data.n_rows, int), *data.columns], data.weights
    )
    with pytest.warns(UserWarning, match="single observed value"):
        model = learn(wider, n_kicks=3)
    assert model.network_.structure.neighbours("one") == ()
    assert model.bic_ == pytest.approx(-653.657, abs=0.001)


def test_continuous_columns_are_leaves():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 200)
    table = {
        "x": 4.0 * group + rng.normal(size=200),
        "y": 4.0 * group + rng.normal(size=200),
        "a": np.where(rng.random(200) < 0.9, group, 1 - group).astype(str),
        "b": np.where(rng.random(200) < 0.9, group, 1 - group).astype(str),
    }
    structure = learn(table, n_starts=2, max_steps=1).network_.structure
    assert structure.children("x") == structure.children("y") == ()
    assert set(structure.parents("x")) & set(structure.latents)


@pytest.mark.filterwarnings("ignore::latentforest.errors.VarianceWarning")
@pytest.mark.parametrize("n_texts", [0, 1, 4, 7])
def test_noise_is_no_worse_than_a_single_class(n_texts):
    rng = np.random.default_rng(1)
    texts = {f"t{i}": rng.integers(3, size=60).astype(str) for i in range(n_texts)}
    noise = texts | {f"x{i}": rng.normal(size=60) for i in range(8 - n_texts)}
    table = Dataset.from_table(noise)
    model = learn(table, n_kicks=1)
    assert model.bic_ > Independence().fit(table).bic_ - 1e-6


def test_links_are_found_again():
    truth = fit("X[2] -> A, B, C, D; A -> B", datasets.load("coleman-panel"), random_state=0)
    rows = truth.network_.sample(20_000, random_state=0)
    assert learn(rows).bic_ >= fit("X[2] -> A, B, C, D; A -> B", rows, random_state=0).bic_ - 0.01


NINE = "ABCDEFGHI"


def draw_wide(n_rows=500):
    """Nine columns: too many for EM on every candidate."""
    columns = [Variable(name, ("no", "yes")) for name in NINE]
    text = "X[2] -> A, B, C, D; A -> B; E -> F; F -> G; H -> I; E, F -> I"
    structure = read_structure(text, columns)
    return fill_randomly(structure, 0, share_of_zeros=0.0).sample(n_rows, random_state=0)


WIDE = draw_wide()


def test_wide_tables_begin_with_the_best_network_over_the_columns():
    model = learn(WIDE, n_kicks=1)
    operators = model.history_["operator"]
    assert "node for links" in operators[:4]
    assert model.bic_ > model.without_latents_.bic - 10
    truth = fit("X[2] -> A, B, C, D; A -> B; E -> F; F -> G; H -> I; E, F -> I", WIDE)
    assert model.bic_ >= truth.bic_ - 0.01


def start_wide(table=WIDE, **settings):
    start = fit("X[2] -> A, B, C, D, E, F, G, H, I", table, random_state=0).network_
    return learn(table, start=start, **{"n_kicks": 2} | settings)


def test_links_of_a_start_change_at_once():
    history = start_wide().history_
    assert "structural EM" in history["operator"]
    accepted = [
        bic for bic, is_on in zip(history["bic"], history["accepted"], strict=True) if is_on
    ]
    assert np.all(np.diff(accepted) > 0)


def test_wide_tables_in_another_order():
    rng = np.random.default_rng(0)
    shuffled = WIDE.select(list(rng.permutation(WIDE.names))).take(rng.permutation(WIDE.n_rows))
    one, other = (start_wide(table) for table in (WIDE, shuffled))
    assert list_links(one) == list_links(other)
    assert one.bic_ == pytest.approx(other.bic_, abs=1e-6)


def test_a_stopped_search_of_a_wide_table_goes_on(tmp_path):
    file = tmp_path / "steps.jsonl"
    whole = start_wide()
    start_wide(max_steps=2, checkpoint=file)
    resumed = start_wide(checkpoint=file, resume=True)
    assert resumed.n_fits_ < whole.n_fits_
    assert resumed.bic_ == pytest.approx(whole.bic_, abs=1e-9)


def test_structural_em_needs_complete_tables():
    gaps = np.random.default_rng(0).random((9, WIDE.n_rows)) < 0.02
    columns = [np.where(gap, -1, column) for gap, column in zip(gaps, WIDE.columns, strict=True)]
    model = start_wide(Dataset(WIDE.variables, columns), max_steps=1)
    assert "structural EM" not in model.history_["operator"]


def test_wide_tables_with_attached_columns():
    structure = start_wide(attached=True, n_kicks=1).network_.structure
    assert all(set(structure.parents(name)) & set(structure.latents) for name in NINE)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "tree"}, "family must be one of 'glc', 'ls', 'hlc', 'lc', got 'tree'"),
        ({"regularize": "no"}, "regularize must be one of"),
        ({"criterion": "mdl"}, "criterion must be one of"),
        ({"n_starts": 0}, "n_starts must be a whole number from 1, got 0"),
        ({"max_states": 1}, "max_states must be a whole number from 2"),
        ({"required": ["A -> B", "B -> C", "C -> A"]}, "cycle among 'A', 'B', 'C'"),
        (
            {"required": "A -> Z"},
            "required: there is no variable 'Z'; known are 'A', 'B', 'C', 'D'",
        ),
        ({"required": ["A"]}, 'pairs .parent, child. or text such as "A -> B"'),
        ({"required": "A -> B", "forbidden": "A -> B"}, "A -> B is both required and forbidden"),
        ({"required": "A -> B", "family": "ls"}, "it has a link between columns"),
        ({"start": "maple"}, "start: there is no learner 'maple'"),
        ({"start": 3}, "start must be a Network, a learner or the name of one, got int"),
        ({"start": "independence"}, "it has no latent variable with two children"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        learn(**settings)


def test_bad_starts_are_refused():
    data = datasets.load("hiv-tests")
    network = fit("X[2] -> A, B, C, D; A -> B", data, random_state=0).network_
    with pytest.raises(ParameterError, match="has the forbidden link A -> B"):
        learn(start=network, forbidden="A -> B")
    with pytest.raises(ModelError, match=r"differ in \['A'\]"):
        learn(data.select(["B", "C", "D"]), start=network)
    with pytest.raises(ModelError, match="manifest parent"):
        learn(start=fit("A -> X[2]; X -> B, C, D", data, random_state=0).network_)
