"""The two pages that a person sees: consent for an application, approval of a device.

They load nothing, run no script, cannot be framed, and every text of a client is escaped. The form
carries a random value that a cookie repeats (double submit), so that no other site can send it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse

COOKIE = "memvouch_form"
_MEANINGS = {
    "memory:read": "read and search your memories",
    "memory:write": "store and change memories",
    "memory:delete": "forget memories",
    "memory:restore": "bring forgotten memories back",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}"
    "input{font:inherit;width:100%;padding:.4rem;box-sizing:border-box}"
    "button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0}.problem{color:#a00}"
)


def page(title: str, body: str, status: int = 200, *, form_target: str = "") -> HTMLResponse:
    """A page. `form_target` is where the answer to its form may lead besides this host."""
    html = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)} - Memvouch</title>"
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
        f"form-action 'self' {form_target}"
    )
    headers = {
        "Content-Security-Policy": policy.strip(),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(html, status, headers)


def form(
    request: Request,
    *,
    title: str,
    client_name: str,
    scopes: Sequence[str],
    hidden: dict[str, str],
    redirect_uri: str | None = None,
    problem: str | None = None,
    asks_for_token: bool = True,
) -> HTMLResponse:
    """The question whether a client may have these rights."""
    guard = secrets.token_urlsafe(24)
    rights = "".join(f"<li>{escape(_MEANINGS.get(scope, scope))}</li>" for scope in scopes)
    place = f"<p>Afterwards you return to <b>{escape(place_of(redirect_uri))}</b>.</p>" if redirect_uri else ""
    fields = "".join(
        f'<input type=hidden name="{escape(name)}" value="{escape(value)}">'
        for name, value in {**hidden, "guard": guard}.items()
    )
    asked = (
        "<p><label>Your owner token (it is in <code>owner.token</code> in the data folder)"
        "<input type=password name=token autocomplete=off></label></p>"
        if asks_for_token
        else ""
    )
    told = f"<p class=problem role=alert>{escape(problem)}</p>" if problem else ""
    body = (
        f"{told}<p><b>{escape(client_name[:200])}</b> asks to</p><ul>{rights}</ul>{place}"
        f"<form method=post>{fields}{asked}"
        "<button name=decision value=allow>Allow</button><button name=decision value=deny>Deny</button></form>"
    )
    answer = page(title, body, 403 if problem else 200, form_target=_target(redirect_uri))
    answer.set_cookie(
        COOKIE, guard, max_age=600, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return answer


def is_guarded(request: Request, sent: object) -> bool:
    """Whether a form came from our own page."""
    kept = request.cookies.get(COOKIE, "")
    return bool(kept) and isinstance(sent, str) and hmac.compare_digest(kept.encode(), sent.encode())


def place_of(redirect_uri: str) -> str:
    """What a person should know of an address: its host, or its scheme."""
    parts = urlsplit(redirect_uri)
    return parts.netloc if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _target(redirect_uri: str | None) -> str:
    if redirect_uri is None:
        return ""
    parts = urlsplit(redirect_uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"
