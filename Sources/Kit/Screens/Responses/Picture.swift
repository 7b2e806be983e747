package import Concurrency
package import Foundation
package import HTTP
import HTTPTypes
package import Media
import MediaFormats
package import Upstream

extension ScreenResponse {
    /// Responds with a picture of an upstream. Its type follows from its bytes, whatever the upstream declared.
    ///
    /// Clients revalidate it each time, which its entity tag makes cheap: the same address shows another picture once
    /// its row has another one, and none after a logout. A lifetime would also be over on arrival for a picture that is
    /// older, because `Age` counts from the last validation by the upstream.
    package static func picture(
        _ bytes: Data,
        type: PictureType,
        provenance: Provenance,
        now: Date,
        changeToken: ChangeToken? = nil
    ) -> ScreenResponse {
        var response = localPicture(bytes, type: type.rawValue, changeToken: changeToken)
        response.headerFields.add(provenance, now: now)
        return response
    }

    /// Responds with a picture that Larder made of its own data. Clients revalidate it each time, which its entity tag
    /// makes cheap: the same address shows another picture after a change.
    package static func localPicture(_ bytes: Data, type: String, changeToken: ChangeToken? = nil) -> ScreenResponse {
        let fields: HTTPFields = [
            .cacheControl: "private, no-cache", .vary: "Authorization, Cookie",
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        return ScreenResponse(headerFields: fields, body: .bytes(bytes, type: type), changeToken: changeToken)
    }

    /// Responds with the picture that is shown if there is none: 200, so that front ends need no special case;
    /// `detail=placeholder` in `Cache-Status` tells the difference.
    ///
    /// - Parameter provenance: Of the body that is no picture; nil if there is none, for example because the picture
    ///   has no address.
    package static func placeholder(for provenance: Provenance? = nil) -> ScreenResponse {
        var cacheStatus = CacheStatus(.generated)
        // `fwd` only if the request was forwarded (RFC 9211 section 2.2).
        if let status = provenance?.cacheStatus, case .forward = status.handling { cacheStatus = status }
        cacheStatus.detail = "placeholder"
        return placeholder(cacheStatus)
    }

    /// Responds with the placeholder because a picture could not be fetched. `Cache-Status` has `fwd` only if a request
    /// was sent.
    package static func placeholder(after error: UpstreamError) -> ScreenResponse {
        placeholder(
            error.wasSent
                ? CacheStatus(.forward(.uriMiss), forwardStatus: error.status?.code, detail: "placeholder")
                : CacheStatus(.generated, detail: "placeholder")
        )
    }

    private static func placeholder(_ cacheStatus: CacheStatus) -> ScreenResponse {
        let fields: HTTPFields = [.cacheControl: "no-store", .cacheStatus: cacheStatus.member(of: "larder")]
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(PackageResources.placeholder_png), type: PictureType.png.rawValue),
            hasValidator: false
        )
    }

    /// Returns a picture of an upstream, or the placeholder if there is none, or if it cannot be fetched or shown.
    ///
    /// The placeholder is not stored. If it takes the place of a picture that was requested, `Cache-Status` describes
    /// the result of that request.
    /// - Parameters:
    ///   - find: Reads from the store where the picture is (`Resource.picture(at:maximumBytes:)`); nil if
    ///     there is none.
    ///   - upstream: The upstream that named the picture.
    ///   - cachePolicy: How the picture may be served from the store.
    ///   - clock: The clock that `Age` is counted with.
    ///   - changeToken: For how long the picture of the request has this URL.
    ///   - adapt: Returns the bytes to show for those of the picture, such as a smaller picture; nil for the
    ///     placeholder.
    /// - Throws: `UpstreamFailure` if only a stored picture is accepted and there is none; `StorageError`,
    ///   `CancellationError`, and errors of `adapt`.
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

extension Resource {
    /// Returns the resource of a picture, wherever an upstream says that it is.
    ///
    /// Only bodies that are a whole picture are stored. Pictures do not change, so a stored one never becomes stale.
    /// - Parameters:
    ///   - url: Absolute URL.
    ///   - maximumBytes: Largest picture that is accepted, in bytes; nil for the upstream's limit.
    package static func picture(at url: String, maximumBytes: Int? = nil) -> Resource {
        var resource = Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            validate: { response throws(UpstreamError) in
                guard PictureType(of: response.body) != nil else {
                    throw .badResponse(status: response.status, reason: "not a picture")
                }
                guard PictureFormat.isComplete(response.body) else {
                    throw .badResponse(status: response.status, reason: UpstreamError.cutShort)
                }
                if let maximumBytes, response.body.count > maximumBytes {
                    throw .badResponse(
                        status: response.status,
                        reason: "a picture of over \(maximumBytes >> 10) KiB"
                    )
                }
                return .none
            }
        )
        resource.isPicture = true
        return resource
    }
}

/// A picture format that all browsers show; detected by the first bytes of a body, because hosts of pictures send text
/// under names that end in `.jpg`.
package enum PictureType: String, Sendable {
    /// JFIF, Exif and other JPEG streams.
    case jpeg = "image/jpeg"
    /// PNG, APNG.
    case png = "image/png"
    /// GIF 87a and 89a.
    case gif = "image/gif"
    /// WebP in its RIFF container.
    case webp = "image/webp"

    /// Reads the type from the first bytes of a body.
    ///
    /// - Returns: nil for every other format.
    package init?(of bytes: some Sequence<UInt8>) {
        guard let format = PictureFormat(signature: bytes) else { return nil }
        self.init(rawValue: format.mediaType)
    }
}

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
                // The height is no limit: no picture that may be stored is higher than this at that width.
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
