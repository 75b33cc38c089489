"""The vocabulary of a GGUF file: its tokens' texts and kinds, read from the header alone."""
import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # tokenizer.ggml.token_type
FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MOST = 1 << 24  # entries of a list, bytes of a string: more is damage


class FormatError(Exception):
    """One line for the user."""


class Header:
    """Reads values one after another."""

    def __init__(self, file):
        self.file = file

    def bytes(self, count):
        found = self.file.read(count)
        if len(found) != count:
            raise FormatError("ends within its header")
        return found

    def number(self, code):
        return struct.unpack("<" + code, self.bytes(struct.calcsize("<" + code)))[0]

    def size(self):
        found = self.number("Q")
        if found > MOST:
            raise FormatError(f"expected at most {MOST} entries, found {found}")
        return found

    def string(self):
        return self.bytes(self.size()).decode(errors="replace")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element = self.number("I")
            return [self.value(element) for _ in range(self.size())]
        if kind not in FIXED:
            raise FormatError(f"unknown value type {kind}")
        return self.number(FIXED[kind])


def read_metadata(path, wanted):
    """{key: value} of the keys that are wanted."""
    with open(path, "rb") as file:
        header = Header(file)
        try:
            if header.bytes(4) != b"GGUF" or header.number("I") not in (2, 3):
                raise FormatError("no GGUF file of version 2 or 3")
            header.size()  # tensors
            found = {}
            for _ in range(header.size()):
                key = header.string()
                value = header.value(header.number("I"))
                if key in wanted:
                    found[key] = value
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
    for key in wanted:
        if key not in found:
            raise FormatError(f"{path}: has no {key}")
    return found


class Vocabulary:
    def __init__(self, path):
        keys = ["tokenizer.ggml.model", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"]
        found = read_metadata(path, keys)
        self.byte_level = found[keys[0]] == "gpt2"
        self.tokens, self.kinds = found[keys[1]], found[keys[2]]
        if len(self.tokens) != len(self.kinds):
            raise FormatError(f"{path}: {len(self.tokens)} tokens and {len(self.kinds)} token types")

    def indispensable(self):
        """Ids that any text may need: bytes, from which all else can be spelt, and marks such as end of turn."""
        marks = (UNKNOWN, CONTROL, USER_DEFINED, BYTE)
        return {i for i, (token, kind) in enumerate(zip(self.tokens, self.kinds))
                if kind in marks or (self.byte_level and kind == NORMAL and len(token) == 1)}

    def usable(self):
        """Ids that are not padding, lowest first."""
        return [i for i, kind in enumerate(self.kinds) if kind != UNUSED]
