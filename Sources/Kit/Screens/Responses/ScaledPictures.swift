package import Concurrency
import Foundation
package import Media
package import Upstream

/// Pictures of an upstream, at most as wide as a request wants them.
package struct ScaledPictures: Sendable {
    private let upstream: Upstream
    private let scaler: PictureScaler
    private let clock: WallClock
    /// Pictures that could not be scaled lately.
    private let failures = DrawingFailures()

    /// Largest width that a picture is scaled to, in pixels.
    package static let maximumWidth = 2000

    package init(of upstream: Upstream, _ scaler: PictureScaler, clock: WallClock) {
        (self.upstream, self.scaler, self.clock) = (upstream, scaler, clock)
    }

    /// Responds with a picture, or with a placeholder that is not stored.
    ///
    /// - Parameter url: Reads the address of the picture; nil for the placeholder.
    package func show(_ request: ScreenRequest, _ changeToken: ChangeToken, at url: () throws -> String?)
        async throws -> ScreenResponse
    {
        var address: String?
        let width = try request.query.integer("width", in: 1...Self.maximumWidth)
        let cachePolicy = try request.cachePolicy()
        return try await .picture(
            {
                address = try url()
                return address.map { .picture(at: $0) }
            },
            of: upstream,
            cachePolicy,
            clock: clock,
            changeToken: changeToken,
            adapt: { try await scaled($0, to: width, at: address ?? "", for: request) }
        )
    }

    /// Returns a picture that is at most `width` pixels wide; nil if the bytes are no picture or cannot be scaled.
    private func scaled(_ body: Data, to width: Int?, at url: String, for request: ScreenRequest) async throws
        -> Data?
    {
        guard let width else { return body }
        do {
            guard try scaler.header(of: .bytes(body)).width > width else { return body }
            return try await failures.drawing(url, at: clock.now) { [scaler] in
                // No picture that may be stored is higher than this when it is so narrow.
                try await request.whileClientWaits {
                    try await scaler.scale(.bytes(body), width: width, height: 16 * width).data
                }
            }
        } catch MediaError.toolMissing(let tool) {
            throw Problem(
                .toolMissing,
                "Scaling pictures needs \(tool.executable) of the Debian package \(tool.package); "
                    + "without width the picture comes as it is."
            )
        } catch is MediaError {
            return nil
        }
    }
}
