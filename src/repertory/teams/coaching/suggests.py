"""Recognising moves in a text: does a sentence suggest one that may be blocked?

Lexical patterns in five languages, on folded text. A sentence that warns of a move does not suggest it ("do not announce it
publicly"), but a double turn does ("why not announce it publicly?").
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterable

from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.negation import NEGATION, is_negated, without_pseudo_negation
from repertory.teams.coaching.words import fold, sentences

__all__ = ("MOVE_PATTERNS", "is_tail", "mentions_move", "suggested_in_pieces", "suggested_moves", "suggests")


def _any(patterns: str) -> re.Pattern[str]:
    lines = [line.strip() for line in patterns.strip().splitlines() if line.strip()]
    return re.compile("|".join(rf"\b(?:{line})" for line in lines))


MOVE_PATTERNS: dict[Move, re.Pattern[str]] = {
    Move.PUBLIC_COMMITMENT: _any(r"""
        (?:announc\w*|declar\w*|shar(?:e|ing)|post\w*|publish\w*|tell(?:ing)?|broadcast\w*|commit\w*|pledg\w*|promis\w*|say(?:ing)?|mak\w+ it|go(?:ing)?|put\w*|let\w*|show\w*|present\w*|writ\w+|email\w*|invit\w*)\b.{0,60}\b(?:public\w*|everyone|everybody|(?:the |your )?(?:whole|entire) \w+|all (?:of )?(?:your|the) \w+|social media|linkedin|instagram|facebook|twitter|tiktok|slack|department|online|the world|many people|followers|company(?:-| )wide|your (?:team|colleagues|friends|followers))
        public(?:ly)? (?:\w+ )?(?:announc\w*|commit\w*|deadline|promise|pledge|challenge|declar\w*|accountab\w*|goal|statement|post)
        announc(?:e|ing) (?:it|this|that|your|the|a)\b
        (?:30|\d+)-day (?:public )?challenge
        (?:anunci\w*|declar\w*|compartilh\w*|partilh\w*|public\w*|post\w*|cont(?:e|ar|a|ando)|diga|dizer|promet\w*|mostr\w*|comparta?\w*|digas?|decir\w*|divulg\w*|cuent\w*|contar\w*)\b.{0,60}\b(?:public\w*|todos|todo (?:o )?mundo|todo el mundo|toda a (?:gente|equipe|equipa)|todo (?:o |el )?(?:equipo|departamento)|redes sociais|redes sociales|linkedin|instagram|departamento|a equipe inteira|sus? seguidores|seus? seguidores|online)
        (?:compromisso|compromiso|anuncio|prazo|plazo|desafio|promessa|promesa|meta) public\w*
        (?:kundig\w*|verkund\w*|sag\w*|erzahl\w*|post\w*|veroffentlich\w*|teil\w*|versprich|versprech\w*|mach\w*|zeig\w*)\b.{0,60}\b(?:offentlich\w*|allen|alle|jedem|linkedin|instagram|sozialen medien|social media|(?:der |die |dem )?ganzen? (?:\w+)|abteilung|team)\b
        offentlich\w* (?:\w+ )?(?:ankundig\w*|verkund\w*|mach\w*|versprech\w*|frist|termin|ziel|zusag\w*|bekenn\w*|verpflicht\w*)
        (?:annonc\w*|declar\w*|partag\w*|publi\w*|post\w*|di(?:s|re|tes)|promet\w*|montr\w*|racont\w*)\b.{0,60}\b(?:public\w*|tout le monde|tous|toute? (?:l'|ton |le |la )?\w+|reseaux sociaux|linkedin|instagram|departement|en ligne|publi\w*)
        (?:engagement|annonce|defi|echeance|promesse) publi\w*
    """),
    Move.FINANCIAL_STAKE: _any(r"""
        (?:bet|bets|betting|wager\w*|stak(?:e|es|ing)|pledg\w*|forfeit\w*|los(?:e|ing)|pay\w*|donat\w*|give|deposit\w*|put\w*|risk\w*)\b.{0,40}(?<!\w)(?:money|\$ ?\d+|\d+ ?(?:dollars|euros|pounds|bucks|eur|usd|€|\$|£)|dollars|euros|cash|a fine|a penalty|anti-charity|charity|friend \d+|some (?:cash|savings))
        financial (?:stake|penalt\w*|bet|incentive|punishment)|money on (?:it|the line)|beeminder|stickk
        (?:apost\w*|apuest\w*|pag(?:ue|ar|a|o|as|ues)|pon(?:er|ga|gas|te)?|coloqu\w*|aplic\w*|perd(?:er|a|e)|do(?:e|ar|na\w*))\b.{0,40}\b(?:dinheiro|dinero|\d+ ?(?:reais|euros|pesos|dolares)|reais|euros|multa|caridad\w*)
        (?:apuesta|aposta|multa|penaliza\w*|penalidade) (?:financeira|economica|de dinero|em dinheiro|con dinero)|apueste?s?\b|aposte\b
        (?:wett\w*|setz\w*|zahl\w*|spend\w*|einsatz|verlier\w*)\b.{0,40}\b(?:geld|\d+ ?(?:euro|franken|€)|euro|strafe)
        geld (?:darauf|drauf|wetten|einsetzen|setzen)|geldeinsatz|strafzahlung|wettein\w*
        (?:pari\w*|mis(?:e|er|es|ez)|pai?e\w*|pay\w*|donn\w*|perd\w*|engag\w*)\b.{0,40}\b(?:argent|\d+ ?(?:euros?|€)|euros|amende|caution)
    """),
    Move.STREAK_PRESSURE: _any(r"""
        streaks?\b
        (?:never|don'?t|not) (?:miss|skip|break) (?:a|one|any|another|the|even a|a single) (?:single )?(?:day|session|chain|one|workout|time)
        every single day|(?:\d+|thirty|seven|ten) days in a row|no (?:days off|excuses|exceptions|zero days)|don'?t break the chain
        (?:30|21|75|100|90|\d{2,3})[- ]day (?:\w+ )?challenge
        sequencia de \d+ dias|todos os dias sem (?:falta\w*|excec\w*)|sem falhar (?:um|nenhum)|nao (?:falhe|perca|quebre|falte) (?:um|nenhum|a) |desafio de \d+ dias|nunca falh\w+ um dia|\d+ dias seguidos|sem desculpas
        racha de|no (?:rompas|faltes|falles|pierdas) (?:ni |la |un |ningun)|todos los dias sin (?:falta|excepcion)|reto de \d+ dias|sin excusas|ni un solo dia
        (?:keinen|keine) (?:einzigen )?(?:tag|ausnahme\w*|ausreden)\b|tage? am stuck|jeden einzelnen tag|\d+-tage-challenge|serie nicht (?:abreissen|unterbrechen)|tage ohne (?:pause|unterbrechung)
        jours d'affilee|sans (?:exception|excuse|manquer|rater)\w*|ne (?:rate|manque|saute) (?:aucun|pas un|jamais)|defi (?:de )?\d+ jours|pas un seul jour
    """),
    Move.SOCIAL_COMPARISON: _any(r"""
        compar(?:e|es|ing) (?:yourself|your (?:\w+ )?(?:progress|results|numbers|pace|work)|with (?:others|other|your|them)|to (?:others|other|them|your))\b
        (?:better|faster|ahead|worse|slower|behind|more|less) than (?:other|most|everyone|everybody|your (?:colleagues|friends|peers|siblings|brother|sister|neighbou?r))
        (?:other people|others|most people|everyone else|your (?:peers|colleagues|friends|brother|sister)) (?:can|do|manage|have|are|already|at your)\b
        leader ?board|rank(?:ing)? (?:yourself|against)|look at (?:how|what) (?:others|other people|your (?:friends|colleagues|peers))
        compar(?:e-se|ar-se|a-te|e o seu|arte|ate|e seu|ar seu|arse|ese)\b|(?:melhor|mais rapido|a frente|mejor|mas rapido|por delante|peor|pior) (?:do )?que (?:os|as|outros|otros|otras|tus|teus|seus|sus|los|la mayoria|a maioria)|(?:os outros|los demas|otros|outras pessoas|otras personas) (?:conseguem|pueden|fazem|hacen|ja|ya)
        vergleich\w* (?:dich|deine|mit (?:anderen|deinen|den))|dich mit (?:anderen|den|deinen) (?:\w+ )?(?:zu )?(?:vergleich|mess)\w*|(?:besser|schneller|weiter|schlechter) als (?:andere|die anderen|deine|alle)|andere (?:schaffen|konnen|machen)|rangliste|bestenliste
        compar(?:e|er|ez)[- ]?(?:toi|te|vous)\b|te compar\w*|(?:mieux|plus vite|moins bien|en avance) que (?:les autres|tes|la plupart)|les autres (?:y arrivent|font|reussissent)|classement
    """),
    Move.INCREASE_TARGET: _any(r"""
        (?:increas\w*|rais(?:e|ing)|doubl\w*|tripl\w*|up|bump\w*|step\w* up|ramp\w* up|scal\w+ up|push\w*|stretch\w*)\b.{0,30}\b(?:target|goal|number|volume|mileage|distance|load|weight|intensity|hours|pace|to (?:three|four|five|six|\d+)|further|harder|yourself)
        (?:aim|go|try|shoot|commit|switch|move) (?:\w+ )?(?:for|to|up to) (?:more|three|four|five|six|seven|\d+) (?:\w+ )?(?:instead|times|visits|sessions|days|a week|per week|hours|km|miles|evenings|mornings|pages)
        (?:add|do) (?:one|two|another|an extra|more|a (?:third|fourth|fifth)) (?:more )?(?:session|visit|day|workout|run|evening|mile|km|hour)s?
        (?:train|run|work|go|push) (?:harder|longer|more often|more|through (?:it|the pain))\b
        (?:aument\w*|sub(?:a|ir|e|as)|dobr\w*|duplic\w*|increment\w*|elev\w*)\b.{0,30}\b(?:meta|objetivo|numero|volume|carga|intensidad\w*|distancia|horas|para (?:tres|quatro|cinco|\d+)|a (?:tres|cuatro|cinco|\d+))
        (?:treine|treina|corra|trabalhe|entrena|corre|trabaja|entrene) (?:mais|mas)\b
        (?:erhoh\w*|steiger\w*|verdoppel\w*|mehr (?:training|einheiten|laufen|arbeiten|kilometer))\b|\bauf (?:drei|vier|funf|\d+) (?:\w+ )?(?:erhoh\w*|steiger\w*|mal|einheiten)|harter trainieren|trainier(?:e)? (?:mehr|harter|ofter)
        (?:augment\w*|doubl\w*|mont(?:e|er|ez)|intensifi\w*|passe[rz]? a)\b.{0,30}\b(?:objectif|nombre|volume|charge|intensite|distance|heures|trois|quatre|cinq|\d+)|entraine[- ]toi (?:plus|davantage)
    """),
    Move.DIET_TARGET: _any(r"""
        calori\w*|kcal|weigh (?:yourself|in)|weigh-ins?|lose (?:\d+|some|a few|more|the|another)? ?(?:weight|kilos?|kg|pounds|lbs)|weight (?:goal|target|loss)|target weight|goal weight|(?:fasting|fast for|intermittent fast\w*|crash diet|cut (?:out )?(?:carbs|sugar|meals|calories)|skip (?:a |your |some )?(?:meals?|breakfast|dinner|lunch))\b|(?:restrict|limit|cut down) (?:on )?(?:your )?(?:food|eating|intake|portions?)|(?:diet|meal) plan|on a diet|macros\b|eat less
        (?:perder|emagrecer|perca|perde|adelgazar|bajar de|pierde|pierda)\b.{0,15}\b(?:peso|quilos|kg|kilos)|emagre\w*|adelgaz\w*|contar calorias|jejum|ayuno|pul(?:e|ar) (?:o |uma )?refeic\w*|salt(?:e|arte|ate|a) (?:la |una )?(?:comida|cena|desayuno)|coma menos|come menos|dieta (?:de|mais|mas|restritiva|estricta)|pes(?:e-se|ar-se|ate|arte)\b|meta de peso|peso ideal
        kalorien\w*|abnehm\w*|(?:zielgewicht|wunschgewicht|diat(?:plan)?)\b|fasten\b|mahlzeit\w* (?:auslassen|weglassen)|wieg(?:e)? dich|weniger essen|iss weniger|\d+ ?(?:kilo|kg) (?:runter|weniger|verlieren|abnehmen)
        perd(?:re|s|ez)\b.{0,15}\b(?:poids|kilos?|kg)|maigrir|regime|jeune intermittent|jeuner|saute[rz]? (?:un |le |des )?repas|mange[rz]? moins|pese[- ]toi|te peser|poids (?:cible|ideal)|objectif de poids
    """),
    Move.ENDORSE_IRREVERSIBLE_STEP: _any(r"""
        (?:quit|resign|leave|hand in|submit|walk out|give|send|drop out|divorce|sell|cut|break up|move out|burn|sign|cash out|empty|stop taking|delete)\b.{0,30}\b(?:job|notice|resignation|work|school|university|college|degree|your (?:husband|wife|partner|house|home|car|savings|family|boss|medication|meds|marriage|account)|contact|ties|bridges|the (?:company|contract|lease|house))
        (?:just )?(?:quit|resign|walk away|leave (?:him|her)|divorce (?:him|her)|break up with (?:him|her))\b|hand in your notice|go all[- ]in\b|take the leap\b
        (?:peca|pedir|pede|pida|pedir la|pide)\b.{0,10}(?:demissao|demissoes|renuncia|divorcio|contas)|demit(?:a-se|ir-se|e-te)|se demit\w*|largu?e\w* (?:o |seu |a |sua )?(?:emprego|trabalho|faculdade|curso)|larg(?:ar|ue) (?:o|a|seu|sua) |venda (?:a|o|tudo|sua|seu)|separe-se|divorcie-se|deixe (?:o|seu|a) (?:emprego|trabalho|marido|mulher)|renunci(?:a|ar|es|e)\b|dej(?:a|ar|es|e) (?:el|tu|la|su) (?:trabajo|empleo|carrera|universidad|marido|pareja)|vende (?:la|tu|el|todo)|divorciate|dimit(?:e|ir|as)
        kundig(?:e|st|en|ung)?\b|(?:job|stelle|arbeit|studium) (?:hinschmeissen|hinwerfen|aufgeben|kundigen|abbrechen)|schmeiss (?:den|die|alles)|reich\w* (?:\w+ )?(?:die )?(?:kundigung|scheidung)|trenn(?:e)? dich|verkauf(?:e)? (?:dein|das|die|alles)|brich (?:\w+ )?(?:den kontakt|das studium) ab|lass dich scheiden|setz\w* (?:\w+ )?(?:medikament\w*|tabletten) ab
        demissionn\w*|(?:quitte[rz]?|lache[rz]?|abandonne[rz]?)\b.{0,20}\b(?:ton|votre|le|la|ta|tes|l') ?(?:travail|emploi|poste|boulot|job|mari|femme|conjoint|etudes|etude|fac|universite)|divorce[rz]?\b|vend(?:s|re|ez) (?:ta|ton|la|tout|votre)|coupe[rz]? les ponts|pose[rz]? ta demission|arrete[rz]? (?:ton|tes|le) (?:traitement|medicament\w*)
    """),
    Move.SELF_MONITORING: _any(r"""
        (?:track|log|record|count|measure|monitor|write down|note|keep (?:a |track))\w*\b.{0,30}\b(?:eat|ate|meals?|food|calories|weight|steps|every|intake|body|log|diary|journal|of (?:your|what|how)|numbers|progress)
        (?:registr\w*|anot\w*|monitor\w*|cont(?:e|ar|a) (?:as|los|las|cada)|apunt\w*|med(?:ir|ite|e-se))\b.{0,30}\b(?:come\w*|comida|refeic\w*|peso|calorias|passos|pasos|cada|todo|tudo)
        (?:notier\w*|protokoll\w*|aufschreib\w*|schreib\w* auf|tagebuch|zahl\w*)\b.{0,30}\b(?:isst|essen|mahlzeit\w*|gewicht|kalorien|schritte|jede\w*)|ernahrungstagebuch|esstagebuch
        (?:not(?:e|er|ez)|suivi?\w*|compt\w*|mesur\w*|enregistr\w*)\b.{0,30}\b(?:mange\w*|repas|poids|calories|pas|chaque|tout)|journal alimentaire
    """),
}

_OWN_PAST = re.compile(
    r"\b(?:(?:your|their) own|your (?:past|last|earlier) \w+|yourself (?:last|a|in)|contigo|consigo|com voce mes\w+|dir selbst|toi-meme)\b"
)


def mentions_move(move: Move, text: str) -> bool:
    """Whether a text speaks of a move at all, for or against."""
    pattern = MOVE_PATTERNS.get(move)
    return bool(pattern and pattern.search(fold(text)))


def suggests(move: Move, text: str) -> bool:
    """Whether a text suggests a move: it names it, and not in order to warn of it."""
    pattern = MOVE_PATTERNS.get(move)
    if pattern is None:
        return False
    folded = without_pseudo_negation(fold(text))
    for sentence in sentences(folded) or [folded]:
        if move is Move.SOCIAL_COMPARISON and _OWN_PAST.search(sentence):
            continue
        for match in pattern.finditer(sentence):
            # "Never miss a day" has its "never" inside: only what stands before it can turn it round.
            end = match.start() if move is Move.STREAK_PRESSURE else match.end()
            if not is_negated(sentence, match.start(), end):
                return True
    return False


_TAIL_WORDS = 8
_TAIL_START = re.compile(
    r"(?:to|on|in|at|with|for|and|before|publicly|everyone|everybody|online|para|a|no|na|em|com|e|ao|en|con|y|ante|"
    r"an|auf|bei|zu|vor|und|mit|im|vor|sur|dans|devant|avec|et|au|aux|chez)\b"
)


def is_tail(sentence: str) -> bool:
    """Whether a sentence may only go on with one that was left out: short, no question, nothing negated."""
    folded = fold(sentence).strip()
    goes_on = len(folded.split()) <= 3 or bool(_TAIL_START.match(folded))
    return goes_on and len(folded.split()) < _TAIL_WORDS and "?" not in folded and not NEGATION.search(folded)


_INNER_END = re.compile(r"[.!\u2026]+\s+")


def suggested_moves(text: str, moves: Iterable[Move]) -> list[Move]:
    """Those of `moves` that a text suggests."""
    return [move for move in moves if suggests(move, text)]


def suggested_in_pieces(text: str, moves: Iterable[Move]) -> list[Move]:
    """Those that a text suggests as it stands, or once full stops inside it are taken for pauses ("Announce. It publicly.")."""
    return [move for move in moves if suggests(move, text) or suggests(move, _INNER_END.sub(" ", text))]
