"""Advice that no coach may give, whatever was blocked or not: lexical patterns in five languages, on folded text.

Stability blocks moves that hurt *this* person. Some advice is dangerous for anybody, and a small model gives it gladly,
so code keeps it from the reply by itself. A topic of danger is recognised by its words; a sentence is *advice* unless

* it warns, in the same clause ("do not stop taking them");
* it sends the person to somebody who knows, in the same clause ("ask your doctor before you stop taking them");
* it only says back what the person wants or did ("you want to stop taking them"), and does not approve of it.

Agreement is advice too: after a message or sentence about such a step, "Yes, do it" is held to be advice.
What this can not see: danger in words that no pattern has. It is a net under the model, not a judge.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from enum import StrEnum

from repertory.teams.coaching.negation import without_pseudo_negation
from repertory.teams.coaching.words import fold, sentences

__all__ = ("NEEDS_SOMEBODY", "Danger", "dangerous_advice", "dangers_in", "dangers_planned")


class Danger(StrEnum):
    """Kinds of advice that is dangerous for anybody."""

    MEDICATION = "changing medication"
    EXTREME_DIET = "fasting or an extreme diet"
    STOPPING_CARE = "stopping therapy or treatment"
    SELF_TREATMENT = "treating an illness by oneself"
    CONFRONTING_VIOLENCE = "confronting a violent person"
    DEBT_AND_GAMBLING = "large debts or gambling"
    OVEREXERTION = "going on through injury or without sleep"
    UNSAFE_ACT = "an act that endangers life"


def _any(patterns: str) -> re.Pattern[str]:
    lines = [line.strip() for line in patterns.strip().splitlines() if line.strip()]
    return re.compile("|".join(rf"\b(?:{line})" for line in lines))


_DRUGS_EN = r"(?:medication|medicine|medicines|meds|pills?|tablets?|antidepressants?|insulin|lithium|ssris?|prescription|blood thinners?|beta blockers?|antipsychotics?|inhaler|dose|doses|dosage|xanax|prozac|sertraline|ritalin|adderall)"
_DRUGS_PT = (
    r"(?:medicacao|medicamentos?|remedios?|comprimidos?|antidepressivos?|insulina|litio|dose|doses|dosagem|receita)"
)
_DRUGS_ES = r"(?:medicacion|medicamentos?|medicinas?|pastillas?|antidepresivos?|insulina|litio|dosis|receta)"
_DRUGS_DE = (
    r"(?:medikamente?n?|medikation|tabletten?|pillen?|antidepressiva|antidepressivum|insulin|lithium|dosis|dosierung)"
)
_DRUGS_FR = (
    r"(?:medicaments?|traitement|comprimes?|cachets?|pilules?|antidepresseurs?|insuline|lithium|doses?|ordonnance)"
)
_VIOLENT_EN = r"(?:abus\w+|violent \w+|attacker|stalker|rapist|(?:husband|wife|partner|boyfriend|girlfriend|father|man|person|guy|one|ex) who (?:hits|hit|beats|beat|threaten\w*|hurts?|attack\w*|abus\w*|strangl\w*)|him (?:when|while) he(?:'s| is) (?:drunk|angry|violent)|him about the (?:violence|beating\w*|abuse|hitting|threats))"

_PATTERNS: dict[Danger, re.Pattern[str]] = {
    Danger.MEDICATION: _any(rf"""
        (?:stop(?:ping)?|quit(?:ting)?|skip(?:ping)?|drop(?:ping)?|halv(?:e|ing)|doubl(?:e|ing)|tripl(?:e|ing)|reduc(?:e|ing)|lower(?:ing)?|increas(?:e|ing)|rais(?:e|ing)|cut(?:ting)?(?: down| back)?(?: on)?|taper(?:ing)?(?: off)?|chang(?:e|ing)|adjust(?:ing)?|wean(?:ing)? (?:yourself )?off|(?:come|coming|go|going|get|getting) off|ditch(?:ing)?|throw(?:ing)? (?:away|out)|flush(?:ing)?|leav(?:e|ing) out|do without|forget|mix(?:ing)?|combin(?:e|ing)|borrow(?:ing)?|take (?:more|less|fewer|extra|twice|half|double)|start(?:ing)? (?:on |taking )?)\b(?: (?:taking|using|with|of))?(?: (?:your|my|the|all|those|these|any|that|somebody'?s|a friend'?s|her|his|more|less|fewer|extra|some|own|daily|sleeping|of)){{0,4}} {_DRUGS_EN}(?! of (?:coffee|caffeine|news|reality|fun|sugar|social))
        (?:stop|quit) taking (?:it|them|those|these)\b
        (?:par(?:e|ar|a|ando)|deix(?:e|ar|a)|larg(?:ue|ar|a)|suspend(?:a|er|e)|interromp(?:a|er)|cort(?:e|ar)|reduz(?:a|ir)|diminu(?:a|ir)|aument(?:e|ar)|dobr(?:e|ar)|mud(?:e|ar)|troc(?:ar)|troque|pul(?:e|ar)|mistur(?:e|ar)|abandon(?:e|ar)|tom(?:e|ar) (?:mais|menos|o dobro))\b(?: (?:de|com|em))?(?: (?:tomar|usar))?(?: (?:o|a|os|as|seu|sua|seus|suas|teu|tua|meu|minha|meus|minhas|esses|essa|da|do|dos|das)){{0,3}} {_DRUGS_PT}
        (?:dej(?:a|ar|e|es)|par(?:a|ar|e) de|suspend(?:e|er|a)|interrump\w+|cort(?:a|ar|e)|reduc(?:e|ir)|reduzca|disminu\w+|aument(?:a|ar|e)|dobl(?:a|ar)|duplic(?:a|ar|e)|cambi(?:a|ar|e)|salt(?:ate|arte)|mezcl(?:a|ar|e)|abandon(?:a|ar|e)|tom(?:a|ar|e) (?:mas|menos|el doble))\b(?: (?:de|con))?(?: (?:tomar|usar))?(?: (?:el|la|los|las|tu|tus|mi|mis|su|sus|esas|esos|de)){{0,3}} {_DRUGS_ES}
        (?:setz\w*|lass\w*|nimm|nehmen?|verdoppel\w*|halbier\w*|reduzier\w*|erhoh\w*|senk\w*|ander\w*|brich|misch\w*|vergiss)\b(?: \w+){{0,2}} {_DRUGS_DE}\b(?: \w+){{0,2}} (?:ab|weg|aus|mehr|weniger)?
        {_DRUGS_DE} (?:\w+ ){{0,3}}(?:absetzen|weglassen|auslassen|verdoppeln|halbieren|reduzieren|erhohen|andern|mischen)
        (?:arret(?:e|er|ez)|cess(?:e|er|ez)|stopp(?:e|er|ez)|saut(?:e|er|ez)|double[rz]?|redui(?:s|re|sez)|augmente[rz]?|diminue[rz]?|change[rz]?|melange[rz]?|abandonne[rz]?|laisse[rz]? tomber|pren(?:ds|dre|ez) (?:plus|moins|le double))\b(?: (?:de|d'))?(?: (?:prendre|utiliser))?(?: (?:le|la|les|ton|ta|tes|mon|ma|mes|votre|vos|ces|de|du)){{0,3}} {_DRUGS_FR}
    """),
    Danger.EXTREME_DIET: _any(r"""
        (?<!work )(?<!walk )(?<!run )(?<!move )(?<!type )fast(?:ing)? (?:(?:for )?(?:at least |about |up to )?(?:\d+|a|an|one|two|three|four|five|six|seven|ten|several|a few) (?:full |whole |more )?(?:days?|hours?|weeks?)|until|through|longer|all day|every (?:other )?day)\b
        (?:water|juice|dry|extended|\d+[- ](?:day|hour)) fast\b|(?:try|start|do|consider|go on) (?:intermittent |a |an |some )?(?:fasting|fast|crash diet|juice cleanse|detox diet|cleanse)
        (?:eat|eating|stay|live|survive|keep|go|cap\w*|limit\w*|aim)\b.{0,30}\b(?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|calories|cals)\b|(?:under|below|only|just) (?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|calories|cals)
        (?:stop|quit) eating\b(?! (?:out|late|at|in front|sweets|candy|sugar|meat|so))|(?:eat|eating) nothing|starve yourself|skip (?:all )?(?:your )?meals|throw up (?:after|your)|make yourself (?:sick|vomit)|(?:use|take|try) (?:laxatives|diuretics|diet pills|ozempic)|stop drinking water|cut (?:out )?(?:all )?(?:carbs|fluids|food) (?:completely|entirely)
        (?:faca|faz|fazer|tente|tentar|experimente) (?:um |uma )?(?:jejum|dieta radical|dieta de choque)|jejue\b|jejuar (?:por|durante|um|dois|tres|\d)|pare de comer\b|nao coma nada|pule (?:as |todas as )?refeicoes|tome (?:laxantes?|diureticos?)|provoque o vomito|(?:menos de|so|apenas|ate) (?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|calorias)
        (?:haz|hacer|prueba|intenta|empieza) (?:un |una )?(?:ayuno|dieta extrema|dieta de choque)|ayuna\b|ayunar (?:por|durante|un|dos|tres|\d)|deja de comer\b|no comas nada|saltate (?:las |todas las )?comidas|toma (?:laxantes?|diureticos?)|provocate el vomito|(?:menos de|solo|hasta) (?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|calorias)
        faste\b|(?:tage?|stunden|wochen?) (?:lang )?fasten|(?:mach|probier|versuch)\w* (?:\w+ )?(?:fasten\w*|heilfasten|crash-?diat|nulldiat)|hor auf zu essen|iss (?:gar )?nichts|lass (?:alle )?mahlzeiten (?:aus|weg)|nimm (?:abfuhrmittel|appetitzugler)|(?:unter|nur|hochstens) (?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|kalorien)
        jeune (?:pendant|\d|un|deux|trois|toute)|(?:fais|faire|essaie|essayer|commence) (?:un |une )?(?:jeune|diete extreme|regime (?:choc|draconien|extreme))|arrete de manger\b(?! (?:tard|au|du|des|de la|devant))|ne mange rien|saute (?:les |tous les )?repas|prends des (?:laxatifs|diuretiques|coupe-faim)|fais-toi vomir|(?:moins de|seulement) (?:[1-9]\d{2}|1[01]\d{2}) ?(?:kcal|calories)
    """),
    Danger.STOPPING_CARE: _any(r"""
        (?:stop(?:ping)?|quit(?:ting)?|drop(?:ping)?|skip(?:ping)?|cancel(?:l?ing)?|end(?:ing)?|leav(?:e|ing)|ditch(?:ing)?|paus(?:e|ing)|give up|giving up|take a break from|do without)\b(?: (?:going to|seeing|your|my|the|with|all|any|next|in|that|this|from))* (?:therap(?:y|ist|ists|ies)|counsel(?:l?ing|l?or)|psychiatrist|psychologist|treatment|rehab|aa meetings?|chemo\w*|dialysis|(?:doctor'?s? )(?:visits?|appointments?)|check-?ups?|doctor)\b
        you (?:do not|don'?t|no longer) need (?:a |your |any |the )?(?:therap(?:y|ist)|doctor|treatment|medication|psychiatrist|professional help|help)
        (?:par(?:e|ar)|deix(?:e|ar)|larg(?:ue|ar)|abandon(?:e|ar)|interromp(?:a|er)|cancel(?:e|ar)|falt(?:e|ar)|suspend(?:a|er))\b(?: (?:de|com|a|o|as|os|sua|seu|suas|minha|meu|ir|na|no|ao))* (?:terapia|terapeuta|tratamento|psicolog[oa]|psiquiatra|consultas?|quimioterapia|medico)|nao precisa de (?:terapia|medico|tratamento|ajuda)
        (?:dej(?:a|ar|e)|abandon(?:a|ar|e)|par(?:a|ar)|interrump\w+|cancel(?:a|ar|e)|suspend(?:e|er)|falt(?:a|ar))\b(?: (?:de|con|a|el|la|las|los|tu|tus|mi|mis|su|ir|al))* (?:terapia|terapeuta|tratamiento|psicolog[oa]|psiquiatra|citas?|quimioterapia|medico)|no necesitas (?:terapia|medico|tratamiento|ayuda)
        (?:brich|beende|stopp|lass|schmeiss|sag)\b(?: \w+){0,2} (?:therapie|behandlung|psychotherapie|chemo\w*|arzttermine?|therapiestunde\w*)|(?:therapie|behandlung) (?:\w+ ){0,2}(?:abbrechen|beenden|aufgeben|absagen|pausieren)|brauchst (?:du )?(?:\w+ )?(?:keine therapie|keinen arzt|keine behandlung|keine hilfe)
        (?:arret(?:e|er|ez)|abandonne[rz]?|stopp(?:e|er|ez)|annule[rz]?|interromp(?:s|re|ez)|laisse[rz]? tomber|quitte[rz]?)\b(?: (?:de|d'|la|le|les|ta|ton|tes|ma|mon|mes|votre|voir|aller|a|chez))* (?:therapie|therapeute|psy|psychologue|psychiatre|suivi|rendez-vous (?:chez le |medical)\w*|chimio\w*|traitement)|n'as pas besoin (?:de |d'un )(?:therapie|medecin|traitement|psy|aide)
    """),
    Danger.SELF_TREATMENT: _any(r"""
        (?:treat|cure|heal|medicate|diagnose) (?:it |this |that |your \w+ )?(?:yourself|on your own|at home)\b(?! (?:to|with (?:kindness|care|respect)|kindly|gently|well))|self[- ](?:medicat\w+|treat\w*)
        (?:cure|heal|treat|fix) (?:your |the )?(?:depression|anxiety|cancer|diabetes|infection|bipolar|adhd|insomnia|ptsd|eating disorder|addiction)\b
        (?:drink|have|take|use|try|smoke|microdose)\b.{0,25}\b(?:wine|beer|whisky|vodka|alcohol|weed|cannabis|marijuana|mushrooms|psilocybin|cocaine|ketamine|lsd|mdma|valium|xanax|sleeping pills|st\.? john'?s wort|melatonin|kratom|steroids|painkillers)\b.{0,40}\b(?:to (?:sleep|relax|calm|cope|focus|unwind|feel|numb|relieve|help|get)|for (?:your|the) (?:anxiety|pain|sleep|nerves|mood|depression|stress)|before (?:bed|the|your))
        (?:(?:supplements|herbs|vitamins|prayer|exercise|running|meditation|willpower|diet|essential oils)) (?:instead of|rather than|can replace|replaces?|will replace|is better than|are better than|works? better than) (?:your |the |any )?(?:medication|medicine|meds|doctor|therapy|treatment|pills)
        quit (?:alcohol|drinking|benzos|benzodiazepines|opioids|heroin) cold turkey|detox (?:at home|by yourself|on your own)
        automedi\w+|trat(?:e|ar) (?:isso |a depressao |a ansiedade |a infeccao )?(?:sozinh[oa]|em casa|por conta propria)|cur(?:e|ar) (?:a |sua )?(?:depressao|ansiedade|diabetes|cancer)|(?:beba|tome|use|fume)\b.{0,25}\b(?:vinho|cerveja|alcool|maconha|cannabis|calmantes?)\b.{0,30}\bpara (?:dormir|relaxar|aliviar|se acalmar)
        tratat\w* (?:tu mism[oa]|sol[oa]|en casa)|trata(?:r)? (?:la depresion|la ansiedad|la infeccion|esto) (?:sol[oa]|en casa|por tu cuenta)|cura(?:r)? (?:la |tu )?(?:depresion|ansiedad|diabetes|cancer)|(?:bebe|toma|usa|fuma)\b.{0,25}\b(?:vino|cerveza|alcohol|marihuana|cannabis|calmantes?)\b.{0,30}\bpara (?:dormir|relajarte|aliviar|calmarte)
        selbstmedikation|behandle (?:es|das|dich|deine \w+) (?:selbst|allein|zu hause)|heile (?:deine |die )?(?:depression|angst|diabetes|krebs)|(?:trink|nimm|rauch)\w*\b.{0,25}\b(?:wein|bier|alkohol|cannabis|gras|schlaftabletten|beruhigungsmittel)\b.{0,30}\b(?:zum (?:schlafen|entspannen|einschlafen)|um (?:zu|dich))
        automedicat\w+|soigne[- ]toi (?:seule?|toi-meme|a la maison)|soigne[rz]? (?:ta|la|cette) (?:depression|anxiete|infection) (?:seule?|toi-meme|a la maison)|gueri[rst]? (?:ta|la) (?:depression|anxiete)|(?:bois|prends|fume)\b.{0,25}\b(?:vin|biere|alcool|cannabis|somniferes?|calmants?)\b.{0,30}\bpour (?:dormir|te detendre|te calmer|soulager)
    """),
    Danger.CONFRONTING_VIOLENCE: _any(rf"""
        (?:confront|stand up to|fight|hit|face|challenge|threaten|provoke|talk back to|have it out with|get back at|take revenge on|punch|tell off|reason with|follow|track down|meet)\b.{{0,20}}\b{_VIOLENT_EN}
        (?:fight|hit|punch|slap|shove|threaten) (?:him|her|them|back)\b|(?:buy|get|carry|bring|take|keep) (?:a |the |your )?(?:gun|knife|weapon|pepper spray)\b|(?:go|move) back to (?:him|her|your abuser)\b|take revenge\b|get revenge\b|teach (?:him|her|them) a lesson
        (?:confront(?:e|ar)|enfrent(?:e|ar)|desafi(?:e|ar)|ameac(?:e|ar)|provoqu?e?)\b.{{0,20}}\b(?:agressor\w*|abusador\w*|violent[oa]|quem (?:te|lhe) (?:bate|agride|ameaca)|ele quando (?:esta|estiver) (?:bebado|bravo|violento)|(?:marido|namorado|parceiro|pai) (?:violento|agressivo|que (?:te |a |lhe )?(?:bate|agride|ameaca)))|vingue-se|revide\b|bata nele|volte para ele|(?:compre|leve|carregue) (?:uma )?(?:arma|faca)
        (?:confront(?:a|ar|e)|enfrent(?:a|ate|ar|arte|e)|desafi(?:a|ar)|amenaz(?:a|ar)|provoc(?:a|ar))\b.{{0,20}}\b(?:agresor\w*|abusador\w*|maltratador\w*|violent[oa]|quien te (?:pega|agrede|amenaza)|el cuando (?:este|esta) (?:borracho|enfadado|violento)|(?:marido|novio|pareja|padre) (?:violento|agresivo|que te (?:pega|agrede|amenaza)))|vengate|pegale|vuelve con el\b|(?:compra|lleva) (?:un |una )?(?:arma|cuchillo|pistola)
        (?:stell|konfrontier\w*|wehr|droh\w*|provozier\w*)\b.{{0,30}}\b(?:tater\w*|gewalttatig\w*|schlager\w*|(?:der|den|dem|mann|vater|freund|partner),? (?:der|die) dich (?:schlagt|bedroht|schlug)|ihn,? wenn er (?:betrunken|wutend) ist)|rach(?:e|st) (?:dich|nehmen|an)|schlag (?:ihn|sie|zuruck)|geh zu ihm zuruck|(?:kauf|nimm|besorg)\w* (?:dir )?(?:ein |eine )?(?:waffe|messer|pistole)
        (?:confronte[rz]?|affronte[rz]?|defie[rz]?|menace[rz]?|provoque[rz]?)\b.{{0,20}}\b(?:agresseur\w*|violente?|(?:celui|mari|conjoint|copain|pere|homme) qui te (?:frappe|menace|bat)|le quand il (?:est|a) (?:ivre|bu|en colere))|venge-toi|frappe-le|rends-lui les coups|retourne (?:chez|avec) lui|(?:achete|prends|porte) (?:une? )?(?:arme|couteau)
    """),
    Danger.DEBT_AND_GAMBLING: _any(r"""
        (?:take out|get|apply for|sign up for|use|take on|open)\b.{0,20}\b(?:(?:payday |personal |second |another |bigger |quick |online )?loans?|(?:second )?mortgage|credit lines?|line of credit|cash advance|new credit cards?|more debt|leverage|margin)\b
        max(?:ing)? out (?:your |the |a )?(?:credit )?cards?|put (?:it|everything|the (?:rest|cost)|this) on (?:your |a |the )?credit cards?|borrow (?:money|the money|from|against|more|\$?\d+)\b|remortgage|(?:invest|put|bet|risk|spend|stake|move|cash out|empty|use) (?:all|everything|(?:your|my) (?:life |entire |whole )?savings(?! (?:goal|plan|rate|target|jar))|your (?:pension|retirement|401k|rent|house|emergency fund))\b
        (?<!i )(?<!i'd )(?<!you )(?:bet|gamble|wager)\b(?! (?:is|that|on (?:yourself|me|it being)|you|i)\b)|(?:go|head|back) to the casino|win (?:it|your money|the money) back|(?:play|try) (?:the )?(?:slots|roulette|poker for money|lottery)|(?:go )?all[- ]in on (?:crypto|bitcoin|stocks|options|shares)|day ?trad(?:e|ing)|buy (?:crypto|bitcoin|options) with
        (?:peca|faca|pegue|pegar|tome|fazer|contrate) (?:um |o |mais |outro )?(?:emprestimo|financiamento|credito)|estoure (?:o |seu )?cartao|use (?:todo )?o limite|(?:invista|aposte|coloque|arrisque) (?:tudo|todas? (?:as|suas) economias|toda a poupanca|suas economias|sua poupanca)|aposte\b|jogue (?:no cassino|na loteria|no bicho|poker)|recupere (?:o dinheiro|as perdas) (?:jogando|apostando)
        (?:pide|pedir|saca|toma|solicita) (?:un |otro |mas )?(?:prestamo|credito|hipoteca)|(?:invierte|apuesta|arriesga|mete) (?:todo|todos tus ahorros|tus ahorros|el alquiler)|apuesta\b|(?:ve|vuelve) al casino|juega (?:al poker|a la loteria|a la ruleta)|exprime la tarjeta|recupera (?:el dinero|lo perdido) (?:jugando|apostando)
        nimm (?:\w+ )?(?:\w+ )?(?:kredit|darlehen|hypothek)\w*|(?:kredit|darlehen) aufnehmen|(?:investier|setz|steck|leg)\w* (?:\w+ )?(?:alles|dein(?:e)? (?:ganzes |gesamtes |ganzen )?(?:erspartes|ersparnisse|geld|miete))|wette\b|(?:geh|zuruck) (?:\w+ )?(?:ins|in das) (?:casino|kasino)|spiel (?:poker|roulette|lotto)|hol (?:dir )?das geld zuruck|reiz\w* (?:\w+ )?kreditkarte
        (?:prends|prendre|contracte[rz]?|fais|souscris) (?:un |une |encore un )?(?:pret|credit|emprunt|hypotheque)|emprunte\b|(?:investis|mise|place|parie|risque) (?:tout|toutes? tes economies|tes economies|ton loyer)|parie\b|(?:va|retourne) au casino|joue (?:au poker|a la roulette|au loto)|regagne (?:l'argent|tes pertes)
    """),
    Danger.OVEREXERTION: _any(r"""
        (?:push|run|train|play|work|keep going|power|exercise|lift) (?:\w+ )?through (?:the |your |any |an? )?(?:pain|injur\w+|fever|chest pain|dizziness|fracture)|ignore (?:the |your |any )?(?:pain|chest pain|dizziness|symptoms|injury|fever)|no pain,? no gain
        (?:stay up|stay awake) (?:all night|through the night|two nights|\d+ hours)|(?:work|study|write) (?:all night|through the night|\d+ hours straight)|pull (?:an )?all[- ]nighter|(?:skip|cut|go without|give up|sacrifice) (?:on |your |some )?sleep\b|sleep (?:only |just )?(?:two|three|four|[2-4]) hours|(?:drive|driving) (?:tired|drunk|without sleep|after drinking)
        (?:treine|corra|continue|trabalhe) (?:\w+ )?(?:com|apesar da|mesmo com|sentindo) (?:a )?(?:dor|lesao|febre)|ignore a (?:dor|lesao|febre)|vire a noite|durma (?:so|apenas) (?:duas|tres|quatro|[2-4]) horas|abra mao do sono
        (?:entrena|corre|sigue|trabaja) (?:\w+ )?(?:con|a pesar de|pese a) (?:la |el )?(?:dolor|lesion|fiebre)|ignora (?:el dolor|la lesion|la fiebre)|pasa la noche en vela|duerme (?:solo )?(?:dos|tres|cuatro|[2-4]) horas|no duermas
        (?:trainier|lauf|arbeit|mach)\w* (?:\w+ )?(?:trotz|mit) (?:der |den |dem )?(?:schmerz\w*|verletzung|fieber)|ignorier\w* (?:den |die |das )?(?:schmerz\w*|verletzung|fieber)|mach (?:die nacht|eine nacht) durch|schlaf (?:nur )?(?:zwei|drei|vier|[2-4]) stunden|verzichte auf schlaf
        (?:entraine-toi|cours|continue|travaille) (?:\w+ )?(?:malgre|avec|sur) (?:la |ta |une )?(?:douleur|blessure|fievre)|ignore (?:la |ta )?(?:douleur|blessure|fievre)|passe (?:une |la )?nuit blanche|dors (?:seulement )?(?:deux|trois|quatre|[2-4]) heures|sacrifie ton sommeil
    """),
    Danger.UNSAFE_ACT: _any(r"""
        (?:drive|driving) (?:home |there |anyway )?(?:after (?:a |a few |some |the )?drinks?|drunk|buzzed|high)|(?:hurt|cut|harm|punish|burn) yourself\b|(?:kill|end) (?:yourself|your life|it all)|(?:leave|lock) (?:the |your )?(?:baby|child|kids?|toddler) (?:alone|in the car)|(?:lie|don'?t tell|hide (?:it|this)) (?:to |from )?(?:your )?(?:doctor|therapist|the police)
        (?:dirija|dirigir|conduza) (?:bebad[oa]|depois de beber|alcoolizad[oa])|(?:machuque|corte|puna)-se|(?:minta|esconda) (?:isso )?(?:para o|do|ao) (?:medico|terapeuta)
        (?:conduce|maneja) (?:borrach[oa]|despues de beber)|(?:hazte dano|cortate|castigate)|(?:miente|ocultalo|ocultale esto) (?:a |al )(?:tu )?(?:medico|terapeuta)
        fahr (?:\w+ )?(?:betrunken|angetrunken|nach dem trinken)|(?:verletz|ritz|bestraf)\w* dich\b|(?:lug|belug)\w* (?:\w+ )?(?:arzt|therapeut\w*)|verschweig\w* (?:es |das )?(?:\w+ )?(?:arzt|therapeut\w*)
        conduis (?:ivre|apres avoir bu|bourre)|(?:fais-toi (?:du )?mal|coupe-toi|punis-toi)|(?:mens a|cache-le a|ne dis rien a) (?:ton |ta )?(?:medecin|therapeute|psy)
    """),
}

# Whom to ask instead; only in the same clause, and not turned round ("do not ask your doctor").
_SOMEBODY_WHO_KNOWS = re.compile(
    r"\b(?:doctor|gp|physician|pharmacist|psychiatrist|psychologist|therapist|counsel\w+|nurse|dietitian|nutritionist|lawyer|police|hotline|helpline|shelter|"
    r"financial advis\w+|debt (?:advis\w+|counsel\w+)|professional|prescriber|whoever prescribed|"
    r"medic[oa]|farmaceutic[oa]|psiquiatra|psicolog[oa]|terapeuta|enfermeir[oa]|enfermer[oa]|nutricionista|policia|advogad[oa]|abogad[oa]|profissional|profesional|"
    r"arzt|arztin|hausarzt|apotheker\w*|psychiater\w*|psycholog\w*|therapeut\w*|polizei|schuldnerberatung|beratungsstelle|fachperson|"
    r"medecin|docteur|pharmacien\w*|psychiatre|psychologue|therapeute|infirmier\w*|dieteticien\w*|police|avocate?|professionnel\w*)\b"
)
_ASKING = re.compile(
    r"\b(?:ask|talk|speak|check|call|see|tell|discuss|consult|agree|with|together|before|unless|until|whether|"
    r"pergunt\w+|fal(?:e|ar)|convers\w+|consult\w+|antes|com|lig(?:ue|ar)|pregunt\w+|habl\w+|llam\w+|con|"
    r"frag\w*|sprich\w*|sprech\w*|besprich\w*|ruf\w*|mit|bevor|ob|demand\w+|parl\w+|appel\w+|avec|avant)\b"
)
_SAID_BACK = re.compile(
    r"\b(?:you(?:'re| are|'ve| have)? (?:also |just |now |already |really |still |once )?(?:want\w*|wish\w*|plan\w*|think\w*|thought|wrote|said|say|mention\w*|feel\w*|felt|decided|considering|tempted|hope\w*|did|stopped|asked|wonder\w*|were|going)|the (?:idea|thought|wish|plan|urge) (?:of|to)|why do you|what makes you|"
    r"voce (?:quer|queria|pensa|pensou|esta pensando|disse|escreveu|planeja|decidiu|sente|parou)|a (?:ideia|vontade) de|"
    r"(?:quieres|querias|piensas|pensaste|estas pensando|dijiste|escribiste|planeas|decidiste|sientes)|la idea de|"
    r"du (?:willst|mochtest|wolltest|denkst|dachtest|schreibst|schriebst|sagst|sagtest|uberlegst|planst|hast)|der (?:gedanke|wunsch)|"
    r"tu (?:veux|voulais|penses|as (?:ecrit|dit|pense|decide)|ecris|dis|envisages|prevois|songes)|l'idee de|l'envie de)\b"
)
_APPROVAL = re.compile(
    r"\b(?:good|great|right|fine|okay|ok|smart|wise|brave|healthy|sounds|makes sense|go for it|go ahead|do it|why not|trust (?:yourself|your gut)|you (?:can|should|could|deserve)|best|"
    r"boa ideia|otim[oa]|bom|boa|certo|faz sentido|va em frente|faca isso|por que nao|parece (?:bom|otimo|boa)|pode|deve|buena idea|bien|bueno|tiene sentido|adelante|hazlo|por que no|puedes|debes|"
    r"gute? idee|gut|richtig|klingt|mach das|mach es|nur zu|warum nicht|kannst|solltest|bonne idee|bien|bonne|super|vas-y|fais-le|pourquoi pas|peux|devrais)\b"
)
# Agreement or urging that names nothing; it is about what was said just before.
_URGE = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|absolutely|definitely|of course|exactly|do it|just do it|go for it|go ahead|good (?:idea|plan|call|thinking|for you)|great (?:idea|plan|step)|that(?:'s| is| sounds)(?: like)? (?:a )?(?:good|great|fine|right|smart|wise|reasonable|brave|healthy)|sounds (?:good|great|like a)|i (?:fully |totally )?(?:agree|support)|you should|why not|it(?:'s| is) (?:a )?(?:good|great|fine|safe|okay|ok|your (?:body|money|life))|trust (?:yourself|your gut)|start (?:today|now|tomorrow)|"
    r"sim\b|claro|com certeza|faca (?:isso|ja)|va em frente|boa ideia|otima ideia|(?:e|parece) uma? (?:boa|otima|bom|otimo)|concordo|por que nao|comece (?:hoje|agora|ja)|confie em|"
    r"si\b|claro|por supuesto|hazlo|adelante|buena idea|es una (?:buena|gran)|de acuerdo|por que no|empieza (?:hoy|ya)|confia en|"
    r"ja\b|klar|natur?lich|auf jeden fall|mach (?:das|es)|nur zu|gute idee|das (?:klingt|ist) (?:\w+ )?(?:gut\w*|toll\w*|richtig)|einverstanden|warum nicht|fang (?:heute|jetzt) an|vertrau|"
    r"oui\b|bien sur|d'accord|absolument|fais-le|vas-y|bonne idee|c'est (?:une )?(?:bonne|super|tres bien|bien)|pourquoi pas|commence (?:aujourd'hui|maintenant)|fais-toi confiance)"
)
# Stricter than the negation of moves: here "stop" and "skip" are the danger themselves.
_WARNS = re.compile(
    r"\b(?:not|don'?t|never|avoid\w*|instead of|rather than|shouldn'?t|wouldn'?t|can'?t|neither|nor|without|no reason to|against|risk\w* of|danger\w*|"
    r"nao|nunca|evit\w*|em vez de|sem|perig\w*|no|en vez de|sin|jamas|peligro\w*|nicht|nie|kein\w*|statt|vermeid\w*|ohne|gefahrlich\w*|"
    r"ne|n'|pas|jamais|eviter?|au lieu de|plutot que|sans|dangereu\w*)\b"
)
_WARNS_AFTER = re.compile(
    r"^.{0,30}\b(?:is (?:dangerous|risky|not|never|unsafe)|isn'?t|can be (?:dangerous|risky)|could (?:hurt|harm|be dangerous)|may (?:hurt|harm|be dangerous)|"
    r"e (?:perigoso|arriscado)|pode ser perigoso|nao e|es (?:peligroso|arriesgado)|puede ser peligroso|no es|ist (?:gefahrlich|riskant|nicht|keine)|"
    r"nicht\b|est (?:dangereux|risque)|n'est pas|peut etre dangereux)"
)
_CLAUSE_OF_NO = re.compile(
    r"[,;:\u2013\u2014]|\s-\s|\b(?:but|and|then|instead,|mas|e|entao|pero|y|sino|und|oder|aber|sondern|mais|et|puis)\b"
)
_CLAUSE = re.compile(
    r"[,;:\u2013\u2014]|\s-\s|\b(?:or|but|and then|then|instead|just|ou|mas|entao|pero|sino|oder|aber|sondern|mais|puis)\b"
)


def dangers_in(text: str) -> frozenset[Danger]:
    """The dangers that a text speaks of at all, for or against."""
    folded = fold(text[:6000])
    return frozenset(danger for danger, pattern in _PATTERNS.items() if pattern.search(folded))


NEEDS_SOMEBODY = frozenset(Danger) - {Danger.OVEREXERTION, Danger.UNSAFE_ACT}
"""Dangers for which the person is sent to somebody who knows, when they speak of such a step themselves."""


def dangers_planned(message: str) -> list[Danger]:
    """The dangers of a message that speaks of such a step of the person's own, neither warned of nor with somebody's help."""
    found: set[Danger] = set()
    for sentence in sentences(without_pseudo_negation(fold(message[:6000]))):
        found |= {
            danger
            for danger, pattern in _PATTERNS.items()
            if danger in NEEDS_SOMEBODY and any(_is_advice(sentence, match) for match in pattern.finditer(sentence))
        }
    return sorted(found)


def _clause(sentence: str, start: int, end: int) -> str:
    """The clause that a match stands in."""
    first = max((item.end() for item in _CLAUSE.finditer(sentence, 0, start)), default=0)
    last = next((item.start() for item in _CLAUSE.finditer(sentence, end)), len(sentence))
    return sentence[first:last]


def _sends_to_help(clause: str) -> bool:
    asks = _ASKING.search(clause)
    return bool(asks and _SOMEBODY_WHO_KNOWS.search(clause) and not _WARNS.search(clause, 0, asks.start()))


def _warned_of(sentence: str, start: int, end: int) -> bool:
    """Whether a no stands before the match in its own clause, or a warning right after it."""
    first = max((item.end() for item in _CLAUSE_OF_NO.finditer(sentence, 0, start)), default=0)
    return bool(_WARNS.search(sentence, first, start) or _WARNS_AFTER.search(sentence[end:]))


def _is_advice(sentence: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    if _warned_of(sentence, start, end):
        return False
    clause = _clause(sentence, start, end)
    if not _SOMEBODY_WHO_KNOWS.search(match.group()) and _sends_to_help(clause):
        return False
    said_back = _SAID_BACK.search(sentence, 0, start)
    return not (said_back and not _APPROVAL.search(sentence, end))


def dangerous_advice(sentence: str, before: str = "") -> Danger | None:
    """The danger of what a sentence advises, or None.

    Args:
        sentence: What would be said to the person; may be several sentences.
        before: What it follows: the person's message, and what was said before it.
    """
    context = dangers_in(before) if before else frozenset[Danger]()
    for one in sentences(without_pseudo_negation(fold(sentence))):
        for danger, pattern in _PATTERNS.items():
            if any(_is_advice(one, match) for match in pattern.finditer(one)):
                return danger
        if context and _URGE.search(one) and not _SOMEBODY_WHO_KNOWS.search(one):
            return min(context)
        context = context | dangers_in(one)
    return None
