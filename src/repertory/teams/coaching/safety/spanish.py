"""Spanish signs of danger and figures of speech (folded: no accents)."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("SPANISH",)

SPANISH = compile_signs(
    self_crisis=r"""
        suicid\w*
        (?:matarme|me voy a matar|me quiero matar|me mato|me matare|me mate)\b
        (?:quitarme|quitar|acabar con|terminar con|poner fin a|ponerle fin a|acabar) (?:de una vez )?(?:la |mi |con mi |a mi )(?:propia )?vida
        (?:acabar|terminar) con (?:todo|esto de una vez|todo esto)\b
        (?:quiero|quisiera|queria|ganas de|deseo|prefiero|preferiria|pensando en|pienso en|pensado en|solo quiero) (?:de )?morir(?:me)?\b
        (?:quisiera|ojala|me gustaria|desearia|preferiria|querria) (?:estar |estuviera |estuviese |haber )(?:muert[oa]|nacido)
        (?:ojala|quisiera|desearia) (?:\w+ ){0,2}(?:no (?:haber|hubiera) nacido|no despert\w+|nunca haber nacido|me muriera)
        no (?:quiero|quisiera|deseo|tengo ganas de|me quedan ganas de) (?:ya )?(?:mas )?(?:seguir )?(?:vivir|viviendo|existir|estar (?:aqui|viv[oa])|despertar(?:me)?|aqui|con vida)\b
        no puedo (?:mas )?(?:con (?:mi|la) vida|seguir (?:viviendo|adelante|asi|mas)|continuar (?:viviendo|asi))
        (?:no (?:tengo|veo|hay|encuentro|existe|le veo|me quedan)|sin) (?:ya )?(?:mas )?(?:ningun[a]? )?(?:razon|razones|motivo|motivos|sentido|ganas)(?: alguna| alguno)? (?:para|de|a|por) (?:la que |las que |los que )?(?:vivir|seguir|la vida|estar viv[oa]|continuar)
        (?:todos|todo el mundo|ellos|mi familia|mis hijos|mundo) (?:\w+ ){0,3}mejor sin mi\b|mejor sin mi\b
        (?:seria|estaria|es) (?:\w+ )?mejor (?:si )?(?:estar |estuviera )?(?:muert[oa]|me muriera|no existiera|desapareciera|morirme)
        dormir(?:me)? y (?:no|nunca|no volver a) despertar
        (?:carta|nota|mensaje|video) de (?:despedida|adios)
        (?:despedirme|me he despedido|me despido|me despedi) de (?:todos|todo el mundo|todo|ustedes)
        desaparecer (?:para siempre|del mundo|de este mundo)
        (?:cansad[oa]|hart[oa]) de (?:vivir|la vida|estar viv[oa]|existir)\b
        (?:la |mi )?vida (?:ya )?no (?:vale|tiene|merece) (?:la pena|nada|sentido)|no (?:vale|merece) la pena (?:vivir|seguir viviendo|estar viv[oa])
        (?:cortarme|me corto|me corte|me he cortado|hacerme dano|me hago dano|me hice dano|lastimarme|me lastimo|herirme|quemarme a proposito|me autolesion\w+)\b
        autolesi\w+|automutil\w+
        cort(?:arme|e|o|ar) (?:las|mis|los) (?:venas|munecas|brazos)
        (?:tirarme|saltar|lanzarme|me tiro|arrojarme|me lanzo) (?:de|del|desde|por|al|a|delante|bajo|debajo) (?:un |una |el |la |del |de un |las |los )?(?:puente|edificio|balcon|tren|ventana|vias|metro|azotea|coche|autobus)
        (?:tomarme|tomar|tome|tragarme|me tome|me tomo) (?:todas|un monton de|muchas|todo el bote de) (?:las |de )?(?:mis )?(?:pastillas|medicinas)
        sobredosis
        nadie (?:me (?:va a |echaria|extranaria|echara)|se daria cuenta|lo notaria|me extranara)
        (?:soy|solo soy) una carga (?:para|de) (?:todos|mi|ellos|todo)
        (?:ahorcarme|colgarme|pegarme un tiro|me pego un tiro|envenenarme)
        (?:pienso|pensamientos?|pensando|pensar) (?:en|de|sobre) (?:la )?(?:muerte|mi muerte)
        rendirme con la vida
        no merezco (?:vivir|estar viv[oa])
    """,
    third_party=r"""
        (?:amig[oa]|herman[oa]|madre|padre|hij[oa]|marido|mujer|espos[oa]|novi[oa]|pareja|companer[oa]|el|ella|prim[oa]) (?:\w+ ){0,4}(?:se quiere (?:matar|morir|suicidar)|matarse|suicid\w+|quiere morir(?:se)?|quitarse la vida|se corta|cortarse|se autolesiona|hacerse dano)
    """,
    danger=r"""
        (?:el|ella|mi (?:marido|esposo|esposa|mujer|novio|novia|padre|madre|pareja|ex|padrastro|tio|hermano|jefe|hijo)) (?:\w+ ){0,2}me (?:ha |habia )?(?:pega|pego|pegado|golpea|golpeo|golpeado|maltrata|maltrato|maltratado|amenaza|amenazo|amenazado|viola|violo|violado|agrede|agredio|estrangul\w+|ahog\w+|patea)\b
        (?:fui|he sido|soy|me han) (?:violad\w+|abusad\w+|agredid\w+|maltratad\w+|golpead\w+|amenazad\w+ de muerte)
        (?:amenaz\w+ con|dijo que (?:me )?va a|quiere|intento) (?:matarme|pegarme|me matara)
        (?:miedo|panico) (?:de|a) (?:volver|ir) a (?:mi )?casa|miedo (?:de|a) mi (?:marido|padre|pareja|ex|novio|padrastro|esposo)
        no (?:me siento|estoy) (?:segur[oa]|a salvo) (?:en casa|con el|con ella|aqui)
        violencia (?:domestica|de genero)
    """,
    harm_others=r"""
        (?:voy a|quiero|queria|pienso|pensando en|ganas de) (?:de )?(?:matar|apunalar|estrangular|envenenar|pegarle un tiro) (?:a )?(?:el|ella|mi|alguien|todos|ese|esa|a|un)\b
        (?:voy a|quiero|ganas de) (?:matarl[oa]s?|apunalarl[oa])
    """,
    elevated=r"""
        sin esperanza|desesperad[oa]|desesperacion
        no (?:aguanto|puedo|soporto) mas(?! (?:el|la|los|las|esta|este|esto en|con el|con la|con los|con las|reuniones))
        (?:nada|todo) (?:ya no )?(?:importa|tiene sentido|me da igual)\b
        me odio
        (?:me siento|sintiendome) (?:vaci[oa]|inutil|una carga|atrapad[oa]|sin valor)
        soy una carga
        ataques? de (?:panico|ansiedad)
        (?:quiero|quisiera) (?:solo )?desaparecer
        sin salida\b|no veo (?:la )?salida
    """,
    idioms=r"""
        pacientes? suicidas?\b
        (?:cansad[oa]|hart[oa]) de vivir (?:con|en|aqui|lejos|solo|sola|asi)
        acabar con todo (?:lo|el|esto que|antes|a tiempo)|acabar con (?:el|la|los|las) (?!vida)\w+
        (?:podria|me dan ganas de) matar a (?:mi|mis|ese|esa) \w+
        (?:plazo|trabajo|jefe|dolor|calor|esto|eso|proyecto|reunion|reuniones|semana|trafico|ruido|examen|dieta|espalda|entrega|espera|curiosidad|rutina|entrenamiento|deadline) (?:\w+ ){0,3}(?:me (?:mata|matan|esta matando|estan matando|va a matar|mato)|matandome)\b
        me (?:mata|esta matando|matan|estan matando|va a matar|van a matar)\b(?: de (?:risa|aburrimiento|calor|pena))?
        (?:quiero |queria |casi |me )?(?:morir|morirme|muero|mori|moria|muriendo|muerto|muerta|muere)(?:me)? (?:de|por|del) (?:\w+ )?(?:risa|verguenza|miedo|hambre|calor|frio|aburrimiento|sueno|ganas|curiosidad|pena|envidia|sed|amor|cansancio|ver|saber|probar|ir|un cafe|una pizza|comer)
        (?:me mato|matarme|matandome|me mate|matarnos) (?:a|de|en|para|por) (?:trabajar|estudiar|reir|la risa|risa|el gimnasio|entrenar|terminar|entregar|llegar|curro|currar)
        matar (?:el (?:tiempo|gusanillo|rato)|dos pajaros|la sed|el hambre|el aburrimiento)
        mi (?:madre|jefe|jefa|mujer|padre|profesor|entrenador|cliente) (?:me )?(?:va a matar(?:me)?|mata|matara)
        suicidio (?:profesional|politico|laboral|comercial|social|financiero)
        escuadron suicida
        (?:me corte|me he cortado|me hice dano|me lastime|cortarme|hacerme dano|lastimarme) (?:afeitandome|cocinando|el (?:pelo|dedo|cabello|flequillo)|con (?:el|un|la) (?:cuchillo|papel|lata)|en (?:la (?:cocina|rodilla|espalda)|el (?:trabajo|gimnasio|partido|tobillo))|jugando|corriendo|entrenando|al (?:correr|entrenar|cocinar))
        sobredosis de (?:cafe|azucar|chocolate|trabajo|series|cafeina)
        prefiero morir(?:me)? (?:antes |a |que )
        (?:movil|bateria|telefono|coche|ordenador|planta) (?:\w+ ){0,2}(?:murio|muere|muerto|se muere)
        (?:carta|fiesta|cena|mensaje) de despedida (?:de|para|a) (?:\w+ )?(?:companer\w*|equipo|empresa|oficina|jef\w*)
        me pego (?:una|un) (?:ducha|susto|siesta|palizon)
    """,
)
