// A short text, prose and code, whose likelihood stands beside every speed: what was measured is a model
// that still predicts.
#pragma once

namespace forerun {

extern const char kSampleText[];

}  // namespace forerun
