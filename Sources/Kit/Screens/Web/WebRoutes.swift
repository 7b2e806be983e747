import Concurrency
import Foundation
import HTTP
package import HTTPTypes

/// The front end: its pages, which are one document, and the files that this loads.
package struct WebRoutes: Sendable {
    /// Addresses of the pages, as routes.
    static let pages = [
        "/", "/status", "/docs", "/share", "/disk", "/disk/{page}", "/shop", "/shop/{id}", "/pdf", "/pdf/{id}",
        "/ships", "/ships/{id}", "/notes", "/notes/{id}", "/notes/people", "/notes/people/{id}",
    ]
    static let diskPages: Set<String> = [
        "onboarding", "login", "recent", "files", "search", "file", "offline", "outbox", "published", "trash",
        "profile",
    ]
    /// Files with addresses that browsers and crawlers know, and their names.
    static let wellKnown = [
        // It names icons by the digest, which the next version does not have.
        (path: "/manifest.webmanifest", screen: "web.manifest", name: "manifest.webmanifest", cacheControl: "no-cache"),
        (path: "/favicon.ico", screen: "web.icon", name: "icon.svg", cacheControl: "public, max-age=3600"),
        (path: "/robots.txt", screen: "web.robots", name: "robots.txt", cacheControl: "public, max-age=3600"),
    ]

    /// Read at the first request: to prepare the files of the program takes as long as a sixth of its start.
    private let readAssets: @Sendable () -> WebAssets
    private var assets: WebAssets { readAssets() }
    private let policy: WebPolicy
    private let ownApps: [String]

    /// - Parameters:
    ///   - assets: The files.
    ///   - publicOrigin: The origin under which a proxy serves this server; nil if none does.
    ///   - scheme: Scheme by which browsers reach this server itself: `http` or `https`.
    ///   - apps: The names of the server's apps. Those without pages of their own get a list and a page for each thing.
    package init(
        assets: @autoclosure @escaping @Sendable () -> WebAssets,
        publicOrigin: String?,
        scheme: String = "http",
        apps: [String] = []
    ) {
        readAssets = assets
        ownApps = apps.filter { !Self.pages.contains("/\($0)") }
        policy = WebPolicy(publicOrigin: publicOrigin, scheme: scheme)
    }

    package var routes: [Route] {
        (Self.pages + ownApps.flatMap { ["/\($0)", "/\($0)/{id}"] }).map {
            Route(.get, $0, "web.page", page).anyQuery()
        }
            + [Route(.get, "/web/{digest}/{name}", "web.file", file)]
            + [Route(.get, "/pair", "web.pair", pairing).anyQuery()]
            + Self.wellKnown.map { known in
                Route(.get, known.path, known.screen) { request in
                    try response(known.name, to: request, cacheControl: known.cacheControl)
                }
            }
    }

    /// Returns the document of all pages, with 404: its scripts say that there is nothing under this address. Nil if a
    /// folder has none, which each page reports. A POST of files that the browser's worker did not take is redirected
    /// (303) to the page that says so.
    @Sendable package func missingPage(_ request: HTTPRequest) -> ScreenResponse? {
        guard request.method != .post else {
            guard request.path == "/share" else { return nil }
            return ScreenResponse(status: .seeOther, headerFields: [.location: "/share?failed=1"], body: .none)
        }
        guard let shell = try? assets.file(WebAssets.shellName) else { return nil }
        var fields = policy.fields(authority: request.authority)
        fields[.cacheControl] = "no-store"
        return ScreenResponse(status: .notFound, headerFields: fields, body: .prepared(shell), hasValidator: false)
    }

    /// Returns the document that asks a browser for the code that pairs it, with 401. Nil if a folder has none.
    @Sendable package func pairingPage(_ request: HTTPRequest) -> ScreenResponse? {
        guard let document = try? assets.file(WebAssets.pairingName) else { return nil }
        var fields = policy.fields(authority: request.authority)
        fields[.cacheControl] = "no-store"
        fields[.wwwAuthenticate] = "Larder-Device"
        let body = ScreenResponse.Body.prepared(document)
        return ScreenResponse(status: .unauthorized, headerFields: fields, body: body, hasValidator: false)
    }

    /// Responds with the same document to those who ask for it.
    @Sendable private func pairing(_ request: ScreenRequest) throws -> ScreenResponse {
        try response(WebAssets.pairingName, to: request, cacheControl: "no-cache")
    }

    /// Responds with the document of all pages. Its scripts choose the page.
    @Sendable private func page(_ request: ScreenRequest) throws -> ScreenResponse {
        guard Self.isPage(request) else { throw Problem.notFound("There is no page under this address.") }
        return try response(WebAssets.shellName, to: request, cacheControl: "no-cache")
    }

    private static func isPage(_ request: ScreenRequest) -> Bool {
        if let page = try? request.parameter("page") { return diskPages.contains(page) }
        guard let id = try? request.parameter("id") else { return true }
        return (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "_-".utf8.contains($0) }
    }

    /// Responds with a file of this version of the front end. The address of one of another version has nothing, since
    /// its content would be that of this one.
    @Sendable private func file(_ request: ScreenRequest) throws -> ScreenResponse {
        let (digest, name) = (try request.parameter("digest"), try request.parameter("name"))
        guard digest == assets.digest, name != WebAssets.shellName else { throw Self.noFile }
        var file = try response(name, to: request, cacheControl: "public, max-age=31536000, immutable")
        // The worker takes shared files: it is for that page only.
        if name == "worker.js" { file.headerFields[.serviceWorkerAllowed] = "/share" }
        return file
    }

    private func response(_ name: String, to request: ScreenRequest, cacheControl: String) throws -> ScreenResponse {
        guard let file = try assets.file(name) else { throw Self.noFile }
        var fields = policy.fields(authority: request.authority)
        fields[.cacheControl] = assets.isFixed ? cacheControl : "no-store"
        return ScreenResponse(
            headerFields: fields,
            body: .prepared(file),
            hasValidator: assets.isFixed,
            changeToken: assets.isFixed ? .unlimited : nil
        )
    }

    private static var noFile: Problem { .notFound("There is no such file of this version of the front end.") }
}

extension HTTPField.Name {
    /// `Service-Worker-Allowed` (Service Workers, W3C).
    fileprivate static let serviceWorkerAllowed = HTTPField.Name(literal: "Service-Worker-Allowed")
}

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

    /// Returns the policy (CSP Level 3). Scripts are loaded from the folder of the front end's files only. With
    /// `'self'`, a response that a mount forwards from an upstream could run as code of this origin. The one trusted
    /// type is the address of the worker that takes shared files.
    private func contentSecurityPolicy(authority: String?) -> String {
        let code = sources(authority: authority).joined(separator: " ")
        return [
            "default-src 'none'", "script-src \(code)", "style-src \(code)", "img-src 'self' blob: data:",
            "media-src 'self'", "connect-src 'self'", "frame-src 'self'", "manifest-src 'self'", "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types worker",
        ].joined(separator: "; ")
    }

    /// Returns the sources of scripts and styles. A proxy may pass on the host that it is requested for, or send its
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
