import CYAML

/// One step of libyaml's parser, copied out of its memory.
struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd, documentStart, documentEnd
        case alias(String)
        case scalar(YAMLScalar)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
    }

    var kind: Kind
    var place: YAMLPlace
    var anchor: String?
    var tag: String?
}

/// Owns libyaml's parser and the text that it reads.
final class YAMLEvents {
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) throws(YAMLError) {
        text = .allocate(capacity: max(bytes.count, 1))
        _ = text.initialize(from: bytes)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) != 0 else {
            text.deallocate()
            parser.deallocate()
            throw YAMLError("no memory to read YAML", at: YAMLPlace(line: 1, column: 1))
        }
        yaml_parser_set_input_string(parser, text.baseAddress, bytes.count)
        // UTF-8 only; libyaml would guess UTF-16 from the first bytes.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) != 0 else { throw failure() }
        defer { yaml_event_delete(&event) }
        return copy(event)
    }

    private func copy(_ event: yaml_event_t) -> YAMLEvent {
        var copied = YAMLEvent(kind: .streamEnd, place: YAMLPlace(event.start_mark))
        switch event.type {
        case YAML_STREAM_START_EVENT: copied.kind = .streamStart
        case YAML_DOCUMENT_START_EVENT: copied.kind = .documentStart
        case YAML_DOCUMENT_END_EVENT: copied.kind = .documentEnd
        case YAML_ALIAS_EVENT: copied.kind = .alias(string(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            copied.kind = .scalar(YAMLScalar(text, style: scalar.style == YAML_PLAIN_SCALAR_STYLE ? .plain : .quoted))
            copied.anchor = string(scalar.anchor)
            copied.tag = string(scalar.tag)
        case YAML_SEQUENCE_START_EVENT:
            copied.kind = .sequenceStart
            copied.anchor = string(event.data.sequence_start.anchor)
            copied.tag = string(event.data.sequence_start.tag)
        case YAML_SEQUENCE_END_EVENT: copied.kind = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            copied.kind = .mappingStart
            copied.anchor = string(event.data.mapping_start.anchor)
            copied.tag = string(event.data.mapping_start.tag)
        case YAML_MAPPING_END_EVENT: copied.kind = .mappingEnd
        default: break
        }
        return copied
    }

    private func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }

    private func failure() -> YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        if parser.pointee.error == YAML_READER_ERROR {
            return YAMLError("\(problem): the text must be UTF-8", at: place(ofByte: parser.pointee.problem_offset))
        }
        let place = YAMLPlace(parser.pointee.problem_mark)
        guard let context = parser.pointee.context else { return YAMLError(problem, at: place) }
        let line = parser.pointee.context_mark.line + 1
        let began = line == place.line ? "" : ", which began in line \(line)"
        return YAMLError("\(problem) \(String(cString: context))\(began)", at: place)
    }

    /// libyaml has no mark for a byte that it cannot read.
    private func place(ofByte offset: Int) -> YAMLPlace {
        let before = text.prefix(min(offset, text.count))
        let line = before.count(where: { $0 == UInt8(ascii: "\n") }) + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A byte that begins with the bits 10 continues a character.
        let column = before[start...].count(where: { $0 & 0xC0 != 0x80 }) + 1
        return YAMLPlace(line: line, column: column)
    }
}

extension YAMLPlace {
    fileprivate init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
