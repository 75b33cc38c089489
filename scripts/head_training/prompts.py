"""Chat prompts for training and for the held-out measure: templates filled from topics.py, keyed by a seed.

Every template serves both parts; the two share no subject, person, sentence, task or name.
"""
import random

from . import topics

TEMPLATES = {
    "question": ["What is {subject}?" , "Why does {subject} matter?", "Explain {subject} in simple terms.",
                 "Tell me about {subject}.", "What are the most common mistakes people make with {subject}?",
                 "How did {subject} change over the last hundred years?", "Explain {subject} to a ten-year-old child.",
                 "What should everyone know about {subject}?", "What are three surprising facts about {subject}?",
                 "Describe the history of {subject} in one paragraph.", "How does {subject} affect daily life?",
                 "What is the connection between {subject} and {subject2}?",
                 "What are the advantages and disadvantages of {subject}?"],
    "how_to": ["How do I get started with {subject}?", "Give me a step-by-step plan to learn about {subject}.",
               "Give me five tips about {subject}.", "I am nervous about {subject}. What can I do?",
               "Write a checklist for someone interested in {subject}.", "Plan a one-week course on {subject}.",
               "Suggest ten questions for a quiz about {subject}.",
               "What equipment or materials do I need for {subject}?"],
    "code": ["Write a Python function that {task}.", "Write a Python function that {task}. Give only the code.",
             "Write a JavaScript function that {task}.", "Write a C++ program that {task}.",
             "Write a Python class that {task}, with comments and an example.", "Write a Java method that {task}.",
             "Explain how an algorithm that {task} works, then show it in Python.",
             "Write unit tests in Python for a function that {task}.",
             "Write a shell script or a C program that {task}."],
    "maths": ["{name} has {a} {thing} and buys {b} more. Then {name} gives {c} to {name2}. How many {thing} are left?",
              "What is {a} plus {b} times {c}?", "What is {a} times {b}? Show each step.",
              "A shop sells {thing} at ${c} each. {name} buys {a} of them and pays with ${big}. What is the change?",
              "{name} walks {c} km every day. How far does {name} walk in {a} days?",
              "Solve for x: {c}x + {a} = {big}.", "What is {c} percent of {big}?",
              "{name} reads {a} pages on Monday, {b} on Tuesday and {c} on Wednesday. What is the average?",
              "A rectangle is {a} cm long and {b} cm wide. What are its area and its perimeter?",
              "{name} shares {big} {thing} equally among {c} friends. How many does each get, and how many remain?"],
    "translation": ["Translate to {language}: {sentence}", "How do you say this in {language}? {sentence}",
                    "Translate the following sentence into {language} and explain the grammar: {sentence}"],
    "rewrite": ["Rewrite this in a more formal style: {sentence}", "Make this sentence more exciting: {sentence}",
                "Correct any mistakes and explain: {sentence}", "Continue the story: {sentence}",
                "Write three different versions of this sentence: {sentence}", "Answer politely: {sentence}"],
    "story": ["Write a short story about {person} in {place}.", "Write a dialogue between {person} and {person2}.",
              "Write a poem about {subject}.",
              "Write the opening paragraph of a novel about {person} who loves {subject}.",
              "Tell a funny story about {person} and {subject}.",
              "Write a letter from {person} to {person2} about {subject}.",
              "Describe {place} in the early morning.",
              "Invent a fairy tale in which {person} learns about {subject}."],
    "writing": ["Write an email to my boss asking for a day off to attend an event about {subject}.",
                "Write a blog post about {subject}.", "Write a short speech about {subject}.",
                "Write an essay that compares {subject} and {subject2}.",
                "Write a product description related to {subject}.",
                "Write a news article about {subject}.", "Summarize what you know about {subject} in three sentences.",
                "Write a review of a book about {subject}.", "Write an introduction for a report on {subject}."],
    "roleplay": ["Pretend you are {person}. Introduce yourself.", "You are {person} in {place}. What do you see?",
                 "Act as a teacher and give a lesson on {subject}.", "Act as a travel guide in {place}.",
                 "You are an expert on {subject}. I am a beginner. What is your advice?"],
    "list": ["List the main parts of {subject}.", "Make a table with pros and cons of {subject}.",
             "Name five things related to {subject} and explain each.",
             "Create a glossary of ten words about {subject}.",
             "Give an outline for an article about {subject}.", "Compare {subject} and {subject2} in a list.",
             "Extract the key nouns from this sentence as JSON: {sentence}",
             "Classify the sentiment of this sentence as positive, neutral or negative: {sentence}"],
}


def fill(template, part, rng):
    pick = lambda table: rng.choice(topics.split(table, part))
    return template.format(
        subject=pick(topics.SUBJECTS), subject2=pick(topics.SUBJECTS), person=pick(topics.PEOPLE),
        person2=pick(topics.PEOPLE), place=pick(topics.PLACES), task=pick(topics.TASKS),
        sentence=pick(topics.SENTENCES), name=pick(topics.NAMES), name2=pick(topics.NAMES), thing=pick(topics.THINGS),
        language=pick(topics.LANGUAGES), a=rng.randint(12, 60), b=rng.randint(3, 40), c=rng.randint(2, 9),
        big=rng.randint(100, 900))


def make(part, count, seed):
    """At most `count` different prompts, round the categories: [{"id", "category", "prompt"}]."""
    rng = random.Random(f"{part}/{seed}")
    rows, seen = [], set()
    for tried in range(4 * count):  # a small category runs out of new prompts: its turns are then skipped
        category = list(TEMPLATES)[tried % len(TEMPLATES)]
        prompt = fill(rng.choice(TEMPLATES[category]), part, rng)
        if prompt not in seen:
            seen.add(prompt)
            rows.append({"id": f"{part}-{len(rows)}", "category": category, "prompt": prompt})
        if len(rows) == count:
            break
    return rows


def make_summaries(part, count, seed, texts):
    """Prompts with a passage of the target's own earlier answers: to summarise, or to answer from."""
    rng = random.Random(f"{part}/summaries/{seed}")
    asks = ["Summarize: {}", "Summarize the following text in two sentences.\n\n{}",
            "What is the main point of this text?\n\n{}",
            "{}\n\nBased on the text above, what should the reader remember?",
            "Rewrite this as a list of key points:\n\n{}",
            "Answer from the context. What is the text about, and why does it matter?\n\nContext: {}"]
    chosen = rng.sample(sorted(texts), min(count, len(texts)))
    return [{"id": f"{part}-passage-{index}", "category": "passage", "prompt": rng.choice(asks).format(text.strip())}
            for index, text in enumerate(chosen)]
