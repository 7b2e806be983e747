package import Upstream

extension Upstream {
    /// Runs an operation and turns an `UpstreamError` that it throws into the problem that the client gets.
    ///
    /// - Parameters:
    ///   - dialog: What the app shows if the upstream is unreachable, failing or sends an unusable response; nil for
    ///     the problem's own text.
    ///   - operation: Uses this upstream.
    /// - Returns: What the operation returns.
    /// - Throws: ``UpstreamFailure``, and what else the operation throws.
    package func reportingFailures<Value>(
        dialog: Problem.Dialog? = nil,
        _ operation: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await operation()
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: self, dialog: dialog)
        }
    }
}
