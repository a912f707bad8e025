"""Which part of an asymmetric model a text goes through, by the role that a task gives it.

The module `Router` of sentence-transformers has several routes. Its methods `encode_query` and
`encode_document` name a task, `query` or `document`, and `encode` names none; the module finds the
route of a task. Here the same is found without loading the model, from `router_config.json`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, get_args

from harness.embedder import Role
from harness.errors import ModelError

MODALITY = "text"
"""What the library calls inputs that are texts, rather than images and the like."""
TASK_SETTINGS = ("query_length", "document_length", "query_expansion")
"""Settings of the library's transformer that change the reading of queries or documents."""
_LONGEST_KEY = 1_000


@dataclass(frozen=True)
class Router:
    """The routes of one module.

    Parameters
    ----------
    routes
        Names of its own modules by route, in order.
    default
        The route of texts without a task; None for none.
    mappings
        Routes by task and kind of input; None stands for any.
    """

    routes: Mapping[str, Sequence[str]]
    default: str | None
    mappings: Mapping[tuple[Any, Any], str]

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Self:
        """Return what a `router_config.json` states.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it does not have the form that the library writes.
        """
        routes = {str(route): list(map(str, steps)) for route, steps in config["structure"].items()}
        parameters = config.get("parameters") or {}
        default = parameters.get("default_route")
        if default is None and parameters.get("allow_empty_key", True):
            default = next(iter(routes))
        mappings = {}
        for key, route in (parameters.get("route_mappings") or {}).items():
            task, kind = ast.literal_eval(key[:_LONGEST_KEY])
            mappings[task, kind] = str(route)
        for route in [*mappings.values(), *([] if default is None else [default])]:
            if not routes.get(route):
                raise ValueError(f"it has no route '{route}'")
        return cls(routes, default, mappings)

    def route(self, task: str | None) -> str | None:
        """Return the route of texts of a task; None if it has none, which the library refuses."""
        for key in ((task, MODALITY), (task, None), (None, MODALITY), (None, None)):
            if key in self.mappings:
                return self.mappings[key]
        for name in (task, MODALITY):
            if name in self.routes:
                return name
        return self.default if task is None else None


@dataclass(frozen=True)
class Routes:
    """What happens to texts of each role.

    Parameters
    ----------
    names
        The route by role; empty if all roles go the same way. A missing role has no route.
    tasks
        The task that the library is given for a role.
    """

    names: Mapping[Role, str] = field(default_factory=dict)
    tasks: Mapping[Role, str] = field(default_factory=dict)

    @classmethod
    def of(cls, routers: Sequence[Router], *, differs: bool = False) -> Self:
        """Return the routes through a model.

        A text that is neither a query nor a document goes the default way; where there is none, it
        goes the way of documents.

        Parameters
        ----------
        routers
            Its modules with several routes.
        differs
            Whether another of its modules treats queries or documents in a way of its own.
        """
        names: dict[Role, str] = {}
        tasks: dict[Role, str] = {}
        if not routers and not differs:
            return cls()
        for role in get_args(Role):
            for task in (None, "document") if role == "text" else (role,):
                found = [router.route(task) for router in routers]
                if None in found:
                    continue
                # A task is a part of the name where it changes more than the route.
                parts = [*filter(None, found), *([task or "default"] if differs else [])]
                names[role] = " + ".join(parts)
                if task is not None:
                    tasks[role] = task
                break
        return cls(names, tasks)

    def arguments(self, role: Role, name: str) -> dict[str, str]:
        """Return the arguments of the library's `encode` for texts of a role.

        Raises
        ------
        ModelError
            If the model, whose name is `name`, has no route for the role.
        """
        if self.names and role not in self.names:
            known = ", ".join(f"{role}: {route}" for role, route in self.names.items())
            raise ModelError(f"'{name}' has no route for the role '{role}' (it has {known})")
        return {"task": self.tasks[role]} if role in self.tasks else {}

    def notices(self) -> list[str]:
        """Return what a user may not expect of the routes, a line for each."""
        if "text" not in self.tasks:
            return []
        return [
            "it has no default route; texts that are neither queries nor documents take the route "
            f"'{self.names['text']}'"
        ]
