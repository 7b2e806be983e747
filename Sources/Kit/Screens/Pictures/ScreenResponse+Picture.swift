public import Foundation
public import HTTPCaching
import HTTPSemantics
import HTTPTypes
public import Upstream

extension ScreenResponse {
    /// A picture of an upstream. Its type is what its bytes say, whatever the upstream called it.
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

    /// A picture that Larder made itself of data of its own. It is to be asked for again each time, which its entity
    /// tag makes cheap: the same address shows another one after a change.
    public static func localPicture(_ bytes: Data, type: String, changeToken: ChangeToken? = nil) -> ScreenResponse {
        let fields: HTTPFields = [
            .cacheControl: "private, no-cache", .vary: "Authorization",
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        return ScreenResponse(headerFields: fields, body: .bytes(bytes, type: type), changeToken: changeToken)
    }

    /// The picture that is shown where there is none. 200, so that front ends need no second way; `detail=placeholder`
    /// tells who wants to know.
    public static func placeholder(_ cacheStatus: CacheStatus) -> ScreenResponse {
        let fields: HTTPFields = [.cacheControl: "no-store", .cacheStatus: cacheStatus.member(of: "larder")]
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(PackageResources.placeholder_png), type: PictureType.png.rawValue),
            hasValidator: false
        )
    }
}
