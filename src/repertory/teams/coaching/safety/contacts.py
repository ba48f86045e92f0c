"""Where people in danger find help, by country.

Looked up on 2026-12-01, in pages of the date that is given (`minors` tells those of young people's lines):

- IT: agensir.it/?p=1502724 (2025-09-10), with the hours.
- BE: dhnet.be, "Une nouvelle campagne de prévention du suicide" (2023-09-05), for 0800 32 123; hln.be, "Organisaties
  lanceren nieuwe campagne rond zelfmoordpreventie" (2019-09-06), for 1813.
- MX: eluniversal.com.mx, "Promueven la Línea de la Vida" (2025-12-24).
- PT: 24noticias.sapo.pt, "Nova linha nacional para prevenção do suicídio entra em funcionamento" (2025-09-10), for 1411
  and SNS 24; cig.gov.pt, "Serviço de Informação às Vítimas de Violência Doméstica" (2018-10-02), for 800 202 148.

The others have not been looked up: check those of your country, and all of them once a year.
"""

# ruff: noqa: E501 - fixed words are not broken

from repertory.teams.coaching.language import FixedLanguage

__all__ = ("COUNTRIES", "abuse_contact", "crisis_contact")

_EVERYWHERE: dict[FixedLanguage, str] = {
    "en": "Elsewhere: findahelpline.com lists a helpline for your country; in immediate danger call your local emergency "
    "number (911 in the US, 999 in the UK, 112 in the EU).",
    "pt": "Noutro país: findahelpline.com indica uma linha de apoio; em perigo imediato ligue para o número de emergência "
    "local (192 no Brasil, 112 na Europa).",
    "es": "En otro país: findahelpline.com indica una línea de ayuda; en peligro inmediato llama al número de emergencias "
    "local (112 en Europa, 911 en muchos países de América).",
    "de": "Anderswo: findahelpline.com nennt eine Krisenhilfe für dein Land; bei unmittelbarer Gefahr wähle den örtlichen "
    "Notruf (112 in der EU).",
    "fr": "Ailleurs : findahelpline.com indique une ligne d'écoute dans ton pays ; en danger immédiat, appelle le numéro "
    "d'urgence local (112 en Europe).",
}

# Country (ISO 3166) -> who to call, as a name and number that are the same in every language.
COUNTRIES: dict[str, str] = {
    "US": "988 Suicide & Crisis Lifeline: 988 (call or text); emergency: 911",
    "CA": "9-8-8 Suicide Crisis Helpline: 988 (call or text); emergency: 911",
    "GB": "Samaritans: 116 123; emergency: 999",
    "IE": "Samaritans: 116 123; emergency: 112",
    "AU": "Lifeline: 13 11 14; emergency: 000",
    "NZ": "Need to talk: 1737; emergency: 111",
    "BR": "CVV (Centro de Valorização da Vida): 188; SAMU: 192",
    "PT": "Linha Nacional de Prevenção do Suicídio: 1411; SNS 24: 808 24 24 24; emergência: 112",
    "ES": "Línea 024; emergencias: 112",
    "MX": "Línea de la Vida: 800 911 2000; emergencias: 911",
    "DE": "TelefonSeelsorge: 0800 111 0 111, 0800 111 0 222, 116 123; Notruf: 112",
    "AT": "TelefonSeelsorge: 142; Notruf: 112",
    "CH": "Die Dargebotene Hand / La Main Tendue: 143; Notruf: 144",
    "FR": "3114 (prévention du suicide); urgences : 15 ou 112",
    "NL": "113 Zelfmoordpreventie: 113 of 0800-0113; noodgeval: 112",
    "IT": "Telefono Amico Italia: 02 2327 2327 (9-24 h); emergenze: 112",
    "BE": "Centre de Prévention du Suicide: 0800 32 123; Zelfmoordlijn: 1813; 112",
}

_BY_LANGUAGE: dict[FixedLanguage, tuple[str, ...]] = {
    "en": ("US", "GB"),
    "pt": ("BR", "PT"),
    "es": ("ES", "MX"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE"),
}
_COUNTRY_NAMES: dict[str, str] = {
    "US": "US", "GB": "UK", "BR": "Brasil", "PT": "Portugal", "ES": "España", "MX": "México", "DE": "Deutschland",
    "AT": "Österreich", "CH": "Schweiz", "FR": "France", "BE": "Belgique",
}  # fmt: skip
_ABUSE: dict[FixedLanguage, str] = {
    "en": "For violence at home: 1-800-799-7233 (US), 0808 2000 247 (UK).",
    "pt": "Em caso de violência: Ligue 180 (Brasil), 800 202 148 (Portugal).",
    "es": "En caso de violencia: 016 (España).",
    "de": "Bei Gewalt: Hilfetelefon 116 016 (Deutschland).",
    "fr": "En cas de violences : 3919 (France).",
}


def crisis_contact(language: FixedLanguage, country: str | None) -> str:
    """Crisis services for a country (its ISO code), or for the countries of a language when it is not known."""
    code = (country or "").strip().upper()
    code = {"UK": "GB"}.get(code, code)
    if code in COUNTRIES:
        return f"{COUNTRIES[code]}. {_EVERYWHERE[language]}"
    known = "; ".join(f"{_COUNTRY_NAMES[item]}: {COUNTRIES[item]}" for item in _BY_LANGUAGE[language])
    return f"{known}. {_EVERYWHERE[language]}"


def abuse_contact(language: FixedLanguage) -> str:
    """Services for people who are hurt or threatened by somebody."""
    return _ABUSE[language]
