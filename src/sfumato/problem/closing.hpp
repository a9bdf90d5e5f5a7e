#pragma once

#include "sfumato/report/document.hpp"

namespace sfumato {

/// Says how to see more than a brief document shows.
void state_more(Document& document);

/// Ends a document: whether the work was stopped, what its numbers are not, and in brief how to see more.
void close_document(Document& document, Detail detail, bool stopped, const Text& summary);

}  // namespace sfumato
