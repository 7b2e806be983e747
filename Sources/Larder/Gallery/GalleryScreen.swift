import Foundation
import HTTP
import JSONValues
import Sandbox

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
    /// Address of the page that shows it, with names of parameters in braces; nil without a page.
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

    /// Returns the address of the page that shows the screen at an address; nil without a page.
    func page(of target: String) -> String? {
        guard let page else { return nil }
        let query = URLComponents(string: target)?.queryItems?.map { ($0.name, $0.value ?? "") } ?? []
        return Self.filled(page, (values(in: target) ?? [:]).merging(query) { first, _ in first })
    }

    /// Returns the values of the path's names in an address; nil if the address does not match the path.
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
    /// Returns nil for an optional parameter.
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
    /// Returns the screen of an address. If several match, it is the one with the fewest names in its path.
    func screen(of target: String) -> GalleryScreen? {
        compactMap { screen in screen.values(in: target).map { (screen, $0.count) } }.min { $0.1 < $1.1 }?.0
    }
}

extension JSONValue {
    /// Returns the value to which a reference within a document points; any other value unchanged.
    func resolved(in document: JSONValue) -> JSONValue {
        object?["$ref"]?.string.flatMap { document.value(at: String($0.dropFirst())) } ?? self
    }

    /// The addresses below `/v1` in the value that are requested with GET.
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

/// The page that shows a gallery: a row for each screen, a column for each state.
struct GalleryIndex: Sendable {
    /// One screen in one state.
    struct Cell: Sendable {
        let state: String
        /// Its route is the name of the screen.
        let met: FrontCoverage.Met
        var hasPicture = false
    }

    let rows: [(screen: GalleryScreen, target: String)]
    let states: [String]
    let cells: [Cell]
    /// Whether pictures were requested and could be taken.
    let hasBrowser: Bool

    /// `43 screens in 10 states, 200 pictures`.
    var summary: String {
        "\(rows.count) screens in \(states.count) states, \(cells.count(where: \.hasPicture)) pictures"
    }

    var html: String {
        let hint =
            hasBrowser
            ? ""
            : " Pictures of the pages: <code>larder gallery DIR --screenshot</code>, with Chromium on the path, such "
                + "as Debian's <code>chromium-headless-shell</code>."
        let head = (["screen"] + states).map { "<th>\(ScenarioReport.escaped($0))" }.joined()
        return """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Gallery of Larder</title>
            <style>
            body { font: 14px system-ui, sans-serif; margin: 1rem } table { border-collapse: collapse }
            th, td { border: 1px solid #ccc; padding: .4rem; text-align: left; vertical-align: top }
            thead th { position: sticky; top: 0; background: #fff }
            img { display: block; width: 240px; margin-top: .3rem }
            </style>
            <h1>Gallery of Larder</h1>
            <p>\(summary). A cell links to the response.\(hint)</p>
            <table><thead><tr>\(head)</thead><tbody>
            \(rows.map { row($0.screen, $0.target) }.joined(separator: "\n"))
            </tbody></table></html>

            """
    }

    /// Returns a text that can be a part of a file name and of an address.
    static func fileName(_ text: String) -> String {
        text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || "_-".contains($0)) }.joined(separator: "-")
    }

    private func row(_ screen: GalleryScreen, _ target: String) -> String {
        let own = cells.filter { $0.met.route == screen.name }
        let columns = states.map { state in own.first { $0.state == state }.map(Self.column) ?? "<td>" }
        let (name, address) = (ScenarioReport.escaped(screen.name), ScenarioReport.escaped(target))
        return "<tr><th>\(name)<br><code>\(address)</code>" + columns.joined()
    }

    private static func column(_ cell: Cell) -> String {
        let file = "\(fileName(cell.met.route))/\(cell.state)"
        let picture =
            cell.hasPicture ? "<a href=\"\(file).png\"><img src=\"\(file).png\" alt=\"\" loading=\"lazy\"></a>" : ""
        return "<td><a href=\"\(file).json\">\(ScenarioReport.escaped(cell.met.text))</a>\(picture)"
    }
}
