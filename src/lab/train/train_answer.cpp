#include "lab/train/train_answer.hpp"

#include <filesystem>

#include "lab/train/train_document.hpp"
#include "lab/train/train_files.hpp"

namespace sfumato::lab {

TrainAnswer answer(const TrainQuestion& question, Observer& observer) {
  TrainInput input = read_input(question);
  if (!question.out.empty()) prepare_directory(question, input);
  TrainRun run = train(input, question, observer);
  TrainAnswer answer{question, std::move(input), std::move(run)};
  if (!answer.finished()) return answer;
  if (!question.out.empty()) write_results(answer);  // before the measures: they can be stopped
  answer.measures = measure(question, answer.input, answer.run, observer);
  if (!question.out.empty()) write_document(question.out, document_of(answer, Detail::full));
  std::error_code ignored;  // a checkpoint that stays is refused by the next run, with its name
  std::filesystem::remove(checkpoint_path(question), ignored);
  return answer;
}

}  // namespace sfumato::lab
