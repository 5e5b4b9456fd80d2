#include "sgprobe/cli/run_each.h"

#include "sgprobe/transport/failure.h"

namespace sgprobe::cli {

int run_each(Context& context, const std::vector<std::string>& names, const std::function<int(Host&, Drive&)>& work) {
    int first = 0;
    for (const std::string& name : names) {
        int status = 0;
        try {
            OpenDrives open = context.open({name});
            status = work(*open.host, *open.drives.front());
        } catch (const Failure& failure) {
            if (names.size() == 1) throw;
            context.note(failure.what());
            status = failure.status();
        }
        if (first == 0) first = status;
        if (status == static_cast<int>(ExitStatus::interrupted)) return status;
    }
    return first;
}

}
