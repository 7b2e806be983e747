import Foundation
import HTTPSemantics
import HTTPTypes

extension CachingRules {
    /// Fields about a proxy, which a cache does not store. RFC 9111 §3.1.
    private static let proxyFields: Set<HTTPField.Name> = [
        .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
    ]

    /// Returns the header fields of a response that may be stored. RFC 9111 §3.1.
    ///
    /// Besides connection fields, those are removed that `no-cache` and (in a shared cache) `private` name: to store
    /// the rest without them fulfils both (§5.2.2.4, §5.2.2.7). A shared cache stores no `Set-Cookie`: a cookie is for
    /// one client only (§7.3).
    func storableFields(of fields: HTTPFields, directives: ResponseDirectives, responseTime: Date) -> HTTPFields {
        var kept = fields
        var dropped = Self.proxyFields.union(directives.restrictedFields(shared: shared))
        if shared { dropped.insert(.setCookie) }
        dropped.insert(.trailer)
        HopByHop.remove(from: &kept)
        kept.removeAll(named: dropped)
        // RFC 9110 §6.6.1: a recipient with a clock adds the date that is missing.
        if !kept.contains(.date) { kept[.date] = HTTPDate.format(responseTime) }
        return kept
    }
}
