"""French signs of danger and figures of speech (folded: no accents)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("FRENCH",)

FRENCH = compile_signs(
    self_crisis=r"""
        suicid\w*
        (?:me tuer|je me tue|m'as?sassiner)\b
        (?:me foutre en l'air|me flinguer|me pendre|me noyer|m'empoisonner|me tirer une balle)
        (?:mettre fin a|en finir avec|m'oter|m'enlever|finir|terminer) (?:mes jours|ma vie|la vie|tout|tout ca)\b
        (?:en finir|qu'on en finisse|veux en finir)(?: une (?:bonne )?fois)?(?: pour (?:de bon|toutes))?\s*(?:[.,;!?]|$)
        (?:veux|voudrais|voulais|envie de|aimerais|prefererais|prefere|pense a|souhaite|vais|pensais a)(?: juste| bien| vraiment| seulement)? (?:mourir|crever|etre morte?)\b
        (?:voudrais|aimerais|prefererais|j'aurais (?:prefere|voulu))(?: \w+){0,2} (?:ne (?:jamais )?etre nee?|ne jamais (?:etre|avoir)|etre morte?|n'avoir jamais)
        (?:ne |n')?(?:veux|voulais|voudrais|ai|ai plus|peux|aurai)(?: plus| pas)(?: envie de| la force de| le courage de| aucune envie de)? (?:vivre|exister|etre (?:la|ici|vivante?)|me reveiller|continuer a vivre|rester en vie)\b
        (?:plus|pas|aucune|sans|de) (?:envie|raisons?|force|gout|la force)(?: de| a)? (?:vivre|continuer a vivre|rester en vie|la vie)\b
        a quoi (?:bon|ca sert de) (?:vivre|continuer a vivre|rester en vie|exister)|a quoi bon continuer
        (?:fatiguee?|marre|lasse?|las|epuisee?) de (?:vivre|la vie|l'existence|exister|etre en vie)\b
        (?:ma |la )?vie (?:ne |n')(?:vaut|a|merite|en vaut)(?: \w+){0,2} (?:la peine|rien|sens|d'etre vecue|plus rien)|vie ne vaut (?:plus|pas)
        (?:mieux|plus heureux|tranquilles?) sans moi|debarrasses? de moi|mieux si je (?:mourais|n'existais|n'etais|disparaissais)
        (?:me couper les|me scarifi\w+|me scarifier|me faire du mal|me fais du mal|me faisais du mal|me mutil\w+|m'automutil\w+|me coupe\b|me blesser (?:volontairement|expres)|me bruler expres|me brule expres|m'ouvrir les)
        automutil\w*|scarification\w*
        (?:lettre|mot|message|video)s? d'adieux?|faire mes adieux|dit adieu a tou\w*|adieu a tous
        (?:dormir|m'endormir|me coucher) (?:et )?(?:pour (?:toujours|de bon|ne plus)|ne (?:plus|jamais|pas))(?: (?:jamais|plus))?(?: me)?(?: reveiller)?
        (?:ne (?:plus|jamais|pas) (?:jamais )?me reveiller)
        disparaitre (?:pour (?:toujours|de bon)|a jamais|de ce monde|definitivement)
        (?:je )?(?:n'en|en) peux plus de (?:vivre|la vie|cette vie|exister)
        (?:ne |n')?(?:peux|arrive|en peux) plus (?:a )?(?:continuer|avancer|tenir)\b
        (?:sauter|me jeter|me jette|sauterais)(?: \w+)? (?:du|d'un|d'une|par la|par|de la|de|sous|devant) ?(?:le |un |une |du )?(?:pont|fenetre|toit|balcon|train|metro|voiture|immeuble)
        (?:avaler|avale|prendre|pris|avalais) (?:tous?|toute?s?|trop de|une boite de|plein de)(?: \w+)? ?(?:les |mes |de )?(?:cachets|medicaments|comprimes|somniferes)
        overdose|surdose
        personne ne (?:me regretter\w+|remarquer\w+|s'en (?:rendrait|apercevrait)|verrait)
        (?:suis|ne suis) (?:qu'|plus qu')?un (?:poids|fardeau) pour (?:tous|tout le monde|ma|mes|eux)
        (?:pense|pensees?|penser|idees?) (?:a|de|sur|souvent a) (?:la |ma )?(?:mort|mourir|noires)\b
        merite pas de vivre
    """,
    third_party=r"""
        (?:ami|amie|frere|soeur|mere|pere|fils|fille|mari|femme|copain|copine|conjoint|collegue|cousine?|il|elle)(?: \w+){0,4} (?:se (?:tuer|suicider|faire du mal|scarifi\w+|pendre)|suicid\w+|veut mourir|mettre fin a ses jours|en finir avec la vie|s'automutil\w+)
    """,
    danger=r"""
        (?:il|elle|mon (?:mari|pere|copain|compagnon|conjoint|ex|beau-pere|frere|oncle|chef|fils)|ma (?:mere|femme|copine|compagne|soeur))(?: \w+){0,2} (?:me|m'a|m'as|m') ?(?:deja |encore )?(?:frappe\w*|bat\b|battu\w*|menac\w+|viol(?:e|ee|er|ait)\b|etrangl\w+|maltrait\w+|agress\w+|cogne\w*)
        (?:ai ete|suis|ete) (?:\w+ )?(?:violee?|agressee?|battue?|abusee?|maltraitee?|menacee? de mort)
        (?:menace|menacee?) de me (?:tuer|frapper)|(?:veut|a essaye de|va) me (?:tuer|frapper) (?:s'il|si je|quand|avec)
        peur (?:de (?:rentrer|retourner)(?: chez moi| a la maison)?|de mon (?:mari|pere|copain|conjoint|ex|compagnon|beau-pere))
        (?:pas|plus) en securite (?:chez moi|a la maison|avec lui|ici)
        violences? conjugales?
    """,
    harm_others=r"""
        (?:vais|veux|voudrais|envie de|pense a) (?:vraiment )?(?:tuer|poignarder|etrangler|empoisonner|buter) (?:mon|ma|mes|quelqu'un|tout le monde|cet?|cette|des|les|lui)\b
        (?:vais|veux|voudrais|envie de) (?:le|la|les) (?:tuer|poignarder|etrangler|buter)
    """,
    elevated=r"""
        desesperee?\b|desespoir|sans espoir
        (?:n'en|j'en|en) peux plus(?! (?:de (?:ce|cette|ces|mon|ma|mes|l[ae]s?|l'|devoir|travailler|attendre)|des|du))
        (?:rien|plus rien) (?:n'a|ne fait|a)(?: \w+)? (?:de sens|sens|d'importance)|tout m'est egal
        me deteste|me hais
        (?:me sens|suis) (?:\w+ )?(?:vide|inutile|nulle?|un poids|un fardeau|piegee?|sans valeur)\b
        crises? (?:de panique|d'angoisse)|attaques? de panique
        (?:veux|voudrais|envie de) (?:juste )?disparaitre
        (?:sans|pas d'|aucune|plus d') ?issue
        craque completement|au bout du rouleau
    """,
    idioms=r"""
        (?:ne )?(?:pas|plus) me reveiller (?:avec|par|a cause d[eu]) (?:l'|le |la |mon |un |une )?(?:alarme|reveil|reveille-matin)
        patiente?s? suicidaires?\b
        vivre sans (?:cafe|musique|chocolat|sucre|internet|fromage|telephone|portable)\b
        peur de rentrer (?:a noel|pour (?:noel|les fetes)|chez (?:mes|les) \w+ (?:a|pour) noel)
        (?:marre|fatiguee?|lasse?) de vivre (?:en|avec|a|chez|ici|dans|loin|seule?)
        (?:pourrais|pourrait) (?:\w+ )?tuer (?:mon|ma|mes|ce|cette) \w+
        me coupe? les (?:cheveux|ongles)
        (?:delai|travail|boulot|chef|projet|ca|cela|bruit|chaleur|dos|semaine|reunion|reunions|attente|suspense|echeance|rythme|regime|examen|deadline|entrainement|concours)(?: \w+){0,2} (?:me tue\w*|m'a tuee?|me tuent|va me tuer|vont me tuer|me creve)(?: a petit feu)?
        (?:me|se) (?:tue|tuer|tues|creve) (?:a|au|a la|en) (?:la tache|travail|travailler|bosser|le (?:faire|repeter|dire)|vous dire|te dire|reviser|l'entrainement|boulot)
        (?:ma (?:mere|chef|femme|prof|soeur)|mon (?:chef|patron|pere|prof|coach|client)) (?:va|vont|allait) me tuer
        (?:veux |voulais |failli |cru )?(?:mourir|morte?|meurs|crever|creve|mourrais|mourait) de (?:\w+ )?(?:rire|honte|faim|ennui|peur|froid|chaud|soif|fatigue|trouille|sommeil|jalousie|envie|curiosite|chaleur|trac)
        envie de (?:mourir|disparaitre) (?:de honte|sous terre)
        suicide (?:professionnel|politique|social|commercial|economique|de carriere)
        (?:me suis|m'etre) (?:coupee?|fait mal|blessee?|brulee?) (?:en|les cheveux|le doigt|au|a la|a l'|avec (?:le|un|la) (?:couteau|papier|four)|a cause)
        me coupe (?:les cheveux|la parole|l'appetit|le sifflet|du monde|en deux|la frange)
        tuer (?:le temps|dans l'oeuf|l'ambiance|la concurrence|un process\w*)
        (?:overdose|surdose) de (?:cafe|sucre|chocolat|travail|series|cafeine|reunions)
        plutot mourir que
        (?:portable|batterie|voiture|plante|telephone|ordi)(?: \w+){0,2} (?:est )?(?:mort|morte|meurt)
        (?:m'a|me) battue? (?:aux|au|a la|sur|de)\b|me bat (?:aux|au|a la|sur)\b
        (?:en finir|finir) (?:avec|ce|cette|le|la) (?:ce|cette|le|la|les|mon|mes|ces)? ?(?:projet|dossier|rapport|travail|reunion|presentation|demenagement|paperasse|travaux|procrastination|sucre|cigarette)
        (?:mot|message|pot|lettre|fete) d'adieu (?:de|pour|a) (?:ma|mon|mes|l'|la|notre) ?(?:\w+ )?(?:collegue\w*|equipe|boite|chef|boulot)
    """,
)
