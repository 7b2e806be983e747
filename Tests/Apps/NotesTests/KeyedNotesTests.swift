import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Cluster
@testable import Notes

/// Changes of notes with `Idempotency-Key`.
@Suite("Repeated changes of notes", .timeLimit(.minutes(10)))
struct KeyedNotesTests {
    private static let fields: HTTPFields = [.idempotencyKey: "\"8e03978e\""]

    private static func create(_ app: NotesHarness, _ body: String, as token: String) async throws -> Exchanged {
        try await app.ask(.post, "/v1/notes", as: token, fields, #"{"body":"\#(body)"}"#)
    }

    private static func total(_ app: NotesHarness, _ token: String) async throws -> JSON? {
        try await app.get("/v1/notes", as: token)["meta.page.total"]
    }

    @Test("ONE-09 A note that is added again with its key is there once; both responses are the same")
    func once() async throws {
        try await NotesHarness.run { app, token in
            let first = try await Self.create(app, "one", as: token)
            #expect(first.status == 201 && first.headerFields[.idempotencyReplayed] == nil)
            _ = try await app.ask(.patch, first.string("data.href"), as: token, #"{"body":"changed since"}"#)
            try await Self.create(app, "one", as: token).expectRepeats(first)
            #expect(try await Self.total(app, token) == 1)
            try await Self.create(app, "two", as: token).expectProblem("idempotency-key-reused", 422)
            // Another session has keys of its own.
            let eve = try await app.register("eve")
            let other = try await Self.create(app, "one", as: eve)
            #expect(other.status == 201 && other.headerFields[.idempotencyReplayed] == nil)
            for owner in [token, eve] { #expect(try await Self.total(app, owner) == 1) }
        }
    }

    @Test("ONE-09 Changing, deleting, restoring and purging are done once, whatever has happened since")
    func changes() async throws {
        try await NotesHarness.run { app, token in
            let id = try await app.add("one", as: token)
            let (note, bin) = ("/v1/notes/\(id)", "/v1/notes/trash/\(id)")
            let requests: [(HTTPRequest.Method, String, String?)] = [
                (.patch, note, #"{"body":"two"}"#), (.delete, note, nil), (.post, "\(bin)/restore", nil),
                (.delete, "\(note)?permanently=1", nil), (.delete, "/v1/notes/trash", nil),
                (.put, "/v1/notes/account/password", #"{"password":"secret","new_password":"other"}"#),
            ]
            var responses: [Exchanged] = []
            for (number, (method, target, body)) in requests.enumerated() {
                let fields: HTTPFields = [.idempotencyKey: "key-\(number)"]
                responses.append(try await app.ask(method, target, as: token, fields, json: body))
                #expect(responses[number].status == 200, "\(target) \(responses[number].text)")
            }
            for (number, (method, target, body)) in requests.enumerated() {
                let fields: HTTPFields = [.idempotencyKey: "key-\(number)"]
                try await app.ask(method, target, as: token, fields, json: body).expectRepeats(responses[number])
            }
            // A refusal is not stored: the request may succeed later.
            let fields: HTTPFields = [.idempotencyKey: "late"]
            try await app.ask(.patch, note, as: token, fields, #"{"body":"x"}"#).expectProblem("not-found", 404)
            try await app.ask(.patch, note, as: token, fields, #"{"text":"x"}"#).expectProblem("malformed-request", 400)
        }
    }

    @Test("ONE-09 Of sixteen equal requests at once one adds the note, and all get its response")
    func sixteen() async throws {
        try await NotesHarness.run { app, token in
            let responses = try await (0..<16).concurrentMap { _ in try await Self.create(app, "one", as: token) }
            #expect(Set(responses.map(\.body)).count == 1 && responses.allSatisfy { $0.status == 201 })
            #expect(responses.count { $0.headerFields[.idempotencyReplayed] == nil } == 1)
            #expect(try await Self.total(app, token) == 1)
        }
    }

    @Test("ONE-09 The response is stored in the transaction of the note, and a request without a key stores nothing")
    func together() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.add("zero", as: token)
            let plain = try await app.statements.count { _ = try await app.add("one", as: token) }
            let keyed = try await app.statements.statements { _ = try await Self.create(app, "two", as: token) }
            #expect(keyed.count { $0.hasPrefix("BEGIN IMMEDIATE") || $0.hasPrefix("COMMIT") } > 0)
            let writes = keyed.split { $0.hasPrefix("COMMIT") }.filter { part in
                part.contains { $0.hasPrefix("INSERT INTO keyed_response") }
            }
            #expect(writes.count == 1 && writes[0].contains { $0.hasPrefix("INSERT INTO note") })
            let rows = try app.database.integer("SELECT count(*) FROM keyed_response")
            #expect(rows == 1 && plain.statements > 0)
        }
    }

    @Test("ONE-09 TRUST-02 Whichever system call fails, the repetition gets the response, and the note is there once")
    func faults() async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let number = Atomic(0)
        try await NotesHarness.run(directory: directory) { app, token in
            let loop = FaultLoop(scope, app.database, migrations: NotesHarness.migrations)
            let count = try await loop.run(
                mayBePartial: true,
                prepare: { number.add(1, ordering: .relaxed) },
                write: {
                    let key = "key-\(number.load(ordering: .relaxed))"
                    let fields: HTTPFields = [.idempotencyKey: key]
                    let response = try await app.ask(.post, "/v1/notes", as: token, fields, #"{"body":"\#(key)"}"#)
                    guard response.status == 201 else { throw Exchanged.Refused(response) }
                }
            )
            #expect(count > 0)
            let bodies = try app.database.read { try String.fetchAll($0, sql: "SELECT body FROM note") }
            #expect(bodies.count == Set(bodies).count && bodies.count == number.load(ordering: .relaxed))
        }
    }

    @Test("ONE-09 A copy of the files, as kill -9 leaves them, has the response; after a day nobody has it")
    func killed() async throws {
        let clock = ManualClock()
        let (directory, copy) = (try DataDirectory.temporary(), TemporaryFolder.unmade())
        var (token, first): (String, Exchanged?) = ("", nil)
        let box = Mutex<(String, Exchanged?)>(("", nil))
        try await NotesHarness.run(clock: clock, directory: directory) { app in
            let token = try await app.register()
            let first = try await Self.create(app, "one", as: token)
            box.withLock { $0 = (token, first) }
            try KilledCopy.make(of: URL(filePath: directory.path), at: copy.url)
        }
        (token, first) = box.withLock(\.self)
        let response = try #require(first)
        try await NotesHarness.run(clock: clock, directory: DataDirectory(at: copy.url)) { [token] app in
            try await Self.create(app, "one", as: token).expectRepeats(response)
            #expect(try await Self.total(app, token) == 1)
            let responses = KeyedResponses(app.sessions)
            #expect(try await responses.purge(at: clock.now + 86_400) == 0)
            try await Self.create(app, "one", as: token).expectRepeats(response)
            #expect(try await responses.purge(at: clock.now + 86_401) == 1)
            let second = try await Self.create(app, "one", as: token)
            #expect(second.status == 201 && second.headerFields[.idempotencyReplayed] == nil)
            #expect(try await Self.total(app, token) == 2)
        }
    }

    @Test("ONE-09 SCALE-08 Two servers repeat each other's responses; of requests at both at once one adds the note")
    func servers() async throws {
        let access = try await ClusterAccess.temporary()
        try await NotesHarness.run(shared: access) { one in
            try await NotesHarness.run(shared: access.otherServer()) { two in
                let token = try await one.register()
                let first = try await Self.create(one, "one", as: token)
                #expect(first.status == 201)
                try await Self.create(two, "one", as: token).expectRepeats(first)
                try await Self.create(two, "two", as: token).expectProblem("idempotency-key-reused", 422)
                for round in 0..<5 {
                    let fields: HTTPFields = [.idempotencyKey: "round-\(round)"]
                    let responses = try await (0..<8).concurrentMap { number in
                        let app = number % 2 == 0 ? one : two
                        return try await app.ask(.post, "/v1/notes", as: token, fields, #"{"body":"x"}"#)
                    }
                    #expect(Set(responses.map(\.body)).count == 1 && responses.allSatisfy { $0.status == 201 })
                    #expect(responses.count { $0.headerFields[.idempotencyReplayed] == nil } == 1)
                }
                // One key for two changes at once, of other scopes: the servers go on.
                async let changed = one.ask(.delete, "/v1/notes/trash", as: token, [.idempotencyKey: "both"])
                async let added = two.ask(.post, "/v1/notes", as: token, [.idempotencyKey: "both"], #"{"body":"y"}"#)
                let statuses = try await [changed.status, added.status]
                #expect(statuses.contains(422) || statuses.contains(409))
                #expect(try await Self.total(one, token) == Self.total(two, token))
                // A day later each server has let go of all.
                let responses = KeyedResponses(two.sessions)
                #expect(try await responses.purge(at: two.clock.now + 86_401) == 7)
                #expect(try await Self.create(one, "one", as: token).headerFields[.idempotencyReplayed] == nil)
            }
        }
    }
}
