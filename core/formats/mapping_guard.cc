// The handler only reads atomics and a line made beforehand, and calls write and _exit: all
// async-signal-safe.
#include "core/formats/mapping_guard.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "absl/strings/str_cat.h"

namespace forerun {

// An entry of a list that only grows, so that the handler may walk it at any moment; entries are used again.
// The thread that faults in a mapping keeps it guarded meanwhile, so `message` does not change under the
// handler.
struct MappingGuard {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0: free
  std::string message;
  MappingGuard* next = nullptr;
};

namespace {

constexpr int kExitCode = 3;

std::mutex guards_mutex;  // writers only
std::atomic<MappingGuard*> guards{nullptr};
struct sigaction previous_action;

void HandleBusError(int signal_number, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const bool from_kernel = info->si_code > 0;
  for (MappingGuard* guard = guards.load(); from_kernel && guard != nullptr; guard = guard->next) {
    if (address < guard->begin.load() || address >= guard->end.load()) continue;
    const ssize_t written = write(STDERR_FILENO, guard->message.data(), guard->message.size());
    static_cast<void>(written);
    _exit(kExitCode);
  }
  sigaction(SIGBUS, &previous_action, nullptr);
  raise(signal_number);
}

void InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = HandleBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous_action);
}

}  // namespace

MappingGuard* GuardMapping(std::span<const std::byte> bytes, const std::string& name) {
  static std::once_flag installed;
  std::call_once(installed, InstallHandler);
  const std::lock_guard<std::mutex> lock(guards_mutex);
  MappingGuard* guard = guards.load();
  while (guard != nullptr && guard->end.load() != 0) guard = guard->next;
  const bool is_new = guard == nullptr;
  if (is_new) guard = new MappingGuard;
  guard->message = absl::StrCat("forerun: ", name, ": shrank while in use: expected ", bytes.size(),
                                " bytes as when it was opened, found a page that can no longer be read\n");
  guard->begin.store(reinterpret_cast<uintptr_t>(bytes.data()));
  guard->end.store(reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size());
  if (is_new) {
    guard->next = guards.load();
    guards.store(guard);
  }
  return guard;
}

void UnguardMapping(MappingGuard* guard) {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  guard->end.store(0);
}

}  // namespace forerun
