package import Concurrency
package import HTTPTypes
import Synchronization

/// Facts about the response under way that its bytes do not have. The connection reads it when the
/// response begins.
///
/// A connection has one, since at most one request is under way on it; the task that serves the connection carries it
/// as a task-local value. Nothing of it is a header field, so no client or upstream can forge it. See
/// docs/decisions/0014.
package final class ResponseAnnotations: Sendable {
    package struct Values: Sendable {
        /// How long the same request has the same response apart from its age; nil if the response is not to be cached.
        package var changeToken: ChangeToken?
        /// `Date` of a response that another origin has generated. RFC 9110 §6.6.1: it is not to be replaced.
        package var originDate: String?
        /// Whether the response depends on the language that `Accept-Language` selects and on the cookies of sessions
        /// in `Cookie`, and not on these fields themselves.
        package var isSelective = false
        /// The record that is counted and logged each time when the response is sent from the response cache.
        package var record: RequestRecord?
        /// Whether the request is one of many that have one line of the log together.
        package var isLoggedWithOthers = false
    }

    /// Those of the connection that the current task serves.
    @TaskLocal package static var ofConnection: ResponseAnnotations?

    /// Whether the client of the connection is still there.
    package let presence = ClientPresence()
    /// Interim responses to the request under way.
    package let interim = InterimResponses()
    private let state = Mutex(Values())

    package init() {}

    /// The annotations of the response under way.
    package var values: Values { state.withLock { $0 } }

    /// Changes the annotations of the response under way.
    package func update(_ change: (inout Values) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Returns the annotations and forgets them.
    func take() -> Values {
        state.withLock { values in
            defer { values = Values() }
            return values
        }
    }
}

/// Whether the client of a connection is still connected, for work that is otherwise cancelled.
///
/// A client that has closed its output may still read: only a write shows that it has closed. So the connection sends
/// `102 Processing` while such work runs (RFC 2518 §10.1; RFC 9110 §15.2: a client may ignore interim responses). A
/// client that has closed its socket resets the connection then. The response is sent again at intervals, because a
/// client may take the first one and close its socket afterwards.
package final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        /// Writes to a client that has closed its output; nil until it has.
        var probe: (@Sendable () -> Void)?
        var work: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// Creates the presence of a connected client.
    package init() {}

    /// Runs `body` in a task that is cancelled if the client disconnects.
    ///
    /// - Throws: `CancellationError` if the client has already disconnected; errors of `body`.
    package func whilePresent<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        // A task begins at once: one that is cancelled afterwards may have done its work.
        if state.withLock({ $0.hasLeft }) { throw CancellationError() }
        let task = Task { try await body() }
        let number = begin { task.cancel() }
        defer { end(number) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// The client has closed its output.
    ///
    /// - Parameter probe: writes to it, at once and at intervals while work is running; is called on any thread.
    func outputClosed(probe: @escaping @Sendable () -> Void) {
        let isNeeded = state.withLock { state in
            state.probe = probe
            return !state.work.isEmpty
        }
        if isNeeded { probe() }
    }

    /// The connection is closed.
    func left() {
        let work = state.withLock { state in
            state.hasLeft = true
            state.probe = nil
            defer { state.work = [:] }
            return state.work.values
        }
        for cancel in work { cancel() }
    }

    /// Whether work is running that is cancelled if the client disconnects.
    var isAwaited: Bool { state.withLock { !$0.work.isEmpty } }

    /// Registers work, and writes to a client that has closed its output.
    ///
    /// - Returns: the number under which the work ends.
    func begin(_ cancel: @escaping @Sendable () -> Void) -> Int {
        let (number, hasLeft, probe) = state.withLock { state in
            state.nextNumber += 1
            if !state.hasLeft { state.work[state.nextNumber] = cancel }
            return (state.nextNumber, state.hasLeft, state.probe)
        }
        if hasLeft { cancel() } else { probe?() }
        return number
    }

    /// The work has ended.
    func end(_ number: Int) {
        state.withLock { $0.work[number] = nil }
    }
}

/// Sends interim responses (RFC 9110 §15.2) on a connection, ahead of the response to the request under way.
package final class InterimResponses: Sendable {
    /// Writes a response to the request with a number; is called on any thread.
    typealias Write = @Sendable (HTTPResponse, Int) -> Void

    private let write = Mutex<Write?>(nil)
    private let number = Atomic(0)

    /// Creates those of a connection that sends none.
    init() {}

    /// The number of the request under way.
    var request: Int { number.load(ordering: .relaxed) }

    func opened(_ write: @escaping Write) { self.write.withLock { $0 = write } }

    func closed() { write.withLock { $0 = nil } }

    /// A request begins. To be called on the event loop, before the application sees it.
    func requestBegan() { number.add(1, ordering: .relaxed) }

    /// Returns a closure that sends interim responses to the request under way, until its response begins.
    package func sender() -> @Sendable (HTTPResponse) -> Void {
        let request = request
        return { [self] response in
            let write = write.withLock { $0 }
            write?(response, request)
        }
    }
}
