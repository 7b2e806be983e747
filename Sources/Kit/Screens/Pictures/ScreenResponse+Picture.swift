public import Foundation
public import Freshness
public import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Upstream

extension ScreenResponse {
    /// Responds with a picture of an upstream. Its type follows from its bytes, whatever the upstream declared.
    public static func picture(
        _ bytes: Data,
        type: PictureType,
        provenance: Provenance,
        now: Date,
        changeToken: ChangeToken? = nil
    ) -> ScreenResponse {
        var fields: HTTPFields = [
            .cacheControl: "private, max-age=3600", .vary: "Authorization",
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        fields.add(provenance, now: now)
        return ScreenResponse(headerFields: fields, body: .bytes(bytes, type: type.rawValue), changeToken: changeToken)
    }

    /// Responds with a picture that Larder made of its own data. Clients revalidate it each time, which its entity tag
    /// makes cheap: the same address shows another picture after a change.
    public static func localPicture(_ bytes: Data, type: String, changeToken: ChangeToken? = nil) -> ScreenResponse {
        let fields: HTTPFields = [
            .cacheControl: "private, no-cache", .vary: "Authorization",
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        return ScreenResponse(headerFields: fields, body: .bytes(bytes, type: type), changeToken: changeToken)
    }

    /// Responds with the picture that is shown if there is none: 200, so that front ends need no special case;
    /// `detail=placeholder` in `Cache-Status` tells the difference.
    public static func placeholder(_ cacheStatus: CacheStatus) -> ScreenResponse {
        let fields: HTTPFields = [.cacheControl: "no-store", .cacheStatus: cacheStatus.member(of: "larder")]
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(PackageResources.placeholder_png), type: PictureType.png.rawValue),
            hasValidator: false
        )
    }
}
