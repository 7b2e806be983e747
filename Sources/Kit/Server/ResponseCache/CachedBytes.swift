import Concurrency
import Foundation
import HTTP
import NIOCore
import NIOHTTP1
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

    private let head: ByteBuffer
    private let keepsDate: Bool
    private let pieces: [CachedHead.Piece]
    private let divided = Mutex<[CachedHead.Field]?>(nil)
    private let encoded = Mutex<CachedBlock?>(nil)
    let body: ByteBuffer

    /// Takes apart the bytes of a response; nil if it cannot be repeated.
    init?(_ bytes: ByteBuffer, _ ticket: ResponseCache.Ticket) {
        guard let head = CachedHead(bytes, keepsDate: ticket.keepsDate) else { return nil }
        guard ticket.changeToken.age != nil || !(head.has(.age) || head.has(.timeToLive)) else { return nil }
        let bodyCount = bytes.readableBytes - head.count
        guard ticket.record.hasBody ? head.contentLength == bodyCount : bodyCount == 0 else { return nil }
        isSelective = ticket.isSelective
        let vary = head.vary.filter { !(ticket.isSelective && ["accept-language", "cookie"].contains($0)) }
        dependsOnWholeHead = SignificantHead.isNamed(in: vary)
        keepsDate = ticket.keepsDate
        pieces = head.pieces
        self.head = bytes.getSlice(at: bytes.readerIndex, length: head.count) ?? ByteBuffer()
        body = bytes.getSlice(at: bytes.readerIndex + head.count, length: bodyCount) ?? ByteBuffer()
        changeToken = ticket.changeToken
        record = ticket.record
        cost = bytes.capacity + head.count + 512
    }

    /// Whether it is the response to a head from which other cookies than the server's own were left out: they may be
    /// credentials for the upstream of a mount.
    func isFor(hadCookies: Bool) -> Bool { isSelective || !hadCookies }

    /// Largest number of bytes that ``write(to:date:requestID:now:isLast:)`` writes.
    var size: Int { head.readableBytes + body.readableBytes + 256 }

    /// The fields of the head in the terms of HTTP/2, divided at the first use.
    var fields: [CachedHead.Field] {
        divided.withLock { divided in
            if let divided { return divided }
            let fields = CachedHead(head, keepsDate: keepsDate)?.lowercaseFields ?? []
            divided = fields
            return fields
        }
    }

    /// The head as a header block of HTTP/2, encoded at the first use.
    var block: CachedBlock {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let block = CachedBlock(status: record.status, fields)
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
                case .changing(let value): write(value, to: &writer, date: date, requestID: requestID, now: now)
                }
            }
            body.withUnsafeReadableBytes { writer.write($0) }
            return writer.count
        }
    }

    /// Writes a value that depends on the time or the request.
    func write(
        _ value: CachedHead.Changing,
        to writer: inout ByteWriter,
        date: ServerDate,
        requestID: RequestIdentity,
        now: NIODeadline
    ) {
        switch value {
        case .date: writer.write(date.text)
        case .requestID: writer.write(requestID)
        case .age: if let age = changeToken.age { writer.write(age.seconds(at: now)) }
        case .timeToLive: if let age = changeToken.age { writer.write(age.timeToLive(at: now)) }
        }
    }
}

/// Records the response that is being sent, and caches it when it has ended.
struct ResponseRecording {
    private let cache: ResponseCache
    /// The bytes of the request head, if the response may be recorded.
    private var head: ByteBuffer?
    /// The sent buffers, which share their bytes.
    private var capture: (pieces: [ByteBuffer], count: Int, ticket: ResponseCache.Ticket)?

    init(_ cache: ResponseCache) { self.cache = cache }

    /// Whether the bytes of a response are needed.
    var isCapturing: Bool { capture != nil }

    /// Begins with a request that is passed to the application.
    ///
    /// - Parameter bytes: Its head; nil if it did not arrive alone.
    mutating func begin(_ head: HTTPRequestHead, bytes: ByteBuffer?) {
        self.head = bytes.flatMap { ResponseCacheKey.isEligible(head, bytes: $0) ? $0 : nil }
        capture = nil
    }

    /// The head of its response is sent next.
    mutating func responseBegins(_ annotations: ResponseAnnotations.Values) {
        guard head != nil, let ticket = ResponseCache.Ticket(annotations) else { return }
        capture = ([], 0, ticket)
    }

    /// Takes a piece of the response.
    mutating func append(_ bytes: ByteBuffer) {
        guard let count = capture?.count else { return }
        guard count + bytes.readableBytes <= ResponseCache.largest else { return abandon() }
        capture?.pieces.append(bytes)
        capture?.count += bytes.readableBytes
    }

    /// Takes the head of a response that is not sent as the bytes of HTTP/1.1, as these.
    mutating func append(_ head: HTTPResponseHead) {
        guard isCapturing else { return }
        var bytes = ByteBuffer(string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for (name, value) in head.headers { bytes.writeString("\(name): \(value)\r\n") }
        bytes.writeString("\r\n")
        append(bytes)
    }

    /// The response has been sent.
    mutating func end(now: NIODeadline) {
        if let capture, let head {
            var bytes = ByteBufferAllocator().buffer(capacity: capture.count)
            for piece in capture.pieces { bytes.writeImmutableBuffer(piece) }
            cache.record(bytes, capture.ticket, for: head, now: now)
        }
        abandon()
    }

    /// The response is not to be cached.
    mutating func abandon() {
        capture = nil
        head = nil
    }
}

/// The head of a sent response, as fields of which some have a value that depends on the time or the request.
struct CachedHead: Sendable {
    struct Field: Sendable {
        /// As it was sent.
        var name: String
        /// The constant part of the value, and the part behind that which is written each time.
        var before: String
        var changing: Changing?
        var after = ""
    }

    /// A value that is written each time.
    enum Changing: Sendable {
        case date
        case requestID
        case age
        /// The number behind `ttl=` in `Cache-Status`.
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
