"""Harm that a person tells of, found by code: which moves it rules out, why, and how grave it is.

Two kinds of signs: a move together with what it did to the person ("announced it ... fell behind ... called in sick"), and a
condition that rules a move out by itself (an eating disorder and weight targets).
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.words import fold

__all__ = ("Harm", "find_harm", "good_experience", "tells_bad_end")


@dataclass(frozen=True)
class Harm:
    """One move that a message rules out.

    Attributes:
        move: The move.
        reason: Why, in English (a record and an instruction, never shown as it stands).
        severity: How bad, 1..10; likewise the other three ratings.
    """

    move: Move
    reason: str
    severity: int
    occurrence: int
    detectability: int
    reversibility: int


# What went wrong, in any of the five languages, folded.
_BAD_END = re.compile(
    r"\b(?:fell behind|fell apart|people (?:joked|laughed)|laughed at|mocked|humiliat\w*|ashamed|shame|embarrass\w*|called in sick|"
    r"stopped (?:everything|completely|for)|gave up|quit (?:everything|completely)|panic\w*|burn(?:ed|t)? ?out|breakdown|spiral\w*|"
    r"backfir\w*|went (?:badly|wrong)|collapsed|relaps\w*|binge\w*|hated (?:it|myself)|froze|crash\w*|couldn'?t (?:sleep|get up|work)|"
    r"felt (?:awful|terrible|worthless|like a failure|sick|stupid|miserable)|lost (?:it all|everything|all|\$?\d+)|in debt|injur\w*|"
    r"made (?:it|me|things) (?:\w+ )?worse|never again|disaster|cried|crying|depress\w*|"
    r"fiquei para tras|riram|gozaram|humilha\w*|vergonha|faltei (?:ao trabalho|uma semana)|atestado|parei (?:tudo|com tudo|de vez)|desisti|"
    r"panico|esgota\w*|recai\w*|deu errado|correu mal|foi um desastre|me senti (?:pessimo|pessima|horrivel|um lixo|mal)|senti-me (?:pessim\w*|horrivel|mal)|"
    r"perdi (?:tudo|dinheiro)|dividas?|lesao|me machuquei|lesion\w*|nunca mais|chorei|"
    r"me quede atras|se rieron|burlaron|humill\w*|verguenza|baja (?:por|una semana)|lo deje todo|abandone|me rendi|agota\w*|"
    r"salio mal|fue un desastre|me senti (?:fatal|horrible|mal|un fracaso)|perdi (?:todo|dinero)|deudas?|nunca mas|llore|"
    r"zuruckgefallen|ausgelacht|gelacht|verspottet|gedemutigt|blamiert|geschamt|krank (?:gemeldet|gemacht|schreiben)|krankgemeldet|krankgeschrieben|"
    r"alles (?:hingeschmissen|abgebrochen|aufgehort|gestoppt)|aufgegeben|panik\w*|zusammengebrochen|ruckfall|schief ?gegangen|ging schief|"
    r"nach hinten losgegangen|schlecht gefuhlt|elend|schulden|verletzt\w*|nie wieder|geweint|"
    r"pris du retard|moque\w*|ri de moi|honte|arret maladie|tout (?:arrete|lache|abandonne)|abandonne|panique|epuis\w*|rechut\w*|"
    r"mal (?:tourne|fini|passe)|catastrophe|me suis senti\w* (?:nul\w*|mal|horrible)|perdu (?:de l'argent|tout)|dettes?|bless\w*|plus jamais|pleure)\b"
)
_GOOD_END = re.compile(
    r"\b(?:went (?:really |very )?(?:well|fine|great)|worked (?:really |very )?(?:well|great)|it helped|was (?:fine|great|good) this time|no problem this time|felt good|"
    r"deu certo|correu bem|foi bem|ajudou|salio bien|funciono|me ayudo|fue bien|ging gut|hat (?:gut )?(?:geklappt|geholfen)|lief gut|"
    r"s'est bien passe|a (?:bien )?(?:marche|aide))\b"
)
# What belongs to each move when a person tells of it.
_EXPERIENCE: dict[Move, re.Pattern[str]] = {
    Move.PUBLIC_COMMITMENT: re.compile(
        r"\b(?:announc\w+|told (?:everyone|everybody|the whole|all)|posted|public\w*|in front of|whole (?:department|team|office|company)|"
        r"linkedin|instagram|facebook|anunci\w+|contei (?:a|para) tod\w+|publi\w+|na frente de|toda a equip\w+|conte a todos|delante de|"
        r"todo el (?:equipo|departamento)|angekundigt|allen erzahlt|offentlich\w*|vor allen|ganzen? (?:team|abteilung|buro)|annonce\w*|"
        r"devant tout|tout le (?:service|departement)|dit a tout)\b"
    ),
    Move.STREAK_PRESSURE: re.compile(
        r"\b(?:streak\w*|\d+[- ]day challenge|challenge|every single day|days in a row|desafio|sequencia|dias seguidos|reto|racha|"
        r"\d+-tage|tage am stuck|defi|jours d'affilee)\b"
    ),
    Move.FINANCIAL_STAKE: re.compile(
        r"\b(?:bet\b|bets\b|betting|stak(?:e|ed|es)|stickk|beeminder|pledged|fine of|paid a (?:fine|penalty)|apost\w+|multa|apuest\w+|apost\w+|"
        r"gewettet|wette|strafe gezahlt|einsatz|pari\w*|amende)\b"
    ),
    Move.SOCIAL_COMPARISON: re.compile(
        r"\b(?:compar\w+|leader ?board|ranking|ranglist\w+|vergleich\w*|verglichen|classement|klassement)\b"
    ),
    Move.INCREASE_TARGET: re.compile(
        r"\b(?:doubled|increased|raised (?:the|my)|pushed (?:myself|through|too)|more and more|too (?:much|fast|hard)|overtrain\w*|overdid|"
        r"aumentei|dobrei|exagerei|aumente|duplique|me pase|gesteigert|verdoppelt|ubertrieben|zu viel|augmente|double|trop (?:vite|force))\b"
    ),
    Move.DIET_TARGET: re.compile(
        r"\b(?:diet\w*|calori\w*|fasting|weighed|weight goal|dieta|jejum|calorias|ayuno|diat\w*|kalorien|gefastet|regime|jeune)\b"
    ),
    Move.SELF_MONITORING: re.compile(
        r"\b(?:track(?:ed|ing)|logg(?:ed|ing)|counted|counting|diary|registr\w+|contava|contaba|protokoll\w*|gezahlt|comptais|notais)\b"
    ),
}
# (moves, sign, reason, severity, occurrence, detectability, reversibility)
_CONDITIONS: tuple[tuple[tuple[Move, ...], re.Pattern[str], str, tuple[int, int, int, int]], ...] = (
    (
        (Move.DIET_TARGET, Move.SELF_MONITORING),
        re.compile(
            r"\b(?:eating disorder|anorexi\w*|bulimi\w*|binge[- ]?eat\w*|(?:binge|binged|binging)\b|purg(?:e|ed|ing)|throw(?:ing)? up after|"
            r"mak(?:e|ing) myself (?:sick|throw up)|starv(?:e|ed|ing) myself|orthorexi\w*|"
            r"(?:haven'?t|not) eaten|ate (?:almost )?nothing|skipp\w+ (?:all )?meals|transtorno alimentar|compulsao alimentar|vomit\w+|"
            r"trastorno alimentari\w*|atracon\w*|essstorung|magersuchtig|magersucht|fressanfall\w*|fressattacke\w*|erbrech\w*|"
            r"trouble (?:du comportement )?alimentaire|boulimi\w*|vomir)\b"
        ),
        "signs of an eating disorder",
        (9, 5, 7, 7),
    ),
    (
        (Move.FINANCIAL_STAKE,),
        re.compile(
            r"\b(?:gambl\w*|casino|betting (?:problem|habit|apps?)|in debt|debts?|bankrupt\w*|overdraft|can'?t pay (?:the |my )?(?:rent|bills)|payday loan|"
            r"jogo (?:patologico|a dinheiro)|viciad[oa] em (?:jogo|apostas)|apostas|dividas?|ludopat\w*|deudas?|apuestas|no (?:puedo|llego a) pagar|"
            r"spielsuchtig|spielsucht|glucksspiel|schulden|uberschuldet|pleite|jeux? d'argent|dettes?|surendett\w*)\b"
        ),
        "money is tight, or gambling has done harm",
        (7, 6, 5, 7),
    ),
    (
        (Move.INCREASE_TARGET, Move.STREAK_PRESSURE),
        re.compile(
            r"\b(?:injur(?:y|ies|ed)|stress fracture|torn|overtrain\w*|doctor (?:said|told me) (?:to )?(?:rest|stop|slow)|burn(?:ed|t)?[- ]?out|"
            r"exhaust(?:ed|ion)|chest pain|faint(?:ed|ing)?|pregnan\w*|heart (?:condition|problem)|after (?:my )?surgery|long covid|"
            r"lesao|lesionad\w*|me lesionei|esgotad\w*|esgotamento|desmai\w*|gravida|dor no peito|o medico (?:mandou|disse)|"
            r"lesion\w*|agotad\w*|agotamiento|desmay\w*|embarazad\w*|dolor en el pecho|el medico (?:me )?(?:dijo|mando)|"
            r"verletzung|verletzt|uberlastung|ubertraining|erschopf\w*|ohnmacht\w*|schwanger\w*|der arzt (?:hat|sagt)|brustschmerz\w*|"
            r"blessure|blessee?|epuisee?|epuisement|evanoui\w*|enceinte|le medecin (?:m'a|a) dit|douleur a la poitrine)\b"
        ),
        "an injury, illness or exhaustion speaks against more",
        (7, 6, 6, 6),
    ),
    (
        (Move.ENDORSE_IRREVERSIBLE_STEP,),
        re.compile(
            r"\b(?:quit(?:ting)? (?:my|the) (?:job|work|school|university|degree)|quit(?:ting)? (?:tomorrow|on monday|today)|(?:resign\w*|hand(?:ing)? in my (?:notice|resignation))\b|"
            r"leave my (?:job|husband|wife|partner|family)|drop(?:ping)? out|divorce\b|sell (?:my|our|the) (?:house|home|car|flat|everything)|"
            r"(?:all|empty|use) my savings|cut (?:off|all) (?:contact|ties)|stop(?:ping)? (?:taking )?my (?:medication|meds|pills)|burn (?:my|the) bridges|"
            r"move (?:abroad|to another country)|sign (?:the|a) (?:contract|lease|loan)|take out a loan|surgery\b|tell my boss (?:to|what|off)|"
            r"pedir demissao|me demitir|demitir-me|largar (?:o|meu|a|minha) (?:emprego|trabalho|faculdade|curso)|divorcio|separar|vender (?:a|minha|o|meu|tudo)|"
            r"minhas poupancas|cortar (?:o )?contacto?|parar (?:de tomar|com) (?:a medicacao|o remedio|os remedios)|"
            r"dejar (?:mi|el) (?:trabajo|empleo|carrera)|renunciar|dimitir|divorciar\w*|vender (?:mi|la|el|todo)|mis ahorros|cortar (?:el )?contacto|dejar la medicacion|"
            r"kundig(?:en|e|ung)|hinschmeissen|studium abbrechen|scheidung|scheiden lassen|verkaufe?n? (?:mein|das|die|unser)\w*|ersparnisse|kontakt abbrechen|"
            r"medikamente? absetzen|demissionn\w*|quitter (?:mon|mes|ma|le) (?:travail|emploi|poste|boulot|mari|femme|etudes)|divorcer|vendre (?:ma|mon|la|tout)|"
            r"mes economies|couper les ponts|arreter (?:mon traitement|mes medicaments))\b"
        ),
        "the step they speak of can not be undone",
        (8, 4, 4, 9),
    ),
    (
        (Move.SOCIAL_COMPARISON,),
        re.compile(
            r"\b(?:compar(?:e|ing) myself|compared (?:myself|to (?:my|others|everyone))|everyone else is (?:ahead|better|further)|"
            r"(?:my (?:brother|sister|friends|colleagues)) (?:is|are|have) (?:all )?(?:so )?(?:much )?(?:better|ahead|further)|"
            r"me compar\w+|comparar-me|todos (?:sao|son|estao|estan) mel?jor\w*|vergleiche mich|mich (?:\w+ )?vergleich\w*|alle anderen sind|"
            r"me comparer|me compare|tous les autres)\b"
        ),
        "comparing themselves with others pulls them down",
        (6, 6, 5, 5),
    ),
    (
        (Move.DIET_TARGET, Move.FINANCIAL_STAKE, Move.PUBLIC_COMMITMENT),
        re.compile(
            r"\b(?:i'?m|i am) (?:1[0-7]|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)(?: years? old|\b(?! (?:percent|%|min|days?|hours?|weeks?|months?|km|kg|pounds|pages)))|"
            r"\btenho 1[0-7] anos|\btengo 1[0-7] anos|\b(?:ich )?bin 1[0-7](?: jahre)?\b|\bj'ai 1[0-7] ans\b"
        ),
        "the person is a minor",
        (8, 6, 6, 6),
    ),
)
_PAST_HARM = (7, 6, 5, 5)


def find_harm(text: str) -> list[Harm]:
    """The moves that a message rules out, each once; the graver reason wins."""
    folded = fold(text[:6000])
    found: dict[Move, Harm] = {}

    def add(move: Move, reason: str, ratings: Sequence[int]) -> None:
        harm = Harm(move, reason, ratings[0], ratings[1], ratings[2], ratings[3])
        if move not in found or found[move].severity < harm.severity:
            found[move] = harm

    if _BAD_END.search(folded):
        for move, pattern in _EXPERIENCE.items():
            if pattern.search(folded):
                add(move, "they told of harm from it before", _PAST_HARM)
        if Move.PUBLIC_COMMITMENT in found and Move.STREAK_PRESSURE not in found and re.search(r"\bday \d+\b", folded):
            add(Move.STREAK_PRESSURE, "they told of harm from it before", _PAST_HARM)
    for moves, pattern, reason, ratings in _CONDITIONS:
        if pattern.search(folded):
            for move in moves:
                add(move, reason, ratings)
    return list(found.values())


def tells_bad_end(text: str) -> bool:
    """Whether a sentence tells that something went badly for the person."""
    return bool(_BAD_END.search(fold(text)))


def good_experience(move: Move, text: str) -> bool:
    """Whether a message tells that a move did good, with no harm in the same message: evidence that lifts a block."""
    folded = fold(text[:6000])
    pattern = _EXPERIENCE.get(move)
    return bool(pattern and pattern.search(folded) and _GOOD_END.search(folded) and not _BAD_END.search(folded))
