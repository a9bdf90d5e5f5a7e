#include "sfumato/problem/closing.hpp"

namespace sfumato {

void state_more(Document& document) {
  document.state(StatementKind::summary,
                 say("More: {}, {} (figures), {}.", More::all, More::page, More::json));
}

void close_document(Document& document, Detail detail, bool stopped, const Text& summary) {
  if (stopped) {
    document.state(StatementKind::warning, "stopped: missing values were not computed.");
  }
  if (detail == Detail::brief) state_more(document);
  document.state(StatementKind::summary, summary);
}

}  // namespace sfumato
