"""Spellings of chats and frequent slips, written out.

The lexicons go through the same table, so that both sides agree.
"""

# ruff: noqa: E501 - word lists read best with one group a line

__all__ = ("as_written_out",)

_TABLE = """
    dont=don t|didnt=didn t|doesnt=doesn t|cant=can t|couldnt=couldn t|wont=won t|wouldnt=wouldn t|isnt=isn t|wasnt=wasn t
    havent=haven t|hasnt=hasn t|shouldnt=shouldn t|werent=weren t|aint=ain t|arent=aren t|hadnt=hadn t|cannot=can not
    im=i m|ive=i ve|hes=he s|shes=she s|theyre=they re|ill=i ll|thats=that s|whats=what s|theyd=they d|youre=you re
    wanna=want to|gonna=going to|gotta=got to|wnat=want|wan=want|wana=want to|watn=want|whish=wish|wld=would|cld=could|shld=should
    u=you|ur=your|urself=your self|yourself=your self|myself=my self|mysef=my self|himself=him self|herself=her self
    themselves=them selves|themself=them selves|abt=about|bc=because|cuz=because|cus=because|coz=because|nite=night|tonite=tonight
    tmrw=tomorrow|tmr=tomorrow|rn=right now|anymore=any more|nobody=no one|noone=no one|everybody=everyone|evry1=everyone
    every1=everyone|sum1=someone|somebody=someone|ppl=people|w/o=without|wihtout=without|bf=boyfriend|gf=girlfriend|bff=best friend
    mum=mom|mam=mom|dady=dad|dieing=dying|alredy=already|allready=already|enuf=enough|thru=through|thx=thanks|pls=please
    plz=please|becuase=because|thoguht=thought|tink=think|alife=alive|liveing=living|sucide=suicide|suiside=suicide|suicde=suicide
    sucidal=suicidal|suisidal=suicidal|kil=kill|kll=kill|oding=overdosing|od'd=overdosed
    q=que|k=que|kiero=quiero|qiero=quiero|kisiera=quisiera|qero=quero|kero=quero|xq=porque|pq=porque|porq=porque|oy=hoy|boi=voy
    stoy=estoy|toy=estoy|arta=harta|arto=harto|aserme=hacerme|aser=hacer|tb=tambem|vc=voce|vcs=voces|hj=hoje|mt=muito|mto=muito
    tou=estou|tava=estava|tavam=estavam|pra=para|pro=para o|bue=muito|ngm=ninguem|msm=mesmo
    finde=fin de semana|mama=madre|papa=padre
    jveux=je veux|jvais=je vais|jvai=je vais|jpeux=je peux|jsuis=je suis|chuis=je suis|chui=je suis|jai=j ai|jen=j en|jme=je me
    jpense=je pense|jvoudrais=je voudrais|jaurais=j aurais|jarrive=j arrive|sui=suis|mourire=mourir|mourrir=mourir|tkt=t inquiete
    tt=tout|ts=tous|pr=pour|ke=que|ki=qui|kand=quand|qd=quand|pcq=parce que|psk=parce que|koi=quoi|mtn=maintenant|vrmt=vraiment
    hab=habe|nix=nichts|ned=nicht|net=nicht|nich=nicht|nd=nicht|kb=keine lust|kein bock=keine lust|wil=will|sterbn=sterben|lebn=leben
    heut=heute|fuer=fur|waere=ware|waeren=waren|moechte=mochte|wuerde=wurde|wuerden=wurden|koennte=konnte|koennen=konnen
    toeten=toten|bruecke=brucke|muede=mude|hoeren=horen|aufhoeren=aufhoren|schlaegt=schlagt|wuenschte=wunschte|gluecklich*=glucklich*
    naechste=nachste|naechsten=nachsten|zurueck=zuruck|ueber=uber|uebrig=ubrig|haette=hatte|ich'd=ich wurde|schmeissen=schmeissen
    nimmer=nicht mehr|nie wieder=nie mehr|hald=halt|grad=gerade|nacher=nachher|vll=vielleicht|vllt=vielleicht|iwie=irgendwie
    kaputtgehn=kaputtgehen|ists=ist es|wars=war es|gehts=geht es|machs=mach es|hats=hat es|wirds=wird es|ichs=ich es
"""


def _table() -> dict[str, tuple[str, ...]]:
    pairs = (pair.partition("=") for line in _TABLE.splitlines() for pair in line.strip().split("|") if pair.strip())
    return {written: tuple(meant.split()) for written, _, meant in pairs if " " not in written and written != meant}


_WRITTEN_OUT = _table()


def as_written_out(word: str) -> tuple[str, ...]:
    """The words that one folded word of a chat stands for; itself when it is none."""
    return _WRITTEN_OUT.get(word) or (word,)
