"""The tables of peer_bench.py, as Markdown."""
import statistics
import sys

from peer_bench_sides import OUR_NAME, PEER_NAME

MOST_IDLE_CPU = 0.03  # share of a core that the waiting side may use


def markdown(header, rows):
    widths = [max(len(line[i]) for line in [header] + rows) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths)) + " |"
             for line in [header] + rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"] + lines[1:])


def row_table(rows):
    """c is t(n)/t(1) by best times; the last two columns are Forerun's speed over the peer's."""
    one = next((row for row in rows if row["n"] == 1), None)
    lines = []
    for row in rows:
        cells = [str(row["n"])]
        for key in ("peer", "forerun"):
            best = row[key]["ms"]
            cells += [f"{best:.2f}", f"{row[key]['median_ms']:.2f}", f"{best / one[key]['ms']:.2f}" if one else "-"]
        lines.append(cells + [f"{row['ratio_ms']:.2f}", f"{row['ratio_median_ms']:.2f}"])
    return markdown(["rows", "llama.cpp ms", "median", "c", "Forerun ms", "median", "c", "ratio", "of medians"], lines)


def depth_table(rows):
    """Best ms after each context, and beside them how much longer that is than after the first one."""
    contexts = list(dict.fromkeys(row["context"] for row in rows))
    by_case = {(row["n"], row["context"]): row for row in rows}
    header = ["rows"]
    for name in (PEER_NAME, OUR_NAME):
        header += [f"{name} at {contexts[0]}"]
        for context in contexts[1:]:
            header += [f"at {context}", "more"]
    lines = []
    for n in dict.fromkeys(row["n"] for row in rows):
        cells = [str(n)]
        for key in ("peer", "forerun"):
            first = by_case[n, contexts[0]][key]["ms"]
            cells.append(f"{first:.2f}")
            for context in contexts[1:]:
                ms = by_case[n, context][key]["ms"]
                cells += [f"{ms:.2f}", f"{ms / first - 1:+.0%}"]
        lines.append(cells)
    return markdown(header, lines)


def other_table(result, prefill_tokens):
    lines = []
    one = next((row for row in result["rows"] if row["n"] == 1), None)
    if one:
        peer, forerun = (1e3 / one[key]["ms"] for key in ("peer", "forerun"))
        lines.append(["decode, tokens/s", f"{peer:.1f}", f"{forerun:.1f}", f"{forerun / peer:.2f}"])
    prefill = result["prefill_tokens_per_second"]
    lines.append([f"prefill of {prefill_tokens}, tokens/s", f"{prefill['peer']:.1f}", f"{prefill['forerun']:.1f}",
                  f"{prefill['ratio']:.2f}"])
    nll = result["nll"]
    if nll["peer"] is not None:
        oracle = "" if nll["oracle"] is None else f" (oracle {nll['oracle']:.4f})"
        lines.append([f"mean NLL{oracle}", f"{nll['peer']:.4f}", f"{nll['forerun']:.4f}", "-"])
    return markdown(["", "llama.cpp", "Forerun", "ratio"], lines)


def busy_table(busy):
    lines = []
    for name, side in busy.items():
        lines.append([name, f"{side['quiet_ms']:.2f}", f"{side['busy_ms']:.2f}", f"{side['kept']:.0%}",
                      f"{side['quiet_mean_ms']:.2f}", f"{side['busy_mean_ms']:.2f}", f"{side['kept_mean']:.0%}"])
    return markdown(["", "alone, median ms", "beside it", "kept", "alone, mean ms", "beside it", "kept"], lines)


def versus(row, name):
    found = row["against"][name]
    text = f"{found['speedup']:.2f}"
    return text if found["interval"] is None else "{} [{:.2f}, {:.2f}]".format(text, *found["interval"])


def speculative_table(rows, prompts):
    header = ["", "arm", "tokens/s", "tokens a round", "drafting"]
    header += [f"x {name}'s plain" for name in rows[0]["against"]]
    header += ["per prompt: least, median, most", "own plain ids"]
    lines = []
    for row in rows:
        each = row["against"][row["side"]]["per_prompt"]
        lines.append([row["side"], row["arm"], f"{row['tokens_per_second']:.1f}", f"{row['tokens_per_round']:.2f}",
                      f"{row['draft_share']:.0%}", *(versus(row, name) for name in row["against"]),
                      f"{min(each):.2f}, {statistics.median(each):.2f}, {max(each):.2f}",
                      f"{row['same_ids']} of {prompts}"])
    return markdown(header, lines)


def side_line(about):
    peer, forerun = about[PEER_NAME], about[OUR_NAME]
    return (f"llama.cpp ({peer['version']}, {peer['isa']}), Forerun ({forerun['isa']}), "
            f"{forerun['threads']} threads each")


def report_forwards(result, options):
    rows, about = result["rows"], result["about"]
    print(f"\n## {result['model']}\n\n{side_line(about)}. Output: {about[PEER_NAME]['output']} / "
          f"{about[OUR_NAME]['output']}. Best of {options.rounds} x {options.repeat} in turns; ratio: Forerun's speed "
          "over llama.cpp's")
    for context in options.contexts:
        print(f"\nAfter {context} tokens:\n\n" + row_table([row for row in rows if row["context"] == context]))
    if len(options.contexts) > 1:
        print("\nDepth, best ms:\n\n" + depth_table(rows))
    print("\n" + other_table(result, options.prefill))


def report_busy(result, options):
    print(f"\n## {result['model']}, one spinning program beside it\n\n{side_line(result['about'])}. Forwards of one "
          f"row after {options.contexts[0]} tokens, {options.busy_seconds:g} s of each case in {options.rounds} "
          "turns\n\n" + busy_table(result["busy"]))


def report_speculative(result, options):
    print(f"\n## {result['config']}: {result['prompts']} prompts, greedy, at most {options.max_new_tokens} tokens\n\n"
          f"{side_line(result['about'])}. Decoding alone, without prefill. Speedups: over all prompts, with a 95 % "
          "bootstrap interval over prompts; per prompt: over the side's own plain arm\n\n"
          + speculative_table(result["rows"], result["prompts"])
          + f"\n\nBoth sides' plain outputs have the same ids on {result['sides_agree']} of {result['prompts']}.")


def report(result, options):
    {"forwards": report_forwards, "busy": report_busy, "speculative": report_speculative}[options.mode](result, options)
    for name, share in result["idle_cpu"].items():
        if share > MOST_IDLE_CPU:
            print(f"warning: {name} used {share:.0%} of a core while the other side was measured")
    sys.stdout.flush()
