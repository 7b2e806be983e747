import AsyncHTTPClient
import Foundation
import HTTPTypes
import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

private let cleaner = Journal.newCleaner

private func entry(_ upstream: String = "spacex", path: String = "/spacex/v4/ships", headers: HTTPFields = [:])
    -> JournalEntry
{
    let head = HTTPRequest(method: .get, scheme: nil, authority: "127.0.0.1:1", path: path, headerFields: headers)
    var entry = JournalEntry(head, upstream: upstream, at: Date(timeIntervalSince1970: 1_767_607_200.5), cleaner)
    entry.fault = "online"
    entry.status = 200
    return entry
}

@Suite struct JournalTests {
    private let all = JournalFilter()

    @Test("entries are numbered from 1, from 1 again after clearing")
    func numbering() {
        let journal = Journal()
        journal.record(entry())
        journal.record(entry())
        #expect(journal.entries(matching: all).map(\.sequence) == [1, 2])
        journal.clear()
        #expect(journal.entries(matching: all).isEmpty)
        journal.record(entry())
        #expect(journal.entries(matching: all).map(\.sequence) == [1])
    }

    @Test("a filter takes entries by upstream and by the beginning of their path")
    func filters() {
        let journal = Journal()
        journal.record(entry(path: "/spacex/v4/ships"))
        journal.record(entry(path: "/spacex/images/a.png"))
        journal.record(entry("disk", path: "/disk/x"))
        #expect(journal.entries(matching: JournalFilter(upstream: "spacex")).count == 2)
        #expect(journal.entries(matching: JournalFilter(pathPrefix: "/spacex/images/")).map(\.sequence) == [2])
        #expect(journal.entries(matching: JournalFilter(upstream: "disk", pathPrefix: "/spacex")).isEmpty)
    }

    @Test("beyond its capacity the oldest entries are dropped, and late responses still find their entry")
    func capacity() {
        let journal = Journal()
        let extra = Journal.capacity + 5
        let tokens = (0..<Journal.capacity + extra).map { _ in journal.record(entry()) }
        journal.update(tokens[extra]) { $0.status = 418 }
        journal.update(tokens[0]) { $0.status = 419 }
        let entries = journal.entries(matching: all)
        #expect(entries.count == Journal.capacity)
        #expect(entries.first?.sequence == extra + 1 && entries.last?.sequence == Journal.capacity + extra)
        #expect(entries.first?.status == 418)
        #expect(!entries.contains { $0.status == 419 })
    }

    @Test("a response after clearing changes no other entry")
    func lateResponse() {
        let journal = Journal()
        let token = journal.record(entry())
        journal.clear()
        journal.record(entry())
        journal.update(token) { $0.status = 500 }
        #expect(journal.entries(matching: all).map(\.status) == [200])
    }

    @Test("a wait ends with the entry that completes its count, not before")
    func waiting() async throws {
        let journal = Journal()
        journal.record(entry())
        try await journal.wait(for: 1, matching: all)
        let waiting = Task { try await journal.wait(for: 3, matching: JournalFilter(upstream: "spacex")) }
        journal.record(entry("disk"))
        journal.record(entry())
        journal.record(entry())
        try await waiting.value
        #expect(journal.entries(matching: JournalFilter(upstream: "spacex")).count == 3)
    }

    @Test("a wait for a status ends when a request that waited gets it")
    func waitingForStatus() async throws {
        let journal = Journal()
        let waiting = Task { try await journal.wait(for: 1, matching: JournalFilter(status: .code(418))) }
        var held = entry()
        held.status = nil
        let token = journal.record(held)
        #expect(journal.entries(matching: JournalFilter(status: .missing)).map(\.sequence) == [1])
        journal.update(token) { $0.status = 418 }
        try await waiting.value
        #expect(journal.entries(matching: JournalFilter(status: .missing)).isEmpty)
    }

