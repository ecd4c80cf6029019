"""Function words of English: they are indexed like any word, but carry no weight of their own.

A word is listed if it tells nothing about what a text is about: articles, pronouns, auxiliaries,
prepositions, conjunctions, question words and the contractions of these with and without their
apostrophe. Negations are listed too; whether two texts agree in negation is a matter of evidence.
"""

from __future__ import annotations

_ARTICLES_AND_PRONOUNS = """
a an the this that these those such same other another each every both either neither all any some
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its
itself we us our ours ourselves they them their theirs themselves one ones who whom whose which what
whoever whatever whichever somebody someone something anybody anyone anything everybody everyone
everything nobody nothing
"""
_AUXILIARIES = """
am is are was were be been being do does did doing done have has had having can could may might must
shall should will would ought let lets got get gets getting
"""
_PREPOSITIONS_AND_CONJUNCTIONS = """
about above across after against along among around as at before behind below beneath beside besides
between beyond but by despite down during except for from in inside into near of off on onto or out
outside over past per since than through throughout till to toward towards under until up upon via
with within without and nor so yet if unless because although though while whereas whether
"""
_ADVERBS = """
also again already else ever even here how however just maybe no not now only perhaps quite rather
really still then there therefore thus too very well when whenever where wherever why yes eg ie etc
please
"""
_CONTRACTIONS = """
dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant cannot couldnt wont wouldnt shouldnt
mustnt neednt aint im ive youre youve theyre theyve weve whats thats theres heres wheres whos hows
gonna wanna gotta
"""

STOP_WORDS: frozenset[str] = frozenset(
    " ".join((_ARTICLES_AND_PRONOUNS, _AUXILIARIES, _PREPOSITIONS_AND_CONJUNCTIONS, _ADVERBS, _CONTRACTIONS)).split()
)


def is_stop_word(word: str) -> bool:
    """Whether a folded word is a function word or a lone ASCII letter."""
    return word in STOP_WORDS or (len(word) == 1 and "a" <= word <= "z")
