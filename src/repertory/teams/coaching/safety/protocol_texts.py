"""The fixed words of the crisis protocol, in five languages.

Order of every crisis reply: take it seriously, ask directly, name crisis services, encourage a person, say what this is.
No plan, no number about the person, no advice on anything else.
"""

# ruff: noqa: E501 - fixed words are not broken

from dataclasses import dataclass

from repertory.teams.coaching.language import FixedLanguage

__all__ = ("TEXTS", "ProtocolTexts")


@dataclass(frozen=True)
class ProtocolTexts:
    """One language's fixed words.

    Attributes:
        opening: By category of danger: taking it seriously and the direct question.
        contact: What stands before the crisis services.
        person: Encouragement to involve somebody near.
        machine: What this is and is not.
        holding: Later messages of the same session, whatever they say.
        check_in: The first words of the next session.
        still_there: What follows the check-in.
        elevated: Put before the first reply when things are heavy.
        disclosure: Put before the first reply of a session.
        reminder: The same, after three hours.
    """

    opening: dict[str, str]
    contact: str
    person: str
    machine: str
    holding: str
    check_in: str
    still_there: str
    elevated: str
    disclosure: str
    reminder: str


TEXTS: dict[FixedLanguage, ProtocolTexts] = {
    "en": ProtocolTexts(
        opening={
            "self": "Thank you for telling me this. It sounds very heavy, and I want to stay with it before anything else. "
            "Let me ask directly: are you having thoughts of suicide or of hurting yourself? Are you safe right now?",
            "third_party": "Thank you for telling me. You are right to take this seriously. If this person may be thinking "
            "about suicide, ask them directly; asking does not put the idea there. Are they safe right now, and are you?",
            "danger": "Thank you for telling me. What you describe is not your fault. "
            "Are you safe right now? If not, please go somewhere safe if you can, and call for help.",
            "harm_others": "Thank you for saying this openly. Are you thinking of hurting somebody, or yourself? "
            "Please put distance between you and that person now, and talk to somebody who can help tonight.",
        },
        contact="You can talk to a crisis line now, free and at any hour.",
        person="If there is somebody you trust nearby, please tell them what you told me, and let them be with you.",
        machine="I am an AI. I cannot keep you safe or replace a person, and everything else can wait.",
        holding="I hear you, and I would rather not go back to other things yet, because of what you wrote. "
        "You do not have to explain it away. Are you thinking about suicide or about hurting yourself? Are you safe now?",
        check_in="Before anything else: last time you wrote something that worried me. "
        "How are you feeling today, and are you safe? Are thoughts of suicide or of hurting yourself still there?",
        still_there="Tell me how it is, and we go on from there, at your speed.",
        elevated="That sounds like a lot to carry. How are you doing right now, and is there somebody you can talk to? "
        "If it gets too much, a helpline is there at any hour (findahelpline.com).",
        disclosure="You are talking to an AI coach, not a person.",
        reminder="A reminder: you are talking to an AI coach, not a person. A break may do you good.",
    ),
    "pt": ProtocolTexts(
        opening={
            "self": "Obrigado por me contar isso. Parece muito pesado, e quero ficar com isso antes de qualquer outra coisa. "
            "Pergunto diretamente: você está tendo pensamentos de suicídio ou de se machucar? Está em segurança agora?",
            "third_party": "Obrigado por me contar. Faz bem em levar isso a sério. Se essa pessoa pode estar pensando em "
            "suicídio, pergunte-lhe diretamente; perguntar não põe a ideia na cabeça. Ela está em segurança agora? E você?",
            "danger": "Obrigado por me contar. O que você descreve não é culpa sua. "
            "Você está em segurança agora? Se não, vá para um lugar seguro, se puder, e peça ajuda.",
            "harm_others": "Obrigado por dizer isso abertamente. Você está pensando em machucar alguém, ou a si? "
            "Por favor, afaste-se dessa pessoa agora e fale ainda hoje com alguém que possa ajudar.",
        },
        contact="Você pode falar agora com uma linha de apoio em crise, de graça e a qualquer hora.",
        person="Se houver por perto alguém em quem confia, conte o que me contou e deixe essa pessoa ficar com você.",
        machine="Eu sou uma IA. Não posso garantir a sua segurança nem substituir uma pessoa, e todo o resto pode esperar.",
        holding="Eu ouço você, e prefiro ainda não voltar a outros assuntos, por causa do que escreveu. "
        "Não precisa diminuir isso. Está pensando em suicídio ou em se machucar? Está em segurança agora?",
        check_in="Antes de tudo: da última vez você escreveu algo que me preocupou. "
        "Como está se sentindo hoje, e está em segurança? Ainda há pensamentos de suicídio ou de se machucar?",
        still_there="Diga-me como está, e seguimos a partir daí, no seu tempo.",
        elevated="Isso parece muito para carregar. Como você está agora, e há alguém com quem possa falar? "
        "Se ficar demais, há linhas de apoio a qualquer hora (findahelpline.com).",
        disclosure="Você está falando com um coach de IA, não com uma pessoa.",
        reminder="Um lembrete: você está falando com um coach de IA, não com uma pessoa. Uma pausa pode fazer bem.",
    ),
    "es": ProtocolTexts(
        opening={
            "self": "Gracias por contármelo. Suena muy duro, y quiero quedarme en esto antes que en cualquier otra cosa. "
            "Te pregunto directamente: ¿tienes pensamientos de suicidio o de hacerte daño? ¿Estás a salvo ahora?",
            "third_party": "Gracias por contármelo. Haces bien en tomarlo en serio. Si esa persona puede estar pensando en el "
            "suicidio, pregúntaselo directamente; preguntar no da la idea. ¿Está a salvo ahora? ¿Y tú?",
            "danger": "Gracias por contármelo. Lo que describes no es culpa tuya. "
            "¿Estás a salvo ahora? Si no, ve a un lugar seguro si puedes, y pide ayuda.",
            "harm_others": "Gracias por decirlo abiertamente. ¿Estás pensando en hacer daño a alguien, o a ti? "
            "Por favor, aléjate de esa persona ahora y habla hoy mismo con alguien que pueda ayudar.",
        },
        contact="Puedes hablar ahora con una línea de crisis, gratis y a cualquier hora.",
        person="Si hay cerca alguien de confianza, cuéntale lo que me has contado y deja que te acompañe.",
        machine="Soy una IA. No puedo mantenerte a salvo ni sustituir a una persona, y todo lo demás puede esperar.",
        holding="Te escucho, y prefiero no volver todavía a otras cosas, por lo que escribiste. "
        "No tienes que quitarle importancia. ¿Estás pensando en el suicidio o en hacerte daño? ¿Estás a salvo ahora?",
        check_in="Antes de nada: la última vez escribiste algo que me preocupó. "
        "¿Cómo te sientes hoy, y estás a salvo? ¿Siguen ahí los pensamientos de suicidio o de hacerte daño?",
        still_there="Dime cómo va, y seguimos desde ahí, a tu ritmo.",
        elevated="Parece mucho peso. ¿Cómo estás ahora mismo, y hay alguien con quien puedas hablar? "
        "Si se hace demasiado, hay líneas de ayuda a cualquier hora (findahelpline.com).",
        disclosure="Hablas con un coach de IA, no con una persona.",
        reminder="Un recordatorio: hablas con un coach de IA, no con una persona. Una pausa puede venirte bien.",
    ),
    "de": ProtocolTexts(
        opening={
            "self": "Danke, dass du mir das sagst. Das klingt sehr schwer, und ich möchte dabei bleiben, vor allem anderen. "
            "Ich frage direkt: Hast du Gedanken an Suizid oder daran, dich zu verletzen? Bist du gerade in Sicherheit?",
            "third_party": "Danke, dass du das sagst. Es ist richtig, das ernst zu nehmen. Wenn dieser Mensch an Suizid denken "
            "könnte, frag direkt danach; die Frage bringt niemanden auf die Idee. Ist er gerade in Sicherheit, und bist du es?",
            "danger": "Danke, dass du das sagst. Was du beschreibst, ist nicht deine Schuld. "
            "Bist du gerade in Sicherheit? Wenn nicht, geh an einen sicheren Ort, wenn du kannst, und hol Hilfe.",
            "harm_others": "Danke, dass du das offen sagst. Denkst du daran, jemanden zu verletzen, oder dich selbst? "
            "Bitte bring jetzt Abstand zwischen euch und sprich noch heute mit jemandem, der helfen kann.",
        },
        contact="Du kannst jetzt mit einer Krisenhilfe sprechen, kostenlos und zu jeder Zeit.",
        person="Wenn jemand in der Nähe ist, dem du vertraust, erzähl ihm, was du mir erzählt hast, und lass ihn bei dir sein.",
        machine="Ich bin eine KI. Ich kann nicht für deine Sicherheit sorgen und keinen Menschen ersetzen; alles andere hat Zeit.",
        holding="Ich höre dich, und wegen dem, was du geschrieben hast, möchte ich noch nicht zu anderem zurück. "
        "Du musst es nicht kleinreden. Denkst du an Suizid oder daran, dich zu verletzen? Bist du jetzt in Sicherheit?",
        check_in="Vor allem anderen: Letztes Mal hast du etwas geschrieben, das mir Sorgen macht. "
        "Wie geht es dir heute, und bist du in Sicherheit? Sind die Gedanken an Suizid oder ans Verletzen noch da?",
        still_there="Sag mir, wie es ist, und wir machen von da aus weiter, so langsam wie du willst.",
        elevated="Das klingt nach sehr viel. Wie geht es dir gerade, und gibt es jemanden, mit dem du sprechen kannst? "
        "Wenn es zu viel wird: Hilfetelefone sind zu jeder Zeit da (findahelpline.com).",
        disclosure="Du sprichst mit einem KI-Coach, nicht mit einem Menschen.",
        reminder="Zur Erinnerung: Du sprichst mit einem KI-Coach, nicht mit einem Menschen. Eine Pause kann guttun.",
    ),
    "fr": ProtocolTexts(
        opening={
            "self": "Merci de me le dire. Cela semble très lourd, et je veux m'y arrêter avant toute autre chose. "
            "Je te le demande directement : as-tu des pensées de suicide ou envie de te faire du mal ? "
            "Es-tu en sécurité maintenant ?",
            "third_party": "Merci de me le dire. Tu as raison de prendre cela au sérieux. Si cette personne pense peut-être au "
            "suicide, pose-lui la question directement ; cela ne donne pas l'idée. Est-elle en sécurité maintenant, et toi ?",
            "danger": "Merci de me le dire. Ce que tu décris n'est pas ta faute. "
            "Es-tu en sécurité maintenant ? Sinon, va dans un lieu sûr si tu peux, et appelle à l'aide.",
            "harm_others": "Merci de le dire ouvertement. Penses-tu faire du mal à quelqu'un, ou à toi ? "
            "S'il te plaît, éloigne-toi de cette personne maintenant et parle dès aujourd'hui à quelqu'un qui peut aider.",
        },
        contact="Tu peux parler maintenant à une ligne d'écoute de crise, gratuitement et à toute heure.",
        person="S'il y a près de toi quelqu'un de confiance, dis-lui ce que tu m'as dit et laisse-le rester avec toi.",
        machine="Je suis une IA. Je ne peux pas te protéger ni remplacer une personne, et tout le reste peut attendre.",
        holding="Je t'entends, et je préfère ne pas encore revenir à autre chose, à cause de ce que tu as écrit. "
        "Tu n'as pas à le minimiser. Penses-tu au suicide ou à te faire du mal ? Es-tu en sécurité maintenant ?",
        check_in="Avant tout : la dernière fois, tu as écrit quelque chose qui m'inquiète. "
        "Comment vas-tu aujourd'hui, et es-tu en sécurité ? As-tu encore des pensées de suicide ou envie de te faire du mal ?",
        still_there="Dis-moi comment c'est, et nous partons de là, à ton rythme.",
        elevated="Cela fait beaucoup à porter. Comment vas-tu en ce moment, et y a-t-il quelqu'un à qui parler ? "
        "Si c'est trop, des lignes d'écoute répondent à toute heure (findahelpline.com).",
        disclosure="Tu parles à un coach IA, pas à une personne.",
        reminder="Un rappel : tu parles à un coach IA, pas à une personne. Une pause peut faire du bien.",
    ),
}
