"""Names of new latent variables."""

from latentforest.search.naming import name_latents, name_new_latent


def test_the_first_free_number_is_taken():
    assert name_new_latent(["Y1", "Y3", "X2"]) == "Y2"
    assert name_new_latent([]) == "Y1"


def test_several_names_keep_clear_of_columns_together():
    assert name_latents(2, ["X1"]) == ["Y1", "Y2"]
    assert name_latents(2, ["Y2", "Y1_"]) == ["Y1__", "Y2__"]
