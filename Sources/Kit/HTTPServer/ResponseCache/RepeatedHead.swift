import Foundation
import NIOCore

/// The head of the last hit of a connection, and where its response is cached. Clients repeat requests: a head of the
/// same bytes need not be taken apart and looked up again.
struct RepeatedHead {
    /// Longest head that is kept with a connection, in bytes.
    private static let longest = 2048

    private(set) var bytes = ByteBuffer()
    /// Where the response was found; nil without a head.
    private(set) var place: ResponseCache.Place?
    /// The client's own identity for the request; nil if it gets one.
    private(set) var wantedID: String?

    /// Returns the place if these bytes begin with the head. Its last line is empty, so it is a whole head there, too.
    func place(in other: ByteBuffer) -> ResponseCache.Place? {
        let count = bytes.readableBytes
        guard let place, other.readableBytes >= count else { return nil }
        let isSame = bytes.withUnsafeReadableBytes { known in
            other.withUnsafeReadableBytes { new in
                guard let known = known.baseAddress, let new = new.baseAddress else { return false }
                return memcmp(known, new, count) == 0
            }
        }
        return isSame ? place : nil
    }

    /// Notes a hit.
    mutating func note(_ head: ByteBuffer, at place: ResponseCache.Place, wantedID: String?) {
        // A copy: what arrived is a slice of a whole read.
        bytes.clear()
        let isShort = head.readableBytes <= Self.longest
        if isShort { bytes.writeImmutableBuffer(head) }
        self.place = isShort ? place : nil
        self.wantedID = wantedID
    }
}
