import Foundation
import TestKit
import Testing

@testable import Larder

/// Refusals of texts that a user types into the fields of actions.
@Suite("Refusals of what is typed")
struct TypedTextTests {
    /// Values that some field of a kind does not take.
    private static let values: [String: [JSON]] = [
        "text": ["", "   ", "a/b", ".", "/", "-1", .string(String(repeating: "a", count: 300))],
        "password": ["", "wrong", .string(String(repeating: "a", count: 2000))],
        "integer": [0, 1_000_000_000], "number": [-1, 0],
        "location": [
            .object(["lat": 100, "lon": 0, "name": "A"]), .object(["lat": 0, "lon": 500, "name": "A"]),
            .object(["lat": 0, "lon": 0, "name": .string(String(repeating: "a", count: 1000))]),
        ],
        "document": ["", "none"], "pages": [.array([]), .array(["none"])], "items": [.array([])],
    ]
    /// The texts of a problem that is the fault of a client.
    private static let general = ["Некоторые поля заполнены неверно.", "Недопустимый параметр."]

    @Test("ONE-10 whatever is typed into a field, the refusal of a change names no member, in the user's language")
    func refusals() async throws {
        try await withLarder { larder in
            var (refusals, seen): (Int, Set<String>) = (0, [])
            for read in try await StoredReads(larder).all() {
                let response = try await larder.send("GET", read.target, read.headers)
                guard response["Content-Type"]?.hasPrefix("application/json") == true else { continue }
                for action in Self.actions(in: try response.json)
                where seen.insert("\(read.operation) \(action.id.string ?? "")").inserted {
                    for field in action.fields.elements where field.options.isNull {
                        for value in Self.values[field.kind.string ?? ""] ?? [] {
                            let refusal = try await Self.type(value, into: field, of: action, read.headers, larder)
                            guard let refusal else { continue }
                            refusals += 1
                            Self.check(refusal, "\(action.id.string ?? ""): \(field.name.string ?? "") \(value)")
                        }
                    }
                }
            }
            #expect(refusals > 60)
        }
    }

    private static func actions(in value: JSON) -> [JSON] {
        if let items = value.array { return items.flatMap(actions) }
        guard let object = value.object else { return [] }
        // Fields beside files are parts of a form.
        let fields = value["fields"]?.array ?? []
        let isTyped = value["method"]?.string != "GET" && !fields.isEmpty && !fields.contains { $0.kind == "files" }
        let own = value["enabled"]?.bool == true && isTyped ? [value] : []
        return own + object.sorted { $0.key < $1.key }.flatMap { actions(in: $0.value) }
    }

    /// Sends an action with a value of one field, and with those that the others are filled with.
    ///
    /// - Returns: The problem; nil if it is accepted.
    private static func type(
        _ value: JSON,
        into field: JSON,
        of action: JSON,
        _ headers: [String: String],
        _ larder: InProcessLarder
    ) async throws -> JSON? {
        var members = action.body.object ?? [:]
        for other in action.fields.elements {
            let filled = other.values.isNull ? other.value : other.values
            if !filled.isNull { members[other.name.string ?? ""] = filled }
        }
        members[field.name.string ?? ""] = value
        var fields = headers
        fields["Accept-Language"] = "ru"
        for (name, value) in action.headers.object ?? [:] { fields[name] = value.string }
        let (method, href) = (action.method.string ?? "", action.href.string ?? "")
        fields["Content-Type"] = "application/json"
        let response = try await larder.send(method, href, fields, body: PressedActionTests.text(.object(members)))
        return response.status < 400 ? nil : try response.json
    }

    private static func check(_ problem: JSON, _ typed: String) {
        let message = problem.dialog.message.string ?? ""
        #expect(!general.contains(message), "\(typed): \(problem.detail.string ?? "")")
        for text in [message] + problem.errors.elements.compactMap(\.detail.string) {
            #expect(text.contains { ("А"..."я").contains($0) }, "\(typed): \(text)")
            let member = text.firstMatch(of: /[a-z]_[a-z]|\b(body|location|name|password|path|pages|UTF-8)\b/)
            #expect(member == nil, "\(typed): \(text)")
        }
    }
}

@Suite("Languages")
struct LanguageTests {
    @Test(
        "HARN-30 What the connection layer refuses is in the language that the client or, without one, its app has",
        arguments: [
            ("shop", "en-GB", "en"), ("shop", "de", "ru"), ("ships", "ru", "ru"), ("ships", "", "en"),
        ]
    )
    func refusals(app: String, accepted: String, language: String) async throws {
        let fields = "Host: localhost\r\nAccept-Language: \(accepted)\r\nConnection: close\r\n"
        let refused = [
            (414, "/launch?\(String(repeating: "a", count: 9000))", "", "The request target is too long"),
            (400, "?a", "Host: localhost\r\n", "The request is malformed"),
        ]
        try await withLarder { larder in
            for (status, target, more, title) in refused {
                let response = try await larder.raw("GET /v1/\(app)\(target) HTTP/1.1\r\n\(fields)\(more)\r\n")
                #expect(response.status == status && response["Content-Language"] == language)
                #expect(response["Vary"] == "Accept-Language")
                #expect((try response.json["title"]?.string == title) == (language == "en"), "\(response.text)")
            }
            // A head that is too large is not read to its end, so its language is not known.
            let many = (1...100).map { "A-\($0): b\r\n" }.joined()
            let response = try await larder.raw("GET /v1/\(app)/launch HTTP/1.1\r\n\(fields)\(many)\r\n")
            #expect(response.status == 431 && response["Content-Language"] == "en")
        }
    }
}
