"""Strict search in other languages than English, with the embedder and the calibration that are shipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.domain.memory import NewMemory
from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import Query
from engine.engine import Engine
from engine.settings import Settings

NOTES = {
    "ja": (
        "図書館は平日の午後八時に閉まります。",
        "田中さんの内線番号は4412です。",
        "本番サーバーの証明書は三月に更新します。",
        "会議室の鍵は受付で借りてください。",
        "社員食堂は二階にあります。",
    ),
    "es": (
        "La biblioteca cierra a las ocho de la tarde entre semana.",
        "La extensión telefónica de Marta Ruiz es la 4412.",
        "El certificado del servidor de producción se renueva en marzo.",
        "La llave de la sala de reuniones se pide en recepción.",
        "El comedor está en la segunda planta.",
    ),
    "ru": (
        "Библиотека закрывается в восемь вечера по будням.",
        "Внутренний номер Марины Соколовой 4412.",
        "Сертификат рабочего сервера обновляют в марте.",
        "Ключ от переговорной берут на ресепшене.",
        "Столовая находится на втором этаже.",
    ),
    "de": (
        "Die Bibliothek schließt werktags um acht Uhr abends.",
        "Die Durchwahl von Marta Krüger ist 4412.",
        "Das Zertifikat des Produktionsservers wird im März erneuert.",
        "Den Schlüssel zum Besprechungsraum gibt es am Empfang.",
        "Die Kantine liegt im zweiten Stock.",
    ),
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("languages")
    with Engine.open(Settings(data_dir=folder)) as engine:
        owner = engine.local_owner()
        for language, contents in NOTES.items():
            engine.create_space(owner, language)
            engine.remember_many(owner, [NewMemory(content=each, space=language) for each in contents])
        yield engine


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("ja", "図書館は何時に閉まりますか", 0),
        ("ja", "田中さんの内線番号は何番ですか", 1),
        ("es", "¿Cuál es la extensión telefónica de Marta Ruiz?", 1),
        ("es", "¿Cuándo se renueva el certificado del servidor de producción?", 2),
        ("ru", "Какой внутренний номер у Марины Соколовой?", 1),
        ("ru", "Когда обновляют сертификат рабочего сервера?", 2),
        ("de", "Wann schließt die Bibliothek?", 0),
        ("de", "Wann wird das Zertifikat des Produktionsservers erneuert?", 2),
    ],
)
def test_a_stored_answer_is_found(notes: Engine, language: str, question: str, answer: int) -> None:
    found = notes.search(notes.local_owner(), Query(text=question, spaces=(language,)))
    assert isinstance(found, Matches)
    assert found.hits[0].memory.content == NOTES[language][answer]


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("ja", "駐車場の料金はいくらですか"),
        ("ja", "山田さんの誕生日はいつですか"),
        ("es", "¿Cuánto cuesta el aparcamiento?"),
        ("ru", "Сколько стоит парковка?"),
        ("de", "Was kostet der Parkplatz?"),
    ],
)
def test_what_is_not_stored_is_no_match(notes: Engine, language: str, question: str) -> None:
    assert isinstance(notes.search(notes.local_owner(), Query(text=question, spaces=(language,))), NoMatch)
