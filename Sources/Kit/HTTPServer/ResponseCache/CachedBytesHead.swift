import HTTPSemantics
import NIOCore

/// The head of a response as it was sent, taken apart: what stays the same, and the fields that depend on the time and
/// the request.
struct CachedBytesHead: Sendable, Equatable {
    /// Status line and fields that stay the same.
    var fixed: [UInt8]
    /// Name of the `Date` field as it was written; nil if there is none, or if it stays.
    var date: String?
    /// Name of `X-Request-Id` as it was written; nil if there is none.
    var requestID: String?
    /// Name of `Age` as it was written; nil if there is none.
    var age: String?
    /// `Cache-Status` before and after the number of its `ttl`; nil if it has none.
    var timeToLive: (before: String, after: String)?
    /// Bytes of the head, its empty line included.
    var count: Int
    /// `Content-Length`.
    var contentLength: Int?
    /// The members of `Vary`, lower case.
    var vary: [String] = []

    /// Takes apart the head at the beginning of these bytes; nil if the response cannot be repeated: no whole head, a
    /// body of unknown length, two values of `ttl`. With `keepsDate` the `Date` is one of the fields that stay.
    init?(_ bytes: ByteBuffer, keepsDate: Bool = false) {
        let view = bytes.readableBytesView
        var lines: [Substring] = []
        guard let end = Self.endOfHead(view) else { return nil }
        count = end
        let text = String(decoding: view.prefix(end), as: UTF8.self)
        lines = text.split(separator: "\r\n", omittingEmptySubsequences: true)
        guard let status = lines.first, status.hasPrefix("HTTP/1.1 ") else { return nil }
        fixed = Array("\(status)\r\n".utf8)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let (name, value) = (String(line[..<colon]), line[line.index(after: colon)...])
            switch name.lowercased() {
            case "date" where keepsDate: fixed += Array("\(line)\r\n".utf8)
            case "date" where date == nil: date = name
            case "x-request-id" where requestID == nil: requestID = name
            case "age" where age == nil: age = name
            // Of that connection only; ``ClosingHead`` decides about the next one.
            case "connection" where value.drop(while: { $0 == " " }).lowercased() == "close": break
            case "transfer-encoding", "connection", "date", "x-request-id", "age": return nil
            case "cache-status":
                let parts = value.split(separator: "ttl=", omittingEmptySubsequences: false)
                guard parts.count <= 2 else { return nil }
                guard parts.count == 2 else {
                    fixed += Array("\(line)\r\n".utf8)
                    continue
                }
                // Either of two could be Larder's.
                guard timeToLive == nil else { return nil }
                timeToLive = ("\(name):\(parts[0])ttl=", String(parts[1].drop { $0 == "-" || $0.isNumber }) + "\r\n")
            case "content-length":
                contentLength = Int(value.drop { $0 == " " })
                fixed += Array("\(line)\r\n".utf8)
            case "vary":
                vary += FieldList.members(of: value).map { $0.lowercased() }
                fixed += Array("\(line)\r\n".utf8)
            default: fixed += Array("\(line)\r\n".utf8)
            }
        }
    }

    /// A part of the head.
    enum Piece {
        /// What stays, empty line included.
        case bytes([UInt8])
        /// What is written each time.
        case date
        case requestID
        case age
        case timeToLive
    }

    /// The whole head, with what stays joined between the fields that change: each piece costs time in every hit.
    var pieces: [Piece] {
        var (pieces, fixed) = ([Piece](), self.fixed)
        func add(_ before: String, _ piece: Piece, _ after: String) {
            pieces += [.bytes(fixed + Array(before.utf8)), piece]
            fixed = Array(after.utf8)
        }
        if let date { add("\(date): ", .date, "\r\n") }
        if let requestID { add("\(requestID): ", .requestID, "\r\n") }
        if let age { add("\(age): ", .age, "\r\n") }
        if let (before, after) = timeToLive { add(before, .timeToLive, after) }
        return pieces + [.bytes(fixed + Array("\r\n".utf8))]
    }

    private static func endOfHead(_ bytes: ByteBufferView) -> Int? {
        var matched = 0
        for (index, byte) in bytes.enumerated() {
            matched =
                byte == 0x0D ? (matched == 2 ? 3 : 1) : byte == 0x0A && (matched == 1 || matched == 3) ? matched + 1 : 0
            if matched == 4 { return index + 1 }
        }
        return nil
    }

    static func == (a: CachedBytesHead, b: CachedBytesHead) -> Bool {
        a.fixed == b.fixed && a.date == b.date && a.requestID == b.requestID && a.age == b.age && a.count == b.count
            && a.vary == b.vary
            && a.timeToLive?.before == b.timeToLive?.before && a.timeToLive?.after == b.timeToLive?.after
    }
}
