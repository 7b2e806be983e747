import HTTPTypes

/// The form in which an API refuses a request. It tells the API's own 4xx responses from those of something in between,
/// such as a proxy, a captive portal or another server at a wrong address.
///
/// A refusal in the API's own form is news of the resource. A 4xx response in any other form is a failure of the
/// upstream: a stored copy is served in its place, and nothing that is stored is removed.
public struct ErrorForm: Sendable {
    private let isOwn: @Sendable (IncomingResponse) -> Bool
    private let passing: Set<Int>

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - passing: Status codes of refusals that say nothing of the resource because they will pass, such as 423. They
    ///     count as failures of the upstream.
    ///   - isOwn: Whether the API itself has sent a 4xx response.
    public init(passing: Set<Int> = [], _ isOwn: @escaping @Sendable (IncomingResponse) -> Bool) {
        self.passing = passing
        self.isOwn = isOwn
    }

    /// The form of an API whose 4xx responses all count as failures.
    public static let none = ErrorForm { _ in false }

    /// Largest part of a refusal's body that is kept, in bytes; a path of the Disk quoted twice fits.
    private static let longestRefusal = 256 << 10

    /// Checks that a response is no client error (RFC 9110 §15.5).
    ///
    /// - Throws: ``UpstreamError/rejected(status:body:)`` for a refusal in this form,
    ///   ``UpstreamError/failing(status:retryAfter:)`` for one that will pass,
    ///   ``UpstreamError/badResponse(status:reason:)`` for another one, and for 407, which only a proxy sends.
    func check(_ response: IncomingResponse) throws(UpstreamError) {
        guard response.status.kind == .clientError else { return }
        guard response.status != .proxyAuthenticationRequired, isOwn(response) else {
            throw .badResponse(
                status: response.status,
                reason: "status \(response.status.code), not in the form of its own refusals"
            )
        }
        if passing.contains(response.status.code) { throw .failing(status: response.status, retryAfter: nil) }
        throw .rejected(status: response.status, body: Array(response.body.prefix(Self.longestRefusal)))
    }
}
