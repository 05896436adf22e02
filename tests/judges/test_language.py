"""English running text and language-neutral answers pass; other languages do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.judges.english.language import is_english

ENGLISH = [
    "No can do, that's other people's private business.",
    "",
    "1950",
    "Ludwig van Beethoven",
    "Universidad Nacional Autónoma de México",
    "Leonardo di ser Piero da Vinci",
    "A tadpole becomes a frog.",
    "Sound travels fastest in a solid, then in a liquid, and slowest in a gas.",
    "Mark put Rachel on the block on Big Brother.",
    "Gabriel José de la Concordia García Márquez",
    "Rainer Werner Fassbinder, Wim Wenders",
    "La Grande Illusion",
    "Die Frau ohne Schatten",
    "i dont know",
    "Ripley, Derbyshire",
    "孫文",
    "She was born in Łódź and studied at the École des Beaux-Arts de Paris under Jean-Léon Gérôme.",
    "Ferdinand de Saussure, born in Geneva, taught at the École pratique des hautes études.",
    "The film was directed by Hayao Miyazaki (宮崎 駿) and produced by Toshio Suzuki.",
    "Pedro Álvares Cabral de la Vega y del Río was born in Ávila and moved to São Paulo.",
    "Its mass is about 5.97 × 10^24 kg and its orbital period 365 days.",
    "The word is written αβγ in Greek and means nothing.",
]
OTHER = [
    "Elle est née à Paris et elle a étudié le droit, mais je ne sais pas quand.",
    "Je ne sais pas quand elle est née.",
    "Sie wurde in Berlin geboren und war eine Sängerin.",
    "Ich weiß es leider nicht, aber ich glaube, es war 1950.",
    "Nació en Madrid y estudió derecho en la universidad.",
    "No sé dónde nació, pero creo que fue en Madrid.",
    "È nata a Roma ed è una cantante, ma non so quando.",
    "Ela nasceu em Lisboa e não sei quando morreu.",
    "Zij werd geboren in Amsterdam en was een zangeres, maar ik weet niet wanneer.",
    "Hon föddes i Stockholm och jag vet inte när.",
    "Urodziła się w Warszawie, ale nie wiem kiedy.",
    "她出生于北京,但我不知道是哪一年。",
    "彼女は東京で生まれましたが、いつかはわかりません。",
    "Она родилась в Москве, но я не знаю когда.",
    "ولدت في القاهرة ولكن لا أعرف متى",
    "그녀는 서울에서 태어났지만 언제인지는 모릅니다.",
    "היא נולדה בירושלים אבל אני לא יודע מתי",
    "वह दिल्ली में पैदा हुई थी लेकिन मुझे नहीं पता कब",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_neutral(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", OTHER)
def test_other_languages(text: str) -> None:
    assert not is_english(text)


@given(st.text(max_size=300))
def test_never_raises(text: str) -> None:
    assert is_english(text) in (True, False)
