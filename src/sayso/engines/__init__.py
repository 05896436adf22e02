"""What a model must be able to do for sayso, and how to open one by name.

``complete`` asks for text, ``force`` reads the probabilities of text that is given. Everything
that owns a socket or a graphics card lives in ``backends``; here are only the shapes.
"""

from __future__ import annotations

from sayso.engines.engine import Classifier, Engine
from sayso.records import InputError


def open_model(name: str, **options: object) -> Engine:
    """Open ``builtin``, ``hf:<folder or hub id>``, ``openai:<model>`` or an endpoint's URL.

    ``http(s)://host/v1#model`` is any server that speaks OpenAI's chat completions; without
    ``#model`` it must serve exactly one. Raises :class:`~sayso.records.InputError` for a name or
    folder that is no model. Backends are imported here, on demand, so that nothing else needs
    torch or the client.
    """
    kind, _, rest = name.partition(":")
    if (kind == "builtin" and not rest) or (kind == "hf" and rest):
        try:
            from sayso.engines.hf.engine import open_builtin, open_hf
        except ModuleNotFoundError as error:
            raise InputError(
                f"model {name!r} needs {error.name}, which is not installed: "
                "pip install 'sayso[hf]'"
            ) from None
        return open_hf(rest, **options) if rest else open_builtin(**options)
    if kind in ("openai", "http", "https") and rest:
        from sayso.engines.openai.engine import open_endpoint, open_openai

        return open_openai(rest, **options) if kind == "openai" else open_endpoint(name, **options)
    raise InputError(
        f"model {name!r} is not a name sayso can open: expected 'builtin', "
        "'hf:<folder or hub id>', 'openai:<model>' or the URL of an endpoint "
        "('http://localhost:8000/v1#model')"
    )


def open_classifier(name: str, **options: object) -> Classifier:
    """Open a model for natural-language inference: a folder or a hub id.

    Raises :class:`~sayso.records.InputError` for what is none, or where the extra ``hf`` is not
    installed.
    """
    from sayso.engines.hf.encoders import open_nli

    return open_nli(name, **options)  # type: ignore[arg-type]
