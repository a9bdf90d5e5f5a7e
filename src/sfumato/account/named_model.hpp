#pragma once

#include <string>

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Says in the provenance which file of a model a document is about. Nothing for an empty digest: no file was written.
void name_model(Document& document, const std::string& path, const std::string& sha256);

/// Looks whether the model that a document names is the file of that name beside the document's own file or, if there is none, at
/// the path where it was written. Says in the provenance whether it was found.
///
/// `source` is the file of the document.
/// Throws   InvalidArgument if another model is there: who reads the page would take its guarantee for that model's.
void check_named_model(Document& document, const std::string& source);

}  // namespace sfumato
