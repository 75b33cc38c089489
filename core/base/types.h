#pragma once

#include <cstdint>

namespace forerun {

using TokenId = int32_t;

}  // namespace forerun
