#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "lab/study/scheduler/mpi_job.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "lab/ledger/trial_bytes.hpp"
#include "lab/study/scheduler/worker_pool.hpp"
#include "sfumato/core/error.hpp"

namespace sfumato::lab {
namespace {

using namespace std::chrono_literals;

/// What a message is, as its tag.
enum Tag : int {
  kHello,    ///< to 0: ready; the text says on what terms
  kResults,  ///< to 0: packed trials
  kProblem,  ///< to 0: what went wrong, as text
  kLeaving,  ///< to 0: was asked to stop
  kGroup,    ///< from 0: train this one
  kGoHome,   ///< from 0: the job is over
  kBye       ///< to 0: nothing more will come
};

constexpr auto kIdle = 1ms;       ///< between looks of a rank that has just become free
constexpr auto kLongIdle = 20ms;  ///< of one that has waited for a while
constexpr auto kBusy = 100ms;     ///< of one that trains: it only looks whether the job is over
constexpr auto kPatience = 10s;   ///< until rank 0 believes that the others are gone

struct Message {
  int rank;
  int tag;
  std::string bytes;
};

/// Waits without spinning until the message is on its way.
void send(int rank, int tag, std::string_view bytes) {
  MPI_Request request;
  MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD,
            &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::sleep_for(100us);
  }
}

/// The next message, if one has arrived.
std::optional<Message> receive() {
  int arrived = 0;
  MPI_Message handle;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &handle, &status);
  if (arrived == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Message message{status.MPI_SOURCE, status.MPI_TAG,
                  std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Mrecv(message.bytes.data(), size, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
  return message;
}

/// What must be equal for two ranks to compute the same bits.
std::string terms(const TrialRunner& runner) {
  const LedgerIdentity identity = runner.identity();
  std::string text =
      fmt::format("version {}\ninstruction set {}\n", identity.version, identity.instruction_set);
  for (const auto& [name, digest] : identity.checksums)
    text += fmt::format("{} {}\n", name, digest);
  return text + identity.study;
}

std::string first_difference(std::string_view theirs, std::string_view ours) {
  const auto line_of = [](std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  while (!theirs.empty() || !ours.empty()) {
    const std::string_view a = line_of(theirs), b = line_of(ours);
    if (a != b) return fmt::format("it has `{}`, rank 0 has `{}`", a, b);
  }
  return "the same";
}

/// The other ranks as rank 0 sees them.
class Ranks final : public Helpers {
 public:
  Ranks(std::string terms, int ranks, unsigned threads)
      : terms_(std::move(terms)), threads_(threads), free_(static_cast<std::size_t>(ranks), 0) {}

  [[nodiscard]] bool is_one_free() const override { return free_places_ > 0; }
  void give(std::size_t group) override {
    for (std::size_t rank = 1; rank < free_.size(); ++rank) {
      if (free_[rank] == 0) continue;
      --free_[rank];
      --free_places_;
      ++in_work_;
      const std::uint64_t number = group;
      char bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      send(static_cast<int>(rank), kGroup, {bytes, sizeof number});
      return;
    }
    throw InternalError("a group for nobody");
  }
  std::optional<std::vector<TrialResult>> collect() override {
    while (std::optional<Message> message = receive()) {
      const auto rank = static_cast<std::size_t>(message->rank);
      switch (message->tag) {
        case kHello:
          if (message->bytes != terms_) {
            throw InvalidArgument(fmt::format("rank {} would compute something else: {}", rank,
                                              first_difference(message->bytes, terms_)),
                                  "Use one build, one kind of machine and the same data everywhere",
                                  Where::in("study run"));
          }
          free_[rank] += threads_;
          free_places_ += threads_;
          break;
        case kResults:
          ++free_[rank];
          ++free_places_;
          --in_work_;
          return unpack_trials(message->bytes);
        case kProblem:
          throw InvalidArgument(fmt::format("rank {} failed: {}", rank, message->bytes),
                                "See what it says, then run the same command again",
                                Where::in("study run"));
        case kLeaving: one_left_ = true; return std::nullopt;
        default: throw InternalError(fmt::format("rank {} sent {}", rank, message->tag));
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t in_work() const override { return in_work_; }
  [[nodiscard]] bool has_one_left() const override { return one_left_; }
  [[nodiscard]] unsigned workers() const override {
    return static_cast<unsigned>(free_.size() - 1) * threads_;
  }

 private:
  std::string terms_;
  unsigned threads_;
  std::vector<unsigned> free_;  ///< groups that each could train at once more
  std::size_t free_places_ = 0, in_work_ = 0;
  bool one_left_ = false;
};

}  // namespace

class MpiJob::Implementation {
 public:
  Implementation() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  ~Implementation() {
    if (rank == 0 && !send_home()) return;  // MPI_Finalize would wait for ranks that are gone
    MPI_Finalize();
  }

  int rank = 0, ranks = 1;

 private:
  /// Whether everybody has said goodbye.
  [[nodiscard]] bool send_home() const {
    for (int other = 1; other < ranks; ++other) send(other, kGoHome, "");
    int there = ranks - 1;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (there > 0) {
      if (const std::optional<Message> message = receive()) {
        there -= message->tag == kBye ? 1 : 0;
      } else if (std::chrono::steady_clock::now() > end) {
        return false;
      } else {
        std::this_thread::sleep_for(kIdle);
      }
    }
    return true;
  }
};

MpiJob::MpiJob() {
  // srun without PMIx starts many that are each alone; Open MPI would end them with a page of text.
  bool is_told = false;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    is_told = is_told || std::getenv(name) != nullptr;
  }
  if (is_told) {
    implementation_ = std::make_unique<Implementation>();
    if (ranks() > 1) return;
  }
  throw InvalidArgument("several processes were started, but they do not know each other",
                        "Use mpirun, or srun --mpi=pmix", Where::in("study run"));
}

MpiJob::~MpiJob() = default;

unsigned MpiJob::rank() const { return static_cast<unsigned>(implementation_->rank); }
unsigned MpiJob::ranks() const { return static_cast<unsigned>(implementation_->ranks); }

RunReport MpiJob::lead(const TrialRunner& runner, Ledger& ledger, unsigned threads,
                       Observer& observer) {
  Ranks others(terms(runner), implementation_->ranks, threads);
  return run_study(runner, ledger, threads, observer, &others);
}

void MpiJob::serve(const std::function<std::unique_ptr<TrialRunner>()>& make_runner,
                   unsigned threads, Observer& observer) {
  std::unique_ptr<TrialRunner> runner;
  GroupQueue queue;
  std::optional<WorkerPool> pool;
  std::size_t in_work = 0;
  bool is_idle = false;  // for good: left, or failed
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& error) {
      is_idle = true;
      send(0, kProblem, error.what());
    }
  };
  attempt([&] {
    runner = make_runner();
    pool.emplace(*runner, queue, threads, observer);
    send(0, kHello, terms(*runner));
  });
  auto pause = kIdle;
  for (;;) {
    const auto message = receive();
    if (message && message->tag == kGoHome) break;
    if (message && message->tag == kGroup) {
      std::uint64_t group = 0;
      std::memcpy(&group, message->bytes.data(), sizeof group);
      queue.put(group);
      ++in_work;
      pause = kIdle;
      continue;
    }
    if (observer.stop_requested() && !is_idle) {
      is_idle = true;
      send(0, kLeaving, "");
    }
    if (in_work == 0 || is_idle) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongIdle);
      continue;
    }
    attempt([&] {
      if (const auto results = pool->collect_one(in_work == threads ? kBusy : pause)) {
        --in_work;
        pause = kIdle;
        send(0, kResults, pack_trials(*results));
      } else {
        pause = std::min(2 * pause, kLongIdle);
      }
      pool->rethrow_problem();
    });
  }
  pool.reset();
  send(0, kBye, "");
}

}  // namespace sfumato::lab
