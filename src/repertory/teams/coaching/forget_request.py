"""A person asking, in the talk, to have something forgotten: which of their messages they mean, and what is answered.

Only plain requests about memory count ("please forget what I said about my sister"). "Forget it" is a way of speaking, and
in a crisis a denial; it removes nothing.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence

from repertory.runtime.rules import ForgetRequest, TurnView
from repertory.storage.forgetting import Forgotten
from repertory.storage.records import Message
from repertory.teams.coaching.corrections import CORRECTIONS
from repertory.teams.coaching.evidence import latest_value
from repertory.teams.coaching.forgetting import CoachingRedaction
from repertory.teams.coaching.language import FixedLanguage, fixed_language
from repertory.teams.coaching.traits import QUESTIONNAIRE
from repertory.teams.coaching.words import content_stems, fold, sentences

__all__ = ("DONE", "NOT_FOUND", "asks_to_forget", "forget_request", "only_asked", "was_asked")

_ASKS = re.compile(
    r"\b(?:please |can you |could you |i want you to |i'd like you to )?(?:forget|delete|erase|remove|wipe)(?: \w+){0,3} (?:what|everything|anything|the things?|the part|that|all)(?: that)? i(?:'ve| have)?(?: \w+)? (?:said|told|wrote|written|shared|mentioned)\b|"
    r"\b(?:forget|delete|erase|remove|wipe) (?:my|that|this|the) (?:last |previous |earlier )?(?:messages?|sentence|note)\b|\b(?:don'?t|do not) (?:remember|keep|store|save) (?:what|that|anything)(?: \w+)? i(?:'ve| have)?(?: \w+)? (?:said|told|wrote|shared|mentioned)\b|"
    r"\b(?:esquec\w*|apag\w*|elimin\w*|remov\w*)(?: \w+){0,2} (?:o que|tudo o que|aquilo que)(?: eu)? (?:te |lhe |vos )?(?:disse|contei|escrevi|falei)\b|"
    r"\b(?:olvid\w*|borr\w*|elimin\w*)(?: \w+){0,2} (?:lo que|todo lo que)(?: yo)? (?:te |os )?(?:dije|conte|escribi|he dicho|he contado)\b|"
    r"\b(?:vergiss|vergessen|losch\w*|loesch\w*|streich\w*)(?: \w+){0,3},? (?:was|alles,? was|das,? was) ich(?: \w+){0,8}? (?:gesagt|erzahlt|geschrieben|sagte|schrieb|erzahlte)\b|"
    r"\b(?:oubli\w*|efface\w*|supprim\w*)(?: \w+){0,2} (?:ce que|tout ce que) (?:je |j'ai |je t'ai |je vous ai )(?:t'ai |vous ai )?(?:dit|ecrit|raconte)\w*\b"
)
_ABOUT = re.compile(
    r"\b(?:about|regarding|on|sobre|acerca de|a respeito d[eoa]|uber|ueber|zu|von|sur|a propos de)\b(?P<what>[^,.;!?]{2,120})"
)
# "Do not forget what I said" asks for the contrary.
_NOT = re.compile(
    r"\b(?:don'?t|do not|never|nao|nunca|no|n'|ne)(?: te| me| lo)? ?(?:ever )?(?:forget|delete|erase|esquec|apag|olvid|borr|oubli|efface)|vergiss (?:bitte )?nicht|nicht vergessen"
)
_FILLER = content_stems(
    "please thanks today yesterday earlier said told wrote bitte gesagt erzahlt geschrieben sagte schrieb erzahlte danke favor gracias "
    "obrigado dije disse contei escrevi dit ecrit raconte merci plait"
)
_LAST = re.compile(
    r"\b(?:just|last|previous|agora|ultim[ao]|recien|ultimo|acabo de|gerade|eben|letzt\w*|viens de|dernier\w*)\b"
)
_MARK: dict[FixedLanguage, str] = {
    "en": "(I asked you to forget something I wrote.)",
    "pt": "(Pedi que esquecesse uma coisa que escrevi.)",
    "es": "(Te pedí que olvidaras algo que escribí.)",
    "de": "(Ich habe darum gebeten, etwas zu vergessen, das ich geschrieben habe.)",
    "fr": "(J'ai demandé d'oublier quelque chose que j'ai écrit.)",
}
DONE: dict[FixedLanguage, str] = {
    "en": "I have forgotten it: it is gone from what I keep, and from what came of it.",
    "pt": "Já esqueci: saiu do que guardo e do que resultou disso.",
    "es": "Ya está olvidado: salió de lo que guardo y de lo que se derivó de ello.",
    "de": "Das ist vergessen: Es ist weg aus dem, was ich aufhebe, und aus dem, was daraus folgte.",
    "fr": "C'est oublié : ce n'est plus dans ce que je garde, ni dans ce qui en venait.",
}
NOT_FOUND: dict[FixedLanguage, str] = {
    "en": "I found nothing you wrote about that. `repertory blackboard forget` takes a message or any words of it.",
    "pt": "Não encontrei nada que tenha escrito sobre isso. `repertory blackboard forget` aceita uma mensagem ou palavras dela.",
    "es": "No encontré nada que hayas escrito sobre eso. `repertory blackboard forget` acepta un mensaje o palabras suyas.",
    "de": "Dazu habe ich nichts von dir gefunden. `repertory blackboard forget` nimmt eine Nachricht oder Worte daraus.",
    "fr": "Je n'ai rien trouvé de toi à ce sujet. `repertory blackboard forget` accepte un message ou des mots qu'il contient.",
}


def asks_to_forget(text: str) -> bool:
    """Whether a message asks to have something forgotten that was written before."""
    return any(_is_request(sentence) for sentence in sentences(text[:4000]))


def _is_request(sentence: str) -> bool:
    folded = fold(sentence)
    return bool(_ASKS.search(folded)) and not _NOT.search(folded)


def _meant(request: str, said: Sequence[Message]) -> list[Message]:
    """The messages that a request means: those with all its words, or the last one when it names none."""
    folded = fold(request)
    asked = _ASKS.search(folded)
    rest = folded[asked.end() :] if asked else folded
    about = _ABOUT.search(rest) or _ABOUT.search(folded)
    wanted = content_stems(about["what"]) - _FILLER if about else frozenset[str]()
    if wanted:
        return [message for message in said if wanted <= content_stems(message.text)]
    return list(said[-1:]) if _LAST.search(folded) else []


def forget_request(view: TurnView) -> ForgetRequest | None:
    """What a message asks to have forgotten; None when it asks for nothing that can be found."""
    parts = sentences(view.message.text[:4000])
    asking = [part for part in parts if _is_request(part)]
    if not asking:
        return None
    said = [message for message in (*view.past_messages, *view.history) if message.role == "person"]
    meant = {message.id: message for part in asking for message in _meant(part, said)}
    if not meant:
        return None
    corrections, answers = latest_value(view, CORRECTIONS), latest_value(view, QUESTIONNAIRE)

    def redaction(forgotten: Forgotten) -> CoachingRedaction:
        return CoachingRedaction(forgotten, corrections, answers)

    # The request names what is to be forgotten, so it is not kept either.
    mark = _MARK[fixed_language([view.message.text])]
    rest = [part for part in parts if part not in asking]
    return ForgetRequest(tuple(meant), " ".join((mark, *rest)), redaction)


def was_asked(text: str) -> bool:
    """Whether the text stands in place of a request that was carried out."""
    return any(text.startswith(mark) for mark in _MARK.values())


def only_asked(text: str) -> bool:
    """Whether a message asked for nothing else."""
    return text.strip() in _MARK.values()
