// Runs the unit tests; appends "pass NAME" or "fail NAME" for each to the file that $RESULTS names (see tests/run).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

namespace {
struct ResultsFile : doctest::IReporter {
    std::ofstream file;
    const doctest::TestCaseData* current = nullptr;
    explicit ResultsFile(const doctest::ContextOptions&) {
        if (const char* path = std::getenv("RESULTS")) file.open(path, std::ios::app);
    }
    void test_case_start(const doctest::TestCaseData& data) override { current = &data; }
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        file << (stats.failure_flags == 0 ? "pass " : "fail ") << current->m_name << '\n' << std::flush;
    }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("results", 1, ResultsFile);
}

int main(int argc, char** argv) {
    return doctest::Context(argc, argv).run();
}
