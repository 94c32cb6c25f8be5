# SPDX-License-Identifier: Apache-2.0
"""Failures of the program, one class for each exit code of docs/reference/exit-codes.md."""

from collections.abc import Mapping
from typing import Any


class GraphCloakError(Exception):
    """The program failed. An exit code that has no class of its own is this one.

    suggestion says what to do, where the program knows. retryable is true where the same
    call may do better and no budget may have been spent; retry_at (RFC 3339) is when a sliding
    budget has room. resource_type and resource_id name what it is about: of an
    unfinished run "run" and its id. result is the program's JSON of a run that is finished all the
    same, under strict, else None.
    """

    def __init__(self, exit_code: int, problem: Mapping[str, Any], result: Mapping[str, Any] | None = None) -> None:
        self.exit_code = exit_code
        self.message = str(problem.get("message", ""))
        self.suggestion = str(problem.get("suggestion", ""))
        self.resource_type = str(problem.get("resource_type", ""))
        self.resource_id = str(problem.get("resource_id", ""))
        self.retryable = problem.get("retryable") is True
        self.retry_at = str(problem.get("retry_at", ""))
        self.result = result
        hint = f"\nHint: {self.suggestion}" if self.suggestion else ""
        super().__init__(f"{self.message} (exit {exit_code}){hint}")


class BinaryNotFoundError(Exception):
    """There is no graphcloak program where it was looked for."""


class VersionError(Exception):
    """The program is a release of another version than this package."""

    def __init__(self, path: str, program: str, package: str) -> None:
        self.program, self.package = program, package
        super().__init__(f"{path} is graphcloak {program}, and this package is {package}: install versions that belong together")


class AnswerError(Exception):
    """The program printed something else than this package reads: another version of it."""


class InternalError(GraphCloakError):
    """1: a fault of the program."""


class BrokenError(GraphCloakError):
    """2: the program broke; something may have been spent, and the same call goes on with it."""


class UsageError(GraphCloakError):
    """64: a setting's name or value is wrong."""


class NotFoundError(GraphCloakError):
    """3: a label, type, property, database, run or file is not there."""


class AuthError(GraphCloakError):
    """4: credentials or rights are missing, or the store is read-only."""


class ConflictError(GraphCloakError):
    """5: another run, a changed graph, a ledger that went back or a file is in the way."""


class ValidationError(GraphCloakError):
    """6: a setting, a file or the data is not acceptable."""


class TransientError(GraphCloakError):
    """8: the server is away or busy, or the time is over."""


class BudgetExceededError(GraphCloakError):
    """9: the budget would be exceeded; nothing was released."""


class NotCertifiedError(GraphCloakError):
    """10, under strict: recovery without a certificate. The run is finished and paid for."""


class OutOfMemoryError(GraphCloakError):
    """11: too large for the memory."""


class WarningsError(GraphCloakError):
    """12, under strict: done, with warnings. The run is finished and paid for."""


class UnfinishedError(GraphCloakError):
    """13: budget is or may be spent, and the run resource_id is unfinished: the same call goes on with it."""


class InterruptedRunError(GraphCloakError):
    """130 or 143: the program was stopped by a signal."""


BY_EXIT_CODE: dict[int, type[GraphCloakError]] = {
    1: InternalError,
    2: BrokenError,
    3: NotFoundError,
    4: AuthError,
    5: ConflictError,
    6: ValidationError,
    8: TransientError,
    9: BudgetExceededError,
    10: NotCertifiedError,
    11: OutOfMemoryError,
    12: WarningsError,
    13: UnfinishedError,
    64: UsageError,
    130: InterruptedRunError,
    143: InterruptedRunError,
}
