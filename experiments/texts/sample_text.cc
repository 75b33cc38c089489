#include "experiments/texts/sample_text.h"

namespace forerun {

const char kSampleText[] =
    R"(The water clock is one of the oldest instruments for measuring time. In its simplest form it is a vessel
with a small hole near the bottom. Water runs out, and marks on the inner wall show how many hours have passed. The
trouble is that the flow slows down as the level falls, so the marks cannot be evenly spaced. Later makers solved this
with a second vessel that was kept full to the brim, so that the pressure at the hole stayed the same from morning to
night. A float in the lower vessel then rose at a steady pace and could carry a pointer, ring a bell or turn a wheel.

A program that simulates such a clock needs only a few lines:

def simulate(height, area, hole, step):
    """Return the level of the water after each step."""
    gravity = 9.81
    levels = [height]
    while levels[-1] > 0:
        speed = (2 * gravity * levels[-1]) ** 0.5
        lost = speed * hole / area * step
        levels.append(max(0, levels[-1] - lost))
    return levels

for second, level in enumerate(simulate(1.0, 0.5, 0.001, 1.0)):
    if second % 60 == 0:
        print(f"{second // 60} min: {level:.3f} m")
)";

}  // namespace forerun
