import NIOCore
import NIOHPACK

/// The header block of a cached response in the bytes of HPACK, without what depends on the time and the request. It
/// refers to no table but the static one and adds to none (RFC 7541 §6.2.2), so it is the same on every connection.
struct CachedBlock: Sendable {
    /// A part of the block; the values that change are strings (RFC 7541 §5.2), as is what follows their names.
    enum Piece: Sendable {
        case bytes([UInt8])
        case date
        case requestID
        case age
        case timeToLive(before: String, after: String)
    }

    /// Largest block, in bytes, that every client takes in one frame (RFC 9113 §4.2).
    static let largest = 16_384

    private(set) var pieces: [Piece] = []
    /// Largest number of bytes of the block.
    private(set) var size = 0

    /// Whether there is a block: not of a response that HTTP/2 does not allow, or whose block is not one frame.
    var isComplete: Bool { !pieces.isEmpty }

    /// Names that no header block may have (RFC 9113 §8.2.2).
    private static let ofConnections = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    init(_ head: CachedFields) {
        guard !head.fields.contains(where: { Self.ofConnections.contains($0.name) }) else { return }
        do {
            try encode(head)
        } catch {
            // NIO sends it, if that can.
            pieces = []
        }
    }

    private mutating func encode(_ head: CachedFields) throws {
        var (pieces, fixed) = ([Piece](), try Self.field(":status", head.status))
        for field in head.fields {
            let piece: Piece
            switch field.value {
            case .fixed(let value):
                fixed += try Self.field(field.name, value)
                continue
            case .date: piece = .date
            case .requestID: piece = .requestID
            case .age: piece = .age
            case .timeToLive(let before, let after):
                piece = .timeToLive(before: before, after: after)
                size += before.utf8.count + after.utf8.count
            }
            // The name, without the string that follows it.
            fixed += try Self.literal(field.name, "").dropLast()
            pieces += [.bytes(fixed), piece]
            size += fixed.count
            fixed = []
        }
        pieces.append(.bytes(fixed))
        // As ``CachedBytes/size``.
        size += fixed.count + 256
        if size <= Self.largest { self.pieces = pieces }
    }

    /// Returns a field by its index in the static table if it is there, else as a literal.
    private static func field(_ name: String, _ value: String) throws -> [UInt8] {
        let indexed = try encoded(name, value, .indexable)
        return indexed.count == 1 ? indexed : try literal(name, value)
    }

    private static func literal(_ name: String, _ value: String) throws -> [UInt8] {
        try encoded(name, value, .nonIndexable)
    }

    /// Encodes a field as the first one of a connection.
    private static func encoded(_ name: String, _ value: String, _ indexing: HPACKIndexing) throws -> [UInt8] {
        var (encoder, bytes) = (HPACKEncoder(allocator: ByteBufferAllocator()), ByteBuffer())
        var field = HPACKHeaders()
        field.add(name: name, value: value, indexing: indexing)
        try encoder.encode(headers: field, to: &bytes)
        return Array(buffer: bytes)
    }
}
