"""The time that memories are about: 60 phrases said on Wednesday, 9 August 2023, and what must not be taken for a time."""

import pytest

from thinkback.clock import from_us, to_us
from thinkback.search.query.about import about

SAID = to_us("2023-08-09T15:00:00Z")
NAMED = (
    ("Last weekend we went to the lake.", "2023-08-05", "2023-08-06"),
    ("We went to the lake yesterday.", "2023-08-08", "2023-08-08"),
    ("I met Tom the day before yesterday.", "2023-08-07", "2023-08-07"),
    ("I ran a 10k last Sunday.", "2023-08-06", "2023-08-06"),
    ("Last week I started a pottery class.", "2023-07-31", "2023-08-06"),
    ("I saw her three days ago.", "2023-08-06", "2023-08-06"),
    ("We moved in two weeks ago.", "2023-07-21", "2023-07-31"),
    ("I adopted the cat a month ago.", "2023-07-03", "2023-07-17"),
    ("Two weekends ago we camped at the beach.", "2023-07-29", "2023-07-30"),
    ("I signed the lease on 3 August 2023.", "2023-08-03", "2023-08-03"),
    ("The concert was on August 5th, and it was loud.", "2023-08-05", "2023-08-05"),
    ("My birthday party on 14 July went well.", "2023-07-14", "2023-07-14"),
    ("In June we repainted the kitchen.", "2023-06-01", "2023-06-30"),
    ("Last month I finished the course.", "2023-07-01", "2023-07-31"),
    ("We visited Rome in May 2022.", "2022-05-01", "2022-05-31"),
    ("I graduated in 2019.", "2019-01-01", "2019-12-31"),
    ("In the summer of 2021 I lived in Oslo.", "2021-06-01", "2021-08-31"),
    ("Last summer we hiked the Alps.", "2022-06-01", "2022-08-31"),
    ("Last year I broke my arm.", "2022-01-01", "2022-12-31"),
    ("Tonight we have guests.", "2023-08-09", "2023-08-09"),
    ("Today I fixed the bike.", "2023-08-09", "2023-08-09"),
    ("This morning I saw a fox.", "2023-08-09", "2023-08-09"),
    ("I slept badly last night.", "2023-08-08", "2023-08-08"),
    ("This weekend we are painting the fence.", "2023-08-12", "2023-08-13"),
    ("This week has been hard.", "2023-08-07", "2023-08-13"),
    ("On Monday I saw the dentist.", "2023-08-07", "2023-08-07"),
    ("Last Friday the pipes froze.", "2023-08-04", "2023-08-04"),
    ("Tomorrow I see the doctor.", "2023-08-10", "2023-08-10"),
    ("The day after tomorrow is my exam.", "2023-08-11", "2023-08-11"),
    ("Next week we fly to Lisbon.", "2023-08-14", "2023-08-20"),
    ("Next weekend is the wedding.", "2023-08-19", "2023-08-20"),
    ("Next month the rent goes up.", "2023-09-01", "2023-09-30"),
    ("Next Friday I give a talk.", "2023-08-11", "2023-08-11"),
    ("Next year we want to move.", "2024-01-01", "2024-12-31"),
    ("In two weeks I start the new job.", "2023-08-22", "2023-08-24"),
    ("In three days!", "2023-08-12", "2023-08-12"),
    ("We were in Berlin from 3 June to 9 June 2023.", "2023-06-03", "2023-06-09"),
    ("Between May and July 2023 I was on sick leave.", "2023-05-01", "2023-07-31"),
    ("In early June the roses bloomed.", "2023-06-01", "2023-06-10"),
    ("The first weekend of August 2023 we spent in Porto.", "2023-08-05", "2023-08-06"),
    ("At Christmas we saw my parents.", "2022-12-25", "2022-12-25"),
    ("On Halloween 2022 I dressed as a ghost.", "2022-10-31", "2022-10-31"),
    ("The week of 12 June was chaos.", "2023-06-12", "2023-06-18"),
    ("Mid-July the car broke down.", "2023-07-11", "2023-07-20"),
    ("In late March I quit smoking.", "2023-03-21", "2023-03-31"),
    ("On 2023-07-30 the server crashed.", "2023-07-30", "2023-07-30"),
    ("I started the diet five months ago.", "2023-03-02", "2023-03-22"),
    ("I had my first lesson a few weeks ago.", "2023-07-09", "2023-07-29"),
    ("The weekend before last it rained.", "2023-07-29", "2023-07-30"),
    ("The Sunday before 25 May 2023 we got engaged.", "2023-05-21", "2023-05-21"),
    ("In the second week of May we had guests.", "2023-05-08", "2023-05-14"),
    ("In Q2 2023 revenue doubled.", "2023-04-01", "2023-06-30"),
    ("Last winter the pond froze.", "2022-12-01", "2023-02-28"),
    ("During Thanksgiving my aunt visited.", "2022-11-24", "2022-11-24"),
    ("An hour ago I ate.", "2023-08-09", "2023-08-09"),
    ("Two years ago I learned to sail.", "2021-06-10", "2021-10-08"),
    ("In the beginning of July we had a flood.", "2023-07-01", "2023-07-10"),
    ("This past weekend was fun.", "2023-08-05", "2023-08-06"),
    ("Yesterday morning I swam.", "2023-08-08", "2023-08-08"),
    ("The 5th of last month was payday.", "2023-07-05", "2023-07-05"),
    ("We were in Lisbon from 3 to 10 July.", "2023-07-03", "2023-07-10"),
    ("The wedding was on the first weekend of June.", "2023-06-03", "2023-06-04"),
    ("This coming weekend we paint the fence.", "2023-08-12", "2023-08-13"),
    # a sentence about what is to come
    ("We'll meet on Friday.", "2023-08-11", "2023-08-11"),
    ("See you on Monday!", "2023-08-14", "2023-08-14"),
    ("I have an appointment on Friday at 3pm.", "2023-08-11", "2023-08-11"),
    ("Looking forward to the concert on Saturday.", "2023-08-12", "2023-08-12"),
    ("The exam is on 14 September.", "2023-09-14", "2023-09-14"),
    ("She plans to start college in September.", "2023-09-01", "2023-09-30"),
    ("I'm flying to Rome the week of 21 August.", "2023-08-21", "2023-08-27"),
    ("I am painting the house in October.", "2023-10-01", "2023-10-31"),
    ("Can't wait for Christmas!", "2023-12-25", "2023-12-25"),
    ("On Friday I will see Tom. I saw Ann on Monday.", "2023-08-11", "2023-08-11"),
    # and one about what is over
    ("I saw Ann on Monday. On Friday I will see Tom.", "2023-08-07", "2023-08-07"),
    ("The concert on Saturday was great.", "2023-08-05", "2023-08-05"),
    ("I used the editor on May 11, but I'm wondering if that's enough.", "2023-05-11", "2023-05-11"),
    ("We met back in 2010 and he's always been kind.", "2010-01-01", "2010-12-31"),
    ("I'm starting remote work three days a week beginning September 15.", "2023-09-15", "2023-09-15"),
    ("I'm so glad we met in June!", "2023-06-01", "2023-06-30"),
    ("I will always remember the trip we took in July.", "2023-07-01", "2023-07-31"),
    # other languages
    ("Letztes Wochenende waren wir am See.", "2023-08-05", "2023-08-06"),
    ("Gestern war ich beim Arzt.", "2023-08-08", "2023-08-08"),
    ("Vor zwei Wochen habe ich das Auto verkauft.", "2023-07-21", "2023-07-31"),
    ("Am 3. Mai 2023 haben wir geheiratet.", "2023-05-03", "2023-05-03"),
    ("Morgen fahre ich nach Berlin.", "2023-08-10", "2023-08-10"),
    ("Nächste Woche habe ich Urlaub.", "2023-08-14", "2023-08-20"),
    ("El fin de semana pasado fuimos al lago.", "2023-08-05", "2023-08-06"),
    ("El 3 de mayo fuimos al médico.", "2023-05-03", "2023-05-03"),
    ("Mañana voy al dentista.", "2023-08-10", "2023-08-10"),
    ("Hier soir j'ai vu un film.", "2023-08-08", "2023-08-08"),
    ("Le week-end dernier nous étions à Lyon.", "2023-08-05", "2023-08-06"),
    ("La semaine prochaine nous partons.", "2023-08-14", "2023-08-20"),
    ("上周末我们去了湖边。", "2023-08-05", "2023-08-06"),
    ("昨天我去了医院。", "2023-08-08", "2023-08-08"),
    ("下周我们有考试。", "2023-08-14", "2023-08-20"),
)
QUIET = (
    "I go to yoga every Monday.",
    "We meet each summer.",
    "I usually swim on Friday.",
    "I have lived here since 2019.",
    "I have been vegan since May.",
    "It may rain.",
    "March on!",
    "I prefer tea.",
    "The report is due by 5 May 2023.",
    "Before June I was unemployed.",
    "I live next to the station.",
    "Ask next door.",
    "Version 2.0 in 3 files",
    "I ate in ten minutes",
    "Lately I feel tired.",
    "I recently adopted a dog.",
    "The last straw broke.",
    "We sat in the fall of Rome.",
    "On Christmas Eve we always eat carp.",
    "We used to go there in the summer.",
    "The next week we flew home.",
    "In 500 years I will be forgotten.",
    "We live in Mai Chau.",
    "Hier ist mein Schlüssel.",
    "Guten Morgen, wie geht es dir?",
    "Cada mañana corro.",
    "Seit Mai lebe ich in Bonn.",
)


@pytest.mark.parametrize(("text", "first", "last"), NAMED)
def test_the_days_a_memory_is_about(text, first, last):
    found = about(text, SAID)
    assert found is not None
    assert (from_us(found[0]).date().isoformat(), from_us(found[1] - 1).date().isoformat()) == (first, last)


@pytest.mark.parametrize("text", QUIET)
def test_what_names_no_time_of_its_own(text):
    assert about(text, SAID) is None


def test_there_are_enough_of_them():
    assert len(NAMED) >= 60


def test_a_long_text_is_read_only_at_its_beginning():
    assert about("x " * 1000 + "We met yesterday.", SAID) is None
    assert about("We met yesterday. " + "x " * 1000, SAID) is not None
