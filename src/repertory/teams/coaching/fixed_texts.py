"""Words that code says to the person by itself, in the five languages: steps, questions, and why something is not advised."""

# ruff: noqa: E501 - a sentence a line

from dataclasses import dataclass

from repertory.teams.coaching.danger import Danger
from repertory.teams.coaching.language import FIXED_LANGUAGES, FixedLanguage, language_name
from repertory.teams.coaching.moves import Move

__all__ = ("FIXED_TEXTS", "FixedTexts", "write_in")


@dataclass(frozen=True)
class FixedTexts:
    """One language's words; `{x}` is what the person wants or plans, as said to them.

    Attributes:
        write_in: The order to answer in this language, in this language: a small model follows no other.
        example_message: A message, for the Coach's example of the form.
        example_reply: The reply to it. A small model writes in the language of its example.
        next_step: The question for when a model gave none and nothing is known of what the person wants.
        next_step_to: The same, for a known aim.
        one_step: A step in place of a question, for somebody who wants none.
        moves: What a move sounds like for a known aim.
        not_this: That a blocked move is not advised (`{move}`), and why (`{why}`).
        not_this_before: The same, when the message that tells of the harm can not be quoted.
        blocked: The blocked moves in words.
        help: Whom to ask where advice would be dangerous.
    """

    write_in: str
    example_message: str
    example_reply: str
    next_step: str
    next_step_to: str
    one_step: str
    moves: dict[Move, str]
    not_this: str
    not_this_before: str
    blocked: dict[Move, str]
    help: dict[Danger, str]


def _help(health: str, violence: str, money: str) -> dict[Danger, str]:
    by_danger = dict.fromkeys(Danger, health)
    by_danger[Danger.CONFRONTING_VIOLENCE] = violence
    by_danger[Danger.DEBT_AND_GAMBLING] = money
    return by_danger


