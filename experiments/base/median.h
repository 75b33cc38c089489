// What a measured time typically is: a burst of other work on the machine does not move it.
#pragma once

#include <vector>

namespace forerun {

double Median(std::vector<double> values);  // of at least one; of an even number, the middle two's mean

}  // namespace forerun
