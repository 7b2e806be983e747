import Concurrency
import Foundation
import HTTP
import NIOCore
import Synchronization

/// A response that was sent, ready to be sent again.
final class CachedBytes: Sendable {
    let changeToken: ChangeToken
    let record: RequestRecord
    /// Bytes that it takes in memory, approximately.
    let cost: Int
    /// Whether its `Vary` names fields that most responses do not depend on.
    let dependsOnWholeHead: Bool
    /// Whether it depends on the server's own cookies only.
    private let isSelective: Bool

    private let headCount: Int
    private let pieces: [CachedBytesHead.Piece]
    private let divided = Mutex<CachedFields?>(nil)
    private let encoded = Mutex<CachedBlock?>(nil)
    let body: ByteBuffer

    /// Takes apart the bytes of a response; nil if it cannot be repeated.
    init?(_ bytes: ByteBuffer, _ ticket: ResponseCache.Ticket) {
        guard let head = CachedBytesHead(bytes, keepsDate: ticket.keepsDate) else { return nil }
        guard ticket.changeToken.age != nil || (head.age == nil && head.timeToLive == nil) else { return nil }
        let bodyCount = bytes.readableBytes - head.count
        guard ticket.record.hasBody ? head.contentLength == bodyCount : bodyCount == 0 else { return nil }
        isSelective = ticket.isSelective
        let vary = head.vary.filter { !(ticket.isSelective && ["accept-language", "cookie"].contains($0)) }
        dependsOnWholeHead = SignificantHead.isNamed(in: vary)
        headCount = head.count
        pieces = head.pieces
        body = bytes.getSlice(at: bytes.readerIndex + head.count, length: bodyCount) ?? ByteBuffer()
        changeToken = ticket.changeToken
        record = ticket.record
        cost = bytes.capacity + head.fixed.count + 512
    }

    /// Whether it is the response to a head from which other cookies than the server's own were left out: they may be
    /// credentials for the upstream of a mount.
    func isFor(hadCookies: Bool) -> Bool { isSelective || !hadCookies }

    /// Largest number of bytes that ``write(to:date:requestID:now:isLast:)`` writes.
    var size: Int { headCount + body.readableBytes + 256 }

    /// The head as fields, divided at the first use.
    var fields: CachedFields {
        divided.withLock { divided in
            if let divided { return divided }
            let fields = CachedFields(pieces)
            divided = fields
            return fields
        }
    }

    /// The head as a header block of HTTP/2, encoded at the first use.
    var block: CachedBlock {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let block = CachedBlock(fields)
            encoded = block
            return block
        }
    }

    /// Writes the response with the fields that depend on the time and the request.
    ///
    /// - Parameter isLast: Whether the connection closes behind it, which it says then.
    func write(
        to buffer: inout ByteBuffer,
        date: ServerDate,
        requestID: RequestIdentity,
        now: NIODeadline,
        isLast: Bool = false
    ) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
            var writer = ByteWriter(bytes)
            for (index, piece) in pieces.enumerated() {
                switch piece {
                case .bytes(let bytes) where isLast && index == pieces.count - 1:
                    // The head ends with this piece.
                    bytes.withUnsafeBytes { writer.write(UnsafeRawBufferPointer(rebasing: $0.dropLast(2))) }
                    writer.write("Connection: close\r\n\r\n")
                case .bytes(let bytes): bytes.withUnsafeBytes { writer.write($0) }
                case .date: writer.write(date.text)
                case .requestID: writer.write(requestID)
                case .age: if let age = changeToken.age { writer.write(age.seconds(at: now)) }
                case .timeToLive: if let age = changeToken.age { writer.write(age.timeToLive(at: now)) }
                }
            }
            body.withUnsafeReadableBytes { writer.write($0) }
            return writer.count
        }
    }
}

/// The head of a sent response, taken apart: the constant bytes, and the fields that depend on the time and the
/// request.
struct CachedBytesHead: Sendable, Equatable {
    /// Status line and fields that stay the same.
    var fixed: [UInt8]
    /// The sent spelling of the name `Date`; nil if there is no such field, or if it stays.
    var date: String?
    /// The sent spelling of the name `X-Request-Id`; nil if there is no such field.
    var requestID: String?
    /// The sent spelling of the name `Age`; nil if there is no such field.
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
        /// Constant bytes, the empty line included.
        case bytes([UInt8])
        /// A field that is written each time.
        case date
        case requestID
        case age
        case timeToLive
    }

    /// The whole head, with constant bytes joined between the fields that change: each piece costs time in every hit.
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
    ///   - before: The beginning of the line.
    ///   - value: The variable part; nil if there is none.
    ///   - after: The rest of the line.
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

/// The text of `Date`, formatted once a second.
struct ServerDate {
    private(set) var text = ""
    private var validUntil = NIODeadline.distantPast

    /// Updates the text.
    /// - Parameters:
    ///   - now: the event loop's instant
    ///   - wall: the machine's time
    mutating func update(now: NIODeadline, wall: () -> Date = { Date() }) {
        guard now >= validUntil else { return }
        let date = wall()
        let seconds = date.timeIntervalSince1970
        text = HTTPDate.format(date)
        validUntil = now + .nanoseconds(Int64((seconds.rounded(.down) + 1 - seconds) * 1e9))
    }
}
