import Foundation
import HTTPTypes
import JSONValues

/// Rules that are made from files of other tools, and the parts from which no rule could be made.
struct StubImport: Sendable {
    /// An exchange of a file from which no rule was made.
    struct Unmapped: Error, Equatable {
        /// The file with the name or the number of the exchange in it.
        var source: String
        /// The part that no rule can represent.
        let member: String

        var json: JSONValue { ["source": .string(source), "member": .string(member)] }
    }

    var rules: [Rule.Definition] = []
    var unmapped: [Unmapped] = []

    /// Adds a rule, or reports the exchange from which none could be made.
    mutating func add(_ source: String, _ read: () throws(Unmapped) -> Rule.Definition) {
        do throws(Unmapped) {
            rules.append(try read())
        } catch {
            unmapped.append(Unmapped(source: source, member: error.member))
        }
    }

    /// Returns a rule that responds unless the upstream's fault does.
    static func rule(_ match: RequestMatch, _ response: StubResponse) -> Rule.Definition {
        Rule.Definition(match: match, faults: [.online], respond: response)
    }
}

// HTTP Archive 1.2, as browsers save it.
extension StubImport {
    /// Adds the exchanges with the first host of the files. Equal requests get their responses in turn; the last
    /// response is repeated.
    mutating func add(archives files: [(name: String, value: JSONValue)]) throws(ControlProblem) {
        var host: String?
        let first = rules.count
        for (name, value) in files {
            guard let entries = value.object?["log"]?.object?["entries"]?.array else {
                throw .invalid(field: "har", value: name, accepted: ["a HAR file, which has log.entries"])
            }
            for (index, entry) in entries.enumerated() {
                add("\(name)#\(index)") { () throws(Unmapped) in try Self.exchange(entry, &host) }
            }
        }
        var seen: Set<[String]> = []
        for index in (first..<rules.count).reversed() where !seen.insert(Self.key(of: rules[index].match)).inserted {
            rules[index].times = 1
        }
    }

    /// Returns texts that are equal for equal matches. Segments are separate texts, since they may contain slashes.
    private static func key(of match: RequestMatch) -> [String] {
        [match.json.json] + match.path
    }

    private static func exchange(_ entry: JSONValue, _ host: inout String?) throws(Unmapped) -> Rule.Definition {
        guard let request = entry.object?["request"]?.object, let url = request["url"]?.string,
            let parts = URLComponents(string: url), let response = entry.object?["response"]?.object
        else { throw Unmapped(source: "", member: "request/url") }
        if host == nil { host = parts.host }
        guard parts.host == host else { throw Unmapped(source: "", member: "request/url: another host, \(url)") }
        let target = RequestTarget(String(url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }))
        var match = RequestMatch(method: request["method"]?.string?.uppercased(), path: target.segments, isWhole: true)
        match.query = target.query.map { .init(name: $0.name, value: .equal($0.value)) }
        match.exactQuery = true
        if let text = request["postData"]?.object?["text"]?.string, !text.isEmpty {
            match.body = JSONValue(json: text.utf8).flatMap { $0.object == nil ? nil : .json($0) } ?? .contains(text)
            match.exactBody = true
        }
        return rule(match, try Self.response(response))
    }

    /// Fields of the connection, and of codings that HAR files have undone.
    private static let omitted: Set = [
        "connection", "content-encoding", "content-length", "date", "keep-alive", "transfer-encoding",
    ]

    private static func response(_ object: JSONObject) throws(Unmapped) -> StubResponse {
        let status = object["status"]?.double.flatMap { Int(exactly: $0) } ?? 0
        guard (200...599).contains(status), status != 304 else {
            throw Unmapped(source: "", member: "response/status: \(status)")
        }
        var response = StubResponse(status: status, isTemplate: false)
        for field in object["headers"]?.array ?? [] {
            guard let name = field.object?["name"]?.string, let value = field.object?["value"]?.string,
                HTTPField.Name(name) != nil, !omitted.contains(name.lowercased())
            else { continue }
            response.header.append(.init(name: name, value: value))
        }
        let content = object["content"]?.object
        if let text = content?["text"]?.string {
            let bytes = content?["encoding"]?.string == "base64" ? Data(base64Encoded: text) : Data(text.utf8)
            guard let bytes else { throw Unmapped(source: "", member: "response/content/text") }
            response.body = .bytes(Array(bytes))
        } else if (content?["size"]?.double ?? 0) > 0 {
            throw Unmapped(source: "", member: "response/content/text: it is not in the file")
        }
        if let type = content?["mimeType"]?.string, !type.isEmpty,
            !response.header.contains(where: { $0.name.lowercased() == "content-type" })
        {
            response.header.append(.init(name: "Content-Type", value: type))
        }
        return response
    }
}
