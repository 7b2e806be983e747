package import Foundation
package import Freshness
import HTTPCaching
import HTTPSemantics
import HTTPTypes
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

    /// Responds with the placeholder because a picture could not be had. `Cache-Status` has `fwd` only if a request was
    /// sent.
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
}
