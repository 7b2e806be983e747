import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("Versions of notes")
struct NoteEditingPreconditionTests {
    @Test("NOTE-09 If-Match lets a change through at its version only; 412 changes nothing")
    func ifMatch() async throws {
        try await NotesHarness.run { app, token in
            let path = "/v1/notes/\(try await app.add("one", as: token))"
            let tag = try #require(try await app.get(path, as: token).headerFields[.eTag])
            #expect(!tag.hasPrefix("W/"))
            let zipped = try #require(
                try await app.get("\(path)?tz=Asia/Tokyo", as: token, [.acceptEncoding: "gzip"]).headerFields[.eTag]
            )
            #expect(zipped != tag)
            let changed = try await app.ask(.patch, path, as: token, [.ifMatch: tag], #"{"body":"two"}"#)
            #expect(changed.status == 200)
            for stale in [tag, zipped, "W/\(tag)", "\"nothing\"", "\"\"", "nonsense", "\"a,*,b\""] {
                let lost = try await app.ask(.patch, path, as: token, [.ifMatch: stale], #"{"body":"three"}"#)
                lost.expectProblem("precondition-failed", 412)
                try await app.delete(path, as: token, [.ifMatch: stale]).expectProblem("precondition-failed", 412)
            }
            let now = try await app.get(path, as: token)
            #expect(now["data.body"] == "two" && now.headerFields[.eTag] == changed.headerFields[.eTag])
            let current = try #require(now.headerFields[.eTag])
            #expect(
                try await app.ask(.patch, path, as: token, [.ifMatch: "\"other\", \(current)"], #"{"body":"three"}"#)
                    .status == 200
            )
            #expect(try await app.ask(.patch, path, as: token, [.ifMatch: "*"], #"{"body":"four"}"#).status == 200)
            let version = try #require(try await app.get(path, as: token)["data.version"]?.number)
            #expect(try await app.delete(path, as: token, [.ifMatch: "\"\(Int(version))\""]).status == 200)
            try await app.delete(path, as: token, [.ifMatch: "*"]).expectProblem("not-found", 404)
        }
    }

    @Test("NOTE-09 Of two who change one version at once exactly one wins")
    func race() async throws {
        try await NotesHarness.run { app, token in
            let path = "/v1/notes/\(try await app.add("0", as: token))"
            for round in 1...5 {
                let tag = try #require(try await app.get(path, as: token).headerFields[.eTag])
                let outcomes = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for number in 1...4 {
                        group.addTask {
                            let text = "round \(round) by \(number)"
                            return (
                                try await app.ask(.patch, path, as: token, [.ifMatch: tag], #"{"body":"\#(text)"}"#)
                                    .status, text
                            )
                        }
                    }
                    return try await group.reduce(into: [(Int, String)]()) { $0.append($1) }
                }
                #expect(outcomes.map(\.0).sorted() == [200, 412, 412, 412])
                let winner = outcomes.first { $0.0 == 200 }?.1
                #expect(try await app.get(path, as: token)["data.body"] == winner.map { .string($0) })
            }
        }
    }

    @Test("NOTE-09 An entity tag is that of the whole body: it changes at midnight, and with the time zone")
    func wholeBody() async throws {
        try await NotesHarness.run { app, token in
            let path = "/v1/notes/\(try await app.add("one", as: token))"
            let today = try await app.get(path, as: token)
            let tag = try #require(today.headerFields[.eTag])
            #expect(try await app.get(path, as: token, [.ifNoneMatch: tag]).status == 304)
            app.clock.advance(by: .seconds(86_400))
            let tomorrow = try await app.get(path, as: token, [.ifNoneMatch: tag])
            #expect(tomorrow.status == 200 && tomorrow["data.modified_text"] == "Jan 5 at 10:00")
            #expect(tomorrow["data.version"] == today["data.version"])
            #expect(
                try await app.ask(.patch, path, as: token, [.ifMatch: tag], "{}").status == 200,
                "the note itself is at that version still"
            )
        }
    }

    @Test("TRUST-05 If-None-Match forbids the versions that it names, on every write of notes")
    func ifNoneMatch() async throws {
        try await NotesHarness.run { app, token in
            let path = "/v1/notes/\(try await app.add("one", as: token))"
            let tag = try #require(try await app.get(path, as: token).headerFields[.eTag])
            let list = try #require(try await app.get("/v1/notes", as: token).headerFields[.eTag])
            for value in [tag, "W/\(tag)", "*", "\"x\", \(tag)"] {
                try await app.ask(.patch, path, as: token, [.ifNoneMatch: value], #"{"body":"two"}"#)
                    .expectProblem("precondition-failed", 412)
                try await app.delete(path, as: token, [.ifNoneMatch: value]).expectProblem("precondition-failed", 412)
            }
            for fields: HTTPFields in [[.ifNoneMatch: list], [.ifNoneMatch: "*"], [.ifMatch: "\"0\""]] {
                try await app.ask(.post, "/v1/notes", as: token, fields, #"{"body":"new"}"#)
                    .expectProblem("precondition-failed", 412)
            }
            #expect(try await app.get("/v1/notes", as: token)["meta.page.total"] == 1)
            #expect(try await app.get(path, as: token)["data.body"] == "one")
            let added = try await app.ask(.post, "/v1/notes", as: token, [.ifMatch: list], #"{"body":"new"}"#)
            #expect(added.status == 201)
            let changed = try await app.ask(.patch, path, as: token, [.ifNoneMatch: "\"0\""], #"{"body":"two"}"#)
            #expect(changed.status == 200 && changed["data.body"] == "two")
        }
    }

    @Test("TRUST-05 A session is closed at the version that If-Match names only")
    func session() async throws {
        try await NotesHarness.run { app, token in
            let path = "/v1/notes/session"
            let tag = try #require(try await app.get(path, as: token).headerFields[.eTag])
            try await app.delete(path, as: token, [.ifMatch: "\"1\""]).expectProblem("precondition-failed", 412)
            try await app.delete(path, as: token, [.ifNoneMatch: tag]).expectProblem("precondition-failed", 412)
            #expect(try await app.get(path, as: token).status == 200)
            #expect(try await app.delete(path, as: token, [.ifMatch: tag]).status == 200)
        }
    }
}
