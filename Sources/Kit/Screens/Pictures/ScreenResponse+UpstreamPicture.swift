package import Foundation
package import Freshness
import HTTPTypes
package import Upstream

extension ScreenResponse {
    /// Returns a picture of an upstream, or the placeholder if there is none, or if it cannot be fetched or shown.
    ///
    /// The placeholder is not stored. If it takes the place of a picture that was requested, `Cache-Status` says what
    /// became of that request.
    /// - Parameters:
    ///   - find: Reads from the store where the picture is (``Upstream/Resource/picture(at:maximumBytes:)``); nil if
    ///     there is none.
    ///   - upstream: The upstream that named the picture.
    ///   - cachePolicy: How the picture may be served from the store.
    ///   - clock: The clock that `Age` is counted with.
    ///   - changeToken: For how long the picture of the request has this URL.
    ///   - adapt: Returns the bytes to show for those of the picture, such as a smaller picture; nil for the
    ///     placeholder.
    /// - Throws: `UpstreamFailure` if only a stored picture is accepted and there is none; `StorageError`,
    ///   `CancellationError`, and what `adapt` throws.
    package static func picture(
        _ find: () throws -> Resource?,
        of upstream: Upstream,
        _ cachePolicy: CachePolicy,
        clock: WallClock,
        changeToken: ChangeToken,
        adapt: (Data) async throws -> Data? = { $0 }
    ) async throws -> ScreenResponse {
        do {
            guard let (result, body) = try await upstream.readBody(cachePolicy, found: find) else {
                return .placeholder()
            }
            guard let body, let bytes = try await adapt(body), let type = PictureType(of: bytes) else {
                return .placeholder(for: result.provenance)
            }
            return .picture(
                bytes,
                type: type,
                provenance: result.provenance,
                now: clock.now(),
                changeToken: result.changeToken?.and(changeToken)
            )
        } catch UpstreamError.notStored {
            throw UpstreamFailure(.notStored, of: upstream)
        } catch let error as UpstreamError {
            return .placeholder(after: error)
        }
    }
}
