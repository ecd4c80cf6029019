"""What the token and team commands share: the store opened for administration, and who acts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.console import State
from cli.session import settings_of
from engine.domain.access import Principal

if TYPE_CHECKING:
    from engine.upkeep.administration import Administration

TenantOption = Annotated[
    str | None, typer.Option("--tenant", help="Another tenant of this folder. Default: the local one.")
]


@contextmanager
def administering(
    state: State, tenant: str | None = None, *, create: bool = False
) -> Iterator[tuple[Administration, Principal]]:
    """The store of the folder, also while a host serves it, and an administrator of the tenant.

    Raises `NotFound` for a tenant that does not exist, unless `create` is set.
    """
    from engine.upkeep.administration import Administration

    with Administration.open(settings_of(state)) as administration:
        actor = administration.local_owner() if tenant is None else administration.operator(tenant, create=create)
        yield administration, actor
