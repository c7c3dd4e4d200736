# Written by make lists, from the registry of learners and the list of public names.
from latentforest import datasets, plots
from latentforest.benchmarking.run import benchmark
from latentforest.data import Dataset, Variable, read, read_sql
from latentforest.data.columns.inspection import inspect
from latentforest.data.columns.recipe import Recipe
from latentforest.data.values import Code
from latentforest.formats import load, save
from latentforest.formats.objects import from_networkx, from_pgmpy, from_pyagrum
from latentforest.inference.association.column_information import latent_information
from latentforest.learners.bayesian_network import BayesianNetworkSearch
from latentforest.learners.binary_forest import BinaryForest
from latentforest.learners.bridged_islands import BridgedIslands
from latentforest.learners.chow_liu import ChowLiu
from latentforest.learners.confirmatory import ConfirmatoryModel, fit
from latentforest.learners.double_hill_climbing import DoubleHillClimbing
from latentforest.learners.east import EAST
from latentforest.learners.gaussian_east import GaussianEAST
from latentforest.learners.generalized_latent_class import GeneralizedLatentClass
from latentforest.learners.hierarchical_latent_tree import HierarchicalLatentTree
from latentforest.learners.hill_climbing import HillClimbing
from latentforest.learners.incremental_forest import IncrementalForest
from latentforest.learners.independence import Independence
from latentforest.learners.independent_clusterings import IndependentClusterings
from latentforest.learners.latent_class import LatentClass
from latentforest.learners.model_average import ModelAverage
from latentforest.learners.predictor import Predictor
from latentforest.learners.recursive_grouping import ChowLiuRecursiveGrouping, RecursiveGrouping
from latentforest.learners.structural_em import StructuralEM
from latentforest.model import Network, Structure
from latentforest.model.conjugate import Dirichlet, NormalGamma
from latentforest.model.labels import Labels
from latentforest.model.notation import parse_structure, write_structure
from latentforest.model.posterior_network import PosteriorNetwork
from latentforest.model.record import Record
from latentforest.model.showing.suggestions import suggest_names
from latentforest.report.document import report
from latentforest.scores import (
    cross_validate,
    empirical_kl,
    goodness_of_fit,
    log_score,
    marginal_likelihood,
    tree_distance,
)
from latentforest.scores.model_comparison import compare
from latentforest.scores.residuals import compute_bivariate_residuals, compute_cell_residuals
from latentforest.search.averaging.networks import average_networks
from latentforest.search.averaging.trees import TreeAverage
from latentforest.search.glc.dominance import dominates, marginally_equivalent
from latentforest.search.glc.regularization import is_regular, regularize
from latentforest.version import __version__

__all__ = [
    "EAST",
    "BayesianNetworkSearch",
    "BinaryForest",
    "BridgedIslands",
    "ChowLiu",
    "ChowLiuRecursiveGrouping",
    "Code",
    "ConfirmatoryModel",
    "Dataset",
    "Dirichlet",
    "DoubleHillClimbing",
    "GaussianEAST",
    "GeneralizedLatentClass",
    "HierarchicalLatentTree",
    "HillClimbing",
    "IncrementalForest",
    "Independence",
    "IndependentClusterings",
    "Labels",
    "LatentClass",
    "ModelAverage",
    "Network",
    "NormalGamma",
    "PosteriorNetwork",
    "Predictor",
    "Recipe",
    "Record",
    "RecursiveGrouping",
    "StructuralEM",
    "Structure",
    "TreeAverage",
    "Variable",
    "__version__",
    "average_networks",
    "benchmark",
    "compare",
    "compute_bivariate_residuals",
    "compute_cell_residuals",
    "cross_validate",
    "datasets",
    "dominates",
    "empirical_kl",
    "fit",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "goodness_of_fit",
    "inspect",
    "is_regular",
    "latent_information",
    "load",
    "log_score",
    "marginal_likelihood",
    "marginally_equivalent",
    "parse_structure",
    "plots",
    "read",
    "read_sql",
    "regularize",
    "report",
    "save",
    "suggest_names",
    "tree_distance",
    "write_structure",
]
