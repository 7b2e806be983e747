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
    /// - Parameter isLast: Whether the connection closes after it, and the response announces that.
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
