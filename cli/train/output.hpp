#pragma once

#include "sfumato/report/document.hpp"
#include "train/run.hpp"

namespace sfumato::cli {

/// Makes the directory and finds out, before the work, whether it can be written to and whether results of
/// another run would be replaced, for which it takes --force or --resume.
/// Throws   StorageError.
void prepare_directory(const TrainOptions& options, const TrainInput& input);

/// Writes what a finished run leaves in its directory: study.toml, the parameters of every model as
/// NAME.npz in PyTorch's layout, second moments of the gradient differences as NAME.second_moments.npy
/// where the study asks for them, and log.json. Then removes the checkpoint.
/// Throws   StorageError as OutputFile.
void write_results(const TrainOptions& options, const TrainInput& input, const TrainResult& result);

/// document.json: what is printed, measures of the final models included, for `sfumato report`.
void write_document(const std::string& directory, const Document& document);

}  // namespace sfumato::cli
