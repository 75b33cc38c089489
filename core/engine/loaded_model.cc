#include "core/engine/loaded_model.h"

#include <sys/stat.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_file.h"
#include "core/model/transformer.h"

namespace forerun {
namespace {

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

}  // namespace

absl::StatusOr<std::string> ResolveModelPath(absl::string_view name) {
  const std::string given(name);
  if (given.empty())
    return absl::InvalidArgumentError("model: expected a path or a name under models/, found nothing");
  if (Exists(given)) return given;
  const std::string under = absl::StrCat("models/", given);
  if (Exists(under)) return under;
  const std::string with_suffix = absl::StrCat("models/", given, ".gguf");
  if (Exists(with_suffix)) return with_suffix;
  return absl::NotFoundError(absl::StrCat("model \"", given, "\": no such file, nor ", with_suffix,
                                          " here; fetch the known ones with: scripts/fetch_models.py ",
                                          given));
}

absl::StatusOr<LoadedModel> LoadModel(absl::string_view path, const ModelOptions& options,
                                      const Kernels& kernels, ThreadPool& threads, KvPool& pool) {
  FORERUN_ASSIGN_OR_RETURN(GgufFile file, GgufFile::Open(path));
  FORERUN_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(file));
  LoadedModel loaded;
  loaded.path = std::string(path);
  loaded.architecture = config.traits.name;
  loaded.file_bytes = file.file_bytes();
  FORERUN_ASSIGN_OR_RETURN(loaded.tokenizer, Tokenizer::FromGguf(file));
  if (loaded.tokenizer->vocab_size() > config.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": tokenizer.ggml.tokens: expected at most the ",
                                                   config.vocab_size, " rows of token_embd.weight, found ",
                                                   loaded.tokenizer->vocab_size()));
  }
  FORERUN_ASSIGN_OR_RETURN(ModelWeights weights, LoadWeights(file, config, threads, options.packed_cache));
  loaded.packed_bytes = weights.packed_bytes;
  loaded.parameters = weights.parameters;
  loaded.note = weights.note;

  std::vector<KvLayout::Layer> layers;
  for (int layer = 0; layer < config.layers; ++layer) {
    layers.push_back({config.kv_heads, config.head_size, config.is_global(layer) ? 0 : config.window});
  }
  const KvLayout layout(std::move(layers), options.kv_dtype);
  FORERUN_ASSIGN_OR_RETURN(const int layout_id, pool.RegisterLayout(layout));
  loaded.model = std::make_unique<Transformer>(std::move(file), std::move(config), std::move(weights),
                                               options.numerics, layout_id, layout, kernels, threads);
  loaded.model->SetFusion(options.fusion);
  return loaded;
}

}  // namespace forerun
