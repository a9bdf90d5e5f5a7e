#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sfumato/account/planned_files.hpp"
#include "sfumato/account/spent.hpp"
#include "sfumato/core/error.hpp"
#include "sfumato/data/array.hpp"
#include "sfumato/data/checksum.hpp"
#include "sfumato/data/csv_writer.hpp"
#include "sfumato/data/file_output.hpp"
#include "sfumato/data/files_as_found.hpp"
#include "sfumato/data/npz.hpp"
#include "sfumato/fit/bounded_rows.hpp"
#include "sfumato/fit/fit_answer.hpp"

namespace sfumato {

using Eigen::Index;
using Json = nlohmann::ordered_json;

namespace {

Json rows_of(const Eigen::MatrixXd& matrix) {
  Json rows = Json::array();
  for (Index i = 0; i < matrix.rows(); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
    rows.push_back(row);
  }
  return rows;
}

Json columns_json(const PublicTable& table) {
  Json columns = Json::array();
  for (const FeatureColumn& column : table.features) {
    if (const auto* numeric = std::get_if<NumericColumn>(&column)) {
      columns.push_back({{"name", numeric->name},
                         {"kind", "numeric"},
                         {"low", numeric->low},
                         {"high", numeric->high},
                         {"missing", name(numeric->missing)}});
    } else {
      const auto& category = std::get<CategoryColumn>(column);
      columns.push_back({{"name", category.name},
                         {"kind", "category"},
                         {"levels", category.levels},
                         {"missing", name(category.missing)}});
    }
  }
  return columns;
}

/// The account of the fit, of a model that is known by these digests.
std::string account_of(const FitAnswer& answer, const std::vector<std::string>& digests) {
  SavedAccount account{answer.accountant, answer.models_before};
  account.models.insert(account.models.end(), digests.begin(), digests.end());
  return save(account, Delta(answer.question.target_delta));
}

Json guarantee_json(const FitAnswer& answer, const std::string& digest) {
  Json json;
  json["certified"] = answer.guarantee.has_value();
  if (answer.guarantee) {
    json["epsilon"] = answer.guarantee->epsilon().nats();
    json["delta"] = answer.guarantee->delta().probability();
    json["adjacency"] = std::string(name(answer.table.relation));
    json["records"] = answer.table.rows;
    json["noise_mode"] = std::string(name(answer.plan.noise_mode));
    json["idealised"] = answer.plan.noise_mode == NoiseMode::gaussian;
    json["row_norm"] = answer.table.bound();
    json["model_sha256"] = digest;  // of all but this guarantee
    json["releases"] = account_of(answer, {digest});
  } else {
    json["caveats"] = answer.caveats;
  }
  return json;
}

/// Everything but the guarantee.
Json model_part(const FitAnswer& answer) {
  const LinearModel& model = answer.model;
  Json json;
  json["format"] = "sfumato.fit/2";
  json["model"] = std::string(name(answer.plan.model));
  json["target"] = answer.table.target;
  json["columns"] = columns_json(answer.used);
  // The names that scikit-learn gives the attributes of a fitted estimator. Of a quantity coef_ is a vector, of classes a row each.
  const bool quantity = answer.plan.model == FitModel::ridge;
  json["feature_names_in_"] = model.features;
  json["n_features_in_"] = model.features.size();
  const Json coefficients = rows_of(model.coefficients.transpose());
  json["coef_"] = quantity ? coefficients.at(0) : coefficients;
  if (quantity) {
    json["intercept_"] = model.intercept(0);
  } else {
    json["intercept_"] = std::vector<double>(model.intercept.begin(), model.intercept.end());
    json["classes_"] = answer.table.classes;
  }
  if (model.errors) {
    json["standard_errors"] = std::vector<double>(model.errors->begin(), model.errors->end());
  }
  if (answer.held_out && answer.held_out->resolved) {
    json["held_out"] = {{quantity ? "r2" : "accuracy", answer.held_out->value},
                        {"standard_error", answer.held_out->error}};
  }
  return json;
}

std::string model_csv(const FitAnswer& answer) {
  const LinearModel& model = answer.model;
  CsvWriter out({"feature", "class", "coefficient", "standard_error"});
  for (Index k = 0; k < model.coefficients.cols(); ++k) {
    for (Index j = 0; j <= model.coefficients.rows(); ++j) {
      const bool intercept = j == model.coefficients.rows();
      out.text(intercept ? "intercept" : model.features[static_cast<std::size_t>(j)]);
      out.text(answer.plan.model == FitModel::softmax
                   ? answer.table.classes[static_cast<std::size_t>(k)]
                   : "");
      out.number(intercept ? model.intercept(k) : model.coefficients(j, k));
      if (model.errors) {
        out.number((*model.errors)(j));
      } else {
        out.text("");
      }
      out.end_row();
    }
  }
  return out.bytes();
}

std::string model_bytes(const FitAnswer& answer, const std::string& suffix) {
  if (suffix == ".json") return model_json(answer);
  if (suffix == ".csv") return model_csv(answer);
  NpzWriter out;
  out.add("coef", matrix_array(answer.model.coefficients.transpose()));
  out.add("intercept", vector_array(answer.model.intercept));
  out.add_text("model", model_json(answer));
  return out.bytes();
}

void require_model_suffix(const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (suffix == ".json" || suffix == ".csv" || suffix == ".npz") return;
  throw InvalidArgument(fmt::format("the suffix {} is none of .json, .csv and .npz", suffix),
                        "Choose one of them", Where::in(path));
}

}  // namespace

std::string model_digest(const FitAnswer& answer) { return sha256(model_part(answer).dump()); }

std::string model_json(const FitAnswer& answer) {
  Json json = model_part(answer);
  json["guarantee"] = guarantee_json(answer, sha256(json.dump()));
  return json.dump(2) + "\n";
}

void require_publishable(const FitQuestion& question, const FitFiles& files) {
  if (!files.model.empty()) require_model_suffix(files.model);
  if (!files.statement.empty() && !has_guarantee(question)) {
    throw InvalidArgument("there will be no guarantee to state", "Declare bounds, and give no seed",
                          Where::key("statement"));
  }
  require_account_kept({files.model, files.model.empty() ? "" : account_file(files.model),
                        has_guarantee(question), question.after, question.budget, files.statement});
}

std::vector<std::string> written_files(const FitFiles& files) {
  const std::string account = files.model.empty() ? "" : account_file(files.model);
  return {files.model, account == files.model ? "" : account, files.statement};
}

std::string publish(const FitAnswer& answer, const FitFiles& files, const FilesAsFound& found) {
  const WriteRules rules{files.replace};
  const std::string model = files.model.empty() ? "" : model_bytes(answer, suffix_of(files.model));
  const DirectoryLocks locks = found.still_so();
  if (const std::string account = files.model.empty() ? "" : account_file(files.model);
      answer.guarantee && account != files.model) {
    write_file(account, account_of(answer, {sha256(model), model_digest(answer)}), rules);
  }
  withdraw_statement(files.statement);
  if (!files.model.empty()) write_file(files.model, model, rules);
  if (!files.statement.empty()) {
    write_file(files.statement, statement_of(answer) + statement_of_model(files.model, model),
               rules);
  }
  return files.model.empty() ? "" : sha256(model);
}

void save_model(const std::string& json, const std::string& path,
                const std::vector<std::string>& inputs, bool force) {
  // Looked at and written at once.
  const DirectoryLocks locks = FilesAsFound({path}).still_so();
  std::vector<std::string> kept = inputs;
  // What `after` named may give way to the model that continues it, which is looked at below.
  if (kept_file(path) == KeptFile::model) {
    std::erase_if(kept, [&](const std::string& input) {
      std::error_code ignored;
      return std::filesystem::equivalent(input, path, ignored);
    });
  }
  prepare_outputs(kept, {{"path", path, true}}, force);
  require_continued(path, json);
  write_file(path, json, {force, kOwnersMode});
}

std::string statement_of(const FitAnswer& answer) {
  if (!answer.guarantee) {
    throw InvalidArgument("there is no guarantee to state", "Declare bounds, and give no seed",
                          Where::here("statement"));
  }
  const bool exact = answer.plan.noise_mode == NoiseMode::grid;
  std::string text = privacy_statement(
      *answer.guarantee, exact ? NoiseArithmetic::exact : NoiseArithmetic::floating_point);
  text += fmt::format(
      "\n## The fit\n\nA {} regression of `{}` on {} declared columns. At most {} records; ranges "
      "and levels were "
      "declared beforehand (the file of bounds), rows outside them were moved to their ends. "
      "Missing values: {}; a record that is dropped, or has no target, contributes nothing. "
      "Settings depend on public "
      "quantities and earlier releases alone. Noise: {}.\n",
      name(answer.plan.model), answer.table.target, answer.table.features.size(), answer.table.rows,
      describe_missing(answer.table),
      exact ? "discrete Gaussian on an integer grid, bits from the operating system"
            : "Gaussian in double precision, idealised: not protected against attacks on the low "
              "bits");
  if (answer.candidates > 1) {
    text += fmt::format(
        "\nOf {} fits the rows that none of them saw chose this one, privately; the list above has "
        "all of them.\n",
        answer.candidates);
  }
  if (answer.plan.holdout > 0.0) {
    text += fmt::format(
        "\nA coin for each row chose {:.3g} % of them to estimate the accuracy. They were not "
        "fitted; a record is in one "
        "part only, and either part spends no more than the whole budget.\n",
        100.0 * answer.plan.holdout);
  }
  return text;
}

}  // namespace sfumato
