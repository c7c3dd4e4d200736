"""Printed profiles: names stay whole where there is room."""

import numpy as np

import latentforest as lf
from latentforest.model.showing.printing import write_profiles


def test_long_names_take_the_room_that_states_leave():
    name = "adoption_of_the_budget_resolution"
    data = {name: ["x", "y"] * 10, "b": ["u", "u", "v", "v"] * 5}
    text = write_profiles(lf.LatentClass(2, n_starts=2, random_state=0).fit(data).network_)
    assert name in text


def test_wide_numbers_of_all_rows_fold_no_name():
    numbers = np.random.default_rng(0).normal(1234.567, 0.01, 80)
    data = {"compression-ratio": numbers, "b": ["u", "v"] * 40}
    network = lf.LatentClass(7, n_starts=2, random_state=0).fit(data).network_
    lines = write_profiles(network).split("\n")
    assert any(line.startswith("compression-ratio ") for line in lines)
    assert max(map(len, lines[2:])) <= 80
