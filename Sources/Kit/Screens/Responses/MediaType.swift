import HTTPSemantics

/// Media types that Larder writes itself.
package enum MediaType {
    /// Screens.
    package static let json = "application/json; charset=utf-8"
    /// Errors (RFC 9457 §3).
    package static let problem = "application/problem+json; charset=utf-8"
    /// Plain text.
    package static let text = "text/plain; charset=utf-8"
    /// YAML (RFC 9512).
    package static let yaml = "application/yaml; charset=utf-8"
    /// Server-sent events (HTML Living Standard §9.2).
    package static let events = "text/event-stream; charset=utf-8"
    /// Prometheus text exposition format 0.0.4.
    package static let metrics = "text/plain; version=0.0.4; charset=utf-8"
    /// OpenMetrics 1.0.
    package static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Returns whether gzip makes bodies of this type smaller; pictures and archives are compressed already.
    package static func isCompressible(_ type: String) -> Bool {
        let essence = ParameterizedValue.essence(of: type)
        return essence.hasPrefix("text/") || essence.hasSuffix("json") || essence.hasSuffix("xml")
            || essence.hasSuffix("yaml") || essence == "application/javascript"
    }
}
