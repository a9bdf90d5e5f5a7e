#include <algorithm>

#include "fuzz_files.hpp"
#include "fuzz_main.hpp"
#include "sfumato/account/budget_file.hpp"
#include "sfumato/data/file_input.hpp"
#include "sfumato/lab/ledger/ledger.hpp"

using namespace sfumato;
using namespace sfumato::lab;

namespace {

std::string made(const std::string& ending, const std::function<void(const std::string&)>& make) {
  const std::string path = file_with("", ending);
  for (const char* more : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(path + more);
  make(path);
  std::string bytes = read_file(path);
  std::filesystem::remove(path);
  return bytes;
}

const std::string& ledger() {
  static const std::string bytes = made(".made", [](const std::string& path) {
    Ledger made = Ledger::open(path, {"study", "1", "none", {{"data", "digest"}}},
                               [](const auto&, const auto&) { return std::vector<std::string>{}; });
    TrialResult trial{{0, 0, 1}, TrialStatus::ok, "", 7, 0.5, std::vector<WorldResult>(2)};
    for (WorldResult& world : trial.worlds) world.scores = {{"loss", 0.25}};
    made.commit({trial});
    made.record_look(1, 1);
  });
  return bytes;
}

const std::string& budget() {
  static const std::string bytes = made(".made", [](const std::string& path) {
    const BudgetEntry entry{0, "", "fit", "account", "", ""};
    const auto [file, number, is_new] = BudgetFile::reserve(path, {3.0, 1e-6, "add_remove"}, entry,
                                                            [](const auto&, const auto&) {});
    file->release(number, entry, "model");
  });
  return bytes;
}

/// Sqlite's own errors may be those of a disk.
template <class Read>
void refused_or_read(const Read& read) {
  try {
    read();
  } catch (const StorageError&) {
  }
}

}  // namespace

/// A ledger, or a budget, whose bytes were changed: the first byte says which, and four each where and to what. SQLite itself is not
/// instrumented: it is fuzzed elsewhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool is_budget = (data[0] & 1) != 0;
  std::string damaged = is_budget ? budget() : ledger();
  for (std::size_t i = 1; i + 4 <= size; i += 4) {
    const std::size_t at = data[i] + 256u * data[i + 1] + 65536u * (data[i + 2] & 3u);
    damaged[at % damaged.size()] = static_cast<char>(data[i + 3]);
  }
  // Cut as well, now and then.
  if ((data[0] & 2) != 0) damaged.resize(damaged.size() * (data[0] >> 2) / 64);
  return fuzz(data, size, [&](std::string_view) {
    const std::string path = file_with(damaged, is_budget ? ".budget" : ".ledger");
    refused_or_read([&] {
      if (is_budget) {
        const BudgetFile file = BudgetFile::read(path);
        (void)file.terms();
        (void)file.entries();
        return;
      }
      const Ledger file = Ledger::read(path);
      (void)file.counts();
      (void)file.score_names();
      file.for_each([](const TrialResult&) {});
      (void)file.looks();
    });
  });
}
