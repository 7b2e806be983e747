/// Counts bytes that arrived and have not become a head or a body. The decoder bounds names and values, but reads chunk
/// extensions and empty lines without a limit.
///
/// Counts are totals of the connection. A read that completes a part forgives what else was in it, so the bound is
/// exact to one read.
struct UnparsedByteCounter {
    /// How many bytes of framing one byte of body pays for: a chunk of one byte takes six.
    private static let framingPerBodyByte = 8

    private var accounted = 0

    /// A head or the end of a request was decoded when `received` bytes had arrived.
    mutating func decodedBoundary(received: Int) {
        accounted = received
    }

    /// A piece of body was decoded when `received` bytes had arrived.
    mutating func decodedBody(bytes: Int, received: Int) {
        accounted = min(received, accounted + bytes * Self.framingPerBodyByte)
    }

    /// Bytes that had arrived got a response without reaching the decoder.
    mutating func servedFromCache(bytes: Int) {
        accounted += bytes
    }

    /// How many of the `received` bytes are still unaccounted for.
    func pending(received: Int) -> Int {
        received - accounted
    }
}
