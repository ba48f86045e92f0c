"""Indirect disclosures: means, last arrangements, being gone, and slang, in seven languages (folded: no accents).

People often do not name death: they tell of a rope they bought, of things they gave away, of others who "will be better
off". Each line is one such form; the languages' own idiom lists take out the harmless uses first.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re

__all__ = ("INDIRECT",)

_LINES = r"""
    (?:bought|got|have|found|ordered|tied|keep looking at) (?:a|some|the|my|this) (?:length of |piece of )?(?:rope|noose|razor ?blades?|helium tank)\b(?! (?:for|to (?:climb|tie|skip|jump)|course|jump|ladder))
    (?:googl\w+|look\w* up|looked into|search\w*|research\w*|reading|read) (?:\w+ ){0,6}(?:painless\w*|ways? to (?:go|die)|lethal\w*|suicid\w+|how (?:many|much) (?:\w+ ){0,5}(?:pills|tablets|paracetamol|tylenol|insulin|ibuprofen)|how high)
    (?:painless|painful|easiest|quickest|fastest|best|quick|easy) (?:ways?|method|death|thing) (?:\w+ )?(?:to (?:go|die)|out for good|of dying|to end it)
    lethal (?:dose|amount)
    (?:pills|tablets|meds|medication)(?: \w+){0,4} (?:would|will|should|might) be enough\b
    (?:won'?t|will not|wouldn'?t|don'?t|no longer|never) (?:have to|need to) (?:worry|deal|put up|bother|care) (?:\w+ )?(?:about|with|for) me\b
    (?:won'?t|will not|wouldn'?t|not going to|not gonna) be (?:a|your|anyone'?s|anybody'?s|their|his|her) (?:problem|burden|bother|trouble|worry)(?! (?:if|when|on|for the|at))
    (?:letters?|notes?|my will|affairs|funeral|passwords?|bills|everything (?:sorted|arranged|in order))(?: \w+){0,14} (?:when|once|after|before|if) i'?m (?:gone|not here|dead)\b
    (?:don'?t|do not|can'?t|cannot|can not|never) (?:really |even )?(?:see|imagine|picture) (?:my ?self|me) (?:being |still |making it |living |getting )*(?:here|alive|around|past|to (?:\d+|thirty|forty|christmas|next|see))\b(?! in (?:this|the|my) (?:job|company|team|role|city|flat))
    (?:easier|better|simpler|happier|cheaper|relieved|relief|fine|okay|ok|free|nicer)(?: \w+){0,6} (?:if|when|once) i (?:wasn'?t|weren'?t|was not|were not|was|were|am|'m|didn'?t|disappeared|died)(?: just| simply)?(?: not)? (?:around|here|alive|gone|dead|exist\w*|there any ?more)\b
    if i (?:just )?died (?:tonight|tomorrow|now|today|in my sleep|right now|would|nobody|no ?one)
    (?:wouldn'?t|would not|don'?t|do not) (?:really )?mind (?:dying|being dead|not waking|if i (?:died|didn'?t|never|was gone)|getting (?:hit|run over))
    (?:hop(?:e|es|ed|ing)|wish\w*|pray\w*)(?: \w+){1,9} (?:i|and) (?:don'?t|do not|didn'?t|won'?t|never) (?:make it|survive|wake|come back|get up again)
    (?:hop(?:e|es|ing)|wish\w*|pray\w*) (?:that )?(?:a|the|some|any) (?:car|bus|truck|train|lorry|plane|illness|cancer)(?: \w+){0,3} (?:hit\w*|kill\w*|crash\w*|take\w*|run\w*|ran) ?(?:me|with me)?\b
    (?:step\w*|walk\w*|jump\w*|run|ran) (?:right |out )?(?:in front of|into|under) (?:the|a|an|oncoming|moving) ?(?:train|traffic|bus|cars?|truck|subway|metro)\b
    (?:off|offing|neck|necking|rope|roping|top|topping|delete|deleting|end|ending|yeet|yeeting|un-?alive|erase|erasing) my ?self\b
    sewer ?slid\w+|toaster ?bath|\bctb\b|commit (?:die|not (?:alive|living)|sudoku)|self[- ]?(?:exit|delet\w+|termin\w+)|grippy sock
    i'?m done[.,;!]* (?:good ?bye|bye|farewell)\b
    (?:my|this is my|it'?s my) last (?:week|day|night|days|hours|message|post)(?: (?:on (?:this )?earth|alive|ever|here on earth)|\s*[.!]|$)
    made (?:my )?peace with (?:dying|death|the end|going|leaving this)
    want out (?:of (?:it|life|this life|everything|here) )?(?:for good|forever|permanently)|(?:want|need) out of (?:life|this life|existence)
    (?:think\w*|thought\w*) (?:\w+ )?(?:about|of) (?:just )?not (?:being|existing|waking)
    giv(?:e|ing|en) (?:all )?(?:of )?my (?:\w+ )?(?:things|stuff|belongings|possessions|pets|cat|dog) away
    (?:no ?one|nobody) (?:will|would|'ll|'d) (?:find|look for) me\b
    (?:carve|carving|carved|scratch\w*|burn\w*|blade|razor|lighter)(?: \w+){0,3} (?:my (?:skin|arms?|legs?|thighs?|wrists?)) (?:on purpose|again|to (?:feel|cope|calm))
    (?:i'?m|i am|been) (?:\w+ ){0,2}(?:relapsed|clean) (?:from|with|of) (?:self[- ]?harm|cutting)
    (?:die|dead|death) (?:is|would be|seems|feels|looks) (?:like )?(?:the |my )?(?:only|best|easier|easiest|better|a relief|peaceful|a (?:way|option))

    schluss (?:\w+ )?mit (?:allem|dem ganzen|der welt|meinem leben)|mach\w* (?:\w+ ){0,4}schluss mit (?:allem|dem ganzen|der welt|mir)
    (?:mach|mache|machen|setze|bereite) (?:ich )?(?:dem (?:ganzen|leben|leiden|elend)|allem|mir|meinem leben)(?: \w+){0,2} ein ende\b
    (?:bald|dann|morgen|heute)(?: \w+){0,2} (?:ist )?(?:sowieso |eh |endlich )?(?:alles )?vorbei (?:fur|mit) mi(?:ch|r)\b|(?:alles )?vorbei fur mich\b
    (?:musst|muss|mussen|musstet|brauchst|braucht)(?: \w+){0,4} (?:bald|nicht mehr|nie mehr|keine)(?: \w+){0,3} (?:sorgen|gedanken|kummern|leiden)(?: \w+){0,3} (?:um|wegen|uber|mit) mi(?:ch|r)\b
    (?:musst|muss|mussen|braucht)(?: \w+){0,3} (?:um|wegen|uber) mi(?:ch|r) (?:keine|nicht)(?: \w+){0,2} (?:sorgen|kummern)(?: mehr)?
    (?:seil|strick)(?: \w+){0,2} (?:gekauft|besorgt|geknotet|bestellt|liegt)\b
    (?:brucke|bruecke|dach|gleis\w*|bahnsteig|balkon|hochhaus)(?: \w+){0,5} (?:springen|gesprungen|geworfen|werfen|gesturzt)\b
    (?:keinen|kein) (?:bock|lust|kraft|nerv)(?: \w+){0,2} (?:auf|fur|an) (?:dieses|das|mein|mehr auf dieses) leben\b
    (?:wenn|falls) ich(?: \w+){0,3} nicht (?:mehr )?aufwach\w*
    (?:sachen|alles|mein\w* \w+)(?: \w+){0,2} verschenkt(?: \w+){0,6} (?:brauch\w*|nicht mehr)
    (?:wie viele?|wieviele?) (?:\w+ ){0,3}(?:tabletten|pillen|schlaftabletten)(?: \w+){0,6} (?:zu )?(?:sterben|umbringen|reichen|todlich|genug|tot)
    (?:todliche|toedliche|letale) (?:dosis|menge)
    (?:schmerzlos\w*|schnellste\w*|beste\w*) (?:\w+ )?(?:tod|art zu sterben|methode zu sterben|zu sterben)
    (?:ware|waere|war|ists?|fande)(?: \w+){0,3} (?:besser|egal|okay|ok|erleichtert|froh|einfacher)(?: \w+){0,4} wenn (?:ich|es mich) (?:\w+ )?(?:weg|tot|nicht mehr|nicht da|sterbe|verschwinde|nicht gabe)\b
    wenn ich (?:erst )?(?:weg|tot|nicht mehr da) bin\b|wenn (?:ich|es mich) nicht mehr (?:da ware|gabe|lebe)
    (?:mich|ich) (?:\w+ )?(?:wegmachen|abmurksen|abschalten)\b
    (?:das )?ist meine letzte (?:nacht|woche|nachricht)\b|mein letzter (?:tag|abend) (?:auf|hier|als|im leben)
    (?:seh|sehe) (?:mich|fur mich) (?:\w+ ){0,4}(?:nicht mehr|keine zukunft|nicht alt)(?: werden)?\b

    (?:em breve|logo|depois|assim) (?:\w+ ){0,3}(?:nao|deixo de|vou deixar de) (?:\w+ ){0,3}(?:dar (?:mais )?trabalho|ser (?:mais )?(?:um )?(?:peso|problema|fardo)|incomodar|preocupar\w*)
    (?:comprei|arranjei|tenho|comprou-se) (?:uma )?corda(?! (?:de pular|de saltar|de escala\w*|para|pra|nova|do violao|da guitarra))\b
    (?:pesquisei|procurei|pesquisando|googlei|vi na internet) (?:\w+ ){0,4}(?:comprimidos|remedios|dose|como morrer|sem dor|pastilhas|formas de)
    (?:dei|doei|ofereci|distribui) (?:\w+ ){0,4}(?:minhas|meus) (?:\w+ )?(?:coisas|pertences|livros)(?: \w+){0,3},? (?:nao vou precisar|ja nao preciso|nao preciso mais)
    (?:senao|so|melhor) morrer\b|saida (?:senao|alem de|a nao ser) morrer|unica (?:saida|solucao) (?:e |seria )?(?:morrer|a morte)
    (?:tenho-me|ando a me|voltei a me|ando me|estou me|tenho me) (?:cort\w+|machuc\w+|magoa\w+|mutil\w+)
    (?:cansei|desisti|cansad[oa]|fart[oa]) d[ea] (?:viver|vida|existir)\b
    (?:ficaria|ficariam|estaria|estariam|seria) (?:\w+ ){0,3}(?:melhor|aliviad[oa]s?|mais facil|feliz\w*) (?:\w+ ){0,2}(?:sem mim|se eu (?:morresse|nao (?:estivesse|existisse)|sumisse|fosse embora de vez))
    (?:nao|nunca mais) (?:\w+ )?(?:vao|vai) (?:precisar|ter que|ter de) (?:se )?(?:preocupar|aguentar|aturar)(?: \w+){0,2} comigo
    nao (?:me )?vejo (?:\w+ )?(?:viv[oa]|aqui) (?:\w+ ){0,3}(?:ano|natal|mes)
    (?:e|sera) (?:a )?minha ultima (?:noite|semana|mensagem)

    (?:pronto|luego|asi|ya) (?:\w+ ){0,3}(?:dejare de|no (?:sere|voy a)|ya no) (?:\w+ ){0,3}(?:ser (?:un )?(?:problema|estorbo|peso|carga)|molestar|preocupar\w*|un problema|una carga)
    (?:compre|consegui|tengo) (?:una )?(?:soga|cuerda)(?! (?:para|de (?:saltar|escalar|guitarra)|nueva))\b
    (?:busque|buscando|googlee|investigue|mire en internet) (?:\w+ ){0,4}(?:pastillas|dosis|como morir|sin dolor|formas de|maneras de) ?(?:harian falta|hacen falta|morir)?
    (?:regale|di|regalando) (?:\w+ ){0,3}(?:mis|todas mis) (?:\w+ )?(?:cosas|pertenencias)(?: \w+){0,3} (?:no (?:las|los|me) (?:voy|hacen|necesit))
    (?:estarian|estaria|seria|estara) (?:\w+ ){0,3}(?:mejor|aliviad[oa]s?|mas facil|mas feliz\w*) (?:\w+ ){0,2}(?:sin mi|si (?:yo )?(?:no (?:estuviera|existiera|estoy)|me (?:muriera|fuera)|muriera|desapareciera))
    (?:ojala|espero|quisiera|me gustaria) (?:\w+ )?no (?:me )?(?:despierte|despertar|despertarme|despertara)
    no quiero (?:ya )?(?:estar|seguir) (?:mas )?(?:en este mundo|en esta vida|aqui|con vida|viviendo)
    (?:vuelto a|volvi a|empece a|sigo) (?:cortar\w*|cortandome|hacerme dano|lastimarme|autolesion\w+)
    no (?:tendran|tendras|van a tener) que (?:preocupar\w+|aguantarme|cargar conmigo)
    (?:es|sera) mi ultima (?:noche|semana|mensaje)|la unica salida (?:es|seria) (?:morir|la muerte)
    no me veo (?:viv[oa]|aqui) (?:\w+ ){0,3}(?:ano|navidad|mes)

    (?:bientot|apres|comme ca) (?:\w+ ){0,2}(?:je )?ne serai plus (?:un (?:probleme|poids|fardeau)|une charge|la)\b|ne serai plus (?:un probleme|un poids|un fardeau|une charge)
    (?:achete|trouve|prepare) (?:une )?corde(?! (?:a sauter|pour|d'escalade|de guitare))\b
    (?:cherche|regarde sur internet|google) (?:\w+ ){0,4}(?:cachets|comprimes|medicaments|dose|sans douleur|comment mourir|moyens? de)
    (?:donne|distribue)(?: \w+){0,2} (?:mes|toutes mes) (?:affaires|choses)(?:,? [\w']+){0,5},? (?:plus besoin|n'en aurai)
    (?:seraient|serait|sera|seront)(?: \w+){0,3} (?:mieux|soulages?|plus heureux|plus simple|plus facile)(?: \w+){0,3} (?:sans moi|si je (?:n'etais|mourais|disparaissais|ne))
    (?:aimerais|voudrais|espere|prefererais) ne (?:pas|plus|jamais) (?:me )?reveiller
    (?:n'aurez|n'auras|n'auront) plus (?:a|besoin de) (?:vous |t'|s')?(?:inquieter|soucier|occuper)(?: de moi| pour moi)?
    (?:c'est|sera) ma derniere (?:nuit|semaine)\b|(?:la )?seule (?:issue|solution) (?:c'est |est |serait )?(?:de )?(?:mourir|la mort)
    ne me vois (?:plus|pas)(?: \w+)? (?:vivant|vivante|la|en vie)\b
"""


def _compiled(lines: str) -> re.Pattern[str]:
    kept = [line.strip() for line in lines.splitlines() if line.strip()]
    # "Some words in between" may have a comma and an apostrophe among them.
    kept = [line.replace(r"(?: \w+)", r"(?:,? [\w']+)").replace(r"(?:\w+ )", r"(?:[\w']+,? )") for line in kept]
    return re.compile("|".join(rf"\b(?:{line})" for line in kept))


INDIRECT: re.Pattern[str] = _compiled(_LINES)
"""One pattern for all languages; what it finds counts as a sign that the person may end or harm their own life."""
