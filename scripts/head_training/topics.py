"""Subjects of the prompts that heads are trained on, by kind. The held-out ones share none with the others."""

SUBJECTS = {
    "train": """photosynthesis; volcanoes; the water cycle; black holes; vaccines; magnetism; the human heart;
coral reefs;
earthquakes; gravity; batteries; DNA; the ozone layer; tides; antibiotics; bees; glaciers; nuclear fusion; sleep;
the immune system; rainbows; evolution; thunderstorms; the periodic table; plate tectonics; recycling; solar panels;
democracy; inflation; the Roman Empire; the Silk Road; the printing press; the French Revolution; ancient Egypt;
the Industrial Revolution; the Renaissance; the Cold War; trade unions; supply and demand; compound interest; taxes;
the stock market; human rights; the United Nations; journalism; copyright; city planning; public libraries; jazz;
impressionism; Shakespeare; haiku; the violin; film editing; architecture; mythology; origami; ballet; chess;
football;
marathon running; yoga; swimming; cycling; hiking; rock climbing; bread baking; coffee; chocolate; cheese making;
vegetable gardening; pasta; green tea; spices; breakfast; healthy eating; houseplants; dogs; cats; horses; owls;
whales;
penguins; butterflies; elephants; sharks; dinosaurs; the Amazon rainforest; deserts; Antarctica; Japan; Brazil; Kenya;
Iceland; New York City; the Himalayas; the Mediterranean Sea; airplanes; bridges; electric cars; bicycles; trains;
space travel; the Moon; Mars; telescopes; satellites; smartphones; the internet; computer viruses; passwords; email;
databases; machine learning; robots; programming languages; operating systems; compilers; cloud computing; open
source;
version control; web browsers; video games; social media; time management; public speaking; friendship; stress; money;
studying for exams; job interviews; working from home; learning a language; good habits; creativity; leadership;
kindness; loneliness; parenting; first aid; moving house; camping; photography; painting; knitting; woodworking""",
    "held_out": """lighthouses; the human eye; comets; fermentation; the Vikings; insurance; opera; pottery; tennis;
mushrooms; dolphins; Norway; submarines; encryption; meditation; beekeeping; wind turbines; the Aztecs; typography;
tomato soup; maps; clocks; the Great Barrier Reef; teamwork; 3D printing; bamboo; elections; snow; libraries of code;
sourdough""",
}

PEOPLE = {
    "train": """a doctor; a farmer; a teacher; a sailor; an old baker; a young wizard; a detective; a robot; a lost
dog;
a queen; two brothers; a painter; a bus driver; an astronaut; a shy student; a musician; a gardener; a thief; a nurse;
a dragon; a fisherman; a clockmaker; a librarian; a boy named Tom; a girl named Maya; a retired engineer; a fox; a
knight;
a chef; an inventor""",
    "held_out": "a lighthouse keeper; a postman; a girl named Ines; a tired ghost; a beekeeper; a violin maker",
}

PLACES = {
    "train": """a small village; a crowded train; a quiet forest; the bottom of the sea; a space station; an old
castle; a rainy
city; a desert town; a mountain hut; a market in Morocco; a school; a hospital; an island; a library; a bakery; a
farm;
a hotel; a museum; a harbour; a garden""",
    "held_out": "a frozen lake; an empty theatre; a night ferry; a vineyard; a railway museum",
}

TASKS = {  # of programs
    "train": """reverses a string; checks whether a number is prime; computes the factorial of a number; sorts a
list of
numbers; finds the largest element of a list; counts the words in a text; removes duplicates from a list; checks
whether
a string is a palindrome; computes Fibonacci numbers; merges two sorted lists; finds the average of a list; converts
Celsius to Fahrenheit; counts vowels in a string; performs a binary search; reads a file line by line; computes the
greatest
common divisor; transposes a matrix; flattens a nested list; finds the second largest number; checks for anagrams;
generates a random password; computes the sum of digits; rotates a list by k places; finds missing numbers; parses
a CSV
file; implements a stack; implements a queue; counts character frequencies; validates an email address; computes
the median;
finds the longest word; converts a number to binary; implements bubble sort; adds two matrices; finds common
elements of
two lists; prints a multiplication table; simulates a dice roll; computes compound interest; groups words by length;
capitalises every word""",
    "held_out": """finds the intersection of two sorted arrays; converts Roman numerals to integers; computes the
standard
deviation; implements insertion sort; checks whether a year is a leap year; splits a list into chunks; implements a
linked
list; finds the longest common prefix""",
}

SENTENCES = {  # to be translated, corrected or rewritten
    "train": """The weather is nice today. | Where is the nearest train station? | I would like a cup of coffee,
please. | My
brother works in a hospital. | She has been learning to play the piano for two years. | We are going to the market
tomorrow
morning. | Can you help me with my homework? | The book on the table belongs to my sister. | He forgot his keys at the
office again. | The children are playing in the garden. | It was raining when we left the house. | I do not know
the answer
to this question. | The meeting has been moved to Friday afternoon. | They bought a new house near the river. |
Please turn
off the lights before you leave. | The museum is closed on Mondays. | Her grandmother makes the best soup in town.
| The
train to Paris leaves in ten minutes. | I have never seen such a beautiful sunset. | Our teacher told us an
interesting
story. | The dog barked at the postman. | You should drink more water. | The company plans to hire fifty people
next year. |
Everyone was tired after the long trip. | He speaks three languages fluently.""",
    "held_out": """The ferry arrives at half past nine. | My neighbour grows apples and pears. | We could not find
a free table. |
The lamp in the kitchen is broken. | She wrote a long letter to her friend. | The concert was better than we
expected.""",
}

NAMES = {
    "train": """Anna; Ben; Carla; David; Emma; Farid; Grace; Hugo; Ivy; Jack; Kim; Leo; Mary; Noah;
Olivia; Paul; Rosa; Sam""",
    "held_out": "Ines; Otto; Priya; Tomas; Yara",
}

THINGS = {
    "train": """apples; books; pencils; marbles; tickets; eggs; cookies; stamps; chairs; balloons; oranges; cards;
coins;
bottles; flowers; shells""",
    "held_out": "lemons; candles; buttons; postcards; kites",
}

LANGUAGES = {"train": "French; Spanish; German; Italian; Portuguese", "held_out": "French; Spanish; German"}


def split(table, part):
    """The entries of one part ("train" or "held_out") of a table above."""
    text = " ".join(table[part].split())
    return [entry.strip() for entry in text.split("|" if "|" in text else ";")]
