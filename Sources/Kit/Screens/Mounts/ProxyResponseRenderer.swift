import Concurrency
import HTTPSemantics
import HTTPTypes
import Hummingbird
import Proxy
import Upstream

/// Renders the response of a mount: no entity tag, no compression, no field that neither the upstream nor the cache
/// wrote.
enum ProxyResponseRenderer {
    static func render(_ proxied: ProxyResponse) -> Response {
        let fields = withoutWordsForItsOrigin(proxied.head.headerFields)
        let body: ResponseBody
        switch proxied.body {
        case .none: body = ResponseBody()
        case .bytes(let bytes): body = ResponseBody(byteBuffer: bytes)
        case .stream(let parts, let length):
            body = ResponseBody(contentLength: length) { writer in
                for try await part in parts { try await writer.write(part) }
                try await writer.finish(nil)
            }
        }
        var response = Response(status: proxied.head.status, headers: fields, body: body)
        // RFC 9110 §8.6: a response to HEAD, a 204 and a 304 do not get a length of their own.
        if case .none = proxied.body { response.headers[.contentLength] = fields[.contentLength] }
        return response
    }

    /// Returns an interim response as it is sent.
    static func interim(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        removeWordsForItsOrigin(from: &response.headerFields)
        return response
    }

    private static let wordsForItsOrigin: Set = [
        "clear-site-data", "strict-transport-security", "alt-svc", "service-worker-allowed",
        // These would make browsers report requests to this origin, or send more fields with them, from then on.
        "nel", "report-to", "reporting-endpoints", "accept-ch", "critical-ch", "origin-agent-cluster",
        "use-as-dictionary",
        // These would make browsers report on this origin's certificates, or bind it to sessions of the upstream.
        // `Public-Key-Pins` passes: only a certificate with one of the keys can be bound to them (RFC 7469 §2.5).
        "public-key-pins-report-only", "expect-ct", "set-login", "sec-session-registration",
        "secure-session-registration",
    ]

    /// Removes what an upstream says to browsers about its own origin, since they would apply it to this one: which
    /// pages may read here is decided by `http.allowed_origins` alone (CORS protocol), and nothing of an upstream has
    /// the rights of this origin.
    private static func removeWordsForItsOrigin(from fields: inout HTTPFields) {
        fields.removeAll { field in
            let name = field.name.canonicalName
            return name.hasPrefix("access-control-") || wordsForItsOrigin.contains(name)
                // Only this server may give a page a session.
                || name == "set-cookie" && CookiePairs.sets(field.value, SessionCookies.common)
        }
    }

    /// The same, and what keeps the response from the rights of this origin.
    static func withoutWordsForItsOrigin(_ fields: HTTPFields) -> HTTPFields {
        var result = fields
        removeWordsForItsOrigin(from: &result)
        if !PassiveType.isNamed(by: fields[values: .contentType]) {
            result.append(HTTPField(name: .contentSecurityPolicy, value: "sandbox"))
        }
        result[.contentTypeOptions] = "nosniff"
        return result
    }
}
