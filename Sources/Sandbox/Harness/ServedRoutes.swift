import Foundation

/// The routes of the server that is tested: what names none of them would never match.
package struct ServedRoutes: Sendable {
    fileprivate struct Route: Sendable {
        let text: String
        let method: String
        let path: [String]
        /// Whether it takes everything below its path, and any method.
        let isOpen: Bool
    }

    private static let mostShown = 5

    private let routes: [Route]

    /// Lists routes such as `GET /v1/ships/{id}`; one that ends with `/**` takes everything below, with any method.
    package init(_ texts: [String]) {
        routes = texts.map { text in
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            let path = RequestTarget(words.last ?? "").segments
            let isOpen = path.last == "**"
            return Route(text: text, method: words[0], path: isOpen ? Array(path.dropLast()) : path, isOpen: isOpen)
        }
    }

    /// Returns a match that some route has.
    /// - Throws: 400 that names the routes nearest to it.
    func checked(_ match: RequestMatch, field: String, value: String) throws(ControlProblem) -> RequestMatch {
        guard !serves(match) else { return match }
        throw .invalid(field: field, value: value, accepted: nearest(to: match), reason: "Larder has no such route")
    }

    /// Whether a request that matches may be one of a route; yes if no routes are known.
    func serves(_ match: RequestMatch) -> Bool {
        routes.isEmpty || match.path.isEmpty || routes.contains { $0.serves(match) }
    }

    private func nearest(to match: RequestMatch) -> [String] {
        let path = match.path.joined(separator: "/")
        let sorted = routes.map { (text: $0.text, distance: Self.distance(path, $0.path.joined(separator: "/"))) }
            .sorted { ($0.distance, $0.text) < ($1.distance, $1.text) }
        return sorted.prefix(Self.mostShown).map(\.text)
    }

    /// How many characters are not the same from the start or from the end on.
    private static func distance(_ first: String, _ second: String) -> Int {
        let start = first.commonPrefix(with: second).utf8.count
        let ends = zip(first.utf8.reversed(), second.utf8.reversed()).prefix { $0 == $1 }.count
        let length = min(first.utf8.count, second.utf8.count)
        return max(first.utf8.count, second.utf8.count) - min(start + ends, length)
    }
}

extension ServedRoutes.Route {
    fileprivate func serves(_ match: RequestMatch) -> Bool {
        let isMethod =
            match.method.map { [method, "OPTIONS"].contains($0) || ($0 == "HEAD" && method == "GET") } ?? true
        guard isOpen || isMethod else { return false }
        let isAlike = zip(path, match.path).allSatisfy { own, other in
            own == other || other == "*" || (own.hasPrefix("{") && own.hasSuffix("}"))
        }
        guard isAlike else { return false }
        if isOpen { return match.path.count >= path.count || !match.isWhole }
        return match.isWhole ? match.path.count == path.count : match.path.count <= path.count
    }
}
