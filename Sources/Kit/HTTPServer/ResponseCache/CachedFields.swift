/// The head of a cached response as fields, for a client that is not sent its bytes.
struct CachedFields: Sendable {
    /// A field, whose value is written together each time if a part of it changes.
    struct Field: Sendable {
        let name: String
        let value: Value
    }

    enum Value: Sendable {
        case fixed(String)
        case date
        case requestID
        case age
        case timeToLive(before: String, after: String)
    }

    private(set) var status = ""
    private(set) var fields: [Field] = []

    /// Divides the pieces of a head into lines.
    init(_ pieces: [CachedBytesHead.Piece]) {
        var (before, value) = ("", Value?.none)
        for piece in pieces {
            switch piece {
            case .bytes(let bytes):
                var lines = String(decoding: bytes, as: UTF8.self).split(
                    separator: "\r\n",
                    omittingEmptySubsequences: false
                )[...]
                let rest = lines.removeFirst()
                if lines.isEmpty {
                    before += rest
                } else {
                    add(before, value, rest)
                    before = String(lines.removeLast())
                    value = nil
                    for line in lines { add(String(line), nil, "") }
                }
            case .date: value = .date
            case .requestID: value = .requestID
            case .age: value = .age
            case .timeToLive: value = .timeToLive(before: "", after: "")
            }
        }
    }

    /// - Parameters:
    ///   - before: What the line begins with.
    ///   - value: What changes; nil if nothing does.
    ///   - after: What follows it.
    private mutating func add(_ before: String, _ value: Value?, _ after: Substring) {
        let line = value == nil ? before + after : before
        guard let colon = line.firstIndex(of: ":") else {
            if status.isEmpty { status = String(line.dropFirst("HTTP/1.1 ".count).prefix(3)) }
            return
        }
        let text = line[line.index(after: colon)...].drop { $0 == " " }
        let name = line[..<colon].lowercased()
        switch value {
        case .timeToLive: add(name, .timeToLive(before: String(text), after: String(after)))
        case .some(let value): add(name, value)
        case nil: add(name, .fixed(String(text)))
        }
    }

    private mutating func add(_ name: String, _ value: Value) {
        fields.append(Field(name: name, value: value))
    }
}
