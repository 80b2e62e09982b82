#include "kindred/data/thrift.h"

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred::thrift {
namespace {

constexpr int kDeepest = 32;

[[noreturn]] void refuse(const char* problem) {
  throw DataFormatError("a Parquet footer is damaged: {}", problem);
}

bool is_integer(Type type) { return type >= Type::kInt16 && type <= Type::kInt64; }

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class CompactReader {
 public:
  explicit CompactReader(std::string_view bytes) : rest_(bytes) {}

  Value read(Type type, bool in_list, int depth) {
    if (depth > kDeepest) refuse("it is nested too deep");
    Value value;
    value.type = type;
    if (type == Type::kTrue || type == Type::kFalse) {
      if (in_list) value.number = byte();
    } else if (type == Type::kByte) {
      value.number = byte();
    } else if (is_integer(type)) {
      value.number = unzigzag(varint());
    } else if (type == Type::kDouble) {
      value.bytes = take(8);
    } else if (type == Type::kText) {
      value.bytes = take(varint());
    } else if (type == Type::kList || type == Type::kSet) {
      read_items(value, depth);
    } else if (type == Type::kStruct) {
      read_fields(value, depth);
    } else {
      refuse("it has a value of an unknown type");
    }
    return value;
  }

 private:
  void read_items(Value& list, int depth) {
    const auto head = byte();
    list.item_type = static_cast<Type>(head & 15);
    const std::uint64_t size = head >> 4 == 15 ? varint() : static_cast<std::uint64_t>(head >> 4);
    if (size > rest_.size()) refuse("a list is longer than the footer");  // an item has a byte
    list.items.reserve(size);
    for (std::uint64_t i = 0; i < size; ++i)
      list.items.push_back(read(list.item_type, true, depth + 1));
  }

  void read_fields(Value& value, int depth) {
    for (std::int64_t id = 0;;) {
      const auto head = byte();
      if (head == 0) return;
      id = head >> 4 ? id + (head >> 4) : unzigzag(varint());
      if (id < 0 || id > INT16_MAX) refuse("a field has an impossible number");
      value.fields.emplace_back(static_cast<std::int16_t>(id),
                                read(static_cast<Type>(head & 15), false, depth + 1));
    }
  }

  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto next = byte();
      value |= static_cast<std::uint64_t>(next & 127) << shift;
      if (!(next & 128)) return value;
    }
    refuse("a number is too long");
  }

  std::string take(std::uint64_t size) {
    if (size > rest_.size()) refuse("it ends too early");
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

void write_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

void write_value(std::string& out, const Value& value, bool in_list);

void write_items(std::string& out, const Value& list) {
  const auto size = list.items.size();
  const auto head = static_cast<std::uint8_t>(list.item_type);
  out += static_cast<char>((size < 15 ? size << 4 : 0xf0) | head);
  if (size >= 15) write_varint(out, size);
  for (const auto& item : list.items) write_value(out, item, true);
}

void write_fields(std::string& out, const Value& value) {
  std::int16_t last = 0;
  for (const auto& [id, field] : value.fields) {
    const int step = id - last;
    const bool near = step > 0 && step < 16;
    out += static_cast<char>((near ? step << 4 : 0) | static_cast<int>(field.type));
    if (!near) write_varint(out, zigzag(id));
    write_value(out, field, false);
    last = id;
  }
  out += '\0';
}

void write_value(std::string& out, const Value& value, bool in_list) {
  const bool boolean = value.type == Type::kTrue || value.type == Type::kFalse;
  if (value.type == Type::kByte || (boolean && in_list))
    out += static_cast<char>(value.number);
  else if (is_integer(value.type))
    write_varint(out, zigzag(value.number));
  else if (value.type == Type::kText)
    write_varint(out, value.bytes.size());
  if (value.type == Type::kText || value.type == Type::kDouble) out += value.bytes;
  if (value.type == Type::kList || value.type == Type::kSet) write_items(out, value);
  if (value.type == Type::kStruct) write_fields(out, value);
}

}  // namespace

const Value* Value::find(std::int16_t id) const {
  const auto field = std::ranges::find(fields, id, [](const auto& entry) { return entry.first; });
  return field == fields.end() ? nullptr : &field->second;
}

Value* Value::find(std::int16_t id) {
  return const_cast<Value*>(static_cast<const Value*>(this)->find(id));
}

Value& Value::at(std::int16_t id, Type wanted) {
  auto* field = find(id);
  if (!field || field->type != wanted) refuse("something that must be there is missing");
  return *field;
}

Value parse(std::string_view bytes) { return CompactReader(bytes).read(Type::kStruct, false, 0); }

std::string serialise(const Value& value) {
  std::string bytes;
  write_value(bytes, value, false);
  return bytes;
}

}  // namespace kindred::thrift
