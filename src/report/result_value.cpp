// The result as the tree that sgprobe-json(5) describes. Names there are stable: additions only.
#include "sgprobe/report/format.h"
#include "sgprobe/report/names.h"

namespace sgprobe::report {
namespace {

using measure::Value;
using measure::ValueList;
using measure::ValueMap;

template <class T>
Value optional(const std::optional<T>& value) { return value ? Value(*value) : Value(); }

Value host(const std::optional<measure::HostIdentity>& h) {
    if (!h) return {};
    return ValueMap{{"kernel", h->kernel}, {"driver", h->driver}, {"max_hw_sectors_kb", optional(h->max_hw_sectors_kb)},
                    {"max_sectors_kb", optional(h->max_sectors_kb)}, {"max_segments", optional(h->max_segments)}};
}

Value parameters(const std::vector<measure::Parameter>& rows) {
    Value value = Value::object();
    for (const auto& row : rows) value.set(row.name, std::visit([](const auto& v) { return Value(v); }, row.value));
    return value;
}

Value sample(const measure::SampleResult& s) {
    Value value(ValueMap{
        {"pattern", s.pattern}, {"transfer_blocks", s.transfer_blocks}, {"transfer_bytes", s.transfer_bytes}, {"depth", s.depth},
        {"depth_reached", s.depth_reached}, {"commands", s.commands}, {"bytes", s.bytes},
        {"rate_mb_s", ValueMap{{"median", s.rate_mb_s.median}, {"low", s.rate_mb_s.low}, {"high", s.rate_mb_s.high}, {"best", s.rate_mb_s.best}}},
        {"latency_us", ValueMap{{"p50", s.latency_us.p50}, {"p99", s.latency_us.p99}, {"p999", s.latency_us.p999}, {"max", s.latency_us.max}}},
        {"hidden_retries", s.hidden_retries}, {"task_set_full", s.task_set_full}, {"errors", s.errors}, {"redone", s.redone}});
    if (!s.note.empty()) value.set("note", s.note);
    return value;
}

Value settings(const measure::SettingValues& values) {
    Value value = Value::object();
    for (const auto& [name, number] : values) value.set(name, number);
    return value;
}

Value cliff(const measure::Cliff& c) {
    return ValueMap{{"axis", c.axis}, {"pattern", c.pattern}, {"last_good", c.last_good}, {"first_bad", c.first_bad}, {"exact", c.exact},
                    {"before_mb_s", c.before_mb_s}, {"after_mb_s", c.after_mb_s}, {"drop", c.drop}, {"p_value", c.p_value},
                    {"mechanism", c.mechanism}, {"settings", settings(c.settings)}};
}

Value advice(const measure::Advice& a) {
    Value value(ValueMap{{"what", a.what}, {"value", a.value}, {"command", a.command}});
    if (!a.udev_rule.empty()) value.set("udev_rule", a.udev_rule);
    return value;
}

template <class T, class F>
Value list(const std::vector<T>& rows, F&& one) {
    ValueList values;
    for (const T& row : rows) values.push_back(one(row));
    return values;
}

}

Value device_value(const measure::DeviceIdentity& d, bool anonymous) {
    Value value(ValueMap{{"path", d.path}, {"vendor", d.vendor}, {"product", d.product}, {"revision", d.revision}});
    if (!anonymous) value.set("serial", d.serial);
    value.set("blocks", d.blocks).set("block_bytes", d.block_bytes).set("physical_block_bytes", d.physical_block_bytes)
        .set("rotation_rpm", optional(d.rotation_rpm)).set("transport", d.transport).set("queue_depth", d.queue_depth);
    return value;
}

Value to_value(const measure::Result& r, const Style& style) {
    Value value(ValueMap{
        {"schema", "sgprobe/1"}, {"version", SGPROBE_VERSION}, {"probe", r.probe}, {"started", r.started}, {"elapsed_s", r.elapsed_s},
        {"virtual_time_s", optional(r.virtual_time_s)}, {"device", device_value(r.device, style.anonymous)}, {"host", host(r.host)},
        {"parameters", parameters(r.parameters)}, {"samples", list(r.samples, sample)}, {"verdict", name(r.verdict)}, {"reason", r.reason},
        {"cliffs", list(r.cliffs, cliff)}, {"advice", list(r.advice, advice)}, {"bytes_transferred", r.bytes_transferred},
        {"commands", r.commands}, {"settings_before", settings(r.settings_before)}, {"settings_after", settings(r.settings_after)},
        {"notes", r.notes}, {"interrupted", r.interrupted}});
    if (!r.parts.empty()) value.set("parts", list(r.parts, [&](const measure::Result& part) { return to_value(part, style); }));
    for (const auto& [key, section] : r.sections) value.set(key, section);
    return value;
}

}
