// What a run would have taken on a machine that nothing else disturbs: the same rounds, each at the median
// time of the run's rounds like it. A burst of other work moves a mean, and by chance one arm more than
// another; it does not move a median.
#pragma once

#include "absl/status/status.h"
#include "experiments/run/run_files.h"

namespace forerun {

// Alike are, for verification, rounds of as many rows after as many tokens, in steps of 64, whatever the arm;
// for the rest, rounds of the same arm that drafted as many tokens, those whose draft cost less than 1/50 of
// a plain round apart from those whose draft cost more. An arm whose drafts of one length differ in cost
// beyond that gets their median all the same. InvalidArgument where a round shared its forward with another
// sequence.
absl::Status UseTypicalTimes(RunRecords& records);

}  // namespace forerun
