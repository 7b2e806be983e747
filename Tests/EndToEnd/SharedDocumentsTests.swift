import Foundation
import TestKit
import Testing

/// Two processes that serve documents from one PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct SharedDocumentsTests {
    /// Numbers of files and of their parts.
    private static func counts(_ servers: SharedServers) async throws -> String {
        try await servers.sql("SELECT (SELECT count(*) FROM content), (SELECT count(*) FROM content_part)")
    }

    @Test("SCALE-02 A document made at one process is listed, opened, renamed and deleted at the other")
    func elsewhere() async throws {
        let servers = try await SharedServers("pdf")
        let (one, other) = (try await servers.start(), try await servers.start())
        let events = try await EventListener.open(other.client.base + "/v1/events?app=pdf")
        let href = try await one.client.document(of: [DocumentTests.photo, DocumentTests.photo])
        #expect(try await one.client.post("\(href)/save", #"{"name":"Paß"}"#).status == 200)
        // SCALE-10: the change is heard at the other process, whose kept responses end with it.
        while let event = try await events.next("screen-changed"), event.data.screen.string != "pdf.list" {}
        #expect(try await other.client.get("/v1/pdf/documents?q=pass").json.data.items[0].href.string == href)
        let whole = try await one.client.get("\(href)/file")
        #expect(whole.body.starts(with: Data("%PDF-".utf8)))
        let file = try await other.client.get("\(href)/file")
        #expect(file.body == whole.body && file["ETag"] == whole["ETag"])
        let part = try await other.client.get("\(href)/file", ["Range": "bytes=3-9"])
        #expect(part.status == 206 && part.body == whole.body.subdata(in: 3..<10))
        #expect(try await other.client.send("HEAD", "\(href)/file").body.isEmpty)
        let thumbnail = try await other.client.get("\(href)/thumbnail?width=100")
        #expect(thumbnail.status == 200 && thumbnail["Content-Type"] == "image/jpeg")

        let tag = try #require(try await other.client.get(href)["ETag"])
        let renamed = try await other.client.send("PATCH", href, ["If-Match": tag], body: #"{"name":"B"}"#)
        #expect(renamed.status == 200, "\(renamed.text)")
        let late = try await one.client.send("PATCH", href, ["If-Match": tag], body: #"{"name":"C"}"#)
        #expect(late.status == 412, "\(late.text)")
        let export = try await one.client.get("/v1/export")
        #expect(export.status == 200 && export.body.firstRange(of: Data("documents/B.pdf".utf8)) != nil)
        #expect(try await one.client.get("/v1/usage").json.data.apps[0].used_bytes.int ?? 0 > 4096)
        #expect(try await one.client.delete(href).status == 200)
        await BoundedWait.poll(for: "the deletion at the other process") {
            (try? await other.client.get(href).status) == 404
        }
        #expect(try await other.client.get("/v1/pdf/trash").json.meta.page.total.int == 1)
        #expect(try await other.client.delete("/v1/pdf/trash").status == 200)
        #expect(try await one.client.get("/v1/pdf/trash").json.meta.page.total.int == 0)
        for larder in [one, other] { #expect(await larder.stop() == 0) }
    }

    @Test("SCALE-23 While PostgreSQL is away the usage is shown, stale with a text; an archive cannot say so: 503")
    func storeAway() async throws {
        let servers = try await SharedServers("pdf")
        let larder = try await servers.start()
        _ = try await larder.client.document(of: [DocumentTests.photo])
        let before = try await larder.client.get("/v1/usage").json
        #expect(before.meta.stale.bool == false)
        try await servers.allowConnections(false)
        try await servers.endConnections()
        try await BoundedWait.poll(for: "the loss of the store") {
            try await larder.client.get("/v1/usage").json.meta.stale.bool == true
        }
        let usage = try await larder.client.get("/v1/usage")
        let banner = try usage.json.meta.banner.code.string
        #expect(usage.status == 200 && banner == "store-unavailable", "\(usage.text)")
        #expect(try usage.json.data.apps[0].used_bytes.int == before.data.apps[0].used_bytes.int)
        let export = try await larder.client.get("/v1/export")
        let code = try export.json.code.string
        #expect(export.status == 503 && code == "store-unavailable", "\(export.text)")
        try await servers.allowConnections(true)
        try await BoundedWait.poll(for: "the archive") { try await larder.client.get("/v1/export").status == 200 }
        #expect(await larder.stop() == 0)
    }

    @Test("PDF-13 SCALE-07 A process that is killed while it stores a document leaves no document and, soon, no file")
    func killInTheMiddle() async throws {
        let servers = try await SharedServers("pdf")
        let (one, other) = (try await servers.start(), try await servers.start())
        let kept = try await other.client.document(of: [DocumentTests.photo])
        let before = try await other.client.get(kept).body
        let used = try await other.client.get("/v1/usage").json.data.apps[0].used_bytes.int
        try await servers.sql(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(600); RETURN new; END';
            CREATE TRIGGER held BEFORE INSERT ON journal FOR EACH ROW EXECUTE FUNCTION wait()
            """
        )
        let client = one.client
        let creation = Task { try? await client.document(of: [DocumentTests.photo]) }
        try await BoundedWait.poll(for: "the document under way") {
            try await servers.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
        }
        #expect(try await Self.counts(servers) == "2|2", "its file is stored, and it is not made")
        await one.kill9()
        _ = await creation.value
        try await servers.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
        try await servers.sql("DROP TRIGGER held ON journal")
        #expect(try await other.client.get(kept).body == before)
        #expect(try await other.client.get("/v1/usage").json.data.apps[0].used_bytes.int == used)

        // Ten minutes later, the next start of any process removes it.
        try await servers.sql("UPDATE content SET unused = now() - interval '11 minutes' WHERE unused < now()")
        let third = try await servers.start()
        try await BoundedWait.poll(for: "the removal of the file") { try await Self.counts(servers) == "1|1" }
        #expect(try await third.client.get("\(kept)/file").status == 200)
        for larder in [other, third] { #expect(await larder.stop() == 0) }
    }
}
