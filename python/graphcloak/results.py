# SPDX-License-Identifier: Apache-2.0
"""Results of the program as dataclasses; document holds all of the JSON, with its own names.

None stands where the program leaves a value out. Ids of nodes are texts, probabilities lie in [0, 1].
"""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from . import notebook
from .errors import AnswerError

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
SCHEMA_VERSION = 1  # of the program's JSON


def need_pandas() -> Any:
    """Returns the module; raises ImportError that says what to install."""
    try:
        import pandas
    except ImportError as e:
        raise ImportError("a frame needs pandas: pip install pandas") from e
    return pandas


def frame(cls: type[Any], rows: Sequence[Any]) -> "DataFrame":
    """Returns dataclasses as a pandas frame, one row each, columns named as the fields of cls."""
    pandas = need_pandas()
    columns = [f.name for f in dataclasses.fields(cls)]
    made: DataFrame = pandas.DataFrame([[getattr(r, c) for c in columns] for r in rows], columns=columns)
    return made


@dataclasses.dataclass(frozen=True)
class Community:
    community_id: int  # from 0 on, of the program's own counting
    name: str  # the value of community_property, where there is one
    size: int
    prior_probability: float  # before the measurements
    probability: float  # that it holds the source
    source_mass: float  # of the sparse recovery


@dataclasses.dataclass(frozen=True)
class Posterior:
    node_id: str  # likeliest
    probability: float
    credible_set_size: int  # nodes that hold 95 %


@dataclasses.dataclass(frozen=True)
class Presence:
    """The test of whether there is a source at all."""

    detected: bool
    p_value: float  # measurements without a source that speak for one as clearly
    false_alarm: float  # how often that is allowed


@dataclasses.dataclass(frozen=True)
class Fit:
    """The test of whether the model explains the measurements."""

    p_value: float  # measurements that follow the model and fit as poorly, or worse


@dataclasses.dataclass(frozen=True)
class Node:
    """A node as a run in mode "stream" tells of it."""

    node_id: str
    source: float
    source_probability: float
    community_id: int
    community_probability: float
    private_heat: float | None = None  # None where the node has no sensor that reports
    private_heat_sigma: float | None = None
    caption: str | None = None


@dataclasses.dataclass(frozen=True)
class Report:
    """What run and recover found."""

    run_id: str
    answer: str
    guarantee: str
    not_protected: tuple[str, ...]
    communities: tuple[Community, ...]  # likeliest first
    posterior: Posterior
    node_count: int
    sensor_count: int
    epsilon_spent: float
    delta_spent: float
    node_properties_written: int
    notes: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()  # of a run in mode "stream"
    budget_scope: str | None = None
    presence: Presence | None = None
    fit: Fit | None = None
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    map: str = dataclasses.field(default="", repr=False, compare=False)  # SVG, in a notebook; "" where the page has none

    def communities_frame(self) -> "DataFrame":
        return frame(Community, self.communities)

    def nodes_frame(self) -> "DataFrame":
        return frame(Node, self.nodes)

    def _repr_html_(self) -> str:
        spent = f"ε = {self.epsilon_spent:g}, δ = {self.delta_spent:g} spent"
        facts = (f"{self.node_count:,} nodes", f"{self.sensor_count:,} sensors", spent)
        rows = ((c.name, f"{c.size:,}", percent(c.prior_probability), percent(c.probability)) for c in self.communities)
        table = notebook.table(("community", "nodes", "before", "probability"), rows)
        body = notebook.picture(self.map) + table
        return notebook.block(self.answer, facts, body, self.not_protected, "What is not protected")


@dataclasses.dataclass(frozen=True)
class ExpectedAccuracy:
    probability: float  # that the right community ranks first
    lower: float  # 95 % interval
    upper: float
    chance: float
    trials: int


@dataclasses.dataclass(frozen=True)
class Plan:
    guarantee: str
    epsilon: float
    delta: float
    alpha: float
    tau: float
    node_count: int
    sigma_min: float
    sigma_max: float
    public_properties: tuple[str, ...]
    expected_accuracy: ExpectedAccuracy | None = None
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Rate:
    rate: float
    lower: float  # 95 % interval
    upper: float


@dataclasses.dataclass(frozen=True)
class EvaluatedCommunity:
    """What came of the simulated sources of one community."""

    community_id: int
    name: str
    size: int
    trials: int
    probability: float  # that it ranks first when it holds the source
    lower: float  # 95 % interval
    upper: float


