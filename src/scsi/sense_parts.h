// The pieces of the sense parser, shared by its sources alone.
#pragma once
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"

namespace sgprobe::scsi {

Parsed<Sense> parse_sense(ByteView, unsigned depth);
void parse_descriptor_format(const Reader&, unsigned depth, Parsed<Sense>&);
void parse_key_specific(const Reader& three_bytes, Parsed<Sense>&);
std::optional<AtaRegisters> fixed_ata_registers(const Reader& data, const Reader& arrived, const Sense&);

}
