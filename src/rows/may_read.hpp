// Why private rows may be read. Each reason is a type, and its values are made only where the reason holds (architecture.md, 3.5).
#pragma once

namespace dp::release {
class Checked;
}

namespace dp::rows {

struct Question;

// Permits to read the rows of a question.
class MayRead {
public:
    const Question *question() const { return question_; }

protected:
    explicit MayRead(const Question *question) : question_(question) {}

private:
    const Question *question_;
};

// Permits it for an answer, whose charge is durable.
class Paid : public MayRead {
    friend release::Checked;
    explicit Paid(const Question *question) : MayRead(question) {}
};

// Permits it for a selection of epsilon, whose charge is durable. That of the answer is not.
class PaidSelection : public MayRead {
    friend release::Checked;
    explicit PaidSelection(const Question *question) : MayRead(question) {}
};

// Permits to look at rows without a charge. Nothing that is seen goes to an analyst as it is.
class Uncharged : public MayRead {
protected:
    using MayRead::MayRead;
};

// Permits a search for epsilon before its charge, under a preference whose guarantee says so: within_data for analysts.
class Search : public Uncharged {
    friend release::Checked;
    explicit Search(const Question *question) : Uncharged(question) {}
};

// Permits it to the owner of the table, in a call of their own.
class OwnRows : public Uncharged {
public:
    // Errors: XX000 for anybody but the owner.
    explicit OwnRows(const Question *question);
};

// This process is a keeper, which reads for analysts, for the rest of its life.
void become_keeper();
bool is_keeper();

// Checks who may read private rows: a keeper for analysts, and the table's owner in a call of their own. Called wherever a statement
// over a protected table is about to be planned (architecture.md, 3.8). Raises XX000, and aborts where assertions are on.
void check_reader(const Question *question);

} // namespace dp::rows
