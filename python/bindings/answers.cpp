#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "callables.hpp"
#include "found.hpp"
#include "keywords.hpp"
#include "questions.hpp"
#include "sfumato/account/planned_files.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/account/state.hpp"
#include "sfumato/bound/bound_answer.hpp"
#include "sfumato/bound/bound_keys.hpp"
#include "sfumato/data/files_as_found.hpp"
#include "sfumato/data/keys/key.hpp"
#include "sfumato/fit/fit_answer.hpp"
#include "sfumato/report/html.hpp"
#include "sfumato/report/json.hpp"
#include "sfumato/report/quantities.hpp"
#include "sfumato/report/read_document.hpp"
#include "sfumato/report/text.hpp"
#include "tables.hpp"
#include "watched.hpp"

namespace sfumato::python {
namespace {

Document document_of(const Found& found, bool full) {
  return found.document(full ? Detail::full : Detail::brief);
}

std::string json_of(const Found& found, bool full) {
  nb::gil_scoped_release release;
  return render_json(document_of(found, full), KeyStyle::keyword);
}

std::string text_of(const Found& found, bool full, std::size_t width) {
  nb::gil_scoped_release release;
  return render_text(document_of(found, full),
                     {width, false, ".save(\"page.html\")", KeyStyle::keyword});
}

std::string html_of(const Found& found) {
  nb::gil_scoped_release release;
  const Document document = document_of(found, true);
  return html_report({document.title(), {document}, {}, {}});
}

/// The memory of a column as an array that cannot be written to and keeps its owner alive; nothing is copied.
template <class T>
nb::object array_of(const std::vector<T>& values, nb::handle owner) {
  return nb::cast(
      nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner));
}
nb::object array_of(const std::vector<std::string>& values, nb::handle) { return nb::cast(values); }

nb::dict columns_of(nb::handle_t<Found> self) {
  nb::dict columns;
  for (const FoundColumn& column : nb::cast<const Found&>(self).columns) {
    columns[column.name.c_str()] =
        std::visit([&](const auto& values) { return array_of(values, self); }, column.values);
  }
  return columns;
}

nb::object covariance_of(const Found& found) {
  if (!found.covariance) return nb::none();
  nb::dict parts;
  if (const auto* isotropic = std::get_if<Isotropic>(&*found.covariance)) {
    parts["variance"] = isotropic->variance;
    parts["dim"] = isotropic->dimension;
  } else if (const auto* diagonal = std::get_if<Diagonal>(&*found.covariance)) {
    parts["variances"] = diagonal->variances;
  } else if (const auto* factored = std::get_if<Factored>(&*found.covariance)) {
    parts["diagonal"] = factored->diagonal;
    parts["factor"] = factored->factor;
  } else {
    parts["matrix"] = std::get<Dense>(*found.covariance).matrix;
  }
  return parts;
}

nb::object matrix_of(const Found& found) {
  return found.covariance ? nb::cast(dense(*found.covariance)) : nb::none();
}

Found read_back(const std::string& brief, const std::string& full, const std::string& verdict,
                bool stopped) {
  auto documents = std::make_shared<const std::pair<Document, Document>>(
      read_document(brief, "answer"), read_document(full, "answer"));
  Found found;
  found.document = [documents](Detail detail) {
    return detail == Detail::brief ? documents->first : documents->second;
  };
  for (const Verdict known :
       {Verdict::holds, Verdict::not_refuted, Verdict::open, Verdict::violated}) {
    if (name(known) == verdict) found.verdict = known;
  }
  found.stopped = stopped;
  return found;
}

/// `in_memory` is what the key `table` names, where that is no file.
Found ask(const std::string& command, const std::string& file, const std::vector<Keyword>& keywords,
          const std::optional<PythonTable>& in_memory, bool force, nb::handle progress) {
  const KeyedQuestion& question = keyed_question(command);
  std::shared_ptr<const MemoryTable> memory;
  if (in_memory) memory = std::make_shared<const MemoryTable>(memory_table_of(*in_memory));
  Found found;
  watched(progress, [&](Observer& observer) {
    const TomlTable table = table_of(command, file, keywords);
    found = question.answer({table, file, force, memory}, observer);
    found.inputs = input_files(question.keys(), table);
    found.inputs.push_back(file);
    for (std::string& input : found.inputs) {
      if (!input.empty()) input = std::filesystem::absolute(input).string();
    }
  });
  return found;
}

using Functions =
    std::vector<std::tuple<nb::object, bool, std::string>>;  ///< function, timed, name

PythonSide side_of(const Functions& functions) {
  const auto field = [&](std::size_t i) {
    const auto& [function, timed, name] = functions.at(i);
    return PythonField{function, timed, name};
  };
  return {field(0), field(1), field(2)};
}

/// `bound` with functions of Python over what the keywords say: drift, variances and their divergence, of D and of D'.
Found bound_functions(const std::vector<Keyword>& keywords, const Functions& d,
                      const Functions& d_prime, bool own_noise, nb::handle progress) {
  const PythonSide p = side_of(d), q = side_of(d_prime);
  Found found;
  std::shared_ptr<BoundQuestion> question;
  {
    const TomlTable table = table_of("bound", "", keywords);
    question =
        std::make_shared<BoundQuestion>(read_bound_question(table, "", DriftsAre::placeholders));
    SdePair& pair = question->problem.pair;
    replace_by(p, pair.p.diffusion, question->problem.kind.d);
    replace_by(q, pair.q.diffusion, question->problem.kind.d_prime);
    pair.shares_noise = !own_noise;
  }
  watched(progress, [&](Observer& observer) {
    auto made = std::make_shared<const BoundAnswer>(answer(*question, observer));
    found.verdict = made->verdict;
    found.stopped = made->stopped;
    found.document = [made](Detail detail) { return sfumato::document_of(*made, detail); };
  });
  return found;
}

/// Everything that Python writes goes through the guard of the command line, and belongs to its owner alone.
void write_guarded(const std::string& path, const std::string& text,
                   const std::vector<std::string>& inputs, bool force) {
  prepare_outputs(inputs, {{"path", path}}, force);
  write_file(path, text, {force, kOwnersMode});
}

/// An account, which may take the place of an older one that it contains.
void write_account(const std::string& path, const std::string& text, bool force) {
  const SavedAccount account = load_account(text, "account");
  const DirectoryLocks locks = FilesAsFound({path}).still_so();  // looked at and written at once
  const bool continues = kept_file(path) == KeptFile::account &&
                         continues_account(account.accountant.releases(), path);
  prepare_outputs({}, {{"path", path, continues}}, force);
  write_file(path, text, {force, kOwnersMode});
}

nb::list keys(const std::string& command) {
  nb::list all;
  for (const KeyInfo& info : keyed_question(command).keys()) {
    nb::dict key;
    key["table"] = info.table;
    key["key"] = info.key;
    key["aliases"] = info.aliases;
    key["type"] = info.type;
    key["default"] = info.fallback;
    key["required"] = info.required;
    key["help"] = info.help;
    constexpr const char* kShapes[] = {"text", "number", "flag", "texts", "numbers", "any"};
    key["shape"] = kShapes[static_cast<int>(info.shape)];
    all.append(key);
  }
  return all;
}

nb::list quantities() {
  nb::list all;
  for (const Quantity& quantity : all_quantities()) {
    nb::dict entry;
    entry["command"] = std::string(quantity.command);
    entry["name"] = std::string(quantity.name);
    entry["attribute"] = std::string(quantity.attribute);
    entry["of"] = std::string(quantity.of);
    entry["meaning"] = std::string(quantity.meaning);
    all.append(entry);
  }
  return all;
}

std::vector<std::string> questions() {
  std::vector<std::string> names;
  for (const auto& [name, question] : keyed_questions()) names.push_back(name);
  return names;
}

}  // namespace

