// A host around another one: passes everything through. What derives from it overrides only what it changes (watching, recording,
// injecting faults). It owns the host within, and its drives own theirs.
#pragma once
#include <memory>
#include <vector>

#include "sgprobe/transport/drive.h"

namespace sgprobe {

class WrapperDrive;

class WrapperHost : public Host {
public:
    explicit WrapperHost(std::unique_ptr<Host> within) : within_(std::move(within)) {}
    std::unique_ptr<Drive> open(const DriveSpec&) override;
    Event wait(Nanoseconds deadline) override;
    Nanoseconds now() const override { return within_->now(); }
    bool is_virtual() const override { return within_->is_virtual(); }
    Nanoseconds timeout() const override { return within_->timeout(); }

protected:
    virtual void on_submit(Drive&, Command&) {}
    virtual void on_completion(Completion&) {}       // completion.drive is already the outer drive
    Host& within() { return *within_; }

private:
    friend class WrapperDrive;
    std::unique_ptr<Host> within_;
    std::vector<WrapperDrive*> drives_;
};

class WrapperDrive : public Drive {
public:
    WrapperDrive(WrapperHost&, std::unique_ptr<Drive> within);
    ~WrapperDrive() override;
    const DriveSpec& spec() const override { return within_->spec(); }
    const Limits& limits() const override { return within_->limits(); }
    Buffer buffer(Bytes size, BufferKind kind) override { return within_->buffer(size, kind); }
    void submit(Command&&) override;
    unsigned outstanding() const override { return within_->outstanding(); }
    HiddenCounters counters() override { return within_->counters(); }
    std::string gone() const override { return within_->gone(); }
    const Precautions& precautions() const override { return within_->precautions(); }
    void set_precautions(const Precautions& p) override { within_->set_precautions(p); }
    Drive& within() { return *within_; }

private:
    WrapperHost& host_;
    std::unique_ptr<Drive> within_;
};

}
