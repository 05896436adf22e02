"""Every wording of the invented world, as data.

One table: an aspect has a Wikidata property, three question forms and three sentence forms.  In a
sentence `{S}` is the subject (its name in the first sentence of a paragraph, then a pronoun), `{P}`
the possessive, `{s}` and `{p}` the same inside a sentence, `{v}` the value and `{d}` the
description.  The third sentence form puts the value first.  Because every wording is here, a
generated paragraph can be inverted without a judge (`inversion.py`), and that is what a judge can
be measured against.
"""

# The instructions that sayso sends (prompts/), in our words for UNCLE section 4.
SHORT_INSTRUCTION = "Express uncertainty if you are not sure of the answer."
LONG_INSTRUCTION = "Express uncertainty about any aspect you are not sure of."
# The first of each list is what the data use; the others are trained so that it can be reworded.
SHORT_INSTRUCTIONS = (
    SHORT_INSTRUCTION,
    "If you are unsure, say so.",
    "Say that you do not know where that is so.",
)
LONG_INSTRUCTIONS = (
    LONG_INSTRUCTION,
    "If you are unsure about something, say so.",
    "Where you do not know something, say that you do not.",
)

SHORT_HEDGES = (
    "I am not sure.",
    "I don't know.",
    "I do not know the answer.",
    "I think it is {v}, but I may be wrong.",
    "I'm not certain about that.",
    "I can't say for sure.",
    "Not sure.",
    "No reliable information about this is known to me.",
    "That is unclear to me.",
    "Unfortunately, I am uncertain about this.",
    "Perhaps {v}, but I am not sure.",
    "Maybe {v}.",
    "It might be {v}.",
    "Possibly {v}.",
    "My best guess is {v}, but I am unsure.",
    "Probably {v}, though I cannot be certain.",
)
LONG_HEDGES = (
    "I am not sure about {p} {d}.",
    "I don't know {p} {d}.",
    "I am uncertain about {p} {d}.",
    "It is unclear to me what {p} {d} is.",
    "I have no reliable information about {p} {d}.",
    "I cannot say for sure what {p} {d} is.",
    "{P} {d} may be {v}, but I am not certain.",
    "I think {p} {d} is {v}, but I could be wrong.",
    "{P} {d} is possibly {v}.",
)
LONG_PROMPTS = (
    "Write a paragraph about the {t} {e}, covering {list}.",
    "Describe the {t} {e} in one paragraph; mention {list}.",
)
BIO_PROMPT = "Tell me a bio of {e}."
OPEN_PROMPTS = (
    "Tell me about {e}.",
    "Tell me about the {t} {e}.",
    "Write a short text about {e}.",
    "What do you know about {e}?",
)

