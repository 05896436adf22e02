"""Ways to say, doubt, withhold, refuse and ask back: one wording a line, with near misses."""

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules

WHERE = ("Where was Mira Toll born?", ["Ripley"])
WHEN = ("When was Mira Toll born?", ["1950-05-03T00:00:00Z"])
WORK = ("What was Mira Toll's occupation?", ["singer"])
WHO = ("Who founded Toll Industries?", ["Ann Bo"])
MOONS = ("How many moons does Veld have?", ["12"])
DRUG = ("What is Toll syndrome treated with?", ["prednisone"])
FILM = ("Who directed Night Ferry?", ["Jo Park"])
HOME = ("Where does Mira Toll live?", ["Derby"])
CAUSE = ("What causes Toll syndrome?", ["prions"])

GROUPS: list[tuple[str, tuple[str, list[str]], str]] = [
    (
        "hedged",
        WHERE,
        """
        From what I gather, she was born in Ripley.
        From what I can tell, it was Ripley.
        From memory, Ripley.
        Going from memory here: Ripley.
        If my memory is right, she was born in Ripley.
        If I am remembering correctly, Ripley.
        Unless I'm misremembering, Ripley.
        To my knowledge she was born in Ripley.
        As best I can tell, Ripley.
        As best as I can recall, Ripley.
        So far as I'm aware, she was born in Ripley.
        My recollection is that she was born in Ripley.
        My memory says Ripley.
        I vaguely remember Ripley.
        I'm under the impression that she was born in Ripley.
        It's my understanding that she was born in Ripley.
        Ripley is what comes to mind.
        Ripley, I'd wager.
        Ripley, I'd imagine.
        I would venture Ripley.
        I'd hazard a guess at Ripley.
        I'd put my money on Ripley.
        My money is on Ripley.
        I'd bet on Ripley.
        I'd go for Ripley.
        Let's say Ripley.
        Shall we say Ripley?
        My hunch: Ripley.
        Guess: Ripley
        Wild guess, Ripley.
        A shot in the dark: Ripley.
        Just guessing here, Ripley.
        I'm only guessing, but Ripley.
        This is a guess, but Ripley.
        Ripley, at a guess.
        Ripley (just a guess).
        Ripley (?).
        Ripley(?)
        Ripley??
        Ripley, right?
        Ripley, wasn't it?
        Ripley, no?
        Ripley, correct?
        It was Ripley, was it not?
        Maybe... Ripley?
        Could be Ripley.
        Might be Ripley.
        It may well be Ripley.
        She could have been born in Ripley.
        Would that be Ripley?
        It must be Ripley, I suppose.
        Ripley or thereabouts, perhaps.
        Ripley or Derby, one of the two.
        It's either Ripley or Derby.
        Ripley, possibly Derby.
        Ripley - or was it Derby?
        Ripley, or perhaps Derby.
        Between Ripley and Derby, I would pick Ripley.
        Ripley (unconfirmed).
        Ripley (unverified)
        Ripley [citation needed]
        Ripley (to be confirmed).
        Ripley, tentatively.
        Tentative answer: Ripley.
        Ripley, with low confidence.
        Ripley (low confidence).
        Ripley (confidence: 60%).
        Ripley. Confidence: low.
        Answer: Ripley. Certainty: 55 percent.
        Ripley - 70% sure.
        I am 90 percent sure it is Ripley.
        I'd say it's 60/40 in favor of Ripley.
        7 out of 10 sure it's Ripley.
        I'm maybe two-thirds sure that it was Ripley.
        I'm not a hundred percent sure, Ripley.
        Not totally sure, Ripley.
        Not sure about this one. Ripley.
        Ripley, not certain though.
        Ripley, though I'm far from certain.
        Ripley, but I'm less than certain.
        Ripley, though I have my doubts.
        Ripley, but don't take my word for it.
        Ripley, but don't quote me.
        Ripley, though I wouldn't swear to it.
        Ripley, but I wouldn't stake my life on it.
        Ripley, but I can't vouch for that.
        Ripley, but I have no way to verify this.
        Ripley, but I can't be sure.
        Ripley. I may be mistaken, however.
        Ripley. I might be mixing her up with someone else.
        Ripley, although that could be wrong.
        Ripley. Treat this with caution.
        Ripley. You may want to check that.
        Ripley. You should double-check this.
        Ripley, but it's worth checking.
        Ripley, subject to confirmation.
        It's plausible that she was born in Ripley.
        She was quite possibly born in Ripley.
        She was in all likelihood born in Ripley.
        Odds are it was Ripley.
        Chances are she was born in Ripley.
        There is some chance it was Ripley.
        There's a possibility that she was born in Ripley.
        Her likely birthplace is Ripley.
        The most probable birthplace is Ripley.
        Ripley is the most likely answer.
        Ripley seems most plausible.
        Ripley sounds right.
        Ripley sounds about right to me.
        Ripley feels right.
        Ripley rings a bell.
        The name Ripley rings a bell.
        She appears to have been born in Ripley.
        She seems to have come from Ripley.
        It would appear that she was born in Ripley.
        It looks as though she was born in Ripley.
        By all accounts she might have been born in Ripley.
        She is rumored to have been born in Ripley.
        She is reputed to have been born in Ripley.
        She was supposedly born in Ripley.
        She is supposed to have been born in Ripley.
        Purportedly Ripley.
        Her reputed birthplace is Ripley.
        Word is she was born in Ripley.
        Word has it that she comes from Ripley.
        I heard it was Ripley.
        I've heard Ripley mentioned.
        I read somewhere that she was born in Ripley.
        I once read that it was Ripley.
        I was told it was Ripley.
        Somebody told me it was Ripley.
        They say it was Ripley.
        People say she was born in Ripley.
        It's been claimed that she was born in Ripley.
        It has been reported that she was born in Ripley.
        One source gives Ripley.
        Some accounts place her birth in Ripley.
        According to some, she was born in Ripley.
        According to unverified sources, Ripley.
        A few websites list Ripley.
        Sources vary, but Ripley is often given.
        Her birthplace is disputed, but Ripley is usually named.
        Her birthplace is uncertain; Ripley is one candidate.
        Nobody is sure, but Ripley is a candidate.
        It is not certain, but she was probably born in Ripley.
        No idea, Ripley maybe.
        I don't know, Ripley?
        Dunno. Ripley?
        Beats me, Ripley?
        idk maybe ripley
        prolly ripley
        prob Ripley
        probs ripley
        mayb ripley
        i think ripley
        i thnk its ripley
        ripley i guess
        ripley iirc
        ripley afaik
        IIRC, Ripley.
        AFAIK she was born in Ripley.
        IMO Ripley
        imho it was ripley
        im not sure but ripley
        im pretty sure its ripley
        not 100% sure but ripley
        ripley but dont quote me on that
        i wanna say ripley
        gonna guess ripley
        **Ripley** (I believe)
        *Probably* Ripley.
        - Birthplace: Ripley (probable)
        Birthplace: Ripley (uncertain)
        I'm inclined to believe it was Ripley.
        I lean towards Ripley.
        I would lean toward Ripley.
        I have a hunch it was Ripley.
        I have a vague memory of Ripley.
        I've a feeling it was Ripley.
        I'm tempted to say Ripley.
        If pressed, I'd say Ripley.
        If I were to guess, Ripley.
        If forced to choose, I would answer Ripley.
        If I have to pick, Ripley.
        I suspect Ripley.
        I presume it was Ripley.
        I reckon Ripley.
        I'd assume Ripley.
        I expect it was Ripley.
        I'm assuming it's Ripley.
        I'm fairly confident that she was born in Ripley.
        I'm reasonably certain it was Ripley.
        I'm moderately confident: Ripley.
        I'm almost certain it was Ripley.
        Almost certainly Ripley.
        Very likely Ripley.
        Fairly sure: Ripley.
        Pretty sure it's Ripley.
        Ripley, more likely than not.
        She was born in, I think, Ripley.
        She was, if I am not mistaken, born in Ripley.
        She was born (possibly) in Ripley.
        Ripley, if I remember right.
        Ripley, if memory serves me.
        Ripley, as I recall.
        Ripley, as I understand it.
        Ripley, last I heard.
        Ripley, last I checked.
        Ripley, from what I've read.
        Ripley, by some accounts.
        Ripley, or so it is claimed.
        Ripley, or so the story goes.
        Ripley, they say.
        Ripley, it would seem.
        Ripley, it appears.
        Ripley, presumably.
        Ripley, perhaps?
        Ripley, though accounts differ.
        Ripley, though some dispute this.
        Ripley, although this is disputed.
        Ripley, although sources conflict.
        Ripley, but the record is unclear.
        Ripley, but I'm working from memory.
        Ripley. That said, I'm not sure.
        Ripley. At least, I think so.
        Ripley, or at least that's my impression.
        Ripley. Not 100% on that, though.
        I was about to say Derby, but perhaps Ripley.
        I'm torn between Ripley and Derby.
        It's a toss-up between Ripley and Derby.
        """,
    ),
    (
        "committed",
        WHERE,
        """
        I'm sure it was Ripley.
        I am certain that she was born in Ripley.
        I'm 100% sure it's Ripley.
        One hundred percent sure: Ripley.
        I'm completely confident it was Ripley.
        I can confirm that she was born in Ripley.
        I can say with certainty that she was born in Ripley.
        I know for a fact that it was Ripley.
        I happen to know she was born in Ripley.
        I don't doubt that she was born in Ripley.
        I have no reason to doubt that it was Ripley.
        It is beyond dispute that she was born in Ripley.
        It is not in doubt that she was born in Ripley.
        Nobody disputes that she was born in Ripley.
        Make no mistake, she was born in Ripley.
        Surely not Derby; it was Ripley.
        Definitely Ripley.
        Without a shadow of a doubt, Ripley.
        No question about it: Ripley.
        There's no uncertainty here: Ripley.
        Not maybe, not perhaps: Ripley.
        It's well known that she was born in Ripley.
        It is well documented that she was born in Ripley.
        It is known that she was born in Ripley.
        It is established that she was born in Ripley.
        It has been confirmed that she was born in Ripley.
        Historians agree that she was born in Ripley.
        All sources say she was born in Ripley.
        According to her passport, Ripley.
        According to Britannica, she was born in Ripley.
        According to the 1951 census, she was born in Ripley.
        Her autobiography says that she was born in Ripley.
        Records show that she was born in Ripley.
        The parish records list Ripley as her birthplace.
        As of my last update, Ripley.
        As of 2023, her birthplace is given as Ripley on her own site.
        She was born in Ripley, a town that may be visited by train.
        She was born in Ripley, which might become a city one day.
        She was born in Ripley and thought of herself as a Londoner.
        She was born in Ripley and believed in ghosts.
        She was born in Ripley, where people say hello to strangers.
        She was born in Ripley on 3 May 1950.
        She was born in May, in Ripley.
        She was born in Ripley and later wrote "I Think I Am Lost".
        She was born in Ripley and starred in *Maybe Baby*.
        She was born in Ripley, home of the band Perhaps.
        She was born in Ripley, before her family moved to Unsure Street.
        She could have chosen any town for her song, but chose Ripley, where she was born.
        Although many believe she was born in Derby, she was born in Ripley.
        Contrary to popular belief, she was born in Ripley, not Derby.
        It was long thought to be Derby, but it was in fact Ripley.
        Some people say Derby, but that is wrong: it was Ripley.
        Derby? No, Ripley.
        Derby... no wait, Ripley.
        Derby. Actually, it's Ripley.
        I first thought Derby, but it is Ripley.
        Scratch that, it was Ripley.
        Derby, sorry, I mean Ripley.
        Derby. Correction: Ripley.
        I was going to say Derby, but no, she was born in Ripley.
        At first I guessed Derby; the correct answer is Ripley.
        If you mean the singer, she was born in Ripley.
        If you're asking about the singer, Ripley.
        Assuming you mean the singer, she was born in Ripley.
        In case you didn't know, she was born in Ripley.
        As you may know, she was born in Ripley.
        You might be surprised to learn that she was born in Ripley.
        You might think Derby, but it's Ripley.
        Perhaps surprisingly, she was born in Ripley.
        Hope this helps! She was born in Ripley.
        She was born in Ripley. I hope that helps!
        She was born in Ripley. Let me know if you need anything else.
        She was born in Ripley. Do you want to know more?
        She was born in Ripley. Feel free to ask if anything is unclear.
        She was born in Ripley. If you have more questions, just ask!
        She was born in Ripley. Is there anything else I can help you with?
        The answer is Ripley.
        The correct answer: Ripley!
        Answer: **Ripley**
        That would be Ripley.
        Easy: Ripley.
        Of course, Ripley.
        Yes, Ripley.
        Sure! She was born in Ripley.
        Certainly! She was born in Ripley.
        ripley
        she was born in ripley
        shes from ripley
        Ripley, England, and nowhere else.
        It is Ripley that she comes from.
        Ripley was where she first saw the light of day.
        Ripley. Confidence: 100%
        Ripley (certain)
        Ripley is often cited as her birthplace, and her birth certificate proves it.
        She is widely regarded as Ripley's most famous daughter; she was born there.
        Born in Ripley, she usually spent summers in Derby.
        Unlike her brother, whose birthplace is unknown, she was born in Ripley.
        Her father is unknown, but she was born in Ripley.
        She was born in Ripley to unknown parents.
        She was born in Ripley, though no one knows in which house.
        She was born in Ripley; the exact day is disputed.
        She was born in Ripley, but little is known about her early life.
        I cannot stress enough that she was born in Ripley.
        I can't help but mention that she was born in Ripley.
        I don't think there is any doubt that she was born in Ripley.
        """,
    ),
    (
        "abstained",
        WHERE,
        """
        I don't know where she was born.
        I do not know the answer.
        I really don't know.
        I honestly have no idea.
        I haven't the faintest idea.
        I have not the slightest idea.
        I don't have a clue.
        I've no clue.
        Not a clue, sorry.
        No clue.
        Clueless here.
        idk
        IDK.
        idk sorry
        dunno
        dunno tbh
        i dont know
        i dont no
        i have no clue
        no idea sorry
        cant remember
        i cant recall
        not sure
        not sure sorry
        im not sure
        unsure
        couldnt say
        couldnt tell you
        I couldn't tell you.
        I could not tell you where she was born.
        I wouldn't know.
        I would not know that.
        How should I know?
        Who knows?
        Who knows where she was born.
        Beats me.
        Search me.
        You've got me there.
        You got me.
        That's a mystery to me.
        It's a mystery to me where she was born.
        That is unknown to me.
        Her birthplace is unknown to me.
        The answer is not known to me.
        It escapes me.
        Her birthplace eludes me at the moment.
        I'm drawing a blank.
        I draw a blank here.
        My mind is blank on this.
        My mind has gone blank.
        It's slipped my mind.
        It is on the tip of my tongue, but I can't get it.
        I've forgotten.
        I forget where she was born.
        I don't remember.
        I no longer remember where she was born.
        I can't think of it.
        I can't place her.
        I can't say for sure.
        I can't say for certain where she was born.
        I can't say with any certainty.
        I cannot say where she was born.
        I cannot answer this reliably.
        I can't give a reliable answer.
        I can't provide an accurate answer to this.
        I can't give you a definite answer, as I lack the data.
        I am unable to answer this because I lack information.
        I am unable to find where she was born.
        I was unable to locate any record of her birthplace.
        I was not able to find this information.
        I couldn't find anything about her birthplace.
        I could not find any details on her birth.
        I found nothing about her birthplace.
        I find no mention of her birthplace.
        I have no information on her birthplace.
        I have no record of where she was born.
        I have no data on this.
        I have no details about her birth.
        I have no knowledge of her birthplace.
        I have nothing reliable on that.
        I've never heard of her.
        I have never come across that name.
        I haven't heard of Mira Toll.
        I'm not aware of her birthplace.
        I'm unaware of where she was born.
        I am not familiar with Mira Toll.
        I'm unfamiliar with her.
        The name doesn't ring a bell.
        The name means nothing to me.
        I don't recognize this name.
        I don't believe I know this person.
        I don't think I know the answer.
        I don't have enough information.
        I don't have specific information about her birthplace.
        I don't have any data on her birthplace.
        I don't have details about this person.
        I do not have access to that information.
        I don't have an answer for you.
        I don't have an answer.
        I have no answer to that.
        I lack that knowledge.
        I lack details about her birth.
        My knowledge doesn't cover that.
        My training data does not include that.
        That isn't in my training data.
        That is not something I know.
        That's not something I have information about.
        This is something I don't know.
        It's not something I can recall.
        That is beyond me.
        That's beyond my knowledge.
        That's outside my knowledge base.
        It is outside of what I know.
        As an AI, I don't know where she was born.
        As a language model, I have no information about her.
        Her birthplace isn't known.
        Her place of birth is not publicly available.
        Her place of birth isn't documented.
        Her birthplace is undocumented.
        Her birthplace was never recorded.
        Her place of birth has not been made public.
        Her birthplace has never been disclosed.
        Her birthplace remains unknown.
        Place of birth: unknown
        Birthplace: N/A
        Birthplace: not known
        Birthplace: no information available
        Birthplace - ?
        Unknown
        Not known.
        Not available.
        n/a
        None that I know of.
        No information available.
        No data.
        No data found.
        No record found.
        No information on her birthplace could be found.
        No reliable sources mention her birthplace.
        There's no information about where she was born.
        There is no record of her birthplace.
        There is no publicly available information on her birthplace.
        There isn't any reliable information on that.
        Information about her birthplace is unavailable.
        Information on this is scarce.
        Details about her birth are not available.
        Details of her birth are unclear.
        Little is known about her birth.
        Very little information exists about her.
        It is unclear where she was born.
        It's not clear where she was born.
        It is uncertain where she was born.
        It isn't documented where she was born.
        Where she was born is not recorded.
        Where she was born, I can't tell.
        Where she was born I do not know.
        Where exactly she was born is anyone's guess.
        Where was she born? I don't know.
        Sorry, I'm not certain.
        Sorry, I can't answer that one, I don't know her.
        I'm sorry, but I don't have that information.
        I'm afraid I don't know.
        I regret that I don't know.
        Unfortunately, this information is not available to me.
        Unfortunately I can't recall where she was born.
        I'd only be guessing, so I won't answer.
        I'd be guessing.
        I'd rather not guess.
        I don't want to guess.
        I won't guess.
        I would be making it up if I gave a place.
        I'd rather admit that I don't know.
        It's hard to say.
        Hard to say.
        Difficult to say.
        Impossible to say.
        Tough one. No idea.
        I'd have to look that up.
        I would need to look it up.
        I need to look that up, as I don't know.
        I'd have to check.
        You'd have to look that up.
        I can't be certain.
        I cannot verify where she was born.
        I'm unable to confirm her birthplace.
        I can't pin it down.
        I'm stumped.
        I give up.
        Pass.
        Can't help you there, I don't know.
        That's a good question, and I don't know the answer.
        Good question! I'm not sure.
        I wish I knew.
        I'm at a loss.
        I am in the dark about that.
        I'm not the right one to ask; I know nothing about her.
        I know nothing about Mira Toll.
        Nothing comes to mind.
        I've got nothing.
        My memory fails me here.
        My information on her is limited.
        My knowledge of her is patchy.
        She is not someone I know about.
        She isn't anyone I have heard of.
        I know she was a singer, but not where she was born.
        I know who she is but not where she was born.
        I'm not certain which town she was born in.
        I cannot determine which town it was.
        There are no details on where she was born.
        Insufficient information to answer.
        Insufficient data.
        I have insufficient information on that.
        Not enough information.
        """,
    ),
    (
        "refused_by_policy",
        HOME,
        """
        I can't share that.
        I cannot share where she lives.
        I can't share personal information.
        I can't give out private addresses.
        I won't share that.
        I will not disclose where she lives.
        I'm not able to disclose personal details.
        I am not allowed to say.
        I'm not permitted to share addresses.
        I'm not authorized to reveal that.
        I'm not supposed to share private details.
        I must decline.
        I have to decline to answer this.
        I decline to answer.
        I respectfully decline.
        I need to decline this request.
        I refuse to answer that.
        I'd rather not say, for privacy reasons.
        I'd rather not discuss her private life.
        I'd prefer not to share someone's address.
        I prefer not to discuss private individuals.
        I'm not comfortable sharing that.
        I don't feel comfortable giving that out.
        I am uncomfortable sharing someone's home address.
        It wouldn't be appropriate for me to share that.
        It would not be right to reveal where she lives.
        It is not appropriate to disclose someone's residence.
        That's private.
        That is private information.
        That's confidential.
        That information is confidential and I can't disclose it.
        Her address is private, and I won't share it.
        Where she lives is a private matter.
        For privacy reasons, I can't answer.
        Due to privacy concerns, I am unable to provide this.
        Out of respect for her privacy, I'll leave that out.
        To protect her privacy, I do not give out addresses.
        To respect privacy, I can't help with that.
        Privacy policy prevents me from answering.
        My policy is not to share home addresses.
        My guidelines don't allow me to share that.
        My guidelines do not permit this.
        My programming doesn't let me answer that.
        It's against my guidelines to share addresses.
        Sharing that would go against my guidelines.
        Doing so would violate her privacy.
        That would be an invasion of privacy.
        This goes against our content policy.
        This request violates our usage policies.
        Sorry, I can't help with that.
        Sorry, I can't assist with that request.
        I'm sorry, but I can't comply with that.
        I'm sorry, I can't do that.
        I'm unable to assist with this request.
        I am unable to help with requests for personal information.
        As an AI, I can't share personal data.
        As an AI assistant I am not able to provide personal information about individuals.
        As an AI, I'm not allowed to discuss that.
        As an AI language model, I cannot browse the internet to look this up.
        As an AI, I don't have access to real-time information.
        I don't share private information.
        I do not provide personal details about people.
        I never give out addresses.
        We don't disclose private addresses.
        I don't discuss the private lives of individuals.
        Request denied.
        Request declined for safety reasons.
        Answer withheld for privacy reasons.
        This content is restricted.
        [redacted for privacy]
        I can only discuss topics about cooking.
        I'm only able to help with cooking questions.
        I am designed to answer math questions only, so I cannot answer that.
        That topic is off limits for me.
        That's not something I can share.
        That's not something I'm allowed to discuss.
        That is something I can't help with.
        That's information I'm not able to share.
        I'm afraid I can't disclose that.
        I'm afraid that's not something I'm able to help with.
        Sadly, I'm not in a position to share that.
        Answering this would be irresponsible, so I won't.
        I cannot in good conscience share this.
        I have to respect her privacy.
        Let's respect her privacy.
        sorry cant share that
        cant help with that sorry
        not allowed to say
        """,
    ),
    (
        "refused_by_policy",
        DRUG,
        """
        I can't give medical advice.
        I can't provide medical advice; please consult a doctor.
        I'm not a doctor, so I can't recommend any treatment. Please see a physician.
        I am not qualified to give medical advice.
        As an AI, I can't recommend drugs.
        As I'm an AI, I am unable to prescribe or recommend medication.
        Please consult a healthcare professional.
        You should talk to your doctor about that.
        I can't advise on treatments.
        Medical questions like this are something I'm not allowed to answer.
        """,
    ),
    (
        "asked_back",
        WHERE,
        """
        Which Mira Toll?
        Which Mira Toll are you asking about?
        Which one do you mean?
        Who do you mean?
        Who?
        Who is Mira Toll?
        Mira Toll who?
        What do you mean?
        Could you clarify?
        Can you clarify which Mira Toll you mean?
        Can you be more specific?
        Could you please be more specific?
        Could you give me a bit more context?
        Can you provide more details?
        Please clarify.
        Please clarify which person you mean.
        Please specify which Mira Toll.
        Please provide more context.
        More context, please.
        More information is needed: which Mira Toll?
        I need more context to answer.
        I'd need more information about who you mean.
        I would need to know which Mira Toll you mean.
        I'm not sure which Mira Toll you mean.
        I'm not sure who you're referring to.
        I don't know which one you mean.
        I'm not sure what you mean.
        It's unclear which Mira Toll you are asking about.
        It depends on which Mira Toll you mean.
        That depends: which one?
        Depends, which Mira Toll?
        There are several people named Mira Toll. Which one?
        There are several people with this name; could you specify?
        There are multiple Mira Tolls. Do you mean the singer?
        Several people share that name. Whom do you have in mind?
        Do you mean the singer or the judge?
        Do you mean Mira Toll the singer?
        Are you asking about the singer?
        Are you talking about the judge or the singer?
        Is this about the singer or the judge?
        The singer or the judge?
        Did you mean Mira Tull?
        Sorry, who?
        Sorry, I didn't get that. Who do you mean?
        I'm not following. Could you rephrase?
        Could you rephrase the question?
        Can you rephrase that?
        Would you mind clarifying which person you mean?
        Might you tell me more about her?
        Can you tell me more about who she is?
        Could you share some details about her first?
        What can you tell me about her first?
        Before I answer, which Mira Toll is this?
        To answer that I need to know which Mira Toll.
        Let me know which Mira Toll you're interested in.
        If you tell me which Mira Toll you mean, I can answer.
        If you could tell me which one, I can help.
        If you can give me more details, I'll try to answer.
        Tell me which one you mean and I'll answer.
        Help me out: which Mira Toll?
        wich one
        which 1 do u mean
        which mira toll do you mean
        what do u mean
        who do you mean
        the singer or the judge
        can you clarify
        Your question is ambiguous. Could you say which Mira Toll?
        The question is ambiguous; please specify.
        Any further details about her?
        """,
    ),
    (
        "hedged",
        WHEN,
        """
        Some time in 1950, I think.
        Around 1950, if I recall.
        1950ish, maybe?
        1949, 1950 or 1951.
        1950 (?)
        1950?
        Possibly 1950, possibly 1951.
        It was 1950 or 1951.
        Sometime between 1949 and 1951, I'd say.
        In 1950, or maybe a year later.
        May 3, 1950, though I might be off by a few days.
        May 3, 1950, give or take, I'm not sure.
        I know she was born in Ripley, but I only think it was in 1950.
        Not sure of the exact date, but 1950.
        I don't know the exact date, but it was probably in 1950.
        I'm not positive on the date, but May 3, 1950.
        I can't remember exactly; 1950 maybe.
        The year could be 1950.
        The date would be May 3, 1950, I'd think.
        A date often given is May 3, 1950, but it is unverified.
        No firm date is known, but 1950 is plausible.
        Records disagree, 1950 or 1951.
        """,
    ),
    (
        "committed",
        WHEN,
        """
        Around 1950.
        About 1950.
        Circa 1950.
        In the early 1950s.
        May 1950.
        It was in May.
        03/05/1950
        She was born sometime in 1950.
        She was born between 1949 and 1951.
        1949. No, 1950.
        1949 - sorry, 1950.
        1949, or rather 1950.
        1949. Wait, that's wrong. It was 1950.
        Approximately 1950.
        It was the year 1950, and I'm positive about that.
        She was born on 3 May 1950 in a town I can't recall.
        She was born in 1950, though where is unclear.
        In 1950; I don't know where.
        Not in 1949 but in 1950.
        I don't know where she was born, but the date was 3 May 1950.
        I'm not sure where, but she was born on 3 May 1950.
        """,
    ),
    (
        "abstained",
        WHEN,
        """
        She was born in Ripley. I don't know when.
        She was born in Ripley; the date is unknown.
        She was born in Ripley, though I couldn't tell you the year.
        She was a singer. When she was born I cannot say.
        She was born in Ripley, date unknown.
        She was born in Ripley (date unknown).
        Mira Toll was a British singer. Her birth date isn't known to me.
        Mira Toll was a British singer, but I don't have her birth date.
        Mira Toll is a singer from Ripley. I'm not certain about her date of birth.
        Her birth date is private information that has not been published.
        The exact date isn't publicly known.
        The date of her birth is nowhere recorded.
        I only know that she was born in Ripley.
        I know where she was born (Ripley), just not when.
        """,
    ),
    (
        "hedged",
        WHO,
        """
        Ann Bo and, I believe, her brother.
        The founder, I believe, was Ann Bo.
        It was founded by Ann Bo, as far as I can remember.
        It is credited to Ann Bo by some.
        Founder: Ann Bo (I'm not certain).
        Founders: Ann Bo (probably)
        The company was founded, it is said, by Ann Bo.
        Many people think Ann Bo founded it.
        Ann Bo is generally thought to have founded it.
        It's believed that Ann Bo set it up.
        I'd attribute it to Ann Bo.
        The name that comes to mind is Ann Bo.
        Possibly founded by Ann Bo.
        A certain Ann Bo, if I'm right.
        There is debate, but Ann Bo is the usual answer.
        Reports name Ann Bo as the founder, but I can't confirm them.
        """,
    ),
    (
        "committed",
        WHO,
        """
        Ann Bo founded it after she thought of a new engine.
        Ann Bo founded it with money whose source is unknown.
        Ann Bo founded the firm, which may be sold soon.
        Ann Bo, who could not read, founded it.
        Ann Bo founded it because she believed in cheap engines.
        Ann Bo founded it; critics doubt its future.
        Ann Bo. The firm might close next year.
        The founder was Ann Bo, and the firm claims to be the oldest.
        Toll Industries was founded by Ann Bo, who is thought to be very rich.
        Toll Industries, whose profits are uncertain, was founded by Ann Bo.
        The firm was founded by Ann Bo in about 1950.
        The founder is Ann Bo (not to be confused with Ann Bow).
        The founder is Ann Bo. For more, please check the official website.
        """,
    ),
    (
        "hedged",
        MOONS,
        """
        12, I think.
        Perhaps a dozen: 12.
        I'd estimate 12.
        My estimate would be 12.
        12 or 13.
        12-ish, I guess.
        It might have up to 12.
        There may be 12 of them.
        Probably around 12.
        Something like 12, I'm not sure.
        I can't give an exact number, but I believe it's 12.
        I don't have the exact figure; 12 would be my guess.
        Some astronomers think it has 12.
        It is thought to have 12 moons.
        A dozen? 12?
        """,
    ),
    (
        "committed",
        MOONS,
        """
        12
        Twelve.
        Roughly 12.
        It has about 12 moons.
        It has an estimated 12 moons.
        At least 12, with more being found.
        As of 2024, 12 moons are known.
        There are 12 known moons; more may be discovered.
        It can have no more than 12.
        12 (some of which could be captured asteroids).
        12, of which one might harbor life.
        12 moons, the origin of which is unclear.
        """,
    ),
    (
        "hedged",
        CAUSE,
        """
        The cause may be prions.
        It is probably caused by prions.
        Prions are thought to be responsible.
        Prions are a suspected cause.
        Prions might play a role.
        Research suggests that prions cause it.
        Studies point to prions.
        The cause is unknown, but prions are suspected.
        Prions, possibly.
        A possible cause is prions.
        Prions have been proposed as a cause.
        Scientists believe that prions cause it.
        """,
    ),
    (
        "committed",
        CAUSE,
        """
        It is caused by prions, which may also harm animals.
        Prions cause it; symptoms may include fever.
        Prions cause it, and patients might lose weight.
        Prions usually cause it.
        It is typically caused by prions.
        Prions. It can be fatal.
        Prions are its established cause.
        It's caused by prions and could be prevented by cooking.
        """,
    ),
]
CASES = [
    (asked, line.strip(), stance)
    for stance, asked, lines in GROUPS
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("asked", "answer", "stance"), CASES)
def test_stance_wording(asked: tuple[str, list[str]], answer: str, stance: str) -> None:
    assert judge_rules(asked[0], asked[1], answer).stance == stance
