# SPDX-License-Identifier: Apache-2.0
"""Runs the graphcloak program and returns typed results. Start with GraphCloak and its method run."""

from . import program
from .client import GraphCloak as GraphCloak
from .errors import *  # noqa: F403
from .results import AnswerEvaluation as AnswerEvaluation
from .results import AnswerPlan as AnswerPlan
from .results import Community as Community
from .results import EvaluatedCommunity as EvaluatedCommunity
from .results import Evaluation as Evaluation
from .results import Fit as Fit
from .results import Inspection as Inspection
from .results import Node as Node
from .results import Placed as Placed
from .results import Plan as Plan
from .results import Posterior as Posterior
from .results import Presence as Presence
from .results import Question as Question
from .results import Report as Report
from .results import RunList as RunList
from .results import RunRecord as RunRecord
from .results import Version as Version

__version__ = program.VERSION
