"""Italian signs of danger and figures of speech (folded: no accents)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("ITALIAN",)

ITALIAN = compile_signs(
    self_crisis=r"""
        suicid\w*
        (?:uccidermi|ammazzarmi|mi (?:voglio|vorrei|sto per) (?:uccidere|ammazzare)|mi (?:uccido|ammazzo|ammazzero|uccidero)|impiccarmi|spararmi|avvelenarmi|annegarmi|buttarmi (?:giu|sotto|dal|dalla))
        (?:voglio|vorrei|volevo|preferirei|preferisco|desidero|penso di|voglia di)(?: \w+){0,2} (?:morire|essere mort[oa]|non essere mai nat[oa]|sparire per sempre)\b
        (?:togliermi|togliersi|mettere fine alla|porre fine alla|finire|farla finita con) (?:la )?(?:mia )?vita
        farla finita\b(?! con (?!la vita|tutto|questa vita))
        non (?:voglio|vorrei|ho (?:piu )?voglia di|ce la faccio (?:piu )?a) (?:piu )?(?:vivere|esistere|esserci|svegliarmi|andare avanti|stare (?:qui|al mondo)|continuare a vivere)\b
        (?:starebbero|starebbe|sarebbe|sarebbero|stareste|meglio)(?: \w+){0,3} (?:meglio )?(?:senza di me|se (?:io )?non ci fossi|se (?:morissi|sparissi|fossi mort[oa]))
        (?:non (?:c'e|ho|vedo|trovo)|senza|nessun)(?: piu)?(?: \w+)? (?:motivo|motivi|ragione|senso|scopo) (?:per|di|a|nel) (?:vivere|continuare|andare avanti|restare viv[oa])
        (?:la )?(?:mia )?vita (?:non )?(?:\w+ )?(?:ha (?:piu )?senso|vale (?:piu )?(?:la pena|niente)|e inutile)
        (?:addormentarmi|dormire) e non (?:svegliarmi|risvegliarmi)(?: piu)?|non svegliarmi (?:mai )?piu
        (?:mi (?:sono )?(?:tagliat[oa]|taglio|faccio del male|ferisco|brucio apposta)|tagliarmi|farmi del male|ferirmi|tagliata le vene|autolesion\w+)
        lettera d'addio|biglietto d'addio|dire addio a tutti
        (?:buttarmi|saltare|gettarmi|lanciarmi)(?: \w+)? (?:dal|dalla|giu dal|sotto (?:il|un|al)|davanti al) (?:\w+ )?(?:ponte|balcone|finestra|treno|tetto|palazzo|metro)
        (?:prendere|preso|ingoiare|ingoiato) (?:tutte|troppe|un sacco di|una scatola di)(?: \w+)? (?:pillole|pastiglie|medicine|pasticche)|overdose
        (?:stanc[oa]|stuf[oa]) (?:di vivere|della vita|di esistere)
        (?:nessuno) (?:sentirebbe|sentira) la mia mancanza
        (?:comprato|preso) una corda(?! (?:per|da))
        non merito di vivere
    """,
    third_party=r"""
        (?:amic[oa]|fratello|sorella|madre|padre|figli[oa]|marito|moglie|ragazz[oa]|collega|lui|lei)(?: \w+){0,4} (?:suicid\w+|vuole (?:morire|uccidersi|ammazzarsi|farla finita)|si (?:taglia|fa del male)|togliersi la vita)
    """,
    danger=r"""
        (?:lui|lei|(?:il )?mio (?:marito|ragazzo|padre|ex|compagno|patrigno|fratello)|(?:la )?mia (?:moglie|ragazza|madre|compagna))(?: \w+){0,2} mi (?:picchia|ha picchiat\w|minaccia|maltratta|violenta|ha violentat\w|strangola|colpisce)
        (?:sono stat[oa]|vengo) (?:\w+ )?(?:violentat\w|picchiat\w|maltrattat\w|abusat\w|minacciat\w di morte)
        (?:paura) (?:di (?:tornare|andare) a casa|di mio (?:marito|padre|ex|ragazzo|compagno))
        violenza domestica|non (?:sono|mi sento) (?:al sicuro|sicur[oa]) (?:a casa|con lui|con lei)
        (?:minaccia|ha minacciato) di (?:uccidermi|ammazzarmi|picchiarmi)
    """,
    harm_others=r"""
        (?:voglio|vado a|sto per|ho intenzione di) (?:uccidere|ammazzare|accoltellare|strangolare|avvelenare|sparare a) (?:lui|lei|qualcuno|tutti|(?:il |la )?mi[oa]|un)\b
        (?:voglio|sto per) (?:ucciderl[oa]|ammazzarl[oa]|accoltellarl[oa])
    """,
    elevated=r"""
        senza speranza|disperat[oa]|disperazione
        non ce la faccio piu(?! (?:con|a (?!vivere)))|non ne posso piu
        (?:niente|nulla) ha (?:piu )?senso|mi odio|sono un peso\b
        mi sento (?:\w+ )?(?:vuot[oa]|inutile|in trappola)|attacchi? di (?:panico|ansia)|via d'uscita
    """,
    idioms=r"""
        (?:scadenza|lavoro|capo|caldo|progetto|questo|questa|schiena|esame|settimana|traffico)(?: \w+){0,2} mi (?:uccide|ammazza|sta uccidendo|fa morire)
        (?:muoio|morivo|morire|mort[oa]|moriro|voglia di morire) (?:di|dal|dalla|dallo) (?:\w+ )?(?:fame|ridere|caldo|freddo|noia|vergogna|sonno|sete|voglia|curiosita|paura|invidia|risate)
        stanc[oa] mort[oa]|mort[oa] di (?:sonno|stanchezza)
        (?:potrei|ammazzerei|ucciderei) (?:uccidere |ammazzare )?(?:il mio|la mia|mio|mia) \w+
        farla finita con (?:il|lo|i|le|gli|questo|questa|l'|la (?!vita)) ?\w+
        (?:telefono|batteria|macchina|pianta|computer) (?:\w+ )?(?:e )?mort[oa]
        ammazzare il tempo|suicidio (?:politico|commerciale|professionale)
        mi sono tagliat[oa] (?:i capelli|un dito|cucinando|facendo|con (?:la carta|il coltello))
        (?:mi ha|mi) (?:battut[oa]|batte) (?:a|al|alla)\b
    """,
)
