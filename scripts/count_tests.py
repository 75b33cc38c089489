#!/usr/bin/env python3
"""Sums test results: count_tests.py FOLDER, which holds ctest.xml and one GoogleTest XML file a program (NAME_tests).

A program that fails without a failed test in its file (a crash, a leak found at exit) counts as one failed test, and a
program without a file, such as a script, as one test. Failures and skips are listed. Exits 1 unless all passed.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as xml


def one_line(text):
    return " ".join((text or "").split())


def outcomes(program, failed, file):
    """(test, outcome, reason) of every test of one program."""
    tests = []
    for case in xml.parse(file).iter("testcase") if file.exists() else []:
        name = f"{program}: {case.get('classname')}.{case.get('name')}"
        if (failure := case.find("failure")) is not None:
            tests.append((name, "failed", one_line(failure.get("message"))))
        elif (skipped := case.find("skipped")) is not None:
            tests.append((name, "skipped", one_line(skipped.get("message"))))
        elif case.get("status") == "run":
            tests.append((name, "passed", ""))
    if failed and not any(outcome == "failed" for _, outcome, _ in tests):
        tests.append((program, "failed", "the program itself failed"))
    if not failed and not file.exists():
        tests.append((program, "passed", ""))
    return tests


def main():
    folder = pathlib.Path(sys.argv[1])
    counts = collections.Counter()
    for case in xml.parse(folder / "ctest.xml").iter("testcase"):
        program = case.get("name")
        file = folder / f"{program}_tests.xml"
        for name, outcome, reason in outcomes(program, case.get("status") != "run", file):
            counts[outcome] += 1
            if outcome != "passed":
                print(f"{outcome}: {name}: {reason}"[:200])
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not counts["passed"] else 0)


if __name__ == "__main__":
    main()
