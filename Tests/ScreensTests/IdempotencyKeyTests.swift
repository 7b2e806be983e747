import Foundation
import GRDB
import HTTPTypes
import Server
import Storage
import TestKit
import Testing

@testable import Screens

@Suite("Idempotency-Key")
struct IdempotencyKeyTests {
    @Test(
        "ONE-09 A key is a string of Structured Fields, or the same without quotes",
        arguments: [
            (#""8e03978e-40d5""#, "8e03978e-40d5"), ("8e03978e-40d5", "8e03978e-40d5"),
            (#""a \"b\" \\ c""#, #"a "b" \ c"#),
            ("a/b:c=d.e~f", "a/b:c=d.e~f"),
        ]
    )
    func read(value: String, key: String) throws {
        #expect(try IdempotencyKey([.idempotencyKey: value])?.text == key)
    }

    @Test(
        "ONE-09 Another value is 400 invalid-parameter",
        arguments: [
            "", "\"\"", "\"a", "a\"", "\"a\"b", "\"a\\\"", "\"a\\n\"", "a b", "a,b", "\"a\", \"b\"", "\"a\";p=1",
            "ключ",
            String(repeating: "a", count: 129), "\"\(String(repeating: "a", count: 129))\"",
        ]
    )
    func refused(value: String) {
        let problem = #expect(throws: Problem.self) { try IdempotencyKey([.idempotencyKey: value]) }
        #expect(problem?.code == .invalidParameter)
    }

    @Test("ONE-09 Two fields are 400; none is no key")
    func several() throws {
        var fields = HTTPFields()
        #expect(try IdempotencyKey(fields) == nil)
        fields.append(HTTPField(name: .idempotencyKey, value: "a"))
        fields.append(HTTPField(name: .idempotencyKey, value: "b"))
        #expect(throws: Problem.self) { try IdempotencyKey(fields) }
    }

    private static func routes(_ calls: Watched<Int>, _ outcome: @escaping @Sendable (Int) throws -> ScreenResponse)
        -> [Route]
    {
        [
            Route(.post, "/v1/tests/{id}", "tests.change") { request in
                _ = try await request.body()
                calls.update { $0 += 1 }
                return try outcome(calls.value)
            }
        ]
    }

    private static func response(_ text: String) -> ScreenResponse {
        ScreenResponse(
            status: .created,
            headerFields: [.location: "/v1/tests/\(text)", .cacheControl: "private"],
            body: .bytes(Data(text.utf8), type: "text/plain")
        )
    }

    @Test("ONE-09 A change whose outcome is not known is not made again: 502; one that changed nothing is")
    func outcomes() async throws {
        let calls = Watched(0)
        let harness = try ScreenHarness(
            Self.routes(calls) { call in
                switch call {
                case 1: throw Problem(.outcomeUnknown, "unknown")
                case 2: throw Problem(.upstreamUnavailable, "away")
                case 4: throw RequestBodyError.truncated
                default: return Self.response("\(call)")
                }
            }
        )
        let first: HTTPFields = [.idempotencyKey: "\"first\""]
        #expect(try await harness.serve(.post, "/v1/tests/1", first, body: "x").status == .badGateway)
        let again = try await harness.serve(.post, "/v1/tests/1", first, body: "x")
        #expect(again.status == .badGateway && again.text.contains(#""code":"outcome-unknown""#))
        #expect(calls.value == 1)
        let second: HTTPFields = [.idempotencyKey: "\"second\""]
        #expect(try await harness.serve(.post, "/v1/tests/1", second, body: "x").status == .serviceUnavailable)
        #expect(try await harness.serve(.post, "/v1/tests/1", second, body: "x").status == .created)
        #expect(try await harness.serve(.post, "/v1/tests/1", second, body: "x").text == "3")
        #expect(calls.value == 3)
        // A body that was cut off.
        let third: HTTPFields = [.idempotencyKey: "\"third\""]
        #expect(try await harness.serve(.post, "/v1/tests/1", third, body: "x").status == .badRequest)
        #expect(try await harness.serve(.post, "/v1/tests/1", third, body: "x").text == "5")
    }

    @Test("ONE-09 The repetition has status, fields and body of the first response, whatever a handler stores itself")
    func replay() async throws {
        let calls = Watched(0)
        let harness = try ScreenHarness(Self.routes(calls) { Self.response("\($0)") })
        let fields: HTTPFields = [.idempotencyKey: "\"one\""]
        let first = try await harness.serve(.post, "/v1/tests/1", fields, body: "x")
        var again = try await harness.serve(.post, "/v1/tests/1", [.idempotencyKey: "one"], body: "x")
        #expect(again.fields[.idempotencyReplayed] == "true" && first.fields[.idempotencyReplayed] == nil)
        #expect(again.status == first.status && again.body == first.body && again.text == "1")
        for name in [HTTPField.Name.location, .cacheControl, .contentType] {
            #expect(again.fields[name] == first.fields[name])
        }
        for (target, body) in [("/v1/tests/2", "x"), ("/v1/tests/1?", "x"), ("/v1/tests/1", "y"), ("/v1/tests/1", "")] {
            again = try await harness.serve(.post, target, fields, body: body)
            #expect(again.status == .unprocessableContent && again.text.contains(#""code":"idempotency-key-reused""#))
        }
        #expect(calls.value == 1)
        // A reader of the database who does not know the key learns nothing of the response.
        let stored = try harness.database.read { try Data.fetchAll($0, sql: "SELECT response FROM keyed_response") }
        #expect(stored.count == 1 && stored.allSatisfy { $0.firstRange(of: Data("text/plain".utf8)) == nil })
    }

    @Test("ONE-09 A response that is too long to be stored is not repeated, and neither is the change")
    func long() async throws {
        let calls = Watched(0)
        let text = String(repeating: "x", count: SealedResponse.longest + 1)
        let harness = try ScreenHarness(Self.routes(calls) { _ in Self.response(text) })
        let fields: HTTPFields = [.idempotencyKey: "\"one\""]
        #expect(try await harness.serve(.post, "/v1/tests/1", fields, body: "x").status == .created)
        #expect(try await harness.serve(.post, "/v1/tests/1", fields, body: "x").status == .badGateway)
        #expect(calls.value == 1)
    }

    @Test("ONE-09 A session or profile has 4,096 keys at most; those of an earlier day do not count")
    func many() async throws {
        let calls = Watched(0)
        let harness = try ScreenHarness(Self.routes(calls) { Self.response("\($0)") })
        let fields: HTTPFields = [.idempotencyKey: "\"one\""]
        _ = try await harness.serve(.post, "/v1/tests/1", fields, body: "x")
        try await harness.database.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                    INSERT INTO keyed_response (id, audience, head, arrival)
                    SELECT cast(i AS BLOB), first.audience, first.head, 0 FROM n, keyed_response AS first
                    """,
                arguments: [KeyedResponses.mostKeys - 1]
            )
        }
        let refused = try await harness.serve(.post, "/v1/tests/1", [.idempotencyKey: "two"], body: "x")
        #expect(refused.status == .badRequest && refused.text.contains(#""code":"invalid-parameter""#))
        #expect(try await harness.serve(.post, "/v1/tests/1", body: "x").status == .created)
        #expect(try await KeyedResponses(harness.sessions).purge(at: Date()) == KeyedResponses.mostKeys - 1)
        #expect(try await harness.serve(.post, "/v1/tests/1", [.idempotencyKey: "two"], body: "x").status == .created)
        #expect(try await harness.serve(.post, "/v1/tests/1", fields, body: "x").text == "1")
    }
}