void bind_answers(nb::module_& module) {
  nb::class_<Found>(module, "Found", "What an answer comes to; sfumato.Answer speaks for it.")
      .def("json", &json_of, nb::arg("full"))
      .def("text", &text_of, nb::arg("full"), nb::arg("width"))
      .def("html", &html_of)
      .def("columns", &columns_of)
      .def("covariance", &covariance_of)
      .def("matrix", &matrix_of)
      .def_ro("noise_multiplier", &Found::noise_multiplier)
      .def_ro("kept_text", &Found::text)
      .def_ro("statement", &Found::statement)
      .def_ro("inputs", &Found::inputs)
      .def_ro("stopped", &Found::stopped)
      .def_prop_ro("verdict", [](const Found& found) { return std::string(name(found.verdict)); });
  module.def("read_back", &read_back, nb::arg("brief"), nb::arg("full"), nb::arg("verdict"),
             nb::arg("stopped"));
  module.def("ask", &ask, nb::arg("command"), nb::arg("file"), nb::arg("keywords"),
             nb::arg("in_memory").none(), nb::arg("force"), nb::arg("progress").none());
  module.def("write", &write_guarded, nb::arg("path"), nb::arg("text"), nb::arg("inputs"),
             nb::arg("force"));
  module.def(
      "write",
      [](const std::string& path, const nb::bytes& bytes, const std::vector<std::string>& inputs,
         bool force) {
        write_guarded(path, std::string(bytes.c_str(), bytes.size()), inputs, force);
      },
      nb::arg("path"), nb::arg("bytes"), nb::arg("inputs"), nb::arg("force"));
  module.def("write_account", &write_account, nb::arg("path"), nb::arg("text"), nb::arg("force"));
  module.def("save_model", &save_model, nb::arg("text"), nb::arg("path"), nb::arg("inputs"),
             nb::arg("force"));
  module.def("bound_functions", &bound_functions, nb::arg("keywords"), nb::arg("d"),
             nb::arg("d_prime"), nb::arg("own_noise"), nb::arg("progress").none());
  module.def("keys", &keys, nb::arg("command"));
  module.def("quantities", &quantities);
  module.def("questions", &questions);
}

}  // namespace sfumato::python
