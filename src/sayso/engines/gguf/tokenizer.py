"""The vocabulary and the chat template of a GGUF file, as :mod:`sayso.engines.local.text` reads
those of transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sayso.engines.gguf.llama import CONTROL, SENTENCEPIECE, USER_DEFINED, Model
from sayso.engines.local.trial import try_template

#: stands behind the end of an answer that the model is to continue, to find it in what a template
#: makes of it
MARK = "\ue0fe"


class AddedToken(NamedTuple):
    """A token that is written out in texts; ``special`` ones are left out of decoded texts."""

    content: str
    special: bool


class GgufTokenizer:
    """A tokenizer of llama.cpp with the names that transformers' have.

    Raises ValueError for a chat template that takes too long or writes too much.
    """

    def __init__(self, model: Model, name: str, template: str | None = None) -> None:
        self.model = model
        self.name_or_path = name
        self.chat_template = model.template if template is None else template
        if self.chat_template:
            try_template(self.chat_template)
        self.bos_token_id = model.special("bos")
        self.eos_token_id = model.special("eos")
        self._pieces: dict[int, bytes] = {}
        attributes = model.attributes()
        marked = [n for n, bits in enumerate(attributes) if bits & (CONTROL | USER_DEFINED)]
        self.added_tokens_decoder = {
            n: AddedToken(self.convert_ids_to_tokens(n), bool(attributes[n] & CONTROL))
            for n in marked
        }
        specials = {n: token for n, token in self.added_tokens_decoder.items() if token.special}
        self.all_special_ids = list(specials)
        self.all_special_tokens = [token.content for token in specials.values()]
        self.eos_token = self._name(self.eos_token_id)
        self.bos_token = self._name(self.bos_token_id)
        # such vocabularies put a space before a text, which is not part of it
        kind = int(model.lib.llama_vocab_type(model.vocabulary))
        prefix = model.said("tokenizer.ggml.add_space_prefix")
        self.leads = kind == SENTENCEPIECE and prefix != "false"

    def _name(self, token: int | None) -> str:
        return "" if token is None else self.convert_ids_to_tokens(token)

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        """Return the token ids of a text, in which special tokens are written out."""
        return {"input_ids": self.model.tokenize(text, ends=add_special_tokens) if text else []}

    def convert_ids_to_tokens(self, token: int) -> str:
        """Return how a token is written."""
        return self.model.piece(token, special=True).decode(errors="replace")

    def decode(
        self,
        ids: Sequence[int],
        skip_special_tokens: bool = True,
        clean_up_tokenization_spaces: bool = False,
    ) -> str:
        """Return the text of token ids; control tokens have none, and no space is changed."""
        for token in ids:
            if token not in self._pieces:
                self._pieces[token] = self.model.piece(token, special=False)
        text = b"".join(self._pieces[token] for token in ids).decode(errors="replace")
        return text.removeprefix(" ") if self.leads else text

    def get_chat_template(self) -> str:
        """Return the chat template."""
        return self.chat_template

    def apply_chat_template(
        self,
        turns: Sequence[Mapping[str, str]],
        *,
        chat_template: str,
        add_generation_prompt: bool,
        continue_final_message: bool,
        tokenize: bool = False,
        **given: Any,
    ) -> str:
        """Return a conversation as the template writes it. Raises what jinja2 raises.

        With ``continue_final_message`` the text ends where the last message does.
        """
        messages = [dict(turn) for turn in turns]
        if continue_final_message:
            messages[-1]["content"] += MARK
        values = {
            "bos_token": self.bos_token, "eos_token": self.eos_token, "tools": None,
            "documents": None, "add_generation_prompt": add_generation_prompt,
            "messages": messages, **given,
        }  # fmt: skip
        text = _compiled(chat_template).render(values)
        if not continue_final_message:
            return text
        begins, mark, _ = text.rpartition(MARK)
        if not mark:
            raise ValueError("it leaves out the answer that is to be continued")
        return begins


class _Generation(Extension):
    """The block ``generation``, which marks an answer for training and writes what is in it."""

    tags = {"generation"}  # noqa: RUF012 - a set of names, as jinja2 declares it

    def parse(self, parser: Parser) -> list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@lru_cache(maxsize=8)
def _compiled(template: str) -> jinja2.Template:
    """Compile a template with what templates of models may use, as transformers does."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment.from_string(template)


def _to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write a value as JSON, without the escapes of HTML that jinja2's own filter adds."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)