    @Test("HARN-14 a wait since a number ignores older entries")
    func waitingSince() async throws {
        let journal = Journal()
        journal.record(entry())
        journal.record(entry())
        let waiting = Task { try await journal.wait(for: 1, matching: JournalFilter(since: 2)) }
        journal.record(entry("disk"))
        try await waiting.value
        #expect(journal.entries(matching: JournalFilter(since: 2)).map(\.upstream) == ["disk"])
        #expect(journal.entries(matching: JournalFilter(since: 1, until: 2)).map(\.sequence) == [2])
    }

    @Test("beyond their capacity the oldest bodies go, the entries stay")
    func bodies() {
        let journal = Journal()
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: JournalBody.limit)
        let request = UpstreamRequest(method: .put, path: [], body: body, origin: "")
        let fits = Journal.bodyCapacity / JournalBody.limit
        for _ in 0..<fits + 2 {
            var entry = entry()
            entry.body = JournalBody(of: request, cleaner)
            journal.record(entry)
        }
        let entries = journal.entries(matching: all)
        #expect(entries.count == fits + 2 && entries.allSatisfy { $0.body?.count == JournalBody.limit })
        #expect(entries.prefix(2).allSatisfy { $0.body?.content == nil })
        #expect(entries.dropFirst(2).allSatisfy { $0.body?.content != nil })
    }

    @Test("closing ends the waits there are and those to come")
    func closing() async {
        let journal = Journal()
        let waiting = Task { try await journal.wait(for: 1, matching: JournalFilter()) }
        journal.close()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: CancellationError.self) { try await journal.wait(for: 1, matching: JournalFilter()) }
    }

    @Test(
        "credentials are shown as the beginning of their SHA-256, repeated fields as one list",
        arguments: ["Authorization", "Cookie", "spacex-key"]
    )
    func redaction(name: String) throws {
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name(name))] = "abc"
        headers.append(HTTPField(name: .accept, value: "a/b"))
        headers.append(HTTPField(name: .accept, value: "c/d"))
        let shown = try #require(entry(headers: headers).json.object?["headers"]?.object)
        // SHA-256("abc") of FIPS 180-2, appendix B.1, begins with ba7816bf8f01.
        #expect(shown[name.lowercased()] == "sha256:ba7816bf8f01")
        #expect(shown["accept"] == "a/b, c/d")
        #expect(shown["host"] == "127.0.0.1:1")
    }
}

