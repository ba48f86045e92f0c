"""Signs that lie in what stands together in one sentence: means at hand, a chosen day, a wish not to be alive.

Word order differs from language to language and from person to person; what meets in a sentence does not. Each
combination is a list of groups, all of which must occur, and words that speak for a harmless reading.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ("shows_combination",)

_SENTENCE = re.compile(r"[.!?;\n]+")
_MAX_SENTENCE = 400
_MEANS = (
    r"pills?|tablets|painkillers|paracetamol|tylenol|insulin|sleeping meds|razor|blade|knife|noose|rope|gun|pistol|rifle|bleach|"
    r"tabletten|pillen|schlaftabletten|rasierklinge\w*|messer|klinge|strick|seil|pistole|comprimidos|remedios|lamina|faca|corda|arma|"
    r"pastillas|cuchillo|cuchilla|soga|pistola|cachets|comprimes|somniferes|couteau|lame|corde|pistolet|touw|mes|mesje|"
    r"pastiglie|pillole|coltello|lametta"
)
_AT_HAND = (
    r"next to me|in front of me|in my hand|beside me|by my bed|counting|lined up|ready|laid out|stare|staring|looking at me|"
    r"vor mir|neben mir|in der hand|bereit\w*|gezahlt|zahle|ao (?:meu )?lado|na mao|a minha frente|prontos|separei|contei|conto|"
    r"al lado|en la mano|delante de mi|listas|preparad[oa]s|cuento|a cote de moi|devant moi|dans la main|pretes?|compte|"
    r"klaargelegd|naast me|voor me|in mijn hand|preparat[oei]|accanto a me|davanti a me|in mano|"
    r"(?:my|at my|on my) (?:wrists?|throat|neck|arms?|veins?)|handgelenk\w*|pulso?s?|muneca\w*|poignets?|pols\w*|polsi"
)
_DAY = r"date|day|night|weekend|tag|termin|datum|dia|data|fecha|jour|dag|giorno"
_CHOSEN = r"picked|chosen|decided|set|ausgesucht|festgelegt|entschieden|escolhi|marquei|decidi|elegi|escogi|choisi|decide|fixe|gekozen|scelto|deciso"
_NOBODY_KNOWS = (
    r"(?:nobody|no ?one) knows|niemand weiss|weiss (?:es )?(?:niemand|keiner)|keiner weiss|ninguem sabe|nadie (?:lo )?sabe|personne ne (?:le )?sait|"
    r"niemand weet|nessuno (?:lo )?sa|then it'?s over|it ends|me included|it(?:'ll| will) (?:all )?be over"
)
_ALIVE = r"alive|(?:i|myself) exist\w*|am leben|(?:estar|seguir|estoy|continuar|ficar|seguir estando) viv[oa]|en vie|in leven|in vita"
_NOT = (
    r"not|n't|never|rather|tired|sick|hate|wish|easier|better|nicht|kein\w*|satt|leichter|besser|einfacher|nao|cansad[oa]|fart[oa]|melhor|facil|"
    r"no aguanto|no soporto|cansad[oa]|hart[oa]|mejor|facil|plus|pas|marre|mieux|facile|niet|beter|makkelijker|non|stanc[oa]|meglio"
)
_I = r"i|i'd|i'm|i've|me|my|ich|mich|mir|eu|me|mim|yo|je|j'ai|moi|ik|mij|io|mi"
_VEHICLE = r"driv\w+|car|crash\w*|steer\w*|swerv\w+|fahren|fahre|auto|bater|carro|conduzir|estrellar\w*|coche|foncer|voiture|rijden|guidare|macchina|schiantarmi"
_OBSTACLE = r"tree|wall|bridge|cliff|off the road|oncoming|truck|baum|wand|mauer|brucke|arvore|parede|muro|ponte|arbol|pared|puente|arbre|mur|pont|boom|muur|albero"
_CUT = r"cut|cuts|cutting|slic\w+|geschnitten|schneide\w*|cortei|cortar|cortes|corte|coupee?|coupure\w*|scarifi\w*|gesneden|tagliat\w|tagli"
_BODY = r"arms?|wrists?|thighs?|legs?|skin|arme?s?|handgelenk\w*|oberschenkel|haut|bracos?|pulsos?|coxas?|brazos?|munecas?|muslos?|bras|poignets?|cuisses?|arm|polsen?|braccia|polsi"
_KITCHEN = r"cook\w*|kitchen|chop\w*|shav\w*|accident\w*|paper|glass|fell|kuche|kochen|rasier\w*|versehen|cozinh\w*|sem querer|cocin\w*|sin querer|accidente|cuisin\w*|accident|keuken|koken|cucina\w*|per sbaglio|training|gym|surgery|doctor|workout|muscle\w*|hair|sleeves?"
_WANT = r"want|wish|hope|hoping|keep|think\w*|thought|urge|tempted|will|mochte|denke|gedanke\w*|drang|quero|penso|pensar|vontade|quiero|pienso|ganas|veux|pense|envie|wil|denk|voglio|penso|impulso"


@dataclass(frozen=True)
class _Combination:
    groups: tuple[re.Pattern[str], ...]
    harmless: re.Pattern[str] | None = None

    def found(self, sentence: str) -> bool:
        if self.harmless is not None and self.harmless.search(sentence):
            return False
        return all(group.search(sentence) for group in self.groups)


def _of(*groups: str, harmless: str | None = None) -> _Combination:
    def compiled(words: str) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)")

    return _Combination(tuple(map(compiled, groups)), compiled(harmless) if harmless else None)


_COMBINATIONS = (
    _of(
        _MEANS, _AT_HAND,
        harmless=r"doctor|prescri\w+|allerg\w*|vitamin\w*|cook\w*|kitchen|climb\w*|pharmacy|headache|arzt|allergie\w*|kuche|koch\w*|medico|alergia\w*|cozinh\w*|cocina\w*|"
        r"medecin|cuisine|ordonnance|dokter|keuken|medico|cucina|jump(?:ing)?|skipping|bread|vegetables|breakfast|desayuno|cafe|water|agua",
    ),
    _of(_DAY, _CHOSEN, _NOBODY_KNOWS, harmless="wedding|trip|exam|party|meeting|gym|training|urlaub|reise|prufung"),
    _of(_I, _NOT, _ALIVE, harmless=r"feel(?:s|ing)? (?:so |more |most )?alive|felt (?:so |more )?alive|sens|grand\w+|father|mother|dad|mom|mum|husband|wife|brother|sister|(?:was|were|is) still alive|look alive|stay alive|keep \w+ alive|kept \w+ alive|in this (?:job|team|company|meeting)|next week|the (?:plant|phone|project|company|startup)"),
    _of(_VEHICLE, _OBSTACLE, r"into|off|against|gegen|contra|dans|contre|tegen|contro", _WANT, harmless=r"forest|plant\w*|christmas|climb\w*|park\w*|insurance|accident last|avoid\w*"),
    _of(_CUT, _BODY, harmless=rf"{_KITCHEN}|session|short|fat|weight|carbs|curls|dedo|finger|doigt"),
)  # fmt: skip
_ALONE = re.compile(
    r"\b(?:(?:cry|come|cried|show up|be sad) (?:\w+ ){0,2}(?:at|to) my funeral|my (?:own )?funeral\b|(?:said|say|saying|told|tell)(?: \w+){0,3} (?:my )?goodbyes?\b(?= (?:this|today|tonight|for good|forever|already))|"
    r"(?:it|this|everything) ends?,? (?:all of it|tonight|this weekend)|me included|"
    r"(?:life|my life|being born) (?:has been|was|is) (?:just |only )?a mistake|"
    r"(?:insurance|life insurance)(?: \w+){0,8} (?:if i (?:did|do|kill|die|took|end)|suicid\w+|myself)|"
    r"(?:took|taken|swallowed|ate) (?:a lot|lots|loads|a bunch|too many|so many|all) (?:of )?(?:\w+ )?(?:pills|tablets|meds|medication)|"
    r"(?:comes|came|gets|climbs) (?:in|into) my (?:room|bed)(?: \w+){0,3} (?:night|sleep)|touch(?:es|ed) me (?:where|when|at night|down)|"
    r"ohne mich ware|wenn es mich nicht (?:gabe|mehr gabe)|nie wieder aufwach\w*|(?:so )?nicht (?:mehr )?weiterleben|"
    r"(?:por|pondo|poner|poniendo) (?:um |un )?fim? a tudo|fim a tudo|quitarme de en medio|quitarme del medio|"
    r"if i (?:didn'?t|did not|don'?t|never) exist\w*|(?:si|se) (?:yo |eu )?(?:nao|no) (?:existisse|existiera|existiese|estivesse ca|estuviera)|si je n'(?:existais|etais) (?:pas|plus)(?: la)?|se (?:io )?non (?:esistessi|ci fossi)|als ik er niet (?:meer )?(?:was|ben|zou zijn)|"
    r"(?:mi|meu|mon|mio|mijn|mein) (?:padre|pai|pere|vader|vater|padrasto|padrastro|beau-pere|stiefvater) (?:\w+ ){0,3}(?:me |m'a |mich |mi )?(?:\w+ )?(?:volvio a pegar\w*|encore frappee?|espancou|geschlagen)|"
    r"(?:hands?|grip) (?:\w+ )?(?:around|on|round) my (?:throat|neck)|(?:a|essaye de|tente de|intento|tentou|ha provato a) (?:m'|me |mi )?(?:etrangler|strangul\w+|ahorcar\w*|enforcar|strangolar\w+)|etrangler|etranglee?\b|"
    r"(?:world|nobody|no ?one|they) (?:doesn'?t|does not|don'?t|won'?t) (?:really )?need me (?:in it|any ?more|here|around)|(?:world|nobody) doesn'?t need me|(?:die welt|niemand) braucht mich|(?:o )?mundo nao precisa de mim|el mundo no me necesita|le monde n'a pas besoin de moi|"
    r"(?:roof|ledge|bridge|rooftop|balcony)(?: \w+){0,2} edge|edge of (?:the|a) (?:roof|bridge|cliff|platform)|(?:sat|stood|standing|sitting) on (?:the|a) (?:ledge|railing|roof)|(?:am|vom) (?:dachrand|gelander|bruckengelander)|"
    r"checking out (?:soon|for good|early)|nothing left for me|won'?t make it to (?:my|christmas|the|next|thirty|\d+)|don'?t think i'?ll make it to my|"
    r"sleep and (?:stay asleep|never|not)|stay asleep forever|(?:dormir|schlafen|dormire) (?:para siempre|para sempre|pour toujours|per sempre)|"
    r"(?:wish|want|quisiera|queria|wunsch\w*|aimerais|vorrei)\b.{0,30}\b(?:truck|bus|car|laster|auto|lkw|camion|caminhao|carro|coche|voiture|train|zug)\b.{0,25}\b(?:take me out|hit me|run me over|uberfahr\w*|atropell\w+|ecras\w+|investisse)|"
    r"\b(?:laster|auto|lkw|camion|caminhao)\b.{0,20}\b(?:me atropell\w+|m'ecras\w+|uberfahrt mich|mich uberfahrt)|atropellara un|"
    r"burn(?:ing|ed|t)? my (?:arms?|legs?|skin|thighs?|hands?)(?: with| when| again| on purpose)|verbrenne? mi(?:ch|r)(?: \w+){0,2} (?:haut|arm|absichtlich)|queimo-me|me queimo|me quemo|me brule (?:expres|la peau|quand)|"
    r"(?:waste of (?:space|oxygen|air))|(?:had|have) enough of (?:living|life|being alive)|genug vom leben|(?:assez|marre) de (?:la vie|vivre)\b(?! (?:en|avec|a|chez|ici|dans|sans))|"
    r"(?:take|taking|end|ending) your own life|no quiero seguir viv[oa]|no aguanto seguir viv[oa]|"
    r"(?:chickened|backed) out\b(?= .{0,30}\b(?:die|end|jump|cut))|won'?t wake up|not wake up (?:one|some|any)|don'?t wake up one)"
)


def _stretches(text: str) -> Iterator[str]:
    """The sentences; one that never ends is looked at in overlapping stretches."""
    for sentence in _SENTENCE.split(text):
        if len(sentence) <= _MAX_SENTENCE:
            yield sentence
        else:
            yield from (
                sentence[start : start + _MAX_SENTENCE] for start in range(0, len(sentence), _MAX_SENTENCE // 2)
            )


def shows_combination(text: str) -> bool:
    """Whether one sentence of a folded text, figures of speech taken out, shows such a combination."""
    if _ALONE.search(text):
        return True
    return any(
        combination.found(stretch) for stretch in _stretches(text) if stretch.strip() for combination in _COMBINATIONS
    )
