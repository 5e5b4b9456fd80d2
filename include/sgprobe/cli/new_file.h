// A file that is made, not followed: never through a link, and never over one that exists unless forced.
#pragma once
#include <string>
#include <string_view>

namespace sgprobe::cli {

class NewFile {
public:
    // Throws Failure (file cannot be opened). What exists is replaced only with `force`, and only where it is a regular file.
    NewFile(const std::string& path, bool force);
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile();                       // without finish(): what was written stays; a file made for nothing goes
    void write(std::string_view);     // throws Failure
    void finish();                    // throws Failure where it did not reach the file

private:
    void begin();
    std::string path_;
    int fd_ = -1;
    bool created_ = false, begun_ = false;
};

}
