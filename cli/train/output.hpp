#pragma once

#include "sfumato/report/document.hpp"
#include "train/run.hpp"

namespace sfumato::cli {

/// Makes the directory and finds out whether it can be written to, before the work.
/// Throws   StorageError.
void prepare_directory(const std::string& directory);

/// Writes what a finished run leaves in its directory: study.toml, the parameters of every model as
/// NAME.npz in PyTorch's layout, second moments of the gradient differences as NAME.second_moments.npy
/// where the study asks for them, and log.json. Then removes the checkpoint.
/// Throws   StorageError as OutputFile.
void write_results(const TrainOptions& options, const TrainInput& input, const TrainResult& result);

/// document.json: what is printed, measures of the final models included, for `sfumato report`.
void write_document(const std::string& directory, const Document& document);

}  // namespace sfumato::cli
