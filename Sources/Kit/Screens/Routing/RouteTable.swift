import Foundation
import HTTP
package import HTTPTypes
package import Server

/// All routes that are served, and the methods of each path.
package struct RouteTable: Sendable {
    /// The routes, in the order of their apps.
    package private(set) var routes: [Route]
    /// Makes the page that browsers get of addresses that have nothing; nil if they get the problem, as API clients do.
    package var missingPage: MissingPage?
    /// Makes the page that asks the browser of a device that is not paired for a code; nil if it gets the problem.
    package var pairingPage: MissingPage?
    /// The forms of the screens.
    let forms: ScreenForms
    private let languages: [String: Language]
    private let elsewhere: Set<String>

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - routes: The first routes.
    ///   - forms: The forms of the screens.
    ///   - languages: The languages of the original apps by the names of the apps, unless English.
    ///   - elsewhere: The names of apps that another process serves.
    package init(
        _ routes: [Route] = [],
        forms: ScreenForms = ScreenForms(),
        languages: [String: Language] = [:],
        elsewhere: Set<String> = []
    ) {
        (self.routes, self.forms) = (routes, forms)
        self.languages = languages
        self.elsewhere = elsewhere
    }

    /// Returns the language of responses to clients that name none that Larder speaks.
    ///
    /// - Parameter path: The path, or the target, of the request.
    func originalLanguage(of path: String) -> Language {
        guard !languages.isEmpty else { return .english }
        return Self.app(ofPath: path).flatMap { languages[$0] } ?? .english
    }

    /// Returns the app of a path that another process serves; nil if there is none.
    func appElsewhere(path: String) -> String? {
        guard !elsewhere.isEmpty else { return nil }
        return Self.app(ofPath: path).flatMap { elsewhere.contains($0) ? $0 : nil }
    }

    private static func app(ofPath path: String) -> String? {
        path.hasPrefix("/v1/") ? String(path.dropFirst(4).prefix { $0 != "/" && $0 != "?" }) : nil
    }

    /// Adds an app's table.
    package mutating func add(_ more: [Route]) {
        routes += more
    }

    /// Returns the methods of a path in the order of `Allow`; empty if there is no such path.
    func allowedMethods(path: String) -> [HTTPRequest.Method] {
        if let raw = rawRoute(of: path)?.raw { return raw.allowedMethods(path) }
        guard isCanonical(path) else { return [] }
        let segments = Self.segments(path)
        let matching = routes.compactMap { route -> (shape: String, method: HTTPRequest.Method)? in
            let pattern = Self.segments(route.path)
            guard Self.matches(pattern, segments) else { return nil }
            return (String(pattern.map { $0.hasPrefix("{") ? "1" : "0" }), route.method)
        }
        // As the router does: from left to right, a fixed segment hides a parameter, whatever the methods.
        guard let shape = matching.map(\.shape).min() else { return [] }
        var methods = Set(matching.filter { $0.shape == shape }.map(\.method))
        if methods.contains(.get) { methods.insert(.head) }
        methods.insert(.options)
        return [.get, .head, .post, .put, .patch, .delete, .options].filter(methods.contains)
    }

    /// Whether a path is spelled as routes are: no empty segment and no slash at the end, so that everything has one
    /// address. How paths below a raw route are spelled is that route's business.
    func isCanonical(_ path: String) -> Bool {
        path == "/" || !Self.hasEmptySegment(path) || rawRoute(of: path) != nil
    }

    /// Whether a path has two slashes beside each other, or one at its end.
    private static func hasEmptySegment(_ path: String) -> Bool {
        let slash = UInt8(ascii: "/")
        var last: UInt8?
        for byte in path.utf8 {
            if byte == slash, last == slash { return true }
            last = byte
        }
        return last == slash
    }

    /// Returns a raw route that a path is below.
    private func rawRoute(of path: String) -> Route? {
        routes.first { $0.raw != nil && path.hasPrefix($0.fixedPrefix) }
    }

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true)
    }

    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        guard pattern.count == path.count else { return false }
        return zip(pattern, path).allSatisfy { expected, actual in expected.hasPrefix("{") || expected == actual }
    }
}

extension RouteTable {
    /// Makes a page for the request of a browser; nil if there is none.
    package typealias MissingPage = @Sendable (HTTPRequest) -> ScreenResponse?

    /// Returns the page that a browser gets in place of an error, if the client would rather read HTML than JSON and
    /// the address is not one of the API; else nil.
    ///
    /// - Parameter status: That of the error's response.
    func page(inPlaceOf error: any Error, _ status: HTTPResponse.Status, for request: HTTPRequest, path: String)
        -> ScreenResponse?
    {
        if let problem = error as? Problem, problem.code == .pairingRequired {
            return page(pairingPage, for: request, path: path)
        }
        return status == .notFound ? page(missingPage, for: request, path: path) : nil
    }

    private func page(_ make: MissingPage?, for request: HTTPRequest, path: String) -> ScreenResponse? {
        guard let make else { return nil }
        let isOfAPI = path == "/v1" || path.hasPrefix("/v1/")
        guard !isOfAPI, request.method == .get || request.method == .head else { return nil }
        let accepted = AcceptedMediaTypes(request.headerFields)
        guard let weight = accepted.explicitWeight(of: "text/html"), weight > accepted.weight(of: "application/json")
        else { return nil }
        return make(request)
    }

    /// Returns the problem of a request that the connection layer refuses, in the language of its client as far as that
    /// is known.
    ///
    /// - Parameter head: The head of the request; nil if it has not arrived.
    package func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        let language = head.map {
            Language(acceptedBy: $0.acceptedLanguages, original: originalLanguage(of: $0.target))
        }
        let problem = Problem(ProblemCode(refusal.reason), Text(verbatim: refusal.detail))
        // A problem without fields of its own always encodes; an empty body would still carry the status.
        let bytes = Language.$current.withValue(language ?? .english) {
            (try? ProblemDocument(problem, instance: "").bytes()) ?? Data()
        }
        return RefusalContent(type: MediaType.problem, language: (language ?? .english).rawValue, body: Array(bytes))
    }
}
