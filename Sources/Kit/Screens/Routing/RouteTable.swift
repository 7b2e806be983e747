public import HTTPTypes

/// All routes that are served, and what can be said of them without calling one.
public struct RouteTable: Sendable {
    /// The routes, in the order of their apps.
    public private(set) var routes: [Route]

    /// Collects the tables of apps.
    public init(_ routes: [Route] = []) {
        self.routes = routes
    }

    /// Adds an app's table.
    public mutating func add(_ more: [Route]) {
        routes += more
    }

    /// The methods that a path answers, in the order that `Allow` lists them; empty where there is nothing.
    public func allowedMethods(path: String) -> [HTTPRequest.Method] {
        if path.hasPrefix(MountRoutes.prefix) { return routes.lazy.compactMap(\.raw).first?.allowed(path) ?? [] }
        guard Self.isCanonical(path) else { return [] }
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
    /// address. How paths below a mount are spelled is the upstream's business.
    static func isCanonical(_ path: String) -> Bool {
        path == "/" || path.hasPrefix(MountRoutes.prefix) || !(path.contains("//") || path.hasSuffix("/"))
    }

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true)
    }

    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        guard pattern.count == path.count else { return false }
        return zip(pattern, path).allSatisfy { expected, actual in expected.hasPrefix("{") || expected == actual }
    }
}
