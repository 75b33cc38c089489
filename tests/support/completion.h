// Whole generations through the engine, with the records of every round.
#pragma once

#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "drafters/registry.h"
#include "tests/support/rules.h"

namespace forerun {

struct Completion {
  RequestResult result;
  std::vector<RoundRecord> rounds;
};

std::unique_ptr<Drafter> MakeDrafterOrDie(absl::string_view json, const DrafterResources& resources);

// All requests together in one engine; in the order given.
std::vector<Completion> CompleteAll(Model& target, KvPool& pool, std::vector<Request> requests,
                                    const EngineOptions& options = {});
Completion Complete(Model& target, KvPool& pool, Request request, const EngineOptions& options = {});

// The same request `count` times, with ids 0, 1, ...; in order of finishing.
std::vector<RequestResult> CompleteMany(Model& target, KvPool& pool, const Request& request, int count,
                                        const EngineOptions& options);

// What a record must always satisfy; empty where it does.
std::string CheckRecords(const Request& request, const Completion& completion);

}  // namespace forerun
