"""What a model says of rows with the parameters that it reports, not with those for new rows."""

import latentforest as lf


def reported(model):
    """Return a predictor that scores with maximum likelihood."""
    return lf.Predictor(model.network_.with_predictive(None))
