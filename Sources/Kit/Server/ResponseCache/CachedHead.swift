import HTTP
import NIOCore

/// The head of a sent response, as fields of which some have a value that depends on the time or the request.
struct CachedHead: Sendable {
    struct Field: Sendable {
        /// As it was sent; in lower case in ``CachedHead/lowercaseFields``.
        var name: String
        /// The constant part of the value, and the part after it that is written each time.
        var before: String
        var changing: Changing?
        /// The constant part after that.
        var after = ""
    }

    /// A value that is written each time.
    enum Changing: Sendable {
        case date
        case requestID
        case age
        /// The number after `ttl=` in `Cache-Status`.
        case timeToLive
    }

    /// A part of the bytes of the head.
    enum Piece {
        case bytes([UInt8])
        case changing(Changing)
    }

    private let statusLine: Substring
    /// The constant ones first.
    private(set) var fields: [Field] = []
    /// Bytes of the head, its empty line included.
    let count: Int
    private(set) var contentLength: Int?
    /// The members of `Vary`, lower case.
    private(set) var vary: [String] = []

    /// Takes apart the head at the beginning of these bytes; nil if the response cannot be repeated: no whole head, a
    /// body of unknown length, two values of `ttl`. With `keepsDate` the `Date` is constant.
    init?(_ bytes: ByteBuffer, keepsDate: Bool = false) {
        let view = bytes.readableBytesView
        guard let end = Self.endOfHead(view) else { return nil }
        count = end
        let lines = String(decoding: view.prefix(end), as: UTF8.self).split(separator: "\r\n")
        guard let status = lines.first, status.hasPrefix("HTTP/1.1 ") else { return nil }
        statusLine = status
        var changing: [String: Field] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let (name, value) = (line[..<colon].lowercased(), line[line.index(after: colon)...])
            switch name {
            // Of that connection only; ``ClosingHead`` decides about the next one.
            case "connection" where value.drop(while: { $0 == " " }).lowercased() == "close": continue
            case "transfer-encoding", "connection": return nil
            case "content-length": contentLength = Int(value.drop { $0 == " " })
            case "vary": vary += FieldList.members(of: value).map { $0.lowercased() }
            default: break
            }
            guard let field = Self.field(String(line[..<colon]), name, value, keepsDate) else { return nil }
            if field.changing == nil {
                fields.append(field)
            } else if changing.updateValue(field, forKey: name) != nil {
                return nil
            }
        }
        fields += ["date", "x-request-id", "age", "cache-status"].compactMap { changing[$0] }
    }

    /// Returns nil for a value with two `ttl`, of which either could be Larder's.
    private static func field(_ name: String, _ lowercase: String, _ value: Substring, _ keepsDate: Bool) -> Field? {
        switch lowercase {
        case "date" where !keepsDate: return Field(name: name, before: " ", changing: .date)
        case "x-request-id": return Field(name: name, before: " ", changing: .requestID)
        case "age": return Field(name: name, before: " ", changing: .age)
        case "cache-status":
            let parts = value.split(separator: "ttl=", omittingEmptySubsequences: false)
            guard parts.count > 1 else { return Field(name: name, before: String(value)) }
            let after = String(parts[1].drop { $0 == "-" || $0.isNumber })
            return parts.count > 2
                ? nil : Field(name: name, before: "\(parts[0])ttl=", changing: .timeToLive, after: after)
        default: return Field(name: name, before: String(value))
        }
    }

    /// The whole head, with constant bytes joined between the values that change: each piece costs time in every hit.
    var pieces: [Piece] {
        var (pieces, constant) = ([Piece](), Array("\(statusLine)\r\n".utf8))
        for field in fields {
            constant += "\(field.name):\(field.before)".utf8
            if let changing = field.changing {
                pieces += [.bytes(constant), .changing(changing)]
                constant = []
            }
            constant += "\(field.after)\r\n".utf8
        }
        return pieces + [.bytes(constant + "\r\n".utf8)]
    }

    /// The fields with names in lower case, as HTTP/2 has them, and without the space before a value.
    var lowercaseFields: [Field] {
        fields.map { field in
            var field = field
            field.name = field.name.lowercased()
            field.before = String(field.before.drop { $0 == " " })
            return field
        }
    }

    func has(_ changing: Changing) -> Bool { fields.contains { $0.changing == changing } }

    private static func endOfHead(_ bytes: ByteBufferView) -> Int? {
        var matched = 0
        for (index, byte) in bytes.enumerated() {
            matched =
                byte == 0x0D ? (matched == 2 ? 3 : 1) : byte == 0x0A && (matched == 1 || matched == 3) ? matched + 1 : 0
            if matched == 4 { return index + 1 }
        }
        return nil
    }
}
