"""A cross-encoder of a kilobyte, written here: its score counts the words that question and passage share.

    score = 2 * (pairs of equal tokens across the two segments, special ones left out) - 3

The graph is written in ONNX's own encoding (protocol buffers), of which it needs only numbers, texts
and nested messages, so that no library has to be installed for it. The tokenizer splits at spaces and
knows a few words.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

Field = tuple[int, int | str | bytes]

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "harbour", "crane", "is", "inspected", "penguin", "feathers")
FIRST_WORD = 4
OFFSET = -3.0

_INT64, _FLOAT = 7, 1
_ATTRIBUTE_INT = 2


def write(folder: Path) -> Path:
    """A folder as fastembed expects it: model and tokenizer."""
    (folder / "model.onnx").write_bytes(_model())
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, "pad_token": "[PAD]"}))
    return folder


def _model() -> bytes:
    nodes = [
        _node("Unsqueeze", ["input_ids", "last"], "ids_down"),
        _node("Unsqueeze", ["input_ids", "middle"], "ids_across"),
        _node("Equal", ["ids_down", "ids_across"], "equal"),
        _node("GreaterOrEqual", ["ids_down", "first_word"], "is_word"),
        _node("Unsqueeze", ["token_type_ids", "last"], "segment_down"),
        _node("Unsqueeze", ["token_type_ids", "middle"], "segment_across"),
        _node("Less", ["segment_down", "segment_across"], "question_to_passage"),
        _node("And", ["equal", "is_word"], "equal_words"),
        _node("And", ["equal_words", "question_to_passage"], "shared"),
        _node("Cast", ["shared"], "shared_numbers", _number("to", _FLOAT)),
        _node("ReduceSum", ["shared_numbers", "both"], "count", _number("keepdims", 0)),
        _node("Unsqueeze", ["count", "middle"], "column"),
        _node("Mul", ["column", "two"], "doubled"),
        _node("Add", ["doubled", "offset"], "logits"),
    ]
    constants = [
        _constant("last", _INT64, [2], [1]),
        _constant("middle", _INT64, [1], [1]),
        _constant("both", _INT64, [1, 2], [2]),
        _constant("first_word", _INT64, [FIRST_WORD], []),
        _constant("two", _FLOAT, [2.0], []),
        _constant("offset", _FLOAT, [OFFSET], []),
    ]
    graph = _message(
        *((1, node) for node in nodes),
        (2, "tiny"),
        *((5, constant) for constant in constants),
        *((11, _value(name, _INT64)) for name in ("input_ids", "token_type_ids", "attention_mask")),
        (12, _value("logits", _FLOAT)),
    )
    return _message((1, 8), (7, graph), (8, _message((1, ""), (2, 17))))


def _node(operator: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    return _message(
        *((1, name) for name in inputs), (2, output), (4, operator), *((5, attribute) for attribute in attributes)
    )


def _number(name: str, value: int) -> bytes:
    """An attribute."""
    return _message((1, name), (3, value), (20, _ATTRIBUTE_INT))


def _constant(name: str, kind: int, values: Sequence[float], shape: Sequence[int]) -> bytes:
    raw = b"".join(struct.pack("<f", value) if kind == _FLOAT else struct.pack("<q", int(value)) for value in values)
    return _message(*((1, size) for size in shape), (2, kind), (8, name), (9, raw))


def _value(name: str, kind: int) -> bytes:
    """A table whose two sizes are free."""
    shape = _message(*((1, _message((2, size))) for size in ("batch", "other")))
    return _message((1, name), (2, _message((1, _message((1, kind), (2, shape))))))


def _message(*fields: Field) -> bytes:
    """Fields in the encoding of protocol buffers: numbers as varints, the rest with its length."""
    written = b""
    for number, value in fields:
        if isinstance(value, int):
            written += _varint(number << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            written += _varint(number << 3 | 2) + _varint(len(data)) + data
    return written


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
