public import Foundation
import HTTPTypes

/// A problem as it is written: RFC 9457 with the members of docs/contract.md, "Problems".
public struct ProblemDocument: Encodable, Sendable {
    /// `urn:larder:problem:<code>`.
    public var type: String
    /// The same for all problems of a code.
    public var title: Text
    /// HTTP status.
    public var status: Int
    /// What happened this time.
    public var detail: Text
    /// Path of the request.
    public var instance: String
    /// The code by itself.
    public var code: String
    /// Always `error`: the fourth state of a screen.
    public var state = "error"
    /// Whether an upstream is unreachable.
    public var offline: Bool
    /// Whether the same request may succeed later.
    public var retryable: Bool
    /// The upstream that caused it, or null.
    @Nullable public var upstream: Problem.UpstreamCause?
    /// The fields at fault.
    public var errors: [Problem.FieldError]
    /// What an app shows.
    public var dialog: Problem.Dialog
    /// The screen that shows what the client needs to know now; left out if there is none.
    public var href: Link?
    /// What the client can do instead; left out if there is nothing.
    public var actions: [Action]?

    /// Creates the document of a problem.
    /// - Parameter instance: path of the request without its query, which may hold private data
    public init(_ problem: Problem, instance: String) {
        type = "urn:larder:problem:\(problem.code.rawValue)"
        title = problem.code.title
        status = problem.code.status.code
        detail = problem.detail
        self.instance = instance
        code = problem.code.rawValue
        offline = problem.offline
        retryable = problem.code.isRetryable
        _upstream = Nullable(wrappedValue: problem.upstream)
        errors = problem.errors
        dialog = problem.dialog ?? Problem.Dialog(message: problem.message)
        href = problem.href
        actions = problem.actions
    }

    /// Returns the document's bytes.
    /// - Throws: `EncodingError`.
    public func bytes() throws -> Data { try WireFormat.encode(self) }
}
