import Foundation
import HTTP
import HTTPTypes

/// The policies for browsers that show the pages of the front end.
struct WebPolicy: Sendable {
    /// The origin under which a proxy serves this server; nil if none does.
    let publicOrigin: String?
    /// Scheme by which browsers reach this server itself: `http` or `https`.
    var scheme = "http"

    /// Returns the header fields of a response to a request that names this host and port.
    func fields(authority: String?) -> HTTPFields {
        [
            .contentSecurityPolicy: contentSecurityPolicy(authority: authority),
            .referrerPolicy: "no-referrer",
            .crossOriginOpenerPolicy: "same-origin",
            .permissionsPolicy: "geolocation=(self), microphone=(self)",
        ]
    }

    /// Returns the policy (CSP Level 3). Scripts come from the folder of the front end's files only: with `'self'`, a
    /// response that a mount passes on from an upstream could run as code of this origin. The one trusted type is the
    /// address of the worker that takes shared files.
    private func contentSecurityPolicy(authority: String?) -> String {
        let code = sources(authority: authority).joined(separator: " ")
        return [
            "default-src 'none'", "script-src \(code)", "style-src \(code)", "img-src 'self' blob: data:",
            "media-src 'self'", "connect-src 'self'", "frame-src 'self'", "manifest-src 'self'", "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types worker",
        ].joined(separator: "; ")
    }

    /// Returns where scripts and styles come from. A proxy may pass on the host that it is requested for, or send its
    /// own, so both addresses of this server are named.
    private func sources(authority: String?) -> [String] {
        guard let authority, Self.isName(authority) else {
            // CSP has no way to write an IPv6 address.
            return ["'self'"]
        }
        return ["\(scheme)://\(authority)/web/"] + (publicOrigin.map { ["\($0)/web/"] } ?? [])
    }

    /// Whether a host and port are a `host-part` of CSP: labels with dots between them, then perhaps a port.
    private static func isName(_ authority: String) -> Bool {
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let labels = parts[0].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { ASCIISet.alphanumerics.contains($0) || $0 == UInt8(ascii: "-") }
        } && parts.dropFirst().allSatisfy(\.isDigits)
    }
}

extension HTTPField.Name {
    /// `Referrer-Policy` (Referrer Policy, W3C).
    fileprivate static let referrerPolicy = HTTPField.Name(literal: "Referrer-Policy")
    /// `Cross-Origin-Opener-Policy` (HTML Living Standard).
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name(literal: "Cross-Origin-Opener-Policy")
    /// `Permissions-Policy` (Permissions Policy, W3C).
    fileprivate static let permissionsPolicy = HTTPField.Name(literal: "Permissions-Policy")
}
