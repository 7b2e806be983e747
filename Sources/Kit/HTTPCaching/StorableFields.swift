import Foundation
import HTTPTypes

extension CachingRules {
    /// The header fields of a response that may be kept. RFC 9111 §3.1.
    ///
    /// Beside connection fields, those go that `no-cache` and (in a shared cache) `private` name: to keep the rest and
    /// forget them fulfils both (§5.2.2.4, §5.2.2.7). A shared cache keeps no `Set-Cookie`: a cookie is for the one who
    /// was given it (§7.3).
    func storableFields(of fields: HTTPFields, directives: ResponseDirectives, responseTime: Date) -> HTTPFields {
        var kept = fields
        var dropped = HopByHop.proxyFields.union(directives.restrictedFields(shared: shared))
        if shared { dropped.insert(.setCookie) }
        dropped.insert(.trailer)
        HopByHop.remove(from: &kept)
        kept.removeAll(named: dropped)
        // RFC 9110 §6.6.1: a recipient with a clock adds the date that is missing.
        if !kept.contains(.date) { kept[.date] = HTTPDate.format(responseTime) }
        return kept
    }
}
