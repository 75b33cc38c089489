#include <cstdio>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/damage.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "core/engine/loaded_model.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/tokenizer.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/text_input.h"

namespace forerun {
namespace {

struct Options {
  std::string model;
  std::string text;
  std::string file;
  std::string special = "text";
  bool add_special = false;
  bool ids = false;
};

absl::Status Tokenize(const Options& options, bool has_text) {
  FORERUN_ASSIGN_OR_RETURN(const std::string path, ResolveModelPath(options.model));
  FORERUN_ASSIGN_OR_RETURN(const GgufFile file, AsDamage(GgufFile::Open(path)));
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, AsDamage(Tokenizer::FromGguf(file)));
  std::string text = options.text;
  if (!has_text) {
    FORERUN_ASSIGN_OR_RETURN(text, ReadTextInput(options.file));
  }
  const EncodeOptions encode = {.add_special = options.add_special,
                                .parse_special = options.special == "parse"};
  FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> ids, tokenizer->Encode(text, encode));
  if (options.ids) {
    std::printf("%s\n", DumpJson(Json(ids)).c_str());
    return absl::OkStatus();
  }
  for (const TokenId id : ids) {
    std::printf("%7d  %s\n", id,
                absl::Utf8SafeCEscape(tokenizer->TokenBytes(id, /*with_special=*/true)).c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Command AddTokenizeCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tokenize", "Print the tokens of a text");
  auto options = std::make_shared<Options>();
  command->add_option("--model", options->model, "A path or a name under models/")->required();
  CLI::Option_group* input = command->add_option_group("Text", "exactly one of these");
  input->add_option("--text", options->text, "The text itself");
  input->add_option("--file", options->file, "A file; - reads standard input");
  input->require_option(1);
  command->add_flag("--ids", options->ids, "Print a JSON list of ids");
  command
      ->add_option("--special", options->special,
                   "What \"<|im_end|>\" in the text is: text, or parse: the token")
      ->check(CLI::IsMember({"text", "parse"}))
      ->capture_default_str();
  command->add_flag("--add-special", options->add_special, "Add BOS where the model's file says so");
  command->footer(
      "Example:\n  echo 'def f(x):' | forerun tokenize --model smollm2-135m-instruct-q4_1 --file - --ids");
  return {command, [options, command] { return Tokenize(*options, command->count("--text") > 0); }};
}

}  // namespace forerun
