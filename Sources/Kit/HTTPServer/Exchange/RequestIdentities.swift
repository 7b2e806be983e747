import HTTPSemantics
import Synchronization

/// The identity of a request that is responded to from the response cache.
enum RequestIdentity: CustomStringConvertible, Sendable {
    /// The client's own.
    case wanted(String)
    /// One that Larder assigned.
    case assigned(RequestIdentities.Number)

    /// The text of `X-Request-Id`.
    var description: String {
        switch self {
        case .wanted(let text): text
        case .assigned(let number): number.description
        }
    }
}

/// Assigns identities to requests: the client's own `X-Request-Id` if it is harmless, else the run of the server and a
/// sequence number.
public final class RequestIdentities: Sendable {
    /// An identity that Larder assigned.
    public struct Number: CustomStringConvertible, Sendable {
        let run: String
        let number: Int

        /// Run and number.
        public var description: String { "\(run)-\(number)" }
    }

    private let run: String
    private let lastNumber = Atomic(0)

    /// Creates the identities of a run of the server.
    public init(run: String) {
        self.run = run
    }

    /// Returns the client's own identity if it is harmless, else the next one.
    public func identity(wanted: String?) -> String {
        if let wanted, Self.isHarmless(wanted) { return wanted }
        return next().description
    }

    /// Returns the next identity.
    func next() -> Number {
        Number(run: run, number: lastNumber.add(1, ordering: .relaxed).newValue)
    }

    /// Whether a text has at most 128 characters, none of which can break a log line or a header field.
    static func isHarmless(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "-.:_".utf8.contains($0) }
    }
}