@dataclasses.dataclass(frozen=True)
class Evaluation:
    trials: int
    random_seed: int
    chance: float
    right: Rate  # the right community ranks first
    answered: Rate  # a community stands out
    coverage: Rate  # the 95 % credible set holds the source
    credible_set_size: float
    notes: tuple[str, ...]
    communities: tuple[EvaluatedCommunity, ...] = ()
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def communities_frame(self) -> "DataFrame":
        return frame(EvaluatedCommunity, self.communities)

    def _repr_html_(self) -> str:
        headline = f"The right community ranks first in {percent(self.right.rate)} of {self.trials:,} simulated runs"
        facts = (
            f"95 % interval {percent(self.right.lower)} to {percent(self.right.upper)}",
            f"by chance {percent(self.chance)}",
            f"a community stands out in {percent(self.answered.rate)}",
            f"the 95 % credible set holds {self.credible_set_size:.1f} nodes, and the source in {percent(self.coverage.rate)}",
        )
        rows = (
            (c.name, f"{c.size:,}", c.trials, f"{percent(c.probability)} ({percent(c.lower)} to {percent(c.upper)})")
            for c in self.communities
        )
        table = notebook.table(("community", "nodes", "runs", "ranks first"), rows)
        return notebook.block(headline, facts, table, self.notes, "Notes")


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked of people, yes or no."""

    rumour: str
    round: int
    epsilon: float  # of one answer
    flip: float  # probability that an answer is not the truth
    guarantee: str


@dataclasses.dataclass(frozen=True)
class AnswerPlan:
    question: Question
    public_properties: tuple[str, ...]
    reach: int | None = None  # people who have heard, where that is known
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Placed:
    """How well simulated whispers are placed: those of a size, or of all sizes at one ε."""

    heard: float  # people, on average
    right: float  # began in the community that ranks first
    found: float  # the test sees that there is one
    false_alarms: float  # the same where there is none
    credible: float  # people in the 95 % credible set, on average
    calibration_error: float
    confident_and_wrong: float  # another community has a probability above 0.9
    epsilon: float | None = None


@dataclasses.dataclass(frozen=True)
class AnswerEvaluation:
    epsilon: float
    flip: float
    people: int  # who are asked
    trials: int  # of each row
    chance: float
    by_size: tuple[Placed, ...]
    by_epsilon: tuple[Placed, ...]
    notes: tuple[str, ...]
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    lower: float
    upper: float
    edge: tuple[str, ...]  # where it is attained


@dataclasses.dataclass(frozen=True)
class Inspection:
    node_count: int
    relationship_count: int
    tau: float
    sensitivity: Sensitivity
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class RunRecord:
    run_id: str
    status: str
    spent: bool
    mode: str | None = None
    started_at: str | None = None  # RFC 3339
    epsilon_spent: float | None = None
    delta_spent: float | None = None
    answer: str | None = None  # the likeliest community; whether it stands out, verdict says
    probability: float | None = None
    verdict: str | None = None  # "named", "perhaps", "undecided", "misfit" or "no sign of a source"
    faulty_sensor_count: int = 0  # sensors more likely faulty than sound
    signal_property: str | None = None
    budget_scope: str | None = None
    ended_at: str | None = None  # RFC 3339


@dataclasses.dataclass(frozen=True)
class RunList:
    runs: tuple[RunRecord, ...] = ()  # latest first
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def frame(self) -> "DataFrame":
        return frame(RunRecord, self.runs)


@dataclasses.dataclass(frozen=True)
class Version:
    version: str
    go_version: str
    platform: str
    builder: str | None = None
    revision: str | None = None
    modified: bool | None = None  # None where no revision is known
    document: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


def read(cls: type[T], document: Mapping[str, Any]) -> T:
    """Reads a result of the program; raises AnswerError where it is not one."""
    if document.get("schemaVersion") != SCHEMA_VERSION:
        raise AnswerError(f"the program's JSON has not schemaVersion {SCHEMA_VERSION}: install versions that belong together")
    return build(cls, {**document, "document": document})


def percent(share: float) -> str:
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def build(cls: type[T], document: Any) -> T:
    """Reads a dataclass from an object with camelCase keys; keys that it has not are left out."""
    if not isinstance(document, Mapping):
        raise AnswerError(f"the program's JSON has no object where a {cls.__name__} is expected")
    values, wanted = {}, get_type_hints(cls)
    for f in dataclasses.fields(cls):  # type: ignore[arg-type]
        key = camel(f.name)
        if document.get(key) is not None:
            values[f.name] = convert(wanted[f.name], document[key], f"{cls.__name__}.{key}")
        elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise AnswerError(f"the program's JSON has no {cls.__name__}.{key}: install versions that belong together")
    return cls(**values)


def convert(want: Any, value: Any, where: str) -> Any:
    if get_origin(want) in (types.UnionType, Union):
        want = next(a for a in get_args(want) if a is not type(None))
    if get_origin(want) is tuple and isinstance(value, list):
        return tuple(convert(get_args(want)[0], v, where) for v in value)
    if dataclasses.is_dataclass(want) and isinstance(want, type):
        return build(want, value)
    if want is float and type(value) in (int, float):
        return float(value)
    if want in (int, str, bool) and type(value) is want or get_origin(want) is Mapping and isinstance(value, Mapping):
        return value
    raise AnswerError(f"the program's JSON has another type at {where}: install versions that belong together")
