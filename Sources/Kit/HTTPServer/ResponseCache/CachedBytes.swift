import Freshness
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
