// Ctrl-C and SIGTERM as a wish to stop at the next good moment. A second one ends the process at once.
#pragma once

namespace forerun {

void CatchInterrupts();
bool Interrupted();

}  // namespace forerun
