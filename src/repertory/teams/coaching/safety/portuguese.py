"""Portuguese signs of danger and figures of speech (folded: no accents)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("PORTUGUESE",)

PORTUGUESE = compile_signs(
    self_crisis=r"""
        suicid\w*
        (?:me matar|matar-me|me mato|mato-me|me matei|me matando)\b
        (?:quero|queria|querendo|vontade de|desejo de|prefiro|preferia|vou|pensando em|penso em|pensei em|so queria) (?:mesmo )?morrer\b
        (?:queria|quero|preferia|desejava|gostaria de|gostava de) (?:ja )?(?:estar|ter) (?:mort[oa]|morrido|nascido morto)
        (?:queria|preferia) nunca ter (?:nascido|existido)
        (?:tirar|acabar com|por fim a|dar fim a|terminar com|terminar|encerrar) (?:a )?(?:minha )?(?:propria )?(?:minha )?(?:vida)\b
        acabar com tudo\b|por um fim (?:a|em) tudo|acabar com (?:isso|isto) (?:tudo )?de (?:uma )?vez|dar um fim (?:em mim|nisso tudo|na minha vida)
        nao (?:quero|queria|tenho vontade de|desejo|aguento) (?:mais )?(?:viver|existir|estar (?:aqui|viv[oa]|neste mundo)|acordar|continuar (?:aqui|viv[oa]|a viver|vivendo)|seguir vivendo)
        nao aguento mais (?:viver|a vida|essa vida|esta vida|minha vida|estar viv[oa])
        nao (?:vejo|tenho|ha|encontro|existe|acho) (?:mais )?(?:nenhum[a]? )?(?:razao|razoes|motivo|motivos|sentido|vontade|porque) (?:nenhum[a]? )?(?:para|pra|de|em|na) (?:continuar (?:a viver|viv[oa]|vivendo|aqui)|viver|vida|estar viv[oa]|existir|estar aqui)
        sem (?:mais )?(?:razao|motivo|motivos|vontade|sentido) (?:nenhum[a]? )?(?:para|pra|de|em) (?:viver|continuar)
        (?:todos|todo mundo|toda a gente|minha familia|eles|mundo|filhos) (?:\w+ ){0,3}melhor sem mim|melhor sem mim
        (?:seria|era|estaria|fica(?:ria|va)) (?:\w+ ){0,2}melhor (?:se eu )?(?:morrer|morresse|morto|morta|nao (?:existisse|estivesse|acordasse)|sumisse|desaparecesse)
        dormir e (?:nao|nunca mais|nunca) acordar|(?:nao|nunca mais) acordar (?:mais|amanha|nunca)
        (?:carta|bilhete|mensagem|video) de (?:despedida|adeus)
        (?:me despedir|despedir-me|me despedindo|despedi-me|me despedi) de (?:todos|todo mundo|voces|toda a gente|tudo)
        (?:sumir|desaparecer) (?:para sempre|pra sempre|do mundo|de vez|deste mundo|da vida)
        (?:cansad[oa]|farto|farta|cheio) de viver\b(?! (?:assim|com|em|aqui))|(?:cansad[oa]|fart[oa]) (?:da vida|de estar viv[oa]|de existir)
        (?:a )?(?:minha )?vida (?:ja )?nao (?:vale|tem|faz) (?:mais )?(?:a pena|nada|sentido)|nao vale (?:mais )?a pena (?:viver|continuar vivo|estar viv[oa])
        nao (?:consigo|da|posso|aguento) (?:mais )?(?:continuar|seguir) (?:mais|assim|em frente|vivendo|viv[oa])\b
        (?:me corto|me cortar|me cortando|me cortei|cortar-me|corto-me|cortei-me|me machuco|me machucar|machucar-me|me ferir|ferir-me|me firo|me magoar de proposito|magoar-me|me queimar|me queimo)\b
        auto-?(?:mutil|les|agress)\w*
        cort(?:ar|ei|o|ando) (?:os )?(?:meus )?(?:pulsos|bracos)
        (?:pular|saltar|me jogar|atirar-me|me atirar|me atiro|jogar-me) (?:da|do|de|duma|dum|debaixo|na frente|a frente|pela|embaixo) (?:uma |um |de |do |da )?(?:ponte|predio|janela|varanda|comboio|trem|metro|telhado|viaduto|onibus|carro)
        (?:tomar|tomei|engolir|tomando) (?:todos|um monte|muitos|varios|uma caixa) (?:d?os )?(?:de )?(?:meus )?(?:comprimidos|remedios)
        overdose
        (?:ninguem) (?:vai|iria|ia|ira) (?:sentir (?:a )?minha falta|notar|reparar|se importar)
        (?:sou|so sou) (?:apenas )?um (?:peso|fardo) (?:para|pra|na) (?:todos|todo mundo|minha|a minha|eles)
        (?:me enforcar|enforcar-me|me dar um tiro|dar um tiro em mim)
        desistir d[ae] (?:vida|viver)
        (?:pensamentos?|pensado|pensando|penso) (?:sobre|na|em|de) (?:a )?(?:morte|morrer)
        nao mereco (?:viver|estar viv[oa])
    """,
    third_party=r"""
        (?:amig[oa]|irma|irmao|mae|pai|filh[oa]|marido|mulher|esposa|namorad[oa]|colega|ele|ela|prim[oa]) (?:\w+ ){0,4}(?:se matar|matar-se|suicid\w+|quer morrer|tirar a (?:propria|sua) vida|se cortar?|se corta|se cortando|acabar com a (?:propria )?vida)
    """,
    danger=r"""
        (?:ele|ela|(?:o )?meu (?:marido|pai|namorado|padrasto|ex|companheiro|tio|irmao|chefe|filho)|(?:a )?minha (?:mae|mulher|esposa|namorada|irma|ex)) (?:\w+ ){0,2}(?:me (?:bate|bateu|batia|agride|agrediu|espanca|espancou|estrangul\w+|ameac\w+|estupr\w+|viol(?:a|ou)|abus\w+|sufoc\w+|machuca|machucou|chuta|chutou)|bate-me|bateu-me|agride-me|ameaca-me|bate em mim|bateu em mim)
        (?:fui|sou|estou sendo|estou a ser) (?:\w+ )?(?:estuprad\w+|violad\w+|agredid\w+|abusad\w+|espancad\w+|ameacad\w+ de morte)
        (?:ameac\w+|disse que vai|quer|tentou) (?:de )?me (?:matar|bater)
        (?:medo|pavor) (?:de|do) (?:voltar (?:para|pra) casa|ir (?:para|pra) casa|meu (?:marido|pai|namorado|padrasto|ex|companheiro))
        nao (?:me sinto|estou) segur[oa] (?:em casa|com ele|com ela|aqui)
        violencia domestica
    """,
    harm_others=r"""
        (?:vou|quero|queria|penso em|pensando em|vontade de) (?:mesmo )?(?:matar|esfaquear|estrangular|envenenar|dar um tiro (?:em|no|na)) (?:ele|ela|eles|alguem|todos|todo mundo|(?:o )?meu|(?:a )?minha|ess[ea]|aquel[ea]|toda a gente)
        (?:vou|quero) mata-l[oa]s?
    """,
    elevated=r"""
        sem esperanca|desesperad[oa]|desespero
        nao aguento mais(?! (?:o|a|os|as|essa|esse|esta|este|ouvir|ver|tanta|tanto|reunioes))
        (?:nada|tudo) (?:mais )?(?:importa|faz sentido|perdeu o sentido)\b
        (?:me odeio|odeio-me|sinto odio de mim)
        (?:sinto|sentindo)(?:-me| me)? (?:vazi[oa]|inutil|um lixo|um peso|sem valor)
        (?:sou|me sinto) (?:um peso|um fardo|inutil)
        ataques? de panico|crises? de panico
        (?:queria|quero) (?:so )?(?:sumir|desaparecer)
        sem saida\b|nao vejo saida
    """,
    idioms=r"""
        (?:doentes?|pacientes?|utentes?|clientes) suicidas?\b
        (?:me )?cort(?:ar|ou|a)(?:-me)? (?:as|nas) (?:horas|despesas|ferias)
        matar aquel[ea] (?:prova|exame|teste|aula|jogo)
        (?:cansei|cansad[oa]|fart[oa]) de viver (?:com|em|na|no|aqui|longe|assim|sozinh[oa])
        matar (?:ess[ae]|est[ae]|a|o|uma?) (?:prova|aula|exame|fome|sede|tempo|saudade\w*|charada|jogo|trabalho|teste)
        me cortar (?:nos?|nas?) (?:doces|acucar|gastos|despesas|carboidratos|hidratos|bebida)
        acabar com tudo (?:o que|isso que|que (?:esta|tenho)|ate|no prazo|da lista|na lista)|acabar com (?:o|a) (?!minha vida|vida|propria)\w+
        (?:podia|poderia|apetece-me|da vontade de) matar (?:o meu|a minha|meu|minha|esse|essa) (?!vida)\w+
        (?:esta|ta|anda|vai|estao|me|vao) (?:me )?matand?o?-?(?:me)?(?: de (?:rir|trabalhar|estudar|tanto \w+|cansaco|raiva|saudade|vergonha|orgulho))\b
        (?:prazo|trabalho|chefe|dor|calor|isso|isto|projeto|reuniao|reunioes|semana|transito|barulho|ele|ela|faculdade|curso|dieta|treino|ansiedade|espera|saudade|curiosidade|sono|rotina) (?:\w+ ){0,3}(?:me (?:mata|matando|matar|matou)|(?:a )?matar-me|mata-me)\b
        (?:me )?(?:mato|matei|matar|matando|matar-me|mato-me) (?:de|a|para|pra|no|na) (?:rir|trabalhar|estudar|treinar|tanto|terminar|entregar|acabar o|trabalho|treino|academia|ginasio)
        (?:quero |queria |quase |vou )?(?:morrer|morri|morro|morrendo|morre|morta|morto|a morrer) (?:de|a|por) (?:\w+ )?(?:rir|vergonha|medo|fome|calor|frio|saudades?|tedio|curiosidade|sono|vontade|inveja|sede|amores|cansaco|tanto|preguica|riso|um cafe|uma pizza)
        matar (?:a |as |o )?(?:saudades?|tempo|aula|aulas|fome|sede|charada|tarefa|cobra|projeto)
        (?:minha mae|meu pai|meu chefe|minha chefe|minha esposa|minha mulher|o professor|a professora|o cliente|meu treinador) (?:vai|ia|iria) (?:me matar|matar-me)
        suicidio (?:profissional|politico|social|comercial|na carreira|de carreira|financeiro)
        esquadrao suicida
        (?:me cortei|cortei-me|me machuquei|me queimei|me machucar|magoar-me|machucar-me|me cortar) (?:fazendo|cozinhando|com a? ?(?:faca|papel|lamina|panela)|no (?:trabalho|treino|jogo|futebol|forno|joelho)|na (?:cozinha|academia|corrida)|a (?:fazer|cozinhar)|correndo|jogando|treinando|o cabelo|de novo (?:no|na|correndo|treinando))
        (?:me bateu|bateu-me) (?:no|na|ao) (?:xadrez|jogo|tenis|corrida|final)
        preferia morrer (?:a|do que) (?:\w+ )?(?:apresentar|falar|ter|ir|fazer)
        (?:celular|bateria|telefone|carro|planta|computador) (?:\w+ )?morr(?:eu|endo|e)
        overdose de (?:cafe|acucar|chocolate|trabalho|series|netflix)
        (?:carta|mensagem|festa|jantar) de despedida (?:do|da|dos|das) (?:\w+ )?(?:colega\w*|equipe|equipa|empresa|trabalho|chefe)
        a dar cabo de mim
    """,
)
