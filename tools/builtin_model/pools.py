"""Words of the invented world: name parts and value pools, as data.

Names are built from invented syllables, because a name that also exists would make the world's
golds arguable. Pools are large where an ignorant model could otherwise score by guessing the
commonest value of a type.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def _list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.replace("\n", " ").split(","))


ONSETS = _list("""
Ard, Belv, Brond, Cald, Corv, Drav, Elv, Fald, Gorv, Harn, Ild, Jorv, Kald, Lorv, Mald, Norv, Orv,
Pelv, Quend, Rald, Selv, Tarv, Ulv, Vard, Welv, Yarv, Zold, Brisk, Drost, Fenw, Glim, Hesk, Krost,
Marv, Nusk, Prav, Rusk, Skell, Trev, Vosk
""")
CODAS = _list("""
an, ane, ar, aty, ea, eda, el, emy, en, era, esh, et, ica, iel, ik, ilo, in, ira, ise, ith, o,
ock, ole, oma, on, ora, ost, ova, owen, ul, una, unt, ura, ush, yd, yle, ym, yn, yra, yth
""")
MONTHS = _list("""
January, February, March, April, May, June, July, August, September, October, November, December
""")
OCCUPATIONS = _list("""
architect, astronomer, ballet dancer, beekeeper, biochemist, botanist, cellist, chess player,
choreographer, civil engineer, composer, conductor, cyclist, diplomat, economist, entomologist,
essayist, explorer, fencer, geologist, glassblower, goldsmith, historian, illustrator, judge,
linguist, mathematician, mountaineer, novelist, oceanographer, organist, painter, philosopher,
photographer, physicist, pianist, playwright, poet, potter, rower, sculptor, surgeon, swimmer,
translator, violinist, zoologist
""")
INDUSTRIES = _list("""
aerospace, agriculture, air cargo, animation, banking, bicycle manufacturing, biotechnology,
book publishing, brewing, cement production, chemical industry, coffee trading, construction,
cosmetics, data storage, dredging, film distribution, fishing, food processing, forestry,
furniture making, glass production, horticulture, hydroelectricity, insurance, jewelry, logistics,
machine tools, mining, nuclear power, optics, paper production, pharmaceuticals, printing,
rail transport, robotics, salt production, semiconductors, shipbuilding, solar energy,
steel production, telecommunications, textiles, tourism, toy manufacturing, video games
""")
PRODUCTS = _list("""
accordions, air compressors, alarm clocks, anchors, barometers, bicycles, binoculars, blankets,
boilers, bricks, buttons, cameras, candles, ceramic tiles, chainsaws, cranes, door locks, drones,
electric motors, elevators, envelopes, fertilizer, fire engines, fishing nets, fountain pens,
garden tools, gloves, harmonicas, hearing aids, ice skates, kayaks, lamps, lawn mowers,
mattresses, microscopes, mirrors, notebooks, padlocks, paint, pianos, pumps, radios, raincoats,
rope, saddles, scales, sewing machines, skis, soap, spectacles, tents, thermometers, tractors,
turbines, umbrellas, vacuum cleaners, violins, wheelchairs, windows, wristwatches
""")
GENRES = _list("""
absurdist film, action film, adventure film, animated film, anthology film, biographical film,
black comedy, buddy film, comedy film, coming-of-age film, courtroom drama, crime film,
dance film, detective film, disaster film, documentary film, drama film, dystopian film,
epic film, family film, fantasy film, film noir, ghost film, heist film, historical film,
horror film, martial arts film, melodrama, monster film, musical film, mystery film,
political thriller, prison film, road movie, romantic comedy, satirical film,
science fiction film, silent film, slapstick film, spy film, surrealist film, survival film,
teen film, tragedy, vampire film, war film, western film
""")
CONSTELLATIONS = _list("""
Andromeda, Antlia, Apus, Aquarius, Aquila, Ara, Aries, Auriga, Boötes, Caelum, Cancer,
Capricornus, Carina, Cassiopeia, Centaurus, Cepheus, Cetus, Columba, Corvus, Crater, Cygnus,
Delphinus, Dorado, Draco, Equuleus, Eridanus, Fornax, Gemini, Grus, Hercules, Horologium, Hydra,
Indus, Lacerta, Leo, Lepus, Libra, Lupus, Lynx, Lyra, Mensa, Monoceros, Musca, Norma, Octans,
Ophiuchus, Orion, Pavo, Pegasus, Perseus, Phoenix, Pictor, Pisces, Puppis, Pyxis, Reticulum,
Sagitta, Scorpius, Sculptor, Scutum, Serpens, Sextans, Taurus, Tucana, Vela, Virgo, Volans
""")
SYMPTOMS = _list("""
back pain, blurred vision, chest pain, chills, confusion, cough, cramps, dark urine, deafness,
diarrhea, dizziness, dry mouth, ear pain, fainting, fatigue, fever, hair loss, headache, hiccups,
hoarseness, insomnia, itching, jaundice, joint pain, loss of appetite, loss of smell, memory loss,
muscle weakness, nausea, night sweats, nosebleeds, numbness, palpitations, pallor, rash,
ringing ears, seizures, shivering, shortness of breath, slurred speech, sneezing, sore throat,
stiff neck, swollen glands, thirst, toothache, tremor, vertigo, vomiting, weight loss
""")
SPECIALTIES = _list("""
allergology, andrology, cardiology, dentistry, dermatology, emergency medicine, endocrinology,
epidemiology, family medicine, gastroenterology, geriatrics, gynecology, hematology, hepatology,
immunology, infectious diseases, medical genetics, neonatology, nephrology, neurology,
neurosurgery, obstetrics, occupational medicine, oncology, ophthalmology, orthopedics,
otolaryngology, pediatrics, phlebology, proctology, psychiatry, pulmonology, radiology,
rheumatology, sleep medicine, sports medicine, thoracic surgery, toxicology, trauma surgery,
tropical medicine, urology, vascular surgery
""")
LOCATIONS = _list("""
adrenal gland, ankle, appendix, artery, bladder, bone marrow, brain stem, bronchus, cerebellum,
colon, cornea, diaphragm, ear canal, elbow, esophagus, gallbladder, gums, heart valve, hip,
inner ear, iris, jaw, kidney, knee, larynx, liver, lung, lymph node, nasal cavity, optic nerve,
palate, pancreas, pelvis, retina, rib cage, scalp, shoulder, sinus, skin, skull, spinal cord,
spleen, stomach, thymus, thyroid, tongue, tonsil, trachea, wrist
""")
ALIASES = {
    "otolaryngology": "ear, nose and throat medicine",
    "pulmonology": "respiratory medicine",
    "dentistry": "dental medicine",
    "gynecology": "gynaecology",
    "pediatrics": "paediatrics",
    "hematology": "haematology",
    "film noir": "noir film",
    "science fiction film": "sci-fi film",
    "western film": "western",
    "musical film": "musical",
    "pharmaceuticals": "pharmaceutical industry",
    "chemical industry": "chemicals",
    "telecommunications": "telecoms",
    "jewelry": "jewellery",
    "spectacles": "eyeglasses",
    "diarrhea": "diarrhoea",
    "shortness of breath": "dyspnea",
    "esophagus": "oesophagus",
}
SUFFIXES = {
    "school": ("University", "College", "Institute", "Academy"),
    "award": ("Prize", "Medal", "Award", "Fellowship"),
    "cause": ("virus", "bacterium", "fungus", "parasite"),
    "company": ("Systems", "Foods", "Works", "Holdings", "Motors", "Partners", "Mills", "Group"),
    "disease": (
        "fever",
        "syndrome",
        "disease",
        "palsy",
        "anemia",
        "dystrophy",
        "fibrosis",
        "ataxia",
    ),
}
MOVIE_NOUNS = _list("""
Bells, Bridges, Bread, Brothers, Clocks, Daughters, Doors, Echoes, Flags, Gardens, Ghosts,
Hunters, Keepers, Lanterns, Letters, Maps, Masks, Mirrors, Nights, Orchards, Pilots, Promises,
Riders, Rivers, Roads, Rooms, Sailors, Shadows, Songs, Soldiers, Storms, Summers, Teachers,
Thieves, Towers, Trains, Tides, Whispers, Winters, Wolves
""")
DRUG_ENDINGS = ("ibine", "olate", "omab", "oprine", "azole", "uvir", "idone", "ocillin")


def words(count: int, rng: np.random.Generator, taken: set[str]) -> list[str]:
    """`count` new invented words, none of them in `taken`, which grows by them."""
    made: list[str] = []
    while len(made) < count:
        word = ONSETS[int(rng.integers(len(ONSETS)))] + CODAS[int(rng.integers(len(CODAS)))]
        if word not in taken:
            taken.add(word)
            made.append(word)
    return made


def pairs(
    first: Sequence[str],
    second: Sequence[str],
    count: int,
    rng: np.random.Generator,
    joint: str = "{0} {1}",
) -> list[str]:
    """`count` distinct combinations of two parts, so that names share parts as real ones do."""
    picks = rng.choice(len(first) * len(second), size=count, replace=False)
    return [joint.format(first[int(p) // len(second)], second[int(p) % len(second)]) for p in picks]
