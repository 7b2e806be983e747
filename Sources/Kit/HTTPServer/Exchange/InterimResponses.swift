public import HTTPTypes
import Synchronization

/// Sends interim responses (RFC 9110 §15.2) on a connection, ahead of the response to the request under way.
public final class InterimResponses: Sendable {
    /// Writes a response to the request with a number; is called on any thread.
    typealias Write = @Sendable (HTTPResponse, Int) -> Void

    private let write = Mutex<Write?>(nil)
    private let number = Atomic(0)

    /// Creates those of a connection that sends none.
    init() {}

    /// The number of the request under way.
    var request: Int { number.load(ordering: .relaxed) }

    /// The connection is there.
    func opened(_ write: @escaping Write) { self.write.withLock { $0 = write } }

    /// The connection is closed.
    func closed() { write.withLock { $0 = nil } }

    /// A request begins. To be called on the event loop, before the application sees it.
    func requestBegan() { number.add(1, ordering: .relaxed) }

    /// Returns what sends interim responses to the request under way, and nothing once its response has begun.
    public func sender() -> @Sendable (HTTPResponse) -> Void {
        let request = request
        return { [self] response in
            let write = write.withLock { $0 }
            write?(response, request)
        }
    }
}
