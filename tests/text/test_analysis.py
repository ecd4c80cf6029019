"""Analysis: which words, identifiers, numbers and phrases a text holds, and where."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.analysis import Analysis, TermKind, analyse, term_counts
from engine.text.terms import MAX_TERM_CHARACTERS

MIXED = st.text(
    alphabet=st.one_of(
        st.sampled_from("aBcXYz019 \n.-_/:@#'’\"“”,%+=\\()?!"),
        st.sampled_from("éßİǆﬁｶﾞ１Ａ数据库あの한글ไทยمُـकि👩‍🚀🇫🇷\u0301\u200b…"),
        st.characters(),
    ),
    max_size=40,
)


def words(text: str) -> list[str]:
    return [term.text for term in analyse(text).terms if term.kind is TermKind.WORD and not term.stop]


def texts(analysis: Analysis) -> list[str]:
    return [term.text for term in analysis.terms]


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("E1042-XQ7", "e1042-xq7"),
        ("(E-4471)", "e-4471"),
        ("see QX-7731.", "qx-7731"),
        ("88-QQ-KRZ", "88-qq-krz"),
        ("PAY_TIMEOUT_0x2F means", "pay_timeout_0x2f"),
        ("parse_json()", "parse_json"),
        ("`parseJson`", "parsejson"),
        ("UserAccountManager", "useraccountmanager"),
        ("libvips 8.15.2,", "8.15.2"),
        ("v2.5.1", "2.5.1"),
        ("v2.5", "v2.5"),
        ("python3.11", "python3.11"),
        ("CVE-2024-1234!", "cve-2024-1234"),
        ("2027-02-11", "2027-02-11"),
        ("2027-02-11T10:00:30Z", "2027-02-11t10:00:30z"),
        ("+1-555-123-4567", "1-555-123-4567"),
        ("src/app/main.py:88", "src/app/main.py:88"),
        ("src\\app\\main.py", "src/app/main.py"),
        ("/etc/hosts", "etc/hosts"),
        ("config.prod.yaml", "config.prod.yaml"),
        ("how-to.md", "how-to.md"),
        ("feature/login-v2", "feature/login-v2"),
        ("owner/repo#123", "owner/repo#123"),
        ("team/notes/archive", "team/notes/archive"),
        ("issues/123", "issues/123"),
        ("#1234", "#1234"),
        ("cache-3.internal:6380", "cache-3.internal:6380"),
        ("redis:6379", "redis:6379"),
        ("smtp-relay.ops.internal", "smtp-relay.ops.internal"),
        ("192.168.0.1", "192.168.0.1"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("fe80::1ff:fe23", "fe80::1ff:fe23"),
        ("aa:bb:cc:dd:ee:f0", "aa:bb:cc:dd:ee:f0"),
        ("std::vector", "std::vector"),
        ("bob.smith@mail.example", "bob.smith@mail.example"),
        ("9f3c2ad", "9f3c2ad"),
        ("9f3c2ad81b6e4470d5a1c0fe72b98d3346aa10e7", "9f3c2ad81b6e4470d5a1c0fe72b98d3346aa10e7"),
        ("550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("https://www.Example.org/a/B?x=1.", "example.org/a/b?x=1"),
        ("covid-19", "covid-19"),
        ("x86_64", "x86_64"),
        ("K8s", "k8s"),
        ("ＴＳ１００２", "ts1002"),
        ("错误TS1002未终止", "ts1002"),
        ("v2.5.1’s notes", "2.5.1"),
        ("UCP1-dependent", "ucp1"),
    ],
)
def test_an_exact_name_is_an_identifier(text: str, identifier: str) -> None:
    analysis = analyse(text)
    assert analysis.identifiers[0] == identifier
    assert f"id:{identifier}" in texts(analysis)


@pytest.mark.parametrize(
    "text",
    [
        "left-handed follow-up write-ahead-log state-of-the-art",
        "don't can't it's they'll rock'n'roll d'équipe O'Brien",
        "2nd 21st 400th 1990s",
        "10:00 10:00:30 7:30pm 3pm 24/7 11/02/2027",
        "5km 20mb 350kB 2.5GB 3.5mm 16x 1080p 42U 1h30m 1e5",
        "in 1999 for $500,000 or 3.5 or 1,234,567.89 at 50%",
        "3-5 1.5-2.5 10:00-11:00 9-11",
        "5-year-old 12-inch 3.5-inch 2nd-floor",
        "mid-2020 top-10 july-2024 anti-interleukin-2",
        "team/release and/or he/she yes/no his/her/their km/h $5/month",
        "e.g. i.e. U.S. Ph.D. a.m.",
        "later.then done.the fig.3 no.5 1.Introduction",
        "note:5 score:12 ratio 3:1 key:value",
        "#tag #1 @user lunch@10",
        "GitHub YouTube iPhone macOS McDonald JavaScript",
        "--dry-run C++ C# .NET __bold__ ...",
        "周五下午三点 배포하기 ไทย",
        "5км 2-й",
    ],
)
def test_everyday_compounds_and_numbers_are_no_identifiers(text: str) -> None:
    assert analyse(text).identifiers == ()


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("src/billing/invoice.py:214", "src/billing/invoice.py"),
        ("src/billing/invoice.py:214", "billing/invoice.py:214"),
        ("src/billing/invoice.py:214", "invoice.py"),
        ("tools/parse_json.py", "parse_json"),
        ("cache-3.internal:6380", "cache-3.internal"),
        ("PAY_TIMEOUT_0x2F", "0x2F"),
        ("feature/login-v2", "login-v2"),
        ("nginx:1.25.3", "1.25.3"),
        ("https://github.com/foo/bar/pull/12#issue", "github.com/foo/bar"),
        ("https://github.com/foo/bar", "github.com"),
        ("2027-02-11T10:00:00Z", "2027-02-11"),
        ("9f3c2ad81b6e4470d5a1c0fe72b98d3346aa10e7", "9f3c2ad"),
    ],
)
def test_an_identifier_is_found_by_the_narrower_ones_inside_it(wider: str, narrower: str) -> None:
    assert set(analyse(narrower).identifiers) <= set(analyse(wider).identifiers)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("E-4471", "E-4417"),
        ("8.15.2", "8.15.4"),
        ("9f3c2ad81b6e4470d5a1c0fe72b98d3346aa10e7", "9f3c2ad81b6e4470d5a1c0fe72b98d3346aa10e8"),
        ("src/billing/invoice.py:214", "src/shipping/invoice.py:214"),
        ("src/billing/invoice.py:214", "src/billing/invoice.py:388"),
        ("PAY_TIMEOUT_0x2F", "PAY_TIMEOUT_0x1F"),
        ("cache-3.internal:6380", "cache-3.internal:6381"),
        ("2027-02-11", "2027-11-02"),
        ("192.168.0.1", "192.168.0.10"),
        ("550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440001"),
    ],
)
def test_a_near_miss_is_another_identifier(one: str, other: str) -> None:
    assert analyse(one).identifiers[0] not in analyse(other).identifiers


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parse_json", {"pars", "json"}),
        ("TS1002", {"ts", "1002"}),
        ("src/app/main.py:88", {"src", "app", "main", "py", "88"}),
        ("libvips-8.15.2", {"libvip", "8.15"}),
        ("#1234", {"1234"}),
        ("parseJsonFile", {"pars", "json", "file"}),
        ("9f3c2ad81b6e", set()),
    ],
)
def test_words_and_numbers_inside_an_identifier_are_parts(text: str, parts: set[str]) -> None:
    assert {term.text for term in analyse(text).terms if term.kind is TermKind.PART} == parts


def test_a_word_form_meets_its_other_forms() -> None:
    assert words("Certificate renewals are automated") == words("certificates renewal automating")


def test_hyphens_apostrophes_and_capitals_do_not_hide_words() -> None:
    assert words("Write-Ahead-Log") == words("write ahead log")
    assert words("the café d'équipe") == ["café", "équipe"]
    assert words("don't") == words("dont") == []
    assert words("e-mail") == words("email")
    assert "hub" in texts(analyse("GitHub"))


def test_words_of_other_languages_are_not_stemmed_as_english() -> None:
    assert words("réunions déplacées") == ["réunions", "déplacées"]


def test_function_words_are_kept_and_flagged() -> None:
    analysis = analyse("to be or not to be")
    assert texts(analysis) == ["to", "be", "or", "not", "to", "be"]
    assert all(term.stop for term in analysis.terms)
    assert analysis.length == 0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("in 1999", ("1999",)),
        ("$500,000", ("500000",)),
        ("1,234,567.89", ("1234567.89",)),
        ("3.5 3.50", ("3.5", "3.50")),
        ("5km and 20 mb", ("5", "20")),
        ("04 4 007", ("4", "007")),
        ("09:30 to 9:30", ("9:30",)),
        ("2024年04月01日", ("2024", "4", "1")),
        ("１２３", ("123",)),
        ("٢٠٢٤", ("2024",)),
        ('19" rack', ("19",)),
        ("1990s", ("1990",)),
        ("$US250,000", ("250000",)),
        ("v2.5.1", ()),
    ],
)
def test_numbers_have_one_form(text: str, numbers: tuple[str, ...]) -> None:
    assert analyse(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("主从切换", ["主从", "从切", "切换"]),
        ("猫", ["猫"]),
        ("Grafana看板", ["grafana", "看板"]),
        ("마이그레이션을", ["마이", "이그", "그레", "레이", "이션", "션을"]),
        ("배포 전", ["배포", "전"]),
        ("ｶﾞｲﾄﾞ", ["ガイ", "イド"]),
        ("サーバー", ["サー", "ーバ", "バー"]),
        ("ที่นี่", ["ที่นี่"]),
    ],
)
def test_unspaced_scripts_become_bigrams(text: str, terms: list[str]) -> None:
    assert texts(analyse(text)) == [unicodedata.normalize("NFKC", term) for term in terms]


def test_arabic_and_hebrew_words_meet_without_their_optional_marks() -> None:
    assert words("مُحَمَّد كتـــاب") == words("محمد كتاب")
    assert words("שָׁלוֹם") == words("שלום")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("библиотека", "библиотеку"),
        ("βιβλιοθήκη", "βιβλιοθήκες"),
        ("किताब", "किताबें"),
        ("المكتبة", "مكتبة"),
        ("کتاب", "کتاب‌ها"),
    ],
    ids=["russian", "greek", "hindi", "arabic", "persian"],
)
def test_endings_of_other_scripts_meet(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_devanagari_words_keep_their_marks() -> None:
    assert words("हिन्दी में") == ["हिन्द", "म"]


def test_a_symbol_is_a_term() -> None:
    assert texts(analyse("🧯")) != texts(analyse("🚀"))
    assert len(texts(analyse("👩‍🚀🇫🇷☎️"))) == 3
    assert texts(analyse("☎️")) == texts(analyse("☎"))


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('say "Lab  Rack" now', ("lab rack",)),
        ("say “two words” and «deux mots» und „zwei Wörter“", ("two words", "deux mots", "zwei wörter")),
        ("他说「数据 库」", ("数据 库",)),
        ('a 19" rack, 12" deep', ()),
        ('"lab rack is 19', ()),
        ('"..."', ()),
    ],
)
def test_quoted_phrases_are_reported(text: str, phrases: tuple[str, ...]) -> None:
    assert analyse(text).phrases == phrases


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "?!... --- ///", "___", "\ud800"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert analyse(text) == Analysis((), (), (), (), 0)


def test_a_path_counts_once_in_the_length() -> None:
    assert analyse("open src/app/main.py:88 today").length == 3
    assert analyse("主从切换").length == 3


def test_counts_tell_how_often_a_term_occurs() -> None:
    assert term_counts(analyse("the ferry and the Ferries")) == {"the": 2, "ferri": 2, "and": 1}


def test_a_term_of_any_length_is_indexed_within_bounds_and_found_again() -> None:
    long = "x9" * 1000
    (term,) = analyse(long).terms
    assert len(term.text) <= MAX_TERM_CHARACTERS + len("id:")
    assert analyse(long.upper()).identifiers == analyse(long).identifiers != analyse(long + "x").identifiers


@settings(max_examples=400)
@given(MIXED)
def test_every_term_shows_the_text_it_came_from(text: str) -> None:
    for term in analyse(text).terms:
        assert 0 <= term.start < term.end <= len(text)
        assert term.surface == text[term.start : term.end]
        assert term.text and not term.text.isspace()


@settings(max_examples=300)
@given(MIXED, MIXED)
def test_texts_side_by_side_have_the_terms_of_both(one: str, other: str) -> None:
    assert texts(analyse(f"{one} {other}")) == texts(analyse(one)) + texts(analyse(other))


@settings(max_examples=300)
@given(MIXED)
def test_composed_and_decomposed_texts_have_the_same_terms(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert texts(analyse(composed)) == texts(analyse(decomposed))


@settings(max_examples=300)
@given(st.text(alphabet="abz019 .-_/:@#'\",%+=\\()?!"))
def test_capitals_do_not_decide_what_is_an_identifier(text: str) -> None:
    assert analyse(text.upper()).identifiers == analyse(text).identifiers


@settings(max_examples=200)
@given(MIXED)
def test_every_visible_letter_or_digit_belongs_to_a_term(text: str) -> None:
    covered = {position for term in analyse(text).terms for position in range(term.start, term.end)}
    missed = {
        text[position] for position in range(len(text)) if text[position].isascii() and text[position].isalnum()
    } - {text[position] for position in covered}
    assert not missed


LARGE = 128 * 1024


@pytest.mark.parametrize(
    "text",
    [
        "x" * LARGE,
        "1" * LARGE,
        ".,;:!?-" * (LARGE // 7),
        "🧯" * (LARGE // 4),
        "数据库" * (LARGE // 9),
        "a" + ":1" * (LARGE // 2) + "x",
        "1" + ",111" * (LARGE // 4) + "x",
        "a+" * (LARGE // 2),
        "a.b/" * (LARGE // 4),
        "http://" + "!" * LARGE,
        '"a ' * (LARGE // 3),
        "a" + "\u0301" * (LARGE // 2),
        "aB" * (LARGE // 2),
        "[" * LARGE,
    ],
    ids=lambda text: ascii(text[:8]),
)
@pytest.mark.timeout(20)
def test_no_text_takes_time_beyond_its_size(text: str) -> None:
    """A quadratic step would take hours on so many characters, a linear one takes seconds."""
    assert analyse(text).length <= len(text)
