import HTTPTypes

/// The form in which an API refuses a request: what tells its own 4xx responses from those of something in between,
/// such as a proxy, a captive portal or
/// another server at a wrong address.
///
/// A refusal in the API's own form is news about what was asked for. A 4xx response in any other form is a failure of
/// the upstream: a stored copy is served
/// in its place and nothing that is stored is removed.
public struct ErrorForm: Sendable {
    private let isOwn: @Sendable (IncomingResponse) -> Bool

    /// Describes the form by a test of one 4xx response.
    ///
    /// - Parameter isOwn: whether the API itself sent it.
    public init(_ isOwn: @escaping @Sendable (IncomingResponse) -> Bool) {
        self.isOwn = isOwn
    }

    /// The form of an API none of whose 4xx responses is news.
    public static let none = ErrorForm { _ in false }

    /// Most bytes of a refusal that are handed on; a path of the Disk quoted twice fits.
    private static let longestRefusal = 256 << 10

    /// Returns for a response that is no client error (RFC 9110 §15.5).
    ///
    /// - Throws: ``UpstreamError/rejected(status:body:)`` for a refusal in this form,
    ///   ``UpstreamError/badResponse(status:reason:)`` for another one, and for
    ///   407, which only a proxy sends.
    func check(_ response: IncomingResponse) throws(UpstreamError) {
        guard response.status.kind == .clientError else { return }
        guard response.status != .proxyAuthenticationRequired, isOwn(response) else {
            throw .badResponse(
                status: response.status,
                reason: "status \(response.status.code), not in the form of its own refusals"
            )
        }
        throw .rejected(status: response.status, body: Array(response.body.prefix(Self.longestRefusal)))
    }
}
