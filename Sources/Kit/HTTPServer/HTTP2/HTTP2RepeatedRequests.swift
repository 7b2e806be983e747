import Foundation
import NIOCore

/// The last requests of a connection whose responses were cached, by the bytes of their header blocks. As
/// ``RepeatedHead``, it knows where the response is, not the response.
///
/// A block is known as long as the table by which NIO decodes it stays as it is: ``forget()`` it otherwise.
final class HTTP2RepeatedRequests {
    private struct Request {
        let block: ByteBuffer
        var place: ResponseCache.Place
        var used: NIODeadline
    }

    /// Requests that are known at once.
    static let most = 8
    /// Longest block that is known, in bytes.
    static let longest = 1024
    /// How soon a request has to be repeated: a client that asks less often is served by NIO, whose header blocks are
    /// smaller, since they refer to earlier ones.
    static let time = TimeAmount.seconds(1)

    private var known: [Request] = []
    /// The request that NIO is decoding.
    private var candidate: (stream: Int, block: ByteBuffer)?

    /// The table of the decoder has changed.
    func forget() { known.removeAll(keepingCapacity: true) }

    /// NIO gets a request next, or has got it.
    func offer(_ candidate: (stream: Int, block: ByteBuffer)?) {
        self.candidate = candidate.flatMap { $0.block.readableBytes <= Self.longest ? $0 : nil }
    }

    /// The response to the request that NIO is decoding was found at a place.
    ///
    /// - Parameter head: The request in the terms of HTTP/1.1.
    func note(_ head: ByteBuffer, on stream: Int, at place: ResponseCache.Place, now: NIODeadline) {
        guard let candidate, candidate.stream == stream else { return }
        if let index = known.firstIndex(where: { $0.block == candidate.block }) {
            known[index].place = place
            known[index].used = now
            return
        }
        // What has an identity of its own is not repeated.
        guard RequestIdentities.wanted(in: head) == nil, SignificantHead.traceID(of: head) == nil else { return }
        if known.count == Self.most, let oldest = known.indices.min(by: { known[$0].used < known[$1].used }) {
            known.remove(at: oldest)
        }
        // A copy: what arrived is a slice of a whole read.
        known.append(Request(block: ByteBuffer(bytes: candidate.block.readableBytesView), place: place, used: now))
    }

    /// Returns where the response to a request is, if it was made a short time before.
    func place(of block: UnsafeRawBufferPointer, now: NIODeadline) -> ResponseCache.Place? {
        guard let index = known.firstIndex(where: { Self.isSame($0.block, block) }),
            now - known[index].used <= Self.time
        else { return nil }
        known[index].used = now
        return known[index].place
    }

    private static func isSame(_ known: ByteBuffer, _ block: UnsafeRawBufferPointer) -> Bool {
        guard known.readableBytes == block.count, let new = block.baseAddress else { return false }
        return known.withUnsafeReadableBytes { $0.baseAddress.map { memcmp($0, new, block.count) == 0 } ?? false }
    }
}
