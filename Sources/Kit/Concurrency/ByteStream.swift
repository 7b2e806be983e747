package import NIOCore

/// A body in parts, produced on demand: a slow consumer holds the source back.
package struct ByteStream: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    /// Gives the next part, nil at the end.
    package typealias Next = () async throws -> ByteBuffer?

    private let begin: @Sendable () -> Next

    /// A stream that each iteration begins again, if its source can.
    package init(begin: @escaping @Sendable () -> Next) {
        self.begin = begin
    }

    /// The parts of a sequence.
    package init<Parts: AsyncSequence & Sendable>(_ parts: Parts) where Parts.Element == ByteBuffer {
        self.init {
            var iterator = parts.makeAsyncIterator()
            return { try await iterator.next() }
        }
    }

    /// These bytes in one part.
    package init(_ bytes: ByteBuffer) {
        self.init {
            var rest: ByteBuffer? = bytes.readableBytes > 0 ? bytes : nil
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Returns the same parts. The source is asked for the next one only when `caughtUp` has returned after the one
    /// before: for a reader that is ready before it has processed anything.
    package func paced(by caughtUp: @escaping @Sendable () async throws -> Void) -> ByteStream {
        ByteStream { [begin] in
            let next = begin()
            var isFirst = true
            return {
                if !isFirst { try await caughtUp() }
                isFirst = false
                return try await next()
            }
        }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(next: begin()) }

    package struct Iterator: AsyncIteratorProtocol {
        let next: Next

        /// The next part, nil at the end.
        ///
        /// - Throws: The errors of the source.
        package func next() async throws -> ByteBuffer? { try await next() }
    }

    /// Collects the whole body.
    ///
    /// - Parameter limit: Largest body in bytes.
    /// - Throws: `NIOTooManyBytesError` for a larger one; errors of the source.
    package func collect(upTo limit: Int) async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await part in self {
            guard whole.readableBytes + part.readableBytes <= limit else { throw NIOTooManyBytesError(maxBytes: limit) }
            whole.writeImmutableBuffer(part)
        }
        return whole
    }
}
