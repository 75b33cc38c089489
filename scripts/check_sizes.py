#!/usr/bin/env python3
"""No source file over 400 lines, no folder's README over 40; prints how many lines each folder has."""
import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["kernels", "core", "drafters", "experiments", "scripts", ".ci", "tests"]
SOURCES = {".h", ".cc", ".cu", ".cuh", ".py", ".sh"}
MOST_LINES, MOST_README_LINES = 400, 40


def folder_of(path):
    """Two levels where folders are layers, one elsewhere."""
    parts = path.parts[:-1]
    return "/".join(parts[:2] if parts[0] in ("core", "drafters", "experiments", "tests") else parts[:1])


def main():
    lines_in, files_in, mistakes = collections.Counter(), collections.Counter(), []
    for path in sorted(p.relative_to(ROOT) for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()):
        is_source = path.suffix in SOURCES or path.parts[0] == ".ci"
        limit = MOST_LINES if is_source else MOST_README_LINES if path.name == "README.md" else None
        if limit is None:
            continue
        lines = len((ROOT / path).read_text().splitlines())
        if lines > limit:
            mistakes.append(f"{path}: {lines} lines, at most {limit}")
        if is_source:
            lines_in[folder_of(path)] += lines
            files_in[folder_of(path)] += 1
    print(f"{'folder':<20}{'files':>6}{'lines':>8}")
    for folder, lines in sorted(lines_in.items()):
        print(f"{folder:<20}{files_in[folder]:>6}{lines:>8}")
    print(f"{'all':<20}{files_in.total():>6}{lines_in.total():>8}")
    print("\n".join(mistakes))
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
