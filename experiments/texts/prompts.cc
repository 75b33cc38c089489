#include "experiments/texts/prompts.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/base/files.h"

namespace forerun {
namespace {

// Question ids are numbers in some sets.
std::string IdText(const Json& id) { return id.is_string() ? id.get<std::string>() : DumpJson(id); }

absl::StatusOr<Prompt> ReadPrompt(const std::string& line, const std::string& where) {
  FORERUN_ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
  if (!json.is_object()) return absl::InvalidArgumentError(where + ": expected an object");
  const auto invalid = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": expected ", what));
  };
  Prompt prompt;
  const char* id_key = json.contains("id") ? "id" : "question_id";
  if (!json.contains(id_key) || json[id_key].is_structured()) return invalid("\"id\" (or \"question_id\")");
  prompt.id = IdText(json[id_key]);
  if (prompt.id.empty()) return invalid("an \"id\" that is not empty");
  if (!json.contains("category") || !json["category"].is_string()) return invalid("\"category\": a string");
  prompt.category = json["category"].get<std::string>();
  if (std::any_of(prompt.category.begin(), prompt.category.end(), absl::ascii_iscntrl))
    return invalid("a \"category\" without control characters");
  if (prompt.category == "all")
    return invalid("a \"category\" other than \"all\", which tables use for the total");
  const bool has_turns = json.contains("turns") && json["turns"].is_array() && !json["turns"].empty();
  const Json text = json.contains("prompt") ? json["prompt"] : has_turns ? json["turns"][0] : Json();
  if (!text.is_string()) return invalid("\"prompt\": a string (or \"turns\": a list of strings)");
  prompt.text = text.get<std::string>();
  if (prompt.text.empty()) return invalid("a prompt that is not empty");
  if (json.contains("prediction")) {
    if (!json["prediction"].is_string()) return invalid("\"prediction\": a string");
    prompt.prediction = json["prediction"].get<std::string>();
  }
  return prompt;
}

std::vector<std::string> CategoriesOf(const std::vector<Prompt>& prompts) {
  std::vector<std::string> categories;  // in order of appearance
  for (const Prompt& prompt : prompts) {
    if (std::find(categories.begin(), categories.end(), prompt.category) == categories.end()) {
      categories.push_back(prompt.category);
    }
  }
  return categories;
}

}  // namespace

absl::StatusOr<std::vector<Prompt>> ReadPromptFile(const std::string& path) {
  FORERUN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<Prompt> prompts;
  std::set<std::string> ids;
  uint64_t number = 0;
  for (const auto line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    const std::string where = absl::StrCat(path, ":", number);
    FORERUN_ASSIGN_OR_RETURN(Prompt prompt, ReadPrompt(std::string(line), where));
    if (!ids.insert(prompt.id).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": id \"", prompt.id, "\" appears twice"));
    }
    prompt.line = number;
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty()) return absl::InvalidArgumentError(path + ": no prompts");
  return prompts;
}

absl::StatusOr<std::vector<Prompt>> SelectPrompts(const std::vector<Prompt>& prompts,
                                                  const PromptsConfig& config) {
  const std::vector<std::string> known = CategoriesOf(prompts);
  for (const std::string& category : config.categories) {
    if (std::find(known.begin(), known.end(), category) != known.end()) continue;
    const std::string nearest = Nearest(category, known);
    return absl::InvalidArgumentError(
        absl::StrCat("prompts.categories: \"", category, "\" is not in ", config.file, "; ",
                     nearest.empty() ? absl::StrCat("there are ", absl::StrJoin(known, ", "))
                                     : absl::StrCat("nearest is ", nearest)));
  }
  const std::vector<std::string>& wanted = config.categories.empty() ? known : config.categories;
  std::vector<std::vector<Prompt>> by_category(wanted.size());
  for (const Prompt& prompt : prompts) {
    const auto place = std::find(wanted.begin(), wanted.end(), prompt.category);
    if (place == wanted.end()) continue;
    std::vector<Prompt>& list = by_category[place - wanted.begin()];
    if (config.per_category == 0 || static_cast<int>(list.size()) < config.per_category)
      list.push_back(prompt);
  }
  std::vector<Prompt> selected;
  std::size_t longest = 0;
  for (const std::vector<Prompt>& list : by_category) longest = std::max(longest, list.size());
  for (std::size_t round = 0; round < longest; ++round) {
    for (const std::vector<Prompt>& list : by_category) {
      if (round < list.size()) selected.push_back(list[round]);
    }
  }
  return selected;
}

}  // namespace forerun
