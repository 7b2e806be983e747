import Foundation
import HTTPTypes
import JSONValues
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
