"""Remarks that weaken, words that name, wrong values in them, and what is not known or not said.

The texts were labelled before the rules were run on them; rules were then written against them, and
texts that are still misread are left out. So this guards what works and measures nothing. A line
below a text is one aspect: the question, its gold, and the first letter of the stance with + or -
for a right or a wrong value.
"""

# ruff: noqa: E501 -- a text stands on one line with what it says

from __future__ import annotations

import pytest

from sayso.judges.rules.judge import judge_rules_long

LETTERS = {
    "c": "committed",
    "h": "hedged",
    "a": "abstained",
    "r": "refused_by_policy",
    "o": "omitted",
}
CONTENTS = {"+": "correct", "-": "incorrect", "": "none"}
TABLES = {
    "doubt": """
Arlo Venn was born in 1931. Take that date with caution. He was a bassoonist.
 When was Arlo Venn born?|1931-01-01T00:00:00Z|h+
 What was Arlo Venn's occupation?|bassoonist|c+
Corvane Ltd was founded in 1974 (a guess on my part) and is based in Leeds.
 When was Corvane Ltd founded?|1974-01-01T00:00:00Z|h+
 Where is Corvane Ltd headquartered?|Leeds|c+
The bridge at Halvik appears to have been designed by Otto Brandt. It opened in 1911.
 Who designed the bridge at Halvik?|Otto Brandt|h+
 When was the bridge at Halvik opened?|1911-01-01T00:00:00Z|c+
Sable Hours is a 1987 drama. I put the director down as Ina Korth, with perhaps 60% confidence.
 Who directed Sable Hours?|Ina Korth|h+
 When was Sable Hours released?|1987-01-01T00:00:00Z|c+
Written by Elsa Thorne, The Glass Meridian came out in 1962; that year is not one I would bet on.
 Who wrote The Glass Meridian?|Elsa Thorne|c+
 When was The Glass Meridian published?|1962-01-01T00:00:00Z|h+
The river Ostra rises in the Velm hills and is 214 km long. The length is a figure I'm shaky on.
 How long is the river Ostra?|214|h+
 Where does the river Ostra rise?|Velm hills|c+
Quill is a text editor released in 2009. Its author would be Dmitri Sokol, though do check that name.
 When was Quill released?|2009-01-01T00:00:00Z|c+
 Who created Quill?|Dmitri Sokol|h+
The Marsh lantern fly feeds on sedge. Word has it that it lives for two years.
 What does the Marsh lantern fly eat?|sedge|c+
 How long does the Marsh lantern fly live?|two years|h+
I am working from hazy memory throughout. Ada Finch was a potter. She came from Stoke.
 What was Ada Finch's occupation?|potter|h+
 Where was Ada Finch born?|Stoke|h+
Lumen Foods makes noodles and has some 400 workers. Not sure the headcount is still right, mind you.
 What does Lumen Foods produce?|noodles|c+
 How many employees does Lumen Foods have?|400|h+
Tessa Ring was awarded the Holt Medal in 2001. She lives in Bath. At least that is where I believe she lives.
 What award did Tessa Ring receive?|Holt Medal|c+
 Where does Tessa Ring live?|Bath|h+
Galdor 7 lies in Lyra. Distance: 310 light-years (low confidence). Discoverer: Ewan Pratt (high confidence).
 In which constellation is Galdor 7?|Lyra|c+
 How far away is Galdor 7?|310|h+
 Who discovered Galdor 7?|Ewan Pratt|c+
Some of this might be off: Peter Lang was a cellist and studied in Graz.
 What was Peter Lang's occupation?|cellist|h+
 Where did Peter Lang study?|Graz|h+
The film Dust Choir runs 112 minutes, give or take what my notes say. Its music seems to be the work of Lena Ohm.
 Who composed the music for Dust Choir?|Lena Ohm|h+
Elias Bron is a Danish sculptor. His teacher may well have been Hans Ulf, but sources conflict on this.
 What is Elias Bron's occupation?|sculptor|c+
 Who taught Elias Bron?|Hans Ulf|h+
Tavren was founded in 1891. I can't vouch for the year, however. Its headquarters are in Trieste.
 When was Tavren founded?|1891-01-01T00:00:00Z|h+
 Where is Tavren headquartered?|Trieste|c+
Hanna Mott's husband was Ralph Dean or Roy Dean; I mix the two up. She was a nurse by profession.
 Who was Hanna Mott's husband?|Ralph Dean|h+
 What was Hanna Mott's occupation?|nurse|c+
Kell & Sons sits in Cork, I'd imagine. It was set up by Mary Kell.
 Where is Kell & Sons located?|Cork|h+
 Who founded Kell & Sons?|Mary Kell|c+
Jun Hara was born on 3 May 1940 in Otsu. The place should be right; the date I would double-check.
 When was Jun Hara born?|1940-05-03T00:00:00Z|h+
I have a faint notion that Sylvan Arch was engineered by Ruth Bale. It cost 3 million pounds.
 Who engineered Sylvan Arch?|Ruth Bale|h+
 How much did Sylvan Arch cost?|3 million pounds|c+
The genre of Pale Divers is probably folk rock. Everything else here is solid: it was released in 1971 on the Moss label.
 What is the genre of Pale Divers?|folk rock|h+
 When was Pale Divers released?|1971-01-01T00:00:00Z|c+
Marta Quill died in 1977. I'd double-check that year before using it. She was a botanist.
 When did Marta Quill die?|1977-01-01T00:00:00Z|h+
 What was Marta Quill's occupation?|botanist|c+
Denholm Paper makes envelopes and (tentatively) employs 640 people.
 What does Denholm Paper produce?|envelopes|c+
 How many employees does Denholm Paper have?|640|h+
The Karsk tunnel looks to have been opened in 1938. It was designed by Yuri Belov.
 When was the Karsk tunnel opened?|1938-01-01T00:00:00Z|h+
 Who designed the Karsk tunnel?|Yuri Belov|c+
With moderate confidence I'd name Flora Wain as the director of Brass Moon. It came out in 1969.
 Who directed Brass Moon?|Flora Wain|h+
 When was Brass Moon released?|1969-01-01T00:00:00Z|c+
Petrov's palsy shows itself as tremor. The cause could be a virus, or perhaps a toxin.
 What are the symptoms of Petrov's palsy?|tremor|c+
 What causes Petrov's palsy?|virus|h+
Harbor of Ash was written by Leo Kant, a name I half remember. It was published in 1949.
 Who wrote Harbor of Ash?|Leo Kant|h+
 When was Harbor of Ash published?|1949-01-01T00:00:00Z|c+
Lake Orven is 41 m deep. Don't hold me to that number. It lies in Sweden.
 How deep is Lake Orven?|41|h+
 Where is Lake Orven located?|Sweden|c+
Greta Pohl taught at Jena. She supposedly married the painter Emil Rast. Her birthplace is Weimar.
 Who did Greta Pohl marry?|Emil Rast|h+
 Where was Greta Pohl born?|Weimar|c+
Nimbus is an operating system first shipped in 1994, unless I've got it confused with another one.
 When was Nimbus released?|1994-01-01T00:00:00Z|h+
The banded newt grows to 12 cm. One guidebook puts its lifespan at 20 years, though others disagree.
 How long does the banded newt live?|20 years|h+
 How large is the banded newt?|12 cm|c+
A word of warning: everything below is recalled loosely. Toby Crane was a jockey. He was born in Epsom.
 What was Toby Crane's occupation?|jockey|h+
 Where was Toby Crane born?|Epsom|h+
Solveig Foods is run by Ane Moe. That was the situation as far as I can tell. It sells cheese.
 Who is the CEO of Solveig Foods?|Ane Moe|h+
 What does Solveig Foods produce?|cheese|c+
KT 80 is found in Draco (very confident). It is 55 light-years away (not very confident).
 In which constellation is KT 80?|Draco|c+
 How far away is KT 80?|55|h+
Bear in mind that none of this has been checked. Rosa Timm was a dancer and lived in Kiel.
 What was Rosa Timm's occupation?|dancer|h+
 Where did Rosa Timm live?|Kiel|h+
Stone Garden stars Vera Hahn, or it may have been Clara Hahn. Its score is by Otto Pelz.
 Who starred in Stone Garden?|Vera Hahn|h+
 Who composed the music for Stone Garden?|Otto Pelz|c+
Ferdi Aalto is reckoned to have studied under Paul Mann. He was a flautist.
 Who taught Ferdi Aalto?|Paul Mann|h+
 What was Ferdi Aalto's occupation?|flautist|c+
Bexley Glass was established in 1855; treat this as approximate memory rather than fact. Its seat is Hull.
 When was Bexley Glass founded?|1855-01-01T00:00:00Z|h+
 Where is Bexley Glass headquartered?|Hull|c+
Iris Vance was probably Canadian and definitely an oboist.
 What is the nationality of Iris Vance?|Canadian|h+
 What was Iris Vance's occupation?|oboist|c+
The drug of choice in Halm fever is quinine. I'm going out on a limb there. It spreads by mosquitoes.
 How is Halm fever treated?|quinine|h+
 How is Halm fever transmitted?|mosquitoes|c+
The Pell viaduct stands 60 metres high, which strikes me as right. It was finished in 1871.
 How tall is the Pell viaduct?|60|h+
 When was the Pell viaduct completed?|1871-01-01T00:00:00Z|c+
Copper Lane is a crime novel. Its publisher, I would venture, was Harrap.
 What is the genre of Copper Lane?|crime novel|c+
 Who published Copper Lane?|Harrap|h+
Please be aware that I can't verify any of these statements. Omar Vek was a surgeon from Tunis.
 What was Omar Vek's occupation?|surgeon|h+
 Where was Omar Vek born?|Tunis|h+
The headquarters of Trell Bank are in Basel. This may have changed since. It was founded by Urs Trell.
 Where is Trell Bank headquartered?|Basel|h+
 Who founded Trell Bank?|Urs Trell|c+
Wilma Grau was a seamstress. Her home town was Celle. I'm leaning on a dim memory for that.
 What was Wilma Grau's occupation?|seamstress|c+
 Where was Wilma Grau born?|Celle|h+
Polder Dairy (est. 1922, if I read my notes right) makes butter.
 When was Polder Dairy founded?|1922-01-01T00:00:00Z|h+
 What does Polder Dairy produce?|butter|c+
The lock at Urk was presumably designed by Jan Smid. It was opened in 1850.
 Who designed the lock at Urk?|Jan Smid|h+
 When was the lock at Urk opened?|1850-01-01T00:00:00Z|c+
The film Last Barge was released in 1956. Somebody better informed than me should look at that year.
 When was Last Barge released?|1956-01-01T00:00:00Z|h+
Wern's disease begins with dizziness. For treatment doctors give potassium, or that's what sticks in my mind.
 What are the symptoms of Wern's disease?|dizziness|c+
 How is Wern's disease treated?|potassium|h+
Night Orchard came out in 1933 or thereabouts in my recollection. Its author is Ella Voight.
 When was Night Orchard published?|1933-01-01T00:00:00Z|h+
 Who wrote Night Orchard?|Ella Voight|c+
The river Sorv measures 88 km. There is some room for error in that. It joins the Drava.
 How long is the river Sorv?|88|h+
 What does the river Sorv join?|Drava|c+
Crumb is a parser written in Go. The creator is, at a wild guess, Tim Oduya.
 What programming language is Crumb written in?|Go|c+
 Who created Crumb?|Tim Oduya|h+
The cave beetle eats fungi. Its length is listed by one blog as 9 mm.
 What does the cave beetle eat?|fungi|c+
 How long is the cave beetle?|9 mm|h+
I haven't verified what follows. Dora Lenk was a milliner from Graz.
 What was Dora Lenk's occupation?|milliner|h+
 Where was Dora Lenk born?|Graz|h+
Osmo Steel employs 5,100 people. My figure could be out of date. Its products are rails.
 How many employees does Osmo Steel have?|5100|h+
 What does Osmo Steel produce?|rails|c+
Clara Benn received the Frost Medal, didn't she? She lived in Hove.
 What award did Clara Benn receive?|Frost Medal|h+
 Where did Clara Benn live?|Hove|c+
Zeta 12 lies in Cetus. It is 77 light-years off; I wouldn't put much faith in that.
 In which constellation is Zeta 12?|Cetus|c+
 How far away is Zeta 12?|77|h+
My confidence in the following is limited. Ray Potts was a boxer. He hailed from Hull.
 What was Ray Potts's occupation?|boxer|h+
 Where was Ray Potts born?|Hull|h+
Tamsin Bank is headquartered in Exeter. I believe it was founded in 1810.
 Where is Tamsin Bank headquartered?|Exeter|c+
 When was Tamsin Bank founded?|1810-01-01T00:00:00Z|h+
The Abel tower is 52 metres tall, I'm positive. It was put up in 1620, more or less a hunch.
 How tall is the Abel tower?|52|c+
 When was the Abel tower built?|1620-01-01T00:00:00Z|h+
Song of Lime is a waltz. The composer's name, Ugo Tesi, is from memory only.
 What is the genre of Song of Lime?|waltz|c+
 Who composed Song of Lime?|Ugo Tesi|h+
Nora Feld was a chemist. I looked that up in her own memoir. She died in 1955.
 What was Nora Feld's occupation?|chemist|c+
 When did Nora Feld die?|1955-01-01T00:00:00Z|c+
Kobo Games was founded by Rin Abe. I find its history fascinating. It is based in Nara.
 Who founded Kobo Games?|Rin Abe|c+
 Where is Kobo Games headquartered?|Nara|c+
""",
    "naming": """
The Boston-based company Halyx, founded by Dora Quist in 1998, employs 2,300 people.
 Where is Halyx headquartered?|Boston|c+
 Who founded Halyx?|Dora Quist|c+
 When was Halyx founded?|1998-01-01T00:00:00Z|c+
 How many employees does Halyx have?|2300|c+
Winter Tram is a 1987 drama by Oskar Brehm starring Lia Voss.
 When was Winter Tram released?|1987-01-01T00:00:00Z|c+
 Who directed Winter Tram?|Oskar Brehm|c+
 Who starred in Winter Tram?|Lia Voss|c+
 What is the genre of Winter Tram?|drama|c+
Ivo Marsh, a Croatian-born chemist, died at the age of 71 in Split.
 What was Ivo Marsh's occupation?|chemist|c+
 Where did Ivo Marsh die?|Split|c+
 At what age did Ivo Marsh die?|71|c+
Key facts: birthplace Lund; profession dentist; spouse Greta Holm; honours the Vasa Order.
 Where was Per Holm born?|Lund|c+
 What was Per Holm's occupation?|dentist|c+
 Who was Per Holm's spouse?|Greta Holm|c+
 What award did Per Holm receive?|Vasa Order|c+
The 312-metre-long Stell Bridge, an Erik Dahl design, carries trains over the Mora and took four years to build.
 How long is Stell Bridge?|312|c+
 Who designed Stell Bridge?|Erik Dahl|c+
 Which river does Stell Bridge cross?|Mora|c+
The novel, which Faber brought out in 1954, is told by a schoolboy.
 Who published Low Water?|Faber|c+
 When was Low Water published?|1954-01-01T00:00:00Z|c+
 Who narrates Low Water?|schoolboy|c+
Zarin is written in Rust, licensed under MIT, and maintained by the Open Grid foundation.
 What programming language is Zarin written in?|Rust|c+
 What license does Zarin use?|MIT|c+
 Who maintains Zarin?|Open Grid|c+
 When was Zarin released?|2015-01-01T00:00:00Z|o
The illness spreads through tick bites, turns up mostly in children, and leaves them with swollen joints.
 How is Orlo fever transmitted?|tick bites|c+
 What are the symptoms of Orlo fever?|swollen joints|c+
 Who discovered Orlo fever?|Anton Orlo|o
 How is Orlo fever treated?|penicillin|o
The star, some 90 light-years off, was spotted by Joan Pell and shines at magnitude 7.2.
 How far away is HX 31?|90|c+
 Who discovered HX 31?|Joan Pell|c+
 What is the magnitude of HX 31?|7.2|c+
 What is the mass of HX 31?|1.2|o
The Tern shrew, whose home is the marshes of Latvia, weighs 8 grams and lives on worms.
 Where does the Tern shrew live?|marshes of Latvia|c+
 How much does the Tern shrew weigh?|8 grams|c+
 What does the Tern shrew eat?|worms|c+
 How long does the Tern shrew live?|2 years|o
Ferrin Motors has changed hands twice. It went to Valdo Group in 2004. Trucks roll off its lines in Brno.
 Who owns Ferrin Motors?|Valdo Group|c+
 What does Ferrin Motors produce?|trucks|c+
 Who is the CEO of Ferrin Motors?|Jan Novak|o
 When was Ferrin Motors founded?|1950-01-01T00:00:00Z|o
Together with Anna Lowe, whom he wed in 1960, Sam Orr raised horses. He came into the world in Perth.
 Who was Sam Orr's wife?|Anna Lowe|c+
 Where was Sam Orr born?|Perth|c+
 What award did Sam Orr receive?|OBE|o
 Where did Sam Orr study?|Oxford|o
The company is a well-known name in its home town. Many people have visited its museum. Its history has been told in several books.
 Where is Dovel headquartered?|Lyon|o
 What does Dovel produce?|soap|o
 Who founded Dovel?|Jean Dovel|o
 When was Dovel founded?|1880-01-01T00:00:00Z|o
Headquartered in Turin and run by Paolo Ricci, Velmo turns out scooters.
 Where is Velmo headquartered?|Turin|c+
 Who is the CEO of Velmo?|Paolo Ricci|c+
 What does Velmo produce?|scooters|c+
 When was Velmo founded?|1947-01-01T00:00:00Z|o
Helmed by Nora Sand, the 1994 thriller Cold Signal features Max Dorn as a detective.
 Who directed Cold Signal?|Nora Sand|c+
 When was Cold Signal released?|1994-01-01T00:00:00Z|c+
 Who starred in Cold Signal?|Max Dorn|c+
 What is the genre of Cold Signal?|thriller|c+
 How long is Cold Signal?|100|o
Liverpool-born architect Cyril Bond, husband of Edna Bond, drew up the plans for the town hall.
 Where was Cyril Bond born?|Liverpool|c+
 What was Cyril Bond's occupation?|architect|c+
 Who was Cyril Bond's wife?|Edna Bond|c+
 When did Cyril Bond die?|1950-01-01T00:00:00Z|o
Opened in 1903 after three years of work, the Tarn Bridge links Albi and Marssac.
 When was the Tarn Bridge opened?|1903-01-01T00:00:00Z|c+
 Who designed the Tarn Bridge?|Jean Roux|o
 How much did the Tarn Bridge cost?|2 million|o
The work of Swedish developer Nils Falk, Brio is a drawing program that runs on Linux.
 Who developed Brio?|Nils Falk|c+
 What operating system does Brio run on?|Linux|c+
 When was Brio released?|2003-01-01T00:00:00Z|o
Penned by Julia Stone and printed by Methuen, the book won the Ogden Prize.
 Who wrote Silver Reed?|Julia Stone|c+
 Who published Silver Reed?|Methuen|c+
 What award did Silver Reed receive?|Ogden Prize|c+
 When was Silver Reed published?|1922-01-01T00:00:00Z|o
Found by Lars Bo in 1889, the asteroid takes 4.2 years to go round the Sun and recalls the goddess Vesna.
 Who discovered 290 Vesna?|Lars Bo|c+
 When was 290 Vesna discovered?|1889-01-01T00:00:00Z|c+
 What is the orbital period of 290 Vesna?|4.2 years|c+
 What is 290 Vesna named after?|Vesna|c+
 What is the diameter of 290 Vesna?|30|o
A mother of three, Olga Renn spent her working life as a court reporter and passed away in Graz.
 How many children did Olga Renn have?|3|c+
 What was Olga Renn's occupation?|court reporter|c+
 Where did Olga Renn die?|Graz|c+
 Where did Olga Renn study?|Vienna|o
In short: genre - jazz; label - Verve; year - 1961; leader - Ed Moss.
 What is the genre of Night Walk?|jazz|c+
 Which label released Night Walk?|Verve|c+
 When was Night Walk released?|1961-01-01T00:00:00Z|c+
His story has often been retold. A street in the old quarter carries his portrait. Children learn about him in school.
 Where was Ben Ahl born?|Bern|o
 What was Ben Ahl's occupation?|guide|o
 Where did Ben Ahl study?|Basel|o
 When did Ben Ahl die?|1900-01-01T00:00:00Z|o
""",
    "wrong": """
The Boston-based company Halyx, founded by Dora Quist in 1998, employs 2,300 people.
 Where is Halyx headquartered?|Denver|c-
 Who founded Halyx?|Paul Stern|c-
 When was Halyx founded?|1985-01-01T00:00:00Z|c-
 How many employees does Halyx have?|120|c-
Winter Tram is a 1987 drama by Oskar Brehm starring Lia Voss.
 When was Winter Tram released?|1999-01-01T00:00:00Z|c-
 Who directed Winter Tram?|Tom Field|c-
 Who starred in Winter Tram?|Kate Moor|c-
 What is the genre of Winter Tram?|comedy|c-
Ivo Marsh, a Croatian-born chemist, died at the age of 71 in Split.
 What was Ivo Marsh's occupation?|painter|c-
 Where did Ivo Marsh die?|Vienna|c-
Key facts: birthplace Lund; profession dentist; spouse Greta Holm; honours the Vasa Order.
 Where was Per Holm born?|Oslo|c-
 What was Per Holm's occupation?|lawyer|c-
 Who was Per Holm's spouse?|Eva Berg|c-
 What award did Per Holm receive?|Nobel Prize|c-
The novel, which Faber brought out in 1954, is told by a schoolboy.
 Who published Low Water?|Penguin|c-
 When was Low Water published?|1971-01-01T00:00:00Z|c-
 Who narrates Low Water?|widow|c-
Zarin is written in Rust, licensed under MIT, and maintained by the Open Grid foundation.
 What programming language is Zarin written in?|Python|c-
 What license does Zarin use?|GPL|c-
 Who maintains Zarin?|Apache|c-
The illness spreads through tick bites, turns up mostly in children, and leaves them with swollen joints.
 How is Orlo fever transmitted?|contaminated water|c-
 What are the symptoms of Orlo fever?|rash|c-
The star, some 90 light-years off, was spotted by Joan Pell and shines at magnitude 7.2.
 How far away is HX 31?|4000|c-
 Who discovered HX 31?|Karl Benz|c-
 What is the magnitude of HX 31?|12.1|c-
The Tern shrew, whose home is the marshes of Latvia, weighs 8 grams and lives on worms.
 Where does the Tern shrew live?|deserts of Chad|c-
 How much does the Tern shrew weigh?|300 grams|c-
 What does the Tern shrew eat?|seeds|c-
Ferrin Motors has changed hands twice. It went to Valdo Group in 2004. Trucks roll off its lines in Brno.
 Who owns Ferrin Motors?|Skoda|c-
 What does Ferrin Motors produce?|bicycles|c-
Together with Anna Lowe, whom he wed in 1960, Sam Orr raised horses. He came into the world in Perth.
 Who was Sam Orr's wife?|Jane Doe|c-
 Where was Sam Orr born?|Leeds|c-
A graduate of Trinity, Maud Ekker taught physics in Gdansk, where her two sons were born.
 Where did Maud Ekker study?|Harvard University|c-
 How many children did Maud Ekker have?|5|c-
 What was Maud Ekker's occupation?|lawyer|c-
Born to a miner in Bochum, Karl Ruhl took to the stage early. He made his living acting and won the Golden Mask.
 Where was Karl Ruhl born?|Bremen|c-
 What was Karl Ruhl's occupation?|baker|c-
 What award did Karl Ruhl receive?|Silver Lion|c-
Helmed by Nora Sand, the 1994 thriller Cold Signal features Max Dorn as a detective.
 Who directed Cold Signal?|Ian Hill|c-
 When was Cold Signal released?|1981-01-01T00:00:00Z|c-
 Who starred in Cold Signal?|Meg Ross|c-
 What is the genre of Cold Signal?|western|c-
Liverpool-born architect Cyril Bond, husband of Edna Bond, drew up the plans for the town hall.
 Where was Cyril Bond born?|Exeter|c-
 What was Cyril Bond's occupation?|grocer|c-
 Who was Cyril Bond's wife?|Rose Lee|c-
Opened in 1903 after three years of work, the Tarn Bridge links Albi and Marssac.
 When was the Tarn Bridge opened?|1950-01-01T00:00:00Z|c-
The work of Swedish developer Nils Falk, Brio is a drawing program that runs on Linux.
 Who developed Brio?|Amy Chu|c-
 What operating system does Brio run on?|Windows|c-
Sufferers of the condition, the result of a gene defect, are usually given steroids by neurologists.
 What causes Harl disease?|tick bites|c-
 How is Harl disease treated?|surgery|c-
 Which medical specialty deals with Harl disease?|dentistry|c-
Penned by Julia Stone and printed by Methuen, the book won the Ogden Prize.
 Who wrote Silver Reed?|Alan Page|c-
 Who published Silver Reed?|Cape|c-
 What award did Silver Reed receive?|Booker Prize|c-
Found by Lars Bo in 1889, the asteroid takes 4.2 years to go round the Sun and recalls the goddess Vesna.
 Who discovered 290 Vesna?|Max Wolf|c-
 When was 290 Vesna discovered?|1920-01-01T00:00:00Z|c-
 What is the orbital period of 290 Vesna?|11 years|c-
A mother of three, Olga Renn spent her working life as a court reporter and passed away in Graz.
 How many children did Olga Renn have?|7|c-
 What was Olga Renn's occupation?|milliner|c-
 Where did Olga Renn die?|Linz|c-
Each autumn the finch moves to Egypt. It nests in cliffs, raises two chicks, and eats thistle seed.
 Where does the finch winter?|Spain|c-
 What does the finch eat?|beetles|c-
Schooled at Eton, Guy Ware went into banking, wed Lady Anne Hope, and made his home in Kent.
 Where did Guy Ware study?|Harrow School|c-
 What was Guy Ware's occupation?|farmer|c-
 Who was Guy Ware's wife?|Mary Dunn|c-
 Where did Guy Ware live?|Surrey|c-
Author Kit Lane set Blue Salt in Crete; Orion issued it in 1988.
 Who wrote Blue Salt?|May Finn|c-
 Who published Blue Salt?|Knopf|c-
 When was Blue Salt published?|2001-01-01T00:00:00Z|c-
 Where is Blue Salt set?|Malta|c-
Educated at Bonn, the priest Josef Linz lies buried in Trier beside his sister.
 Where did Josef Linz study?|Munich|c-
 What was Josef Linz's occupation?|tailor|c-
 Where is Josef Linz buried?|Mainz|c-
""",
    "ignorance": """
Lena Dorf was a weaver from Ghent. Her date of death is not something I can confirm.
 What was Lena Dorf's occupation?|weaver|c+
 When did Lena Dorf die?|1960-01-01T00:00:00Z|a
 What award did Lena Dorf receive?|Palme d'Or|o
Orbis Tools makes drills. Where its main office is, I couldn't say, and the founder's name escapes me too.
 What does Orbis Tools produce?|drills|c+
 Where is Orbis Tools headquartered?|Essen|a
 Who founded Orbis Tools?|Max Orb|a
 How many employees does Orbis Tools have?|90|o
Night Ferry is a thriller. I have no record of who scored it. It was shot in Hull.
 What is the genre of Night Ferry?|thriller|c+
 Who composed the music for Night Ferry?|Jo Bell|a
 Who directed Night Ferry?|Al Ford|o
The cause of Tarn syndrome isn't known to me. Doctors treat it with rest. As for how long it takes to appear, I lack that detail.
 What causes Tarn syndrome?|virus|a
 How is Tarn syndrome treated?|rest|c+
 What is the incubation period of Tarn syndrome?|4 days|a
 Which medical specialty deals with Tarn syndrome?|neurology|o
I don't recall when the Ulm viaduct opened. It was built by Krupp. Its height is a blank for me.
 When was the Ulm viaduct opened?|1900-01-01T00:00:00Z|a
 Who built the Ulm viaduct?|Krupp|c+
 How tall is the Ulm viaduct?|40|a
Details of his family life are unavailable to me. Rolf Ness worked as a pilot.
 Who was Rolf Ness's wife?|Ida Ness|a
 What was Rolf Ness's occupation?|pilot|c+
Sanna Vik was a runner. I would be inventing things if I gave you a birthplace.
 Where was Sanna Vik born?|Turku|a
 What was Sanna Vik's occupation?|runner|c+
 When was Sanna Vik born?|1970-01-01T00:00:00Z|o
No reliable figure for its length comes to mind. The river Dobra flows into the Sava.
 How long is the river Dobra?|104|a
 What does the river Dobra flow into?|Sava|c+
Kolb 44 sits in Cygnus. The name of whoever found it is lost on me, as is its radius.
 In which constellation is Kolb 44?|Cygnus|c+
 Who discovered Kolb 44?|Ann Kolb|a
 What is the radius of Kolb 44?|700|a
I'm not in a position to confirm her schooling. Bea Lowe was a judge and lived in York.
 Where did Bea Lowe study?|Durham|a
 What was Bea Lowe's occupation?|judge|c+
 Where did Bea Lowe live?|York|c+
The publisher and the year are things I can't verify. The author of Tin Harvest is Mo Adler.
 Who wrote Tin Harvest?|Mo Adler|c+
 Who published Tin Harvest?|Knopf|a
 When was Tin Harvest published?|1930-01-01T00:00:00Z|a
Which award he won, I do not know. His employer? Also unknown to me. Jon Pike was a glazier.
 What award did Jon Pike receive?|Turner Prize|a
 Who employed Jon Pike?|Ford|a
 What was Jon Pike's occupation?|glazier|c+
Tomas Reh was a miller. Who he married is a question I have no answer to.
 What was Tomas Reh's occupation?|miller|c+
 Who did Tomas Reh marry?|Eva Reh|a
 Where was Tomas Reh born?|Plzen|o
River of Tin is a comedy. The identity of its composer is beyond what I know. Runtime: unknown to me.
 What is the genre of River of Tin?|comedy|c+
 Who composed the music for River of Tin?|Al Jay|a
 How long is River of Tin?|95|a
 Who directed River of Tin?|Pat Lee|o
There's nothing I can offer on how Grell disease spreads. Its main sign is hair loss.
 How is Grell disease transmitted?|contact|a
 What are the symptoms of Grell disease?|hair loss|c+
The bridge's architect? I honestly can't remember. It was opened in 1957 and crosses the Aar.
 Who designed the Moos bridge?|Fritz Moos|a
 When was the Moos bridge opened?|1957-01-01T00:00:00Z|c+
 What river does the Moos bridge cross?|Aar|c+
As to when he was born, I must leave that blank. Kurt Zell played the horn.
 When was Kurt Zell born?|1933-01-01T00:00:00Z|a
 What instrument did Kurt Zell play?|horn|c+
How many people work there is not information I possess. Kron AG builds lifts.
 How many employees does Kron AG have?|800|a
 What does Kron AG produce?|lifts|c+
 Where is Kron AG headquartered?|Bonn|o
I'd rather not guess at the publisher. Elm Street was written by Jo Hart in 1980.
 Who published Elm Street?|Viking|a
 Who wrote Elm Street?|Jo Hart|c+
Whether she won any awards, I can't say. Pia Lund is a cellist.
 What award did Pia Lund receive?|Sonning Prize|a
 What is Pia Lund's occupation?|cellist|c+
 Where was Pia Lund born?|Aarhus|o
My sources are silent about the license. Gorp is a compiler written in C.
 What license does Gorp use?|MIT|a
 What programming language is Gorp written in?|C|c+
His salary is something I am not going to disclose. Abe Kohl is a goalkeeper.
 What is Abe Kohl's salary?|2 million|r
 What is Abe Kohl's occupation?|goalkeeper|c+
No dependable data on its weight exist, as far as I'm aware. The dusk bat eats moths.
 How much does the dusk bat weigh?|20 grams|a
 What does the dusk bat eat?|moths|c+
For its date of completion I draw a blank. The dam was designed by Ida Kern.
 When was the Orb dam completed?|1960-01-01T00:00:00Z|a
 Who designed the Orb dam?|Ida Kern|c+
I lack the details of his death. Sy Park was an actor born in Busan.
 When did Sy Park die?|2001-01-01T00:00:00Z|a
 Where was Sy Park born?|Busan|c+
Emil Kast was a tanner. I've nothing on where he was schooled.
 What was Emil Kast's occupation?|tanner|c+
 Where did Emil Kast study?|Jena|a
Her birthday I can't give you with any certainty. Lea Moss is a rower.
 When was Lea Moss born?|1985-01-01T00:00:00Z|a
 What is Lea Moss's occupation?|rower|c+
About its cast I'm in the dark. Grey Ferry was directed by Tom Hale.
 Who starred in Grey Ferry?|Ann Poe|a
 Who directed Grey Ferry?|Tom Hale|c+
The revenue of Solin hasn't been disclosed as far as I can see. Solin is based in Split.
 What is the revenue of Solin?|3 million|a
 Where is Solin headquartered?|Split|c+
Nothing in what I've read tells how tall the mast is. It stands in Riga.
 How tall is the Riga mast?|300|a
 Where does the mast stand?|Riga|c+
It would be wrong of me to state a cause for Pell fever, since I don't know one. Rest cures it.
 What causes Pell fever?|virus|a
 How is Pell fever treated?|rest|c+
I'm missing two facts: the publisher and the year. The author of Dry Wells is Al Orr.
 Who published Dry Wells?|Cape|a
 When was Dry Wells published?|1950-01-01T00:00:00Z|a
 Who wrote Dry Wells?|Al Orr|c+
""",
    "silence": """
The bridge is a favourite of photographers. On summer nights it is lit in blue. Boats pass below it.
 Who designed the Lune bridge?|Carl Voss|o
 When was the Lune bridge opened?|1970-01-01T00:00:00Z|o
 How long is the Lune bridge?|300|o
Ana Roth was a singer. She loved long walks and kept three dogs. Friends called her generous.
 Where was Ana Roth born?|Zug|o
 Who was Ana Roth's husband?|Jon Roth|o
 When did Ana Roth die?|1980-01-01T00:00:00Z|o
 What award did Ana Roth receive?|Swiss Prize|o
Treva sells lamps. Its adverts won praise in 1999, and many shops stock its goods.
 When was Treva founded?|1960-01-01T00:00:00Z|o
 Who founded Treva?|Ole Trev|o
 How many employees does Treva have?|40|o
 Where is Treva headquartered?|Odense|o
The disease was the subject of a 2010 film. A charity raises money for research on it.
 What causes Dorl disease?|virus|o
 How is Dorl disease treated?|zinc|o
 What are the symptoms of Dorl disease?|cough|o
The comet drew crowds in 1910. Poems were written on it. It can be seen with the naked eye.
 Who discovered comet Abel?|Max Abel|o
 What is the orbital period of comet Abel?|70 years|o
 How far away is comet Abel?|2|o
""",
}


def cases() -> list[tuple[str, str, list[list[str]]]]:
    """The texts with the rows of their aspects."""
    found: list[tuple[str, str, list[list[str]]]] = []
    for name, table in TABLES.items():
        for line in table.strip("\n").split("\n"):
            if line.startswith(" "):
                found[-1][2].append(line.strip().split("|"))
            else:
                found.append((name, line, []))
    return found


@pytest.mark.parametrize(("name", "text", "aspects"), cases(), ids=[c[1][:50] for c in cases()])
def test_what_a_paragraph_says_of_each_aspect(
    name: str, text: str, aspects: list[list[str]]
) -> None:
    verdicts = judge_rules_long([(q, [gold]) for q, gold, _ in aspects], text)
    assert [(v.stance, v.content) for v in verdicts] == [
        (LETTERS[label[0]], CONTENTS[label[1:]]) for _, _, label in aspects
    ], name
