"""Dutch signs of danger and figures of speech (folded: no accents)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("DUTCH",)

DUTCH = compile_signs(
    self_crisis=r"""
        zelfmoord\w*|suicid\w*|zelfdoding
        (?:wil|wou|wilde|zou(?: \w+)? willen|kan beter|liever|was ik maar)(?: \w+){0,3} (?:dood(?: (?:zijn|gaan|was))?|sterven)\b(?! (?:van|aan))
        was ik maar (?:dood|nooit geboren)
        (?:wil|wou|hoef|kan)(?: \w+){0,2} niet (?:meer |langer )?(?:leven|bestaan|wakker worden|hier zijn|verder leven|er zijn|doorgaan)\b
        wil er niet (?:meer )?zijn|niet meer (?:willen )?leven
        (?:maak|maken|maakte)(?: \w+){0,2} er(?: \w+)? een einde aan\b|een einde (?:aan mijn leven|maken aan mijn leven|eraan)|(?:mijn|een eind aan mijn) leven (?:beeindigen|te beeindigen)
        (?:mezelf|mijzelf|me)(?: \w+){0,2} (?:van kant|ophangen|doodmaken|iets aandoen|verdrinken|vergiftigen|doodschieten|te doden|doden|ombrengen)
        (?:beter|makkelijker|gelukkiger|blij)(?: \w+){0,3} (?:af )?(?:zonder mij|als ik (?:er niet|dood|weg|niet meer))|zonder mij(?: \w+){0,3} beter
        (?:geen|zonder) (?:enkele )?(?:reden|zin|doel)(?: \w+){0,3} (?:om te leven|om verder te (?:gaan|leven)|in het leven|meer in (?:het )?leven)
        (?:mijn )?leven (?:heeft|is)(?: \w+){0,2} (?:geen zin|niets waard|zinloos|niet (?:meer )?waard)
        (?:slapen|inslapen)(?: \w+){0,2} (?:nooit|niet)(?: \w+)? (?:meer )?wakker
        (?:mezelf|mijzelf|in mijn (?:armen?|polsen?|benen?))(?: \w+){0,2} (?:gesneden|snijden|gekrast|krassen|verwond\w*|pijn (?:doen|gedaan))|snijd? (?:ik )?(?:mezelf|in mijn (?:arm|pols|been))
        zelfbeschadig\w*|automutil\w*
        afscheids(?:brief|brieven|video|bericht)\w*
        (?:van (?:de|een) (?:brug|flat|dak|balkon)|voor (?:de|een) trein|uit het raam)(?: \w+){0,3} (?:spring\w*|gesprongen|stort\w*|gooien)|spring\w*(?: \w+){0,2} (?:van (?:de|een) (?:brug|flat|dak|balkon)|voor (?:de|een) trein)
        (?:alle|te veel|een doos)(?: \w+)? (?:pillen|tabletten)(?: \w+){0,2} (?:nemen|slikken|genomen|geslikt)|overdosis
        levensmoe|(?:moe|klaar|genoeg) (?:van|met) (?:het )?leven\b
        (?:niemand)(?: \w+){0,2} (?:zou|zal) (?:me|mij) missen
        verdwijnen voor altijd|voor altijd (?:verdwijnen|slapen|weg)
        (?:touw|strop)(?: \w+)? (?:gekocht|besteld)(?! (?:om|voor))
    """,
    third_party=r"""
        (?:vriend|vriendin|broer|zus|moeder|vader|zoon|dochter|man|vrouw|partner|collega|hij|zij|ze)(?: \w+){0,4} (?:zelfmoord\w*|wil (?:dood|sterven|niet meer leven)|zichzelf (?:iets aandoen|snijdt|van kant maken))
    """,
    danger=r"""
        (?:hij|zij|mijn (?:man|vrouw|vriend|vriendin|vader|moeder|ex|partner|stiefvader|broer))(?: \w+){0,2} (?:slaat|sloeg|bedreigt|mishandelt|verkracht\w*|wurgt|schopt)(?: \w+)? (?:me|mij)\b
        (?:ben|word|werd) (?:\w+ )?(?:verkracht|mishandeld|misbruikt|geslagen|met de dood bedreigd)
        (?:bang|angst) (?:voor mijn (?:man|vriend|vader|ex|partner|stiefvader)|om naar huis te gaan)
        huiselijk geweld|niet veilig (?:thuis|bij hem|bij haar)|thuis niet veilig
        (?:dreigt|dreigde) (?:me|mij) (?:te vermoorden|te doden|te slaan)
    """,
    harm_others=r"""
        (?:ga|wil|ben van plan)(?: \w+){0,2} (?:hem|haar|hen|ze|iemand|iedereen|mijn \w+)(?: \w+){0,2} ?(?:vermoorden|doodmaken|neersteken|doodschieten|wurgen|doden)
    """,
    elevated=r"""
        hopeloos|wanhopig|radeloos
        (?:kan|hou)(?: \w+){0,2} niet meer (?:aan|vol)?\s*(?:[.,!?]|$)|houd? het niet meer vol
        (?:niets|alles) (?:heeft|is)(?: \w+)? (?:zin meer|zinloos|nog zin)
        haat mezelf|ben waardeloos|voel me (?:\w+ )?(?:leeg|waardeloos|opgesloten)
        ben(?: \w+)? een last\b|paniekaanval\w*|geen uitweg
    """,
    idioms=r"""
        leven zonder (?:koffie|muziek|suiker|internet|telefoon|chocola)\b
        (?:deadline|werk|baas|hitte|project|dit|rug|voeten|examen|week|stress)(?: \w+){0,3} (?:wordt|is|worden) (?:nog )?mijn dood
        (?:lach|lachte) (?:me|mij) (?:\w+ )?dood|(?:ga|ging|sterf|stierf|crepeer|wil)(?: \w+)? (?:dood )?van (?:de |het )?(?:honger|lachen|hitte|schaamte|dorst|verveling|zenuwen|warmte|kou|slaap)
        (?:kan|kon|zou)(?: \w+){0,3} wel (?:\w+ )?(?:vermoorden|wurgen|schieten)
        doodmoe|doodop|doodsbang|doodsaai|doodnormaal|doodgewoon|doodstil
        (?:telefoon|batterij|auto|laptop|plant)(?: \w+){0,2} (?:is )?dood
        een (?:einde|eind) (?:maken )?aan (?:dit|deze|het|de|die|dat) (?!leven)\w+|maak een einde aan (?:dit|deze|het|de) (?!leven)\w+
        (?:politieke|commerciele|sociale) zelfmoord|tijd doden
        (?:afscheidsbrief|afscheidsvideo)(?: \w+){0,2} (?:collega\w*|team|werk)
        (?:mezelf|me) (?:\w+ )?(?:gesneden|verwond)(?: \w+)? (?:bij|met|tijdens|aan) (?:het )?(?:koken|scheren|papier|sporten|mes)
    """,
)
