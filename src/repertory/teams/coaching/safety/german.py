"""German signs of danger and figures of speech (folded: no umlauts; the spelling with "ae, oe, ue" is in the lists)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("GERMAN",)

GERMAN = compile_signs(
    self_crisis=r"""
        (?:suizid|selbstmord|selbsttotung|freitod|suizidal)\w*
        (?:mich|mir)(?: \w+){0,3} (?:umbring\w*|umzubring\w+|toten|toeten|erhang\w*|erhaeng\w*|erschiess\w*|vergift\w*|antun|anzutun|antue|(?:das|mein) leben (?:zu )?nehm\w*)
        (?:bring|bringe|brachte) mich(?: \w+){0,2} um\b
        (?:nehm|nehme|nahm) mir (?:das|mein) leben
        (?:will|wollte|mochte|moechte|wurde|wuerde|wunsche|wunschte|wuenschte|ware|waere|lieber|konnte)(?: \w+){0,4} (?:sterben|tot(?: zu)? sein|ich ware tot|tot|nie geboren|nicht mehr (?:leben|aufwachen|da sein|hier sein|existieren|am leben sein))\b
        nicht mehr (?:leben|aufwachen|weiterleben|existieren|da sein|hier sein)(?: (?:will|mochte|moechte|wollen|kann|mag|zu wollen|zu mussen|muss))?\b
        (?:besser|lieber) tot\b|tot besser dran
        (?:keinen|kein|ohne|welchen) (?:sinn|grund)(?: \w+){0,4} (?:zu leben|im leben|weiterzuleben|weiterzumachen|am leben|leben)\b
        (?:mein )?leben (?:hat|ist|macht|lohnt)(?: \w+){0,3} (?:keinen sinn|sinnlos|nichts (?:mehr )?wert|nicht mehr|nicht lebenswert)
        ohne mich(?: \w+){0,4} besser|besser(?: \w+){0,2} ohne mich|besser dran(?: \w+){0,2} (?:ohne mich|wenn ich)
        (?:lebensmude|lebensmuede|des lebens mude|mude vom leben|mude zu leben)
        (?:kann|konnte) (?:einfach )?nicht mehr (?:weiter(?:leben|machen)?|leben)\b
        (?:ritze|ritzen|geritzt|ritz)\b(?: mich| mir)?
        (?:selbstverletz|selbstschadig|selbstschaedig)\w*
        (?:verletze|verletz|schneide|schneid|verbrenne|schlage) mich(?: \w+)? (?:selbst|absichtlich|wieder)
        mich(?: \w+){0,2} (?:selbst |absichtlich )(?:zu )?(?:verletz\w+|schneid\w+|verbrenn\w+|schlag\w+)
        (?:pulsadern|arme|handgelenke) (?:auf)?(?:schneid\w*|ritz\w*|aufgeschnitten|zu schneiden)
        abschieds(?:brief|briefe|video|zettel|nachricht)\w*
        (?:alles|dem ganzen|allem|meinem leben|es|mein leben)(?: \w+){0,2} (?:ein ende (?:setz\w*|mach\w*|bereit\w*)|zu beenden|beenden)\b
        schluss (?:machen )?mit (?:dem|meinem) leben
        (?:halte?|ertrage?) (?:das|mein|dieses) leben (?:\w+ )?nicht (?:mehr|langer)
        (?:von (?:der|einer) (?:brucke|bruecke)|vom (?:dach|balkon|hochhaus)|aus dem fenster|vor (?:den|einen) zug|vor die bahn)(?: \w+){0,2} (?:spring\w*|sturz\w*|werf\w*|zu springen|schmeiss\w*|leg\w*)
        (?:spring\w*|werfe|stelle|lege) (?:ich )?(?:mich )?(?:von (?:der|einer) (?:brucke|bruecke)|vom (?:dach|balkon|hochhaus)|aus dem fenster|vor (?:den|einen) zug)
        (?:fur|fuer) immer (?:verschwinden|einschlafen|schlafen|weg sein|gehen)
        einschlafen und (?:nicht|nie)(?: \w+)? (?:wieder )?(?:auf(?:zu)?wach\w*)
        (?:alle|viele|meine|zu viele)(?: \w+){0,2} (?:tabletten|pillen)(?: \w+){0,3} (?:schluck\w*|nehm\w*|geschluckt|genommen|gesammelt)
        uberdosis|ueberdosis
        (?:niemand|keiner) (?:wurde|wuerde|wird) (?:mich )?(?:vermissen|merken|es merken)
        (?:falle|bin)(?: \w+){0,3} (?:allen|jedem|meiner familie)(?: \w+){0,2} (?:zur )?last\b
        (?:denke|gedanken|nachgedacht|nachdenke)(?: \w+){0,3} (?:an den tod|ans sterben|uber den tod|an tod)
        verdiene es nicht zu leben
        nie geboren
    """,
    third_party=r"""
        (?:freund|freundin|bruder|schwester|mutter|vater|sohn|tochter|mann|frau|partner|partnerin|kollege|kollegin|er|sie)(?: \w+){0,4} (?:sich (?:\w+ )?(?:umbring\w*|das leben nehmen|toten|etwas antun|ritzt|selbst verletzt|umzubringen)|suizid\w*|selbstmord\w*|will sterben|nicht mehr leben will)
        (?:ritzt|verletzt) sich
    """,
    danger=r"""
        (?:er|sie|mein (?:mann|freund|vater|partner|ex|stiefvater|bruder|onkel|chef|sohn)|meine (?:frau|mutter|freundin|partnerin|schwester))(?: \w+){0,2} (?:(?:schlagt|schlaegt|schlug|bedroht|misshandelt|wurgt|wuergt|wurgte|vergewaltigt|tritt|stalkt|verprugelt)(?: \w+)? mich|mich(?: \w+){0,2} (?:geschlagen|gewurgt|gewuergt|vergewaltigt|bedroht|misshandelt|verprugelt|getreten))\b
        (?:schlagt|schlaegt|bedroht|misshandelt|verprugelt|wurgt) mich (?:mein|meine|er|sie)\b
        (?:wurde|bin|werde) (?:ich )?(?:\w+ )?(?:vergewaltigt|misshandelt|missbraucht|verprugelt|mit dem tod bedroht)
        (?:droht|drohte|gedroht)(?: \w+){0,2} (?:mich|mir)(?: \w+)? (?:umzubringen|zu toten|zu schlagen|etwas anzutun)
        angst (?:vor meinem (?:mann|vater|freund|ex|partner|stiefvater)|nach hause zu (?:gehen|kommen))
        (?:zu hause|bei ihm|bei ihr|daheim) nicht sicher|nicht sicher (?:zu hause|bei ihm|daheim)
        hausliche gewalt
    """,
    harm_others=r"""
        (?:will|werde|mochte|konnte|wurde am liebsten|plane)(?: \w+){0,2} (?:ihn|sie|ihnen|jemanden|alle|meinen (?:\w+ ){0,2}|meine (?:\w+ ){0,2}|den|die)\w*(?: \w+){0,2} ?(?:umbringen|toten|toeten|abstechen|erschiessen|erstechen|erwurgen|vergiften)
        (?:bringe|bring) (?:ihn|sie|alle|meinen \w+|meine \w+) um\b
    """,
    elevated=r"""
        hoffnungslos\w*|verzweifelt
        (?:kann|konnte) (?:einfach |wirklich |echt )?nicht mehr\b(?! (?:warten|sehen|horen|sitzen|laufen|so viel|an))
        (?:halte|ertrage) (?:es|das) (?:alles )?nicht (?:mehr|langer) (?:aus)?
        nichts (?:hat|macht) (?:mehr |noch )?(?:einen )?sinn|alles (?:ist )?(?:sinnlos|egal)\b
        hasse mich
        (?:fuhle|fuehle) mich (?:\w+ )?(?:leer|wertlos|nutzlos|gefangen)
        (?:bin|nur) (?:eine )?last\b
        panikattacke\w*
        (?:will|mochte) (?:nur noch |einfach )?verschwinden
        keinen ausweg|ausweglos
        zusammenbruch
    """,
    idioms=r"""
        suizidale[nrm]? (?:patient\w*|klient\w*|anrufer\w*|schuler\w*)
        kein(?:e)? zukunft (?:mehr )?(?:in|bei|fur) (?:dies\w+|der|dem|meine\w*|unsere\w*) (?:firma|job|team|unternehmen|abteilung|stelle|stadt|branche)
        (?:tabletten|pillen) (?:gegen|fur|zum|zur|wegen) \w+
        (?:lach\w*|lache) mich (?:fast |beinahe |hier )?(?:noch )?(?:tot|kaputt|schlapp)
        mich (?:fast |beinahe )?(?:tot|kaputt|schlapp)(?:ge|zu)?lach\w*
        (?:abgabe|deadline|frist|arbeit|job|stress|hitze|projekt|das|dieses? \w+|ruckenschmerz\w*|rucken|warten|termin|die \w+|chef|chefin|verkehr|larm|muskelkater|training|prufung|kopf)(?: \w+){0,2} (?:bringt|bringen|macht) mich(?: \w+){0,2} (?:um|fertig|wahnsinnig)\b
        (?:bringt|bringen) mich (?:noch |wirklich |echt |fast |schier )?um (?:den|die|meinen|meine)\b
        (?:meine (?:mutter|chefin|frau|trainerin|lehrerin|kollegin)|mein (?:chef|trainer|lehrer|kunde|professor|kollege)|der (?:chef|kunde|trainer|professor))(?: \w+){0,2} (?:bringt mich(?: \w+)? um|mich(?: \w+)? umbringen|(?:wird|wurde) mich (?:\w+ )?umbringen)\b
        (?:wird|wurde|hat) mich(?: \w+)? (?:umbringen|umgebracht)\b
        (?:vor|aus|an) (?:\w+ )?(?:langeweile|scham|hunger|lachen|neugier|hitze|angst|durst|peinlichkeit|aufregung|freude|mudigkeit)(?: \w+){0,2} (?:gestorben|sterbe\w*|stirbt|umgekommen|umkommen|tot)
        (?:sterbe|stirbt|starb|sterben|gestorben|stirb)(?: \w+){0,2} (?:vor|aus|fur ein\w*|fur) (?:\w+ )?(?:langeweile|scham|hunger|lachen|neugier|hitze|angst|durst|kaffee|pizza|aufregung|schokolade)
        (?:will|wollte|mochte|konnte|wurde)(?: \w+){0,2} (?:vor|im boden) (?:\w+ )?(?:scham|peinlichkeit|versinken)(?: \w+){0,2}(?:sterben)?
        (?:todmude|sterbenslangweilig|totmude|todernst|totenstill|sterbensmude|todsicher)\w*
        zum (?:totlachen|sterben schon|sterben langweilig)
        (?:karriere|berufs|polit)\w*(?:selbstmord|suizid)
        (?:beruflich\w*|politisch\w*|wirtschaftlich\w*|sozial\w*|finanziell\w*) (?:selbstmord|suizid)
        (?:zeit|stunde\w*|abend) tot(?:zu|ge)?schlag\w*
        lieber sterben als|lieber sterbe ich als
        mich (?:\w+ )?beim (?:\w+ )?(?:geschnitten|verletzt|verbrannt|schneiden)|mich beim \w+ (?:\w+ )?(?:geschnitten|verletzt|verbrannt)
        beim (?:rasieren|kochen|sport|training|laufen|fussball|wandern|backen)(?: \w+){0,3} (?:geschnitten|verletzt|verbrannt|geritzt)
        (?:handy|akku|auto|pflanze\w*|rechner|laptop)(?: \w+){0,2} (?:gestorben|stirbt|tot)
        (?:uberdosis|ueberdosis)(?: an)? (?:kaffee|koffein|zucker|schokolade|arbeit|serien|meetings)
        (?:es|das|den \w+|die \w+|das \w+|projekt|meeting|vertrag|kurs|training|beziehung|schicht) (?:nicht )?(?:\w+ )?(?:morgen|heute|bald|fruhzeitig|endlich|vorzeitig) (?:zu )?beenden
        kann nicht mehr vor lachen|vor lachen nicht mehr
        abschieds(?:brief|nachricht|video) (?:fur|an) (?:meine|die|den|das|unsere) (?:\w+ )?(?:kolleg\w*|team|chef\w*|firma)
        (?:konnte|konnt|koennte|konnten|hatte)(?: \w+){0,2} (?:ihn|sie|meinen \w+|meine \w+|den \w+|die \w+)(?: \w+){0,2} (?:umbringen|erwurgen|toten|wurgen|umbringen konnen)\b(?! und)
        nicht mehr da sein,? wenn (?:der|die|das|es|sie|er) (?:umzug|\w+ kommt|\w+ beginnt|\w+ losgeht)
        (?:wie viele?|wieviele?) (?:tabletten|pillen) (?:magnesium|vitamin\w*|eisen|zink|ibuprofen|calcium)
        mach\w*(?: \w+){0,3} schluss mit (?:dem (?!leben|ganzen)\w+|der (?!welt)\w+|meine[mr] (?!leben)\w+|den \w+|ihm|ihr|zucker|alkohol|rauchen|zigaretten)|fur heute(?: \w+){0,2} schluss
        (?:seil|strick)(?: \w+){0,2} (?:zum|furs?|fur (?:den|die|das)) \w+(?: \w+)?
        schlagt mich (?:im|beim|in)\b|schlaegt mich (?:im|beim|in)\b
    """,
)
