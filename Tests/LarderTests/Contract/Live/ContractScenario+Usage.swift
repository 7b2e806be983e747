import TestKit
import Testing

extension ContractScenario {
    /// Documents and a note that two servers with the same data show in turn.
    struct Kept: Sendable {
        var one: Drawn
        var other: Drawn
        var member: [String: String]
        var note: String
    }

    private static let usage = "GET /v1/usage"

    /// An account with a note, and a profile with documents, all of which is shown.
    func stored() async throws -> Kept {
        let (one, other) = try await savedPair()
        _ = try await draft([("a.pdf", MadeFile.pdf(pages: 1))])
        let member = try await notesSession("full")
        let note = try await ask("POST /v1/notes", member, body: #"{"body":"A note"}"#)
        for query in ["", "?profile=anna"] {
            for headers in [[:], member, ["Accept-Language": "ru"], ["Accept-Encoding": "gzip"]] {
                for isHead in [false, true] {
                    try await ask(Self.usage, query: query, headers, isHead: isHead)
                }
            }
        }
        let shown = try await ask(Self.usage, member)
        let apps = try #require(try shown.json.at(pointer: "/data/apps")?.array)
        #expect(apps.compactMap { $0["app"]?.string } == ["pdf", "notes"])
        #expect(apps.compactMap { $0["owner_name"]?.string } == ["local", "full"])
        // "A note" and the name of the place that is not known.
        #expect(apps.last?["used_bytes"] == .number(Double(1024 + "A note".utf8.count + "Unknown location".utf8.count)))
        #expect(apps.allSatisfy { $0["full"] == .bool(false) })
        let tag = try #require(shown.headers["etag"])
        #expect(try await ask(Self.usage, ["If-None-Match": tag].merging(member) { own, _ in own }).status == 304)
        return Kept(one: one, other: other, member: member, note: try note.json.at(pointer: "/data/id")?.string ?? "")
    }

    /// Writes that add bytes are refused, each with its own text; writes that add none succeed.
    func quotasUsedUp(_ kept: Kept) async throws {
        let create = "POST /v1/pdf/documents"
        let refused = [
            try await askPDF(create, Self.form, body: Self.form([("a.pdf", MadeFile.pdf(pages: 1))])),
            try await documentOfDisk("quota.pdf", MadeFile.pdf(pages: 1)),
            try await askPDF("\(create)/{id}/pages", of: kept.one, body: #"{"text":"Hello"}"#),
            try await askPDF("\(create)/{id}/extract", of: kept.one, body: #"{"pages":["\#(kept.one.page)"]}"#),
            try await askPDF(
                "POST /v1/pdf/merge",
                body: #"{"first":"\#(kept.one.id)","second":"\#(kept.other.id)"}"#
            ),
            try await ask("POST /v1/notes", kept.member, body: #"{"body":"Another"}"#),
            try await ask("PATCH /v1/notes/{id}", ship: kept.note, kept.member, body: #"{"body":"A longer note"}"#),
            try await ask(
                "POST /v1/notes/import",
                Self.form.merging(kept.member) { own, _ in own },
                body: Self.form([("a", "<gpx><wpt lat=\"1\" lon=\"2\"/></gpx>")])
            ),
        ]
        for response in refused {
            #expect(response.status == 507 && response.problemCode == "quota-exceeded", "\(response.text)")
        }
        let apps = try await ask(Self.usage, kept.member).json.at(pointer: "/data/apps")?.array ?? []
        #expect(apps.count == 2 && apps.allSatisfy { $0["full"] == .bool(true) })
        #expect(try await askPDF("PATCH /v1/pdf/documents/{id}", of: kept.one, body: #"{"name":"b"}"#).status == 200)
        #expect(try await ask("DELETE /v1/notes/{id}", ship: kept.note, kept.member).status == 200)
    }
}