@Suite struct ControlAPIJournalTests {
    @Test("SRV-10 the journal has every request to an upstream with its response and fault, and no credential")
    func journal() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get(
                "/spacex/v4/ships?x=1",
                headers: ["Authorization": "OAuth y0_secret", "X-Trace": "t"]
            )
            _ = try? await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "offline"])
            _ = try await sandbox.get("/spacex/v4/ships/none", headers: ["Sandbox-Fault": "slow(0)"])
            let response = try await sandbox.get("/_sandbox/journal?upstream=spacex")
            let entries = try #require(try response.object()["entries"]?.array).compactMap(\.object)
            #expect(entries.compactMap { $0["sequence"] } == [1, 2, 3])
            #expect(entries.compactMap { $0["status"] } == [200, .null, 404])
            #expect(entries.compactMap { $0["fault"]?.string } == ["online", "offline", "slow(0)"])
            #expect(entries[0]["method"] == "GET" && entries[0]["path"] == "/spacex/v4/ships?x=1")
            #expect(entries[0]["headers"]?.object?["x-trace"] == "t")
            #expect(entries[0]["headers"]?.object?["authorization"]?.string?.hasPrefix("sha256:") == true)
            #expect(!response.text.contains("y0_secret"))
        }
    }

    @Test("the journal is emptied by DELETE")
    func clearing() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships")
            #expect(try await sandbox.send(.DELETE, "/_sandbox/journal").status == 200)
            #expect(try await sandbox.get("/_sandbox/journal").object()["count"] == 0)
        }
    }

    @Test("a wait responds when the last of its requests has arrived")
    func waiting() async throws {
        // A clock that no test advances: only requests can end the wait.
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            async let waited = sandbox.get(
                "/_sandbox/journal/wait?upstream=spacex&path=/spacex/v4/&count=2&timeout_ms=1"
            )
            _ = await clock.nextSleep()
            _ = try await sandbox.get("/spacex/v4/ships")
            _ = try await sandbox.get("/spacex/images/osprey.png")
            _ = try await sandbox.get("/spacex/v4/ships")
            let response = try await waited
            #expect(response.status == 200)
            #expect(try response.object()["count"] == 2)
        }
    }

    @Test("a wait whose requests do not come is 408 at its timeout")
    func timeout() async throws {
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships")
            async let waited = sandbox.get("/_sandbox/journal/wait?count=2&timeout_ms=750")
            #expect(await clock.nextSleep() == .milliseconds(750))
            clock.advance(by: .milliseconds(750))
            let response = try await waited
            #expect(response.status == 408)
            #expect(try response.object()["code"] == "timeout")
        }
    }

    @Test(
        "HARN-13 the journal is filtered by method, path, query, field, status, number and identity, and counted",
        arguments: [
            ("method=POST", [2]), ("path=/spacex/v4/ships/", [2, 3]), ("query=a=1", [1]), ("query=a", [1, 3]),
            ("header=x-app:%20two", [2]), ("header=X-App", [1, 2]), ("status=404", [3]), ("status=none", [4]),
            ("since=2", [3, 4]), ("until=2", [1, 2]), ("since=1&until=3&query=a", [3]), ("request_id=app-7", [3]),
            ("method=&status=&since=&query=", [1, 2, 3, 4]), ("limit=2", [3, 4]),
        ]
    )
    func filters(query: String, sequences: [Int]) async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.get("/spacex/v4/ships?a=1", headers: ["X-App": "one"])
            _ = try await sandbox.send(.POST, "/spacex/v4/ships/query", headers: ["X-App": "two"], body: "{}")
            _ = try await sandbox.get("/spacex/v4/ships/none?a=2", headers: ["X-Request-Id": "app-7"])
            _ = try? await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "offline"])
            let found = try await sandbox.get("/_sandbox/journal?\(query)").object()
            let entries = try #require(found["entries"]?.array).compactMap(\.object)
            #expect(entries.compactMap { $0["sequence"] } == sequences.map { .integer($0) })
            let count = query == "limit=2" ? 4 : sequences.count
            #expect(found["count"] == .integer(count))
            #expect(
                try await sandbox.get("/_sandbox/journal?count&\(query)").text == #"{"count":\#(count),"dropped":0}"#
            )
        }
    }

    @Test("HARN-13 an entry has its time, identity, cause, bytes and body, without the body's tokens")
    func entry() async throws {
        try await withSandbox { sandbox in
            let body = #"{"query":{"refresh_token":"planted"},"options":{"limit":1}}"#
            let fields: HTTPHeaders = ["X-Request-Id": "app-7", "Larder-Cause": "12", "Authorization": "OAuth y0_s"]
            let response = try await sandbox.send(.POST, "/spacex/v4/ships/query", headers: fields, body: body)
            let text = try await sandbox.get("/_sandbox/journal").text
            let entry = try #require(try JSONParser.parse(Array(text.utf8)).object?["entries"]?.array?.first?.object)
            #expect(entry["request_id"] == "app-7" && entry["cause"] == 12)
            #expect(entry["bytes"] == .integer(response.body.count) && entry["rule"] == .null)
            #expect((entry["duration_ms"]?.double ?? -1) >= 0)
            #expect(entry["at"]?.string?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
            #expect(entry["body"]?.object?["bytes"] == .integer(body.utf8.count))
            let shown = try #require(entry["body"]?.object?["text"]?.string)
            #expect(shown == body.replacing("planted", with: Secrets.hash("planted")))
            #expect(!text.contains("planted") && !text.contains("y0_s"))
        }
    }
}
