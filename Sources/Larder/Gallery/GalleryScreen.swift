import Foundation
import HTTP
import JSONValues

/// A screen of the contract: a route that responds to GET with JSON.
struct GalleryScreen: Sendable, Equatable {
    /// A parameter that every request has, with the contract's example.
    struct Parameter: Sendable, Equatable {
        let name: String
        let isInQuery: Bool
        let example: String
    }

    /// The operation's identity.
    let name: String
    /// `/v1/ships/{id}`.
    let path: String
    let parameters: [Parameter]
    /// Address of the page that shows it, with the names of parameters in braces; nil without one.
    let page: String?

    /// The screens of a contract, in its order.
    static func all(in document: JSONValue) -> [GalleryScreen] {
        (document.object?["paths"]?.object?.members ?? []).compactMap { path in
            guard path.name.hasPrefix("/v1"), let operation = path.value.object?["get"],
                let name = operation.object?["operationId"]?.string,
                let response = operation.value(at: "/responses/200")?.resolved(in: document),
                response.object?["content"]?.object?["application/json"] != nil
            else { return nil }
            let parameters = (operation.object?["parameters"]?.array ?? []).map { $0.resolved(in: document) }
            return GalleryScreen(
                name: name,
                path: path.name,
                parameters: parameters.compactMap(Parameter.init),
                page: operation.object?["x-web-page"]?.string
            )
        }
    }

    /// The address with the contract's examples.
    var example: String {
        let query = parameters.filter(\.isInQuery).map { "\($0.name)=\(Self.encoded($0.example))" }
        let values = Dictionary(parameters.map { ($0.name, $0.example) }) { first, _ in first }
        return Self.filled(path, values) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// Returns the address of the page that shows the screen at an address; nil without one.
    func page(of target: String) -> String? {
        guard let page else { return nil }
        let query = URLComponents(string: target)?.queryItems?.map { ($0.name, $0.value ?? "") } ?? []
        return Self.filled(page, (values(in: target) ?? [:]).merging(query) { first, _ in first })
    }

    /// Returns the values of the path's names in an address; nil if it is none of this screen.
    func values(in target: String) -> [String: String]? {
        let (own, given) = (path.split(separator: "/"), target.prefix { $0 != "?" }.split(separator: "/"))
        guard own.count == given.count else { return nil }
        var values: [String: String] = [:]
        for (template, segment) in zip(own, given) {
            if template.hasPrefix("{") {
                values[String(template.dropFirst().dropLast())] = segment.removingPercentEncoding
            } else if template != segment {
                return nil
            }
        }
        return values
    }

    private static func filled(_ template: String, _ values: [String: String]) -> String {
        values.reduce(template) { $0.replacing("{\($1.key)}", with: encoded($1.value)) }
    }

    private static func encoded(_ text: String) -> String { PercentEncoding.encode(text, allowed: .unreserved) }
}

extension GalleryScreen.Parameter {
    /// Reads a parameter; nil for one that may be left out.
    init?(_ parameter: JSONValue) {
        guard parameter.object?["required"]?.bool == true, let name = parameter.object?["name"]?.string,
            let example = parameter.object?["example"]
        else { return nil }
        self.name = name
        isInQuery = parameter.object?["in"]?.string == "query"
        self.example = example.string ?? example.json
    }
}

extension [GalleryScreen] {
    /// Returns the screen of an address, which of several is the one with the fewest names in its path.
    func screen(of target: String) -> GalleryScreen? {
        compactMap { screen in screen.values(in: target).map { (screen, $0.count) } }.min { $0.1 < $1.1 }?.0
    }
}

extension JSONValue {
    /// Returns the value that a reference within a document names; any other value unchanged.
    func resolved(in document: JSONValue) -> JSONValue {
        object?["$ref"]?.string.flatMap { document.value(at: String($0.dropFirst())) } ?? self
    }

    /// The addresses below `/v1` in it that are requested with GET.
    var links: [String] {
        switch self {
        case .array(let values): return values.flatMap(\.links)
        case .object(let object):
            let isRead = ["GET", nil].contains(object["method"]?.string)
            let own = object.members.compactMap { isRead ? $0.value.string : nil }
            return own.filter { $0.hasPrefix("/v1/") && !$0.contains("{") } + object.members.flatMap(\.value.links)
        case .null, .bool, .number, .string: return []
        }
    }
}