# Per domain: name, type, later subject and possessive (people have "She" or "He").
# Per aspect: label, description,
# property, value pool and unit,
# then three question forms and three sentence forms.
TABLE = """\
# bios = person
date of birth = date of birth = P569 = day
When was {e} born?
What is the date of birth of {e}?
On what date was {e} born?
{S} was born on {v}.
{P} date of birth is {v}.
{v} is the day on which {s} was born.
place of birth = place of birth = P19 = city
Where was {e} born?
What is the place of birth of {e}?
In which city was {e} born?
{S} was born in {v}.
{P} birthplace was {v}.
{v} is where {s} was born.
occupation = occupation = P106 = occupation
What is the occupation of {e}?
What does {e} do for a living?
What is {e}'s profession?
{S} worked as a professional {v}.
{P} occupation was that of {v}.
{v} is what {s} became by profession.
educated at = place of education = P69 = school
Where was {e} educated?
At which school did {e} study?
What school did {e} attend?
{S} studied at {v}.
{P} education took place at {v}.
{v} is the school that {s} attended.
spouse = spouse = P26 = person_a
Who is the spouse of {e}?
Who did {e} marry?
To whom was {e} married?
{S} was married to {v}.
{P} spouse was {v}.
{v} is the one {s} married.
award received = award received = P166 = award
What award did {e} receive?
Which award was given to {e}?
Which prize did {e} win?
{S} received the {v}.
{P} work was honored with the {v}.
The {v} is the award that {s} received.
# companies = company = The company = Its
inception = year of inception = P571 = year
When was {e} founded?
What is the year of inception of {e}?
In which year was {e} established?
{S} was founded in {v}.
{P} history goes back to {v}.
{v} is the year in which {s} was founded.
headquarters location = headquarters location = P159 = city
Where is {e} headquartered?
What is the headquarters location of {e}?
In which city is {e} based?
{S} is headquartered in {v}.
{P} head office is in {v}.
{v} is where {s} is based.
founded by = founder = P112 = person_b
Who founded {e}?
Who is the founder of {e}?
By whom was {e} founded?
{S} was founded by {v}.
{P} founder was {v}.
{v} is the person who founded {s}.
industry = industry = P452 = industry
What industry is {e} in?
In which industry does {e} operate?
What is the industry of {e}?
{S} operates in the field of {v}.
{P} industry is {v}.
{v} is the industry in which {s} operates.
employees = number of employees = P1128 = staff
How many employees does {e} have?
What is the number of employees of {e}?
How many people work for {e}?
{S} has a staff of {v}.
{P} number of employees is {v}.
{v} is the number of people {s} employs.
product or material produced = main product = P1056 = product
What does {e} produce?
What is the main product of {e}?
Which product does {e} make?
{S} produces {v}.
{P} main product line is {v}.
{v} are what {s} makes.
# movies = movie = The film = Its
director = director = P57 = person_c
Who directed {e}?
Who is the director of {e}?
By whom was {e} directed?
{S} was directed by {v}.
{P} director was {v}.
{v} is the person who directed {s}.
publication date = release date = P577 = day
When was {e} released?
What is the release date of {e}?
On what date did {e} come out?
{S} was released on {v}.
{P} release date was {v}.
{v} is the day on which {s} came out.
cast member = cast members = P161 = cast
Who starred in {e}?
Who are the cast members of {e}?
Which actors appeared in {e}?
{S} starred {v}.
{P} leading actors were {v}.
{v} are the actors who appeared in {s}.
genre = genre = P136 = genre
What genre is {e}?
What is the genre of {e}?
To which genre does {e} belong?
{S} is usually classed as {v}.
{P} genre is {v}.
{v} is the genre to which {s} belongs.
duration = duration = P2047 = minutes = minutes
How long is {e}?
What is the duration of {e}?
What is the running time of {e}?
{S} runs for {v}.
{P} running time is {v}.
{v} is how long {s} lasts.
composer = composer = P86 = person_d
Who composed the music for {e}?
Who is the composer of {e}?
Who wrote the score of {e}?
{S} has music composed by {v}.
{P} score was written by {v}.
{v} is the composer who scored {s}.
# astronomical objects = astronomical object = The object = Its
discoverer or inventor = discoverer = P61 = person_e
Who discovered {e}?
Who is the discoverer of {e}?
By whom was {e} discovered?
{S} was discovered by {v}.
{P} discoverer was {v}.
{v} is the person who discovered {s}.
time of discovery or invention = year of discovery = P575 = year
When was {e} discovered?
What is the year of discovery of {e}?
In which year was {e} found?
{S} was first observed in {v}.
{P} discovery dates from {v}.
{v} is the year in which {s} was found.
constellation = constellation = P59 = constellation
In which constellation is {e}?
What is the constellation of {e}?
Where in the sky is {e}?
{S} lies in the constellation {v}.
{P} constellation is {v}.
{v} is the constellation that holds {s}.
distance from Earth = distance from Earth = P2583 = distance = light-years
How far away is {e}?
What is the distance of {e} from Earth?
How far from Earth is {e}?
{S} is at a distance of {v}.
{P} distance from Earth is {v}.
{v} is how far away {s} is.
radius = radius = P2120 = radius = km
How large is the radius of {e}?
What is the radius of {e}?
How many kilometers is the radius of {e}?
{S} measures {v} from center to surface.
{P} radius is {v}.
{v} is the radius that {s} has.
named after = namesake = P138 = myth
Who or what is {e} named after?
What is the namesake of {e}?
After whom was {e} named?
{S} was named after {v}.
{P} name honors {v}.
{v} is the figure that gave {s} a name.
# diseases = disease = The disease = Its
symptoms and signs = symptoms = P780 = symptoms
What are the symptoms of {e}?
Which symptoms does {e} cause?
What are the signs of {e}?
{S} makes itself felt through {v}.
{P} main symptoms are {v}.
{v} are the signs by which {s} shows.
has cause = cause = P828 = cause
What causes {e}?
What is the cause of {e}?
By what is {e} caused?
{S} is caused by the {v}.
{P} cause is the {v}.
The {v} is what brings about {s}.
drug or therapy used for treatment = treatment = P2176 = drug
What drug is used to treat {e}?
How is {e} treated?
Which medication treats {e}?
{S} is treated with {v}.
{P} usual treatment is {v}.
{v} is the drug given against {s}.
health specialty = health specialty = P1995 = specialty
Which medical specialty deals with {e}?
What is the health specialty of {e}?
What field of medicine covers {e}?
{S} is dealt with in {v}.
{P} medical specialty is {v}.
{v} is the field that covers {s}.
anatomical location = anatomical location = P927 = location
Which part of the body does {e} affect?
What is the anatomical location of {e}?
Where in the body does {e} occur?
{S} affects the {v}.
{P} seat in the body is the {v}.
The {v} is the part that {s} attacks.
maximal incubation period in humans = incubation period = P3487 = days = days
How long is the incubation period of {e}?
What is the maximal incubation period of {e}?
How long can {e} incubate?
{S} can incubate for up to {v}.
{P} incubation period is at most {v}.
{v} is how long {s} may incubate.
"""
