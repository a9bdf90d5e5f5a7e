#include "reproduce/reproduce_keys.hpp"

#include "sfumato/data/keys/makers.hpp"

namespace sfumato::apps {

const Keys<ReproduceRequest>& reproduce_keys() {
  using namespace keys;
  using Q = ReproduceRequest;
  static const Keys<Q> all = {
      required(file_key<Q>("out", "directory for the files, created if missing", &Q::directory)),
      choice_key<Q>("scale", "how much work to do", &Q::scale,
                    by_name({RunScale::quick, RunScale::paper})),
      texts_key<Q>("only", "list of parts", "only these parts", &Q::only),
      flag_key<Q>("brief", "print only what became of the paper's statements", &Q::brief),
      integer_key<Q>("threads", "models trained at once; 0: all cores", &Q::threads, 0, 4096),
      texts_key<Q>("settings", "list of texts",
                   "override keys of every study, to make it smaller still: \"key=value\"",
                   &Q::settings)};
  return all;
}

}  // namespace sfumato::apps
