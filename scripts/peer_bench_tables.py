"""The tables of peer_bench.py, as Markdown."""
import sys

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


def report(result, options):
    peer, forerun = (result["about"][name] for name in ("llama.cpp", "Forerun"))
    print(f"\n## {result['model']}\n")
    print(f"llama.cpp ({peer['version']}): {peer['output']}; Forerun ({forerun['isa']}): {forerun['output']}; "
          f"{options.threads} threads each, after {options.context} tokens, best of {options.rounds} x "
          f"{options.repeat} in turns; ratio: Forerun's speed over llama.cpp's\n")
    print(row_table(result["rows"]) + "\n\n" + other_table(result, options.prefill))
    for name, share in result["idle_cpu"].items():
        if share > MOST_IDLE_CPU:
            print(f"warning: {name} used {share:.0%} of a core while the other side was measured")
    sys.stdout.flush()
