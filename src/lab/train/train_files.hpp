#pragma once

#include <string>

#include "lab/train/train_answer.hpp"
#include "sfumato/report/document.hpp"

namespace sfumato::lab {

/// Makes the directory and finds out, before the work, whether it can be written to and whether results of
/// another run would be replaced, for which it takes `force` or `resume`.
/// Throws   StorageError.
void prepare_directory(const TrainQuestion& question, const TrainInput& input);

/// Writes what a finished run leaves in its directory: study.toml, the parameters of every model as
/// NAME.npz in PyTorch's layout, second moments of the gradient differences as NAME.second_moments.npy
/// where the study asks for them, and log.json.
/// Throws   StorageError as OutputFile.
void write_results(const TrainAnswer& answer);

/// document.json: what is printed in full, measures of the final models included, for `sfumato report`.
void write_document(const TrainQuestion& question, const Document& document);

}  // namespace sfumato::lab
