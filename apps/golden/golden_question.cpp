#include "golden/golden_question.hpp"

#include "sfumato/data/keys/makers.hpp"

namespace sfumato::apps {

const Keys<VerifyQuestion>& verify_keys() {
  using Q = VerifyQuestion;
  using namespace keys;
  static const Keys<Q> all = {
      required(file_key<Q>("file", "reference values (JSON)", &Q::file)),
      with(texts_key<Q>("sections", "list of texts",
                        "run only the cases of these sections of the specification", &Q::sections),
           {"section"}),
      flag_key<Q>("strict", "count skipped cases as failures", &Q::strict)};
  return all;
}

}  // namespace sfumato::apps
