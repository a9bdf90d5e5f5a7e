#include "sfumato/data/adjacency.hpp"

#include "sfumato/core/error.hpp"

namespace sfumato {

std::string_view name(Adjacency adjacency) {
  switch (adjacency) {
    case Adjacency::remove: return "remove";
    case Adjacency::replace: return "replace";
  }
  throw InternalError("unknown adjacency");
}

}  // namespace sfumato
