"""English signs of danger and figures of speech."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

from repertory.teams.coaching.safety.signs import compile_signs

__all__ = ("ENGLISH",)

ENGLISH = compile_signs(
    self_crisis=r"""
        suicid\w*
        unaliv\w+
        i?(?:wantto|wanna|goingto)?(?:killmyself|endmylife|endingmylife|cutmyself)
        i?(?:wantto|wanna)die\b
        kms\b
        (?:kill|killing|killed|murder) (?:my ?self|me off)\b
        (?:end|ending|ended|take|taking|took) (?:my|my own|my whole) (?:own )?life\b(?! (?:in hand|into my|back|seriously|to (?:a|the) (?:next|new)|in (?:a|another|my own)))
        (?:end|ending) it all\b
        (?:end|ending) (?:things|it) (?:tonight|for good|permanently|forever)
        (?:want|wanted|wanna|wish|ready|rather|like|going|need|hoping|plan|planning) (?:to )?(?:just )?(?:die|be dead)\b
        (?:want|wish) (?:that )?i (?:was|were|would be) dead
        wish (?:that )?i(?:'d| had| was| were)? (?:never (?:been )?(?:born|existed|woken up)|could just die|didn'?t exist|could die)
        (?:want|need) (?:the|this|all the|all this) (?:pain|hurting|suffering) to (?:stop|end|be over) (?:forever|for good)\b
        how (?:many|much) (?:\w+ ){1,4}(?:does|would|will|do) (?:it|i) (?:take|need) to (?:die|kill (?:me|myself))\b
        (?:wish|hope|hoping|pray) (?:that )?i (?:wouldn'?t|didn'?t|don'?t|won'?t|do not|never|could not|couldn'?t) (?:have to )?(?:wake|woke) up
        (?:go|fall|went) (?:to sleep|asleep) and (?:never|not|don'?t) (?:wake|waking) up
        (?:never|not) wak(?:e|ing) up (?:again|any ?more|ever)
        sleep forever
        better off (?:dead|if i (?:was|were|wasn'?t|weren'?t)|without me|not (?:being )?here)
        (?:better|happier|easier|fine) (?:off )?(?:without me|if i (?:was|were|am) (?:gone|dead|not (?:here|around))|if i (?:wasn'?t|weren'?t|disappeared|died|didn'?t exist))
        (?:no|any|without|single) (?:more )?(?:reason|reasons|point|purpose) (?:left )?(?:to live|to go on|to keep (?:going|living)|to be (?:alive|here)|to stay alive|in living|in going on|in being alive|for living)
        (?:nothing|not much|little) (?:left )?to live for
        (?:don'?t|do not|not|never|no longer) (?:really |even )?(?:want|wanna|wanting) (?:to )?(?:be (?:here|alive|around)|live|exist|wake up|keep living|go on living|go on)\b
        (?:can'?t|cannot|can not|couldn'?t) (?:go on|keep (?:living|existing)|live (?:like this|any ?more|with (?:this|myself)))
        (?:tired|sick|exhausted) of (?:living|being alive|life\b|existing)
        done with (?:life|living|being alive)
        (?:life|living) (?:is|isn'?t|is not|'s|feels|not) (?:just )?(?:not )?(?:worth|pointless)
        (?:not|isn'?t|hardly) worth (?:living|being alive|going on)
        what(?:'s| is) the point (?:of|in) (?:living|life|being alive|going on|carrying on|still being here)
        (?:hang|shoot|drown|poison|strangle|suffocate|stab) my ?self
        jump(?:ing|ed)? (?:off|from|in front of|out of) (?:a|an|the|that|this|my) (?:\w+ )?(?:bridge|building|roof|rooftop|train|balcony|window|car|bus|cliff|tower|overpass|truck|platform)
        (?:drive|driving|steer|crash\w*) (?:my car |the car |myself )?(?:into|off) (?:a|an|the|oncoming) (?:tree|wall|bridge|cliff|traffic|road)
        overdos\w+
        (?:take|took|taking|swallow\w*) (?:all|a whole|too many|a bunch|the whole) (?:of )?(?:\w+ )?(?:bottle of )?(?:pills|tablets|meds|medication|sleeping pills)
        (?:saving|saved|hoarding|collecting|stockpil\w+) (?:up )?(?:my )?(?:\w+ )?(?:pills|tablets|meds)
        slit(?:ting)? my
        (?:cut|cutting|hurt|hurting|harm|harming|burn|burning|punish|punishing|hit|hitting|injur\w+|scratch\w*) my ?self
        self[ -]?(?:harm|injur|mutilat)\w*
        (?:cut|cutting|cuts on|slash\w*) my (?:arm|arms|wrist|wrists|leg|legs|thigh|thighs|skin|veins)
        (?:goodbye|farewell|last) (?:letter|letters|note|notes|video)
        (?:writing|wrote|saying|said|say) (?:my |a last |my last |a final |final |my final )(?:goodbye|goodbyes|letters)
        (?:goodbye|farewell),? (?:world|forever|everyone)
        this is (?:my )?(?:final |last )?goodbye
        (?:won'?t|will not|not going to|not gonna) be (?:around|here|alive) (?:much longer|any ?more|for much longer|tomorrow|next (?:week|month|year)|to see)
        (?:won'?t|will not|will never) (?:hear from|see) me again
        (?:giving|gave|give|given) away (?:all )?(?:of )?(?:my|everything) (?:things|stuff|belongings|possessions|i own)
        by the time you read this
        (?:no ?one|nobody) (?:would|will|'d|'ll) (?:even )?(?:miss|notice|care)(?: me)?(?: if i| when i|\b)
        (?:disappear|vanish|be gone) (?:forever|for good|from this (?:world|earth|life))
        (?:world|everyone|everybody|they|family|kids) (?:is|are|would be|will be|'d be|'ll be) (?:so )?(?:much )?better without me
        (?:i'?m|i am|just|being) (?:nothing but )?(?:only )?(?:such )?a burden (?:to|on) (?:everyone|everybody|them|my|all)
        giv(?:e|ing|en) up on (?:life|living)
        put an end to (?:my|it all|this life|myself)
        (?:thinking|thought|thoughts|think|fantasi\w+|dream\w*) (?:about|of) (?:death|dying|my own death|not existing|ending (?:it|things|my)|being dead)
        don'?t see (?:myself|me) (?:living|alive|being here)
        (?:plan|way|ways|how|method|methods) to (?:die|end my|kill my)
        (?:don'?t|do not) deserve to (?:live|be alive|exist)
    """,
    third_party=r"""
        (?:my |a |his |her |their )?(?:best )?(?:friend|brother|sister|mother|father|mom|mum|dad|son|daughter|wife|husband|partner|girlfriend|boyfriend|roommate|colleague|cousin|student|child|kid|coworker|neighbou?r|ex|he|she) (?:\w+ ){0,4}(?:kill (?:him|her|them)sel\w+|suicid\w+|end (?:his|her|their) (?:own )?life|wants? to die|hang (?:him|her|them)sel\w+|(?:cuts?|cutting|harms?|harming|hurts?|hurting) (?:him|her|them)sel\w+)
        (?:kill|killing|hurt|hurting|harm|harming) (?:him|her|them)sel(?:f|ves)
    """,
    danger=r"""
        (?:he|she|they|(?:my|the|her|his) (?:ex|husband|wife|partner|boyfriend|girlfriend|father|mother|dad|mom|mum|step\w+|brother|sister|uncle|boss|son|roommate|family|parents)) (?:\w+ ){0,2}(?:hit|hits|hitting|beat|beats|beating|chok\w+|strangl\w+|punch\w+|kick\w+|slap\w*|rap(?:ed|es|ing)|threaten\w*|abus(?:es|ed|ing)|attack\w+|stalk\w*) (?:me|us|my (?:kids|children|son|daughter))\b
        (?:threaten\w*|want\w*|try|tries|tried|trying|said he would|said she would|going|he'll|she'll|he will|she will) (?:to )?(?:kill|hurt|harm|stab|shoot) (?:me|us)\b
        (?:was|been|being|got|am) (?:raped|molested|sexually (?:abused|assaulted)|assaulted|strangled|trafficked)
        (?:rape|raped) me
        (?:i'?m|i am|i was|i feel|scared|afraid) (?:not|never|n't|to be) (?:feeling )?safe (?:at|in|with|around|here)
        (?:don'?t|do not|never) feel safe (?:at|in|with|around) (?:home|my|him|her|the house|them)
        (?:afraid|scared|terrified) (?:of|to go) (?:home|my (?:husband|wife|partner|boyfriend|girlfriend|father|mother|dad|ex|step\w+)|him\b|what he (?:will|might))
        (?:locks?|locked) me (?:in|up|inside)
        (?:has|have|pulled|got|with) a (?:gun|knife) (?:on|to|at|and)\b
    """,
    harm_others=r"""
        (?:want|wanna|going|gonna|plan|planning|will|might|would like|about|ready|could|need|think i'll|i'll) (?:to )?(?:just )?(?:kill|murder|stab|shoot|strangle|poison|choke) (?:him|her|them|someone|somebody|everyone|everybody|people|all of|you all|my (?:\w+ ){0,2}\w+|that (?:man|woman|guy|bastard))
        (?:thoughts?|thinking|fantasi\w+) (?:of|about) (?:killing|hurting|stabbing|shooting|murdering|harming) (?:him|her|them|someone|somebody|people|everyone|my|other)
        (?:want|wanna|going|gonna|plan|planning|might|afraid i(?:'ll| will)|scared i(?:'ll| will)) (?:to )?(?:really )?(?:hurt|harm|beat up|attack) (?:him|her|them|someone|somebody|my (?:wife|husband|kid|kids|child|children|baby|mother|father|partner|boss|son|daughter)|people)\b
        shoot up (?:the|my|this)
        (?:bring|take|buy|bought|got) (?:a|my) (?:gun|knife) to (?:work|school|the office)
    """,
    elevated=r"""
        hopeless\w*
        (?:can'?t|cannot|can not) (?:take|do|bear|stand|handle|cope)\b(?: with)?(?: (?:it|this|things|anything|life))?(?: any ?more)?
        nothing matters
        what(?:'s| is) the point(?: (?:of|in) (?:anything|it all|trying|any of this))?\s*(?:[.?!]|$)
        worthless
        (?:hate|despise|loathe) my ?self
        (?:empty|dead|numb) inside
        (?:feel|feeling|felt) (?:so |completely |totally )?(?:numb|empty|trapped)\b
        a burden\b
        (?:falling|fall|fell) apart
        (?:nervous |mental )?break ?down\b
        panic attacks?
        giv(?:e|ing|en) up on everything
        (?:want|wish|wanted) (?:to |i could )?(?:just )?(?:disappear|vanish)
        no (?:way out|future|hope)\b
        (?:drinking|drink|drank) (?:every (?:night|day)|to (?:sleep|forget|get through))
        (?:haven'?t|have not|not) (?:slept|eaten) (?:for|in) (?:days|\w+ days)
        (?:mak\w+|forc\w+) my ?self (?:sick|throw up|vomit)|purg(?:e|ing)\b
        (?:lost|died by|death by|committed|survivor of|after (?:his|her|their)) (?:\w+ ){0,3}(?:to )?suicide
        (?:end|ending) it\b
    """,
    idioms=r"""
        cut (?:my|the) (?:arms?|legs?|wrists?) (?:workout|day|session|training|exercises?)
        (?:can'?t|cannot|couldn'?t) go on (?:holidays?|vacation|a (?:trip|date|run|walk|diet)|stage|dates|leave|trips)
        suicidal (?:patients?|clients?|callers?|students|pupils)\b
        (?:won'?t|will not|not going to) be (?:around|here) next (?:week|month),? (?:so )?(?:can|could|shall|should|may) (?:we|you|i)\b
        (?:afraid|scared|terrified) to go home (?:for|at|over) (?:christmas|thanksgiving|easter|new year|the holidays|the weekend)
        (?:not|n't|never) (?:want to )?be here (?:at|in) (?:this|the|my) (?:company|job|team|firm|office|department|role|city|town|meeting)
        be here at this (?:company|job|firm)|want to be here (?:at|in) (?:this|the|my) (?:company|job|team|firm|office|city|town|meeting)
        (?:fine|okay|ok|good|happy) without me (?:for|during|until|tonight|while|on|this)
        (?:no ?one|nobody) (?:would|will|'d|'ll) (?:even )?(?:notice|care|miss me) if i (?:left (?:the|at|early|work)|skip\w*|took|cancel\w*|stopp?\w* (?:posting|going)|quit|leave (?:the|at|early))
        (?:tired|sick|exhausted) of living (?:with|in|out|at|on|from|here|there|paycheck|alone)
        (?:(?:is|are|was|were|been|'s|'re|still|slowly|literally|absolutely|really|just|basically|quietly) )?killing (?:me|us)\b(?! off)(?: (?:softly|slowly))?
        (?:killing|killed|kill|kills) (?:it|that|this)\b
        (?:nearly|almost|practically) (?:killed|kill) (?:me|us)\b
        kill(?:ed|ing|s)? (?:time|the (?:\w+ )?(?:time|mood|vibe|lights?|engine|process|server|project|feature|bill|deal|noise|buzz|music|task|motivation|momentum|meeting)|two birds|an? (?:hour|afternoon|evening|process|bill|project|feature))
        (?:my |the |his |her )?(?:boss|manager|mom|mum|mother|dad|coach|team|teacher|client|clients|customer|editor|professor|trainer|sister|roommate|flatmate)(?: is going to| is gonna| will|'ll|'s going to|'s gonna| would)(?: absolutely| literally)? kill me
        (?:you're|you are|you guys are) (?:going to |gonna )?kill(?:ing)? me
        (?:would|will|won'?t) (?:not )?kill (?:me|you|us) to\b
        (?:could|could have|could've|want to|wanna|going to|gonna|will|'ll|would) (?:just |have |seriously )?(?:kill(?:ed)?|strangle(?:d)?|murder(?:ed)?|choke) (?:him|her|them|my \w+|that \w+) (?:for|when|if|because|over|sometimes)\b(?! real)
        killing my ?self (?:laughing|over (?:this|that|the) (?:\w+ )?(?:report|project|deck|deadline|exam|job|presentation|thesis)|at (?:the )?(?:gym|work|office|training)|with (?:work|overtime)|to (?:meet|finish|hit|make|get|please)|for (?:this|that|the) (?:job|company|project|promotion|client|exam)|working|studying|training)
        kill(?:ed)? my ?self (?:laughing|at (?:the )?gym|in (?:training|the gym)|to (?:meet|finish|hit) (?:the|this|that))
        (?:nearly |almost |just |literally |could have |could've |practically )?(?:died|die|dying|dead) (?:of|from|with|inside from|laughing)(?: (?:pure |sheer |total |sudden )?(?:embarrassment|laughter|laughing|boredom|shame|heat|thirst|hunger|curiosity|cringe|envy|cuteness|happiness|excitement|the heat|nerves|joy))?
        (?:dying|dies|die|died) (?:to (?:know|see|hear|try|meet|go|get|have|tell|show|find|be there|read|play|eat|start|finish|learn|visit)|for (?:a|an|some|coffee|chocolate|lunch|that|my|this|the)\b)
        to die for
        rather die than (?:\w+ ){0,3}(?:present|speak|speaking|give|go|eat|admit|work|do|ask|call|dance|sing|wear|sit|attend|talk|cold)
        (?:want|wanted|wanna|ready) (?:to )?(?:die|be dead) (?:of|from|whenever|every time|when|just hearing)(?: (?:embarrassment|shame|laughter|boredom|cringe))?
        die (?:hard|trying|on (?:the|that|this|my) (?:hill|stage)|laughing|down|out|cast|another day)
        (?:phone|battery|laptop|car|computer|plant|plants|project|engine|conversation|laptop|wifi|idea|campaign|old habits) (?:\w+ )?(?:died|die|dies|is dying|is dead|dead|hard)
        (?:career|professional|political|social|commercial|financial|brand|reputational) suicide
        suicide (?:squad|mission|runs?|drills?|doors?|sprints?|prevention)
        (?:cut|cutting) my ?self (?:shaving|while|when|on (?:a|the|some)|cooking|chopping|some slack|a (?:slice|piece|break|deal)|off|out of|in the kitchen|short|peeling)
        (?:hurt|hurting|injur\w+|burn\w*|hit|scratch\w*) my ?self (?:at|in|on|playing|running|lifting|while|during|training|skiing|climbing|when|out|with (?:the|hot|boiling)|by (?:accident|running|lifting|falling)|cooking|again (?:at|in|playing|running)|doing|falling)
        (?:slept|sleep) (?:like|as if) (?:the dead|dead)
        shoot my ?self in the foot
        (?:shoot|shot) (?:me|him|her|them) (?:an?|your|the) (?:\w+ )?(?:email|mail|message|text|line|note|question)
        overdos\w+ on (?:coffee|caffeine|chocolate|sugar|netflix|work|vitamin\w*|carbs|cake|espresso|podcasts|tiktok|meetings)
        (?:beat|beats|beating|crush\w*) (?:me|us) (?:at|in|to|by|again (?:at|in)|on)\b
        (?:attack|attacks|attacked|attacking) (?:my|the|our) (?:\w+ )?(?:to-?do|backlog|list|problem|project|inbox|goals?|idea|argument|proposal)
        (?:hit|hits|kick\w*|punch\w*) (?:me|us) (?:like|that|up|out of bed|with (?:a|an|the) (?:\w+ )?(?:deadline|question|idea|bill|invoice|project))
        my (?:boss|manager|client|coach|trainer) (?:is |was )?(?:beating|beats|kicks|kicking) (?:me|us) up
        can'?t (?:stand|take|bear|handle|do|cope with) (?:the|my|that|his|her|these|those|another|more|any more|any|mondays|sundays|meetings|on|a|two|three|both|all|it (?:on|at|this|tomorrow|today|next))\b
        (?:thought|thoughts|think|thinking) (?:about|of) ending (?:it|things) (?:with|between)
        (?:end|ending|ended) it (?:with|between|on|at|there|here|soon|early|by)\b
        (?:end|ending) (?:my|the) (?:\w+ )?(?:subscription|contract|lease|membership|relationship|day|week|shift|meeting|call)
        over my dead body
        drop[ -]dead gorgeous
        dead (?:tired|line|serious|lifts?|beat|weight|end|on (?:my|his|her) feet|last|wrong|simple|easy)
        done with (?:life admin)
        (?:goodbye|farewell) (?:letter|note|video|party|card|mail|email) (?:for|to|from) (?:my|our|the|a) (?:\w+ )?(?:colleague\w*|team\w*|boss|coworker\w*|company|office|client\w*)
        killer (?:\w+)
        \d+(?:[.,]\d+)? ?kms\b|(?:few|couple of|many|more|several|extra|last|first|those|these|easy|hard|some) (?:\w+ )?kms\b|kms (?:a|per|on|in|of|more|run|ran|today|this|yesterday|every)\b
        (?:could|could have|could've|would) (?:just |honestly |seriously |literally |sometimes |totally )?(?:kill|murder|strangle|choke) (?:him|her|them|my (?:\w+ )?(?!self\b)\w+|that \w+)(?: (?:sometimes|right now|for (?:that|it|this)|when|if|because|some days))?(?! (?:and|tonight|tomorrow|with|i have|i know|real))
        (?:cut|cutting) my ?self (?:any|some|a bit of|no|more) (?:slack|time|room)
        (?:won'?t|will not|not going to|not gonna) be (?:around|here) (?:tomorrow|next (?:week|month|year)|for (?:a|the|two|three))?(?: \w+)?,? ?(?:because |as |since )?(?:i'?m |we'?re |i am |i'?ll be )?(?:on (?:holiday|vacation|leave|a trip|the road)|travel\w*|away|abroad|moving|out of (?:town|office)|at (?:a|the|my))
        (?:last|final) (?:week|day|night|days) (?:at|of|in|on the|before|with)\b
        (?:climbing|skipping|jump|tow|guide) rope|rope (?:for|to) (?:climb\w*|the (?:boat|swing|garden|tent|dog|gym)|\w+ (?:course|swing))
        (?:end|ending) (?:this|the|that) (?:chapter|meeting|call|week|project)
    """,
)
