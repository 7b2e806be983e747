import HTTPSemantics
public import HTTPTypes

/// Which stored responses an unsafe request invalidates. RFC 9111 §4.4.
public enum Invalidation {
    /// Safe methods. RFC 9110 §9.2.1, RFC 4918 §9.1, RFC 3253 §3.6, RFC 5323. The safety of any other is
    /// unknown, so it counts as unsafe.
    private static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"]

    /// Returns the normalized URIs whose stored responses must no longer be used without validation: the target itself,
    /// and the targets of `Location` and `Content-Location` on the same origin.
    /// - Returns: an empty list for safe methods and for errors.
    public static func targets(of request: HTTPRequest, url: String, response: HTTPResponse) -> [String] {
        guard !safe.contains(request.method.rawValue), (200...399).contains(response.status.code),
            let target = TargetURI.normalized(url)
        else {
            return []
        }
        var targets = [target]
        for field in [HTTPField.Name.location, .contentLocation] {
            guard let reference = response.headerFields[field], let uri = TargetURI.resolve(reference, against: url)
            else { continue }
            if TargetURI.haveSameOrigin(uri, target), !targets.contains(uri) { targets.append(uri) }
        }
        return targets
    }
}
