import HTTPSemantics
import HTTPTypes
import Upstream

/// Selects the request fields that a mount forwards.
///
/// A list of what may pass, since no list of what may not is complete: upstreams and their frameworks obey fields such
/// as `X-Forwarded-Host`, `X-Original-URL` and `X-HTTP-Method-Override` without naming them in `Vary`, so that one
/// client could shape the response that is stored for all, or send another method than the mount allows.
enum ForwardedFields {
    /// Fields of RFC 9110, 9111 and 7240 whose meaning upstream and cache share.
    private static let standard: Set<HTTPField.Name> = [
        .accept, .acceptCharset, .acceptEncoding, .acceptLanguage,
        .cacheControl, .pragma,
        .contentEncoding, .contentLanguage, .contentLocation, .contentRange, .contentType, .lastModified,
        .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .range,
        .maxForwards, .prefer, .userAgent, .via,
    ]
    /// Fields that identify the client. They are forwarded by a mount that is not shared.
    static let credentials: [HTTPField.Name] = [.authorization, .cookie]

    /// Returns the fields of a client's request that concern the upstream, the client's credentials included.
    static func selected(from fields: HTTPFields, _ options: MountOptions) -> HTTPFields {
        var fields = fields
        HopByHop.remove(from: &fields)
        let named = Set(options.requestFields.map(\.name))
        fields.removeAll {
            !standard.contains($0.name) && !credentials.contains($0.name) && !named.contains($0.name)
        }
        return fields
    }

    /// Adds to the `Vary` of a response the fields by which the operator has it stored.
    static func addKeys(to fields: inout HTTPFields, _ options: MountOptions) {
        let keys = options.requestFields.filter(\.isKey).map(\.name.rawName)
        if !keys.isEmpty { fields.append(HTTPField(name: .vary, value: keys.joined(separator: ", "))) }
    }
}