FIXED_TEXTS: dict[FixedLanguage, FixedTexts] = {
    "en": FixedTexts(
        write_in="Answer in English.",
        example_message='"I wanted to run on Monday, but it rained and I stayed in."',
        example_reply='Monday had a run in it until the rain came. What will you do the next time a Monday is wet?',
        next_step="What would be the smallest next step for you?",
        next_step_to='What would be the smallest next step towards this: "{x}"?',
        one_step="Pick the smallest next step, and a time for it.",
        moves={
            Move.OPEN_QUESTION: 'What matters most to you about this: "{x}"?',
            Move.COMPLEX_REFLECTION: 'What lies behind this for you: "{x}"?',
            Move.CHALLENGE_DISCREPANCY: 'You want "{x}", and something else gets the time; what do you make of that?',
            Move.IF_THEN_PLAN: 'When and where exactly will you do this: "{x}"?',
            Move.COPING_PLAN: 'What could get in the way of "{x}", and what will you do then?',
            Move.SHRINK_STEP: 'What would be a smaller first step towards "{x}"?',
            Move.REVIEW_GOAL: 'Does this goal still fit you: "{x}"?',
            Move.ENVIRONMENT_CHANGE: 'What could you change around you so that "{x}" gets easier?',
            Move.SOCIAL_SUPPORT: 'Who could help you with "{x}"?',
            Move.PRIVATE_ACCOUNTABILITY: "Who is one person you trust that you could show it to privately?",
            Move.EMPHASIZE_AUTONOMY: 'The choice is yours: what would you like to do about "{x}"?',
            Move.REFER_PROFESSIONAL: "Which professional you trust could help with this?",
        },
        not_this='I would not suggest {move}, because you wrote: "{why}"',
        not_this_before="I would not suggest {move}, after what it did to you before.",
        blocked={
            Move.PUBLIC_COMMITMENT: "a public promise", Move.FINANCIAL_STAKE: "a bet with money", Move.STREAK_PRESSURE: "a streak",
            Move.SOCIAL_COMPARISON: "a comparison with others", Move.INCREASE_TARGET: "a higher target",
            Move.DIET_TARGET: "a weight or diet target", Move.ENDORSE_IRREVERSIBLE_STEP: "a step that can not be undone",
            Move.SELF_MONITORING: "counting and tracking",
        },
        help=_help(
            "Please talk to your doctor or a pharmacist before you change anything here. Who could you call first?",
            "Your safety comes first, and you need not face this alone. Who is somebody safe you could call, such as a local helpline?",
            "Before any money moves, talk to a free debt or budget advice service. Who could look at it with you?",
        ),
    ),
    "pt": FixedTexts(
        write_in="Responda em português.",
        example_message='"Eu queria correr na segunda, mas choveu e fiquei em casa."',
        example_reply='A segunda tinha uma corrida, até a chuva chegar. O que você vai fazer na próxima segunda de chuva?',
        next_step="Qual seria o menor próximo passo para você?",
        next_step_to='Qual seria o menor próximo passo para isto: "{x}"?',
        one_step="Escolha o menor próximo passo e um horário para ele.",
        moves={
            Move.OPEN_QUESTION: 'O que mais importa para você nisto: "{x}"?',
            Move.COMPLEX_REFLECTION: 'O que está por trás disto para você: "{x}"?',
            Move.CHALLENGE_DISCREPANCY: 'Você quer "{x}", e outra coisa fica com o tempo; o que você pensa disso?',
            Move.IF_THEN_PLAN: 'Quando e onde exatamente você vai fazer isto: "{x}"?',
            Move.COPING_PLAN: 'O que pode atrapalhar "{x}", e o que você fará então?',
            Move.SHRINK_STEP: 'Qual seria um primeiro passo menor para "{x}"?',
            Move.REVIEW_GOAL: 'Esta meta ainda combina com você: "{x}"?',
            Move.ENVIRONMENT_CHANGE: 'O que você poderia mudar à sua volta para que "{x}" fique mais fácil?',
            Move.SOCIAL_SUPPORT: 'Quem poderia ajudar você com "{x}"?',
            Move.PRIVATE_ACCOUNTABILITY: "Quem é uma pessoa de confiança a quem você poderia mostrar isso em particular?",
            Move.EMPHASIZE_AUTONOMY: 'A escolha é sua: o que você gostaria de fazer sobre "{x}"?',
            Move.REFER_PROFESSIONAL: "Que profissional de confiança poderia ajudar com isso?",
        },
        not_this='Eu não sugiro {move}, porque você escreveu: "{why}"',
        not_this_before="Eu não sugiro {move}, depois do que isso causou antes.",
        blocked={
            Move.PUBLIC_COMMITMENT: "uma promessa pública", Move.FINANCIAL_STAKE: "uma aposta com dinheiro",
            Move.STREAK_PRESSURE: "uma sequência sem falhas", Move.SOCIAL_COMPARISON: "uma comparação com outras pessoas",
            Move.INCREASE_TARGET: "uma meta maior", Move.DIET_TARGET: "uma meta de peso ou dieta",
            Move.ENDORSE_IRREVERSIBLE_STEP: "um passo sem volta", Move.SELF_MONITORING: "contar e registrar",
        },
        help=_help(
            "Por favor, fale com seu médico ou farmacêutico antes de mudar qualquer coisa. Para quem você poderia ligar primeiro?",
            "Sua segurança vem primeiro, e você não precisa enfrentar isso só. Para quem de confiança, ou que serviço de apoio, você poderia ligar?",
            "Antes de mexer em dinheiro, procure uma orientação financeira gratuita. Quem poderia olhar isso com você?",
        ),
    ),
    "es": FixedTexts(
        write_in="Responde en español.",
        example_message='"Quería correr el lunes, pero llovió y me quedé en casa."',
        example_reply='El lunes tenía una carrera, hasta que llegó la lluvia. ¿Qué harás el próximo lunes de lluvia?',
        next_step="¿Cuál sería el paso más pequeño para ti?",
        next_step_to='¿Cuál sería el paso más pequeño hacia esto: "{x}"?',
        one_step="Elige el paso más pequeño y una hora para darlo.",
        moves={
            Move.OPEN_QUESTION: '¿Qué es lo que más te importa de esto: "{x}"?',
            Move.COMPLEX_REFLECTION: '¿Qué hay detrás de esto para ti: "{x}"?',
            Move.CHALLENGE_DISCREPANCY: 'Quieres "{x}", y otra cosa se lleva el tiempo; ¿qué piensas de eso?',
            Move.IF_THEN_PLAN: '¿Cuándo y dónde exactamente vas a hacer esto: "{x}"?',
            Move.COPING_PLAN: '¿Qué podría estorbar "{x}", y qué harás entonces?',
            Move.SHRINK_STEP: '¿Cuál sería un primer paso más pequeño hacia "{x}"?',
            Move.REVIEW_GOAL: '¿Esta meta todavía va contigo: "{x}"?',
            Move.ENVIRONMENT_CHANGE: '¿Qué podrías cambiar a tu alrededor para que "{x}" sea más fácil?',
            Move.SOCIAL_SUPPORT: '¿Quién podría ayudarte con "{x}"?',
            Move.PRIVATE_ACCOUNTABILITY: "¿Quién es una persona de confianza a la que podrías enseñárselo en privado?",
            Move.EMPHASIZE_AUTONOMY: 'La decisión es tuya: ¿qué te gustaría hacer con "{x}"?',
            Move.REFER_PROFESSIONAL: "¿Qué profesional de confianza podría ayudarte con esto?",
        },
        not_this='No te sugiero {move}, porque escribiste: "{why}"',
        not_this_before="No te sugiero {move}, después de lo que te causó antes.",
        blocked={
            Move.PUBLIC_COMMITMENT: "una promesa pública", Move.FINANCIAL_STAKE: "una apuesta con dinero",
            Move.STREAK_PRESSURE: "una racha sin fallos", Move.SOCIAL_COMPARISON: "una comparación con otras personas",
            Move.INCREASE_TARGET: "una meta más alta", Move.DIET_TARGET: "una meta de peso o dieta",
            Move.ENDORSE_IRREVERSIBLE_STEP: "un paso sin vuelta atrás", Move.SELF_MONITORING: "contar y registrar",
        },
        help=_help(
            "Por favor, habla con tu médico o farmacéutico antes de cambiar nada. ¿A quién podrías llamar primero?",
            "Tu seguridad es lo primero, y no tienes que afrontarlo a solas. ¿A qué persona segura o servicio de ayuda podrías llamar?",
            "Antes de mover dinero, busca una asesoría financiera gratuita. ¿Quién podría mirarlo contigo?",
        ),
    ),
    "de": FixedTexts(
        write_in="Antworte auf Deutsch.",
        example_message='"Ich wollte am Montag laufen, aber es regnete und ich blieb zu Hause."',
        example_reply='Der Montag hatte einen Lauf, bis der Regen kam. Was machst du, wenn der nächste Montag nass ist?',
        next_step="Was wäre der kleinste nächste Schritt für dich?",
        next_step_to='Was wäre der kleinste nächste Schritt hierzu: "{x}"?',
        one_step="Such dir den kleinsten nächsten Schritt aus, und eine Uhrzeit dafür.",
        moves={
            Move.OPEN_QUESTION: 'Was ist dir hieran am wichtigsten: "{x}"?',
            Move.COMPLEX_REFLECTION: 'Was steckt für dich dahinter: "{x}"?',
            Move.CHALLENGE_DISCREPANCY: 'Du willst "{x}", und etwas anderes bekommt die Zeit; wie siehst du das?',
            Move.IF_THEN_PLAN: 'Wann und wo genau machst du das: "{x}"?',
            Move.COPING_PLAN: 'Was könnte dir bei "{x}" dazwischenkommen, und was machst du dann?',
            Move.SHRINK_STEP: 'Was wäre ein kleinerer erster Schritt zu "{x}"?',
            Move.REVIEW_GOAL: 'Passt dieses Ziel noch zu dir: "{x}"?',
            Move.ENVIRONMENT_CHANGE: 'Was könntest du um dich herum ändern, damit "{x}" leichter wird?',
            Move.SOCIAL_SUPPORT: 'Wer könnte dir bei "{x}" helfen?',
            Move.PRIVATE_ACCOUNTABILITY: "Welcher Person, der du vertraust, könntest du es unter vier Augen zeigen?",
            Move.EMPHASIZE_AUTONOMY: 'Du entscheidest: Was möchtest du mit "{x}" tun?',
            Move.REFER_PROFESSIONAL: "Welche Fachperson, der du vertraust, könnte hier helfen?",
        },
        not_this='Ich rate nicht zu {move}, denn du hast geschrieben: "{why}"',
        not_this_before="Ich rate nicht zu {move}, nach dem, was es dir früher angetan hat.",
        blocked={
            Move.PUBLIC_COMMITMENT: "einem Versprechen vor allen", Move.FINANCIAL_STAKE: "einem Geldeinsatz",
            Move.STREAK_PRESSURE: "einer Serie ohne Pause", Move.SOCIAL_COMPARISON: "einem Vergleich mit anderen",
            Move.INCREASE_TARGET: "einem höheren Ziel", Move.DIET_TARGET: "einem Gewichts- oder Diätziel",
            Move.ENDORSE_IRREVERSIBLE_STEP: "einem Schritt ohne Rückweg", Move.SELF_MONITORING: "Zählen und Protokollieren",
        },
        help=_help(
            "Bitte sprich mit deinem Arzt oder einer Apotheke, bevor du hier etwas änderst. Wen könntest du zuerst anrufen?",
            "Deine Sicherheit geht vor, und du musst das nicht allein schaffen. Welche sichere Person oder Beratungsstelle könntest du anrufen?",
            "Bevor Geld fließt, sprich mit einer kostenlosen Schuldnerberatung. Wer könnte es mit dir ansehen?",
        ),
    ),
    "fr": FixedTexts(
        write_in="Réponds en français.",
        example_message='"Je voulais courir lundi, mais il a plu et je suis resté chez moi."',
        example_reply="Lundi avait sa course, jusqu'à la pluie. Que feras-tu le prochain lundi de pluie ?",
        next_step="Quel serait le plus petit prochain pas pour toi ?",
        next_step_to='Quel serait le plus petit prochain pas vers ceci : "{x}" ?',
        one_step="Choisis le plus petit prochain pas, et une heure pour le faire.",
        moves={
            Move.OPEN_QUESTION: 'Qu\'est-ce qui compte le plus pour toi dans ceci : "{x}" ?',
            Move.COMPLEX_REFLECTION: 'Qu\'y a-t-il derrière ceci pour toi : "{x}" ?',
            Move.CHALLENGE_DISCREPANCY: 'Tu veux "{x}", et autre chose prend le temps ; qu\'en penses-tu ?',
            Move.IF_THEN_PLAN: 'Quand et où exactement vas-tu faire ceci : "{x}" ?',
            Move.COPING_PLAN: 'Qu\'est-ce qui pourrait gêner "{x}", et que feras-tu alors ?',
            Move.SHRINK_STEP: 'Quel serait un premier pas plus petit vers "{x}" ?',
            Move.REVIEW_GOAL: 'Ce but te convient-il encore : "{x}" ?',
            Move.ENVIRONMENT_CHANGE: 'Que pourrais-tu changer autour de toi pour que "{x}" soit plus facile ?',
            Move.SOCIAL_SUPPORT: 'Qui pourrait t\'aider pour "{x}" ?',
            Move.PRIVATE_ACCOUNTABILITY: "À quelle personne de confiance pourrais-tu le montrer en privé ?",
            Move.EMPHASIZE_AUTONOMY: 'Le choix est à toi : que veux-tu faire de "{x}" ?',
            Move.REFER_PROFESSIONAL: "Quel professionnel de confiance pourrait t'aider pour cela ?",
        },
        not_this='Je ne te conseille pas {move}, car tu as écrit : "{why}"',
        not_this_before="Je ne te conseille pas {move}, après ce que cela t'a fait.",
        blocked={
            Move.PUBLIC_COMMITMENT: "une promesse publique", Move.FINANCIAL_STAKE: "un pari avec de l'argent",
            Move.STREAK_PRESSURE: "une série sans pause", Move.SOCIAL_COMPARISON: "une comparaison avec d'autres",
            Move.INCREASE_TARGET: "un but plus haut", Move.DIET_TARGET: "un objectif de poids ou de régime",
            Move.ENDORSE_IRREVERSIBLE_STEP: "un pas sans retour", Move.SELF_MONITORING: "compter et noter",
        },
        help=_help(
            "Parle à ton médecin ou à ton pharmacien avant de changer quoi que ce soit. Qui pourrais-tu appeler d'abord ?",
            "Ta sécurité passe d'abord, et tu n'as pas à faire face seul. Quelle personne sûre ou quel service d'aide pourrais-tu appeler ?",
            "Avant de toucher à l'argent, parle à un service gratuit de conseil budgétaire. Qui pourrait le regarder avec toi ?",
        ),
    ),
}  # fmt: skip


def write_in(code: str | None) -> str:
    """The order to answer in a language, in English and, where it is one of the five, in the language itself."""
    own = next((f" {FIXED_TEXTS[known].write_in}" for known in FIXED_LANGUAGES if code == known != "en"), "")
    return f"Write in {language_name(code)}.{own}"
