public import Freshness
import Synchronization

/// What the application knows of the response under way and its bytes do not say. The connection reads it when the
/// response begins.
///
/// A connection has one, since at most one request is under way on it; the task that serves the connection carries it
/// as a task-local value. Nothing of it is a header field, so no client or upstream can forge it. See
/// docs/decisions/0014.
public final class ResponseAnnotations: Sendable {
    /// The annotations of one response.
    public struct Values: Sendable {
        /// How long the same request has the same response apart from its age; nil if the response is not to be cached.
        public var changeToken: ChangeToken?
        /// `Date` of a response that another origin has generated. RFC 9110 §6.6.1: it is not to be replaced.
        public var originDate: String?
        /// Whether the response depends on the language that `Accept-Language` selects and on the cookies of sessions
        /// in `Cookie`, and not on these fields themselves.
        public var isSelective = false
        /// What is counted and logged each time when the response is sent from the response cache.
        public var record: RequestRecord?
    }

    /// Those of the connection that the current task serves.
    @TaskLocal public static var ofConnection: ResponseAnnotations?

    /// Whether the client of the connection is still there.
    public let presence = ClientPresence()
    /// Interim responses to the request under way.
    public let interim = InterimResponses()
    private let state = Mutex(Values())

    /// Creates empty annotations.
    public init() {}

    /// The annotations of the response under way.
    public var values: Values { state.withLock { $0 } }

    /// Changes the annotations of the response under way.
    public func update(_ change: (inout Values) -> Void) {
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
