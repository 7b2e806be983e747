package import Foundation
import HTTPTypes

/// A problem as it is written: RFC 9457 with the members of docs/contract.md, "Problems".
package struct ProblemDocument: Encodable, Sendable {
    /// `urn:larder:problem:<code>`.
    package var type: String
    /// The same for all problems of a code.
    package var title: Text
    /// HTTP status.
    package var status: Int
    /// What happened this time.
    package var detail: Text
    /// Path of the request.
    package var instance: String
    /// The code by itself.
    package var code: String
    /// Always `error`: the fourth state of a screen.
    package var state = "error"
    /// Whether an upstream is unreachable.
    package var offline: Bool
    /// Whether the same request may succeed later.
    package var retryable: Bool
    /// The upstream that caused it, or null.
    @Nullable package var upstream: Problem.UpstreamCause?
    /// The fields at fault.
    package var errors: [Problem.FieldError]
    /// What an app shows.
    package var dialog: Problem.Dialog
    /// The screen that shows what the client needs to know now; left out if there is none.
    package var href: Link?
    /// What the client can do instead; left out if there is nothing.
    package var actions: [Action]?

    /// Creates the document of a problem.
    /// - Parameter instance: path of the request without its query, which may hold private data
    package init(_ problem: Problem, instance: String) {
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
    package func bytes() throws -> Data { try WireFormat.encode(self) }
}
