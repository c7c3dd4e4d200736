# Written by make lists, from the registry of learners and the list of public names.
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

__all__ = [
    "EAST",
    "BayesianNetworkSearch",
    "BinaryForest",
    "BridgedIslands",
    "ChowLiu",
    "ChowLiuRecursiveGrouping",
    "ConfirmatoryModel",
    "DoubleHillClimbing",
    "GaussianEAST",
    "GeneralizedLatentClass",
    "HierarchicalLatentTree",
    "HillClimbing",
    "IncrementalForest",
    "Independence",
    "IndependentClusterings",
    "LatentClass",
    "ModelAverage",
    "Predictor",
    "RecursiveGrouping",
    "StructuralEM",
    "fit",
]
